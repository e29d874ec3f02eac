package redact

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// The corpus of secrets is drawn anew, and alike, in each run, so that no file
// here holds anything that a scanner would take for a real one.

const (
	digits  = "0123456789"
	lowers  = "abcdefghijklmnopqrstuvwxyz"
	uppers  = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	hexes   = digits + "abcdef"
	alnums  = lowers + uppers + digits
	web64   = alnums + "-_"
	base64s = alnums + "+/"
)

type draw struct{ *rand.Rand }

func newDraw(seed uint64) draw { return draw{rand.New(rand.NewPCG(seed, 1))} } //nolint:gosec // reproducible on purpose

func (d draw) of(chars string, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = chars[d.IntN(len(chars))]
	}
	return string(b)
}

func (d draw) pick(list ...string) string { return list[d.IntN(len(list))] }

func (d draw) uuid() string {
	h := d.of(hexes, 32)
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

func (d draw) jwt() string {
	head := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"HS256","typ":"JWT"}`))
	body := base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, `{"sub":"%s","iat":17%s}`, d.of(lowers, 8), d.of(digits, 8)))
	return head + "." + body + "." + d.of(web64, 43)
}

func (d draw) pem(label, eol string) string {
	var b strings.Builder
	b.WriteString("-----BEGIN " + label + "-----" + eol)
	for range 6 {
		b.WriteString(d.of(base64s, 64) + eol)
	}
	b.WriteString(d.of(base64s, 22) + "==" + eol + "-----END " + label + "-----")
	return b.String()
}

// phrase is a password of words and a digit, with blanks.
func (d draw) phrase() string {
	return d.pick("red", "tall", "calm") + " " + d.pick("horse", "paper", "river") + " " + d.of(lowers, 5) + " " + d.of(digits, 2)
}

// bare tokens are known by themselves, wherever they stand.
var bareTokens = map[string]func(d draw) string{
	"aws key id":    func(d draw) string { return d.pick("AKIA", "ASIA", "ABIA", "ACCA") + d.of(uppers+"234567", 16) },
	"gcp api key":   func(d draw) string { return "AIza" + d.of(web64, 35) },
	"google oauth":  func(d draw) string { return "ya29." + d.of(web64, 60) },
	"google client": func(d draw) string { return "GOCSPX-" + d.of(web64, 28) },
	"azure client": func(d draw) string {
		return d.of(alnums, 3) + d.of(digits, 1) + "Q~" + d.of(alnums+"_.-", 30) + d.of(alnums, 4)
	},
	"digitalocean":      func(d draw) string { return d.pick("dop_v1_", "doo_v1_", "dor_v1_") + d.of(hexes, 64) },
	"alibaba":           func(d draw) string { return "LTAI5t" + d.of(alnums, 18) },
	"heroku":            func(d draw) string { return "HRKU-AA" + d.of(web64, 58) },
	"fly":               func(d draw) string { return "fm2_" + d.of(base64s, 120) },
	"doppler":           func(d draw) string { return "dp.pt." + d.of(alnums, 43) },
	"vault":             func(d draw) string { return d.pick("hvs.", "hvb.") + d.of(web64, 95) },
	"vault old":         func(d draw) string { return "s." + d.of(alnums, 23) + d.of(digits, 1) },
	"pulumi":            func(d draw) string { return "pul-" + d.of(hexes, 40) },
	"terraform":         func(d draw) string { return d.of(alnums, 14) + ".atlasv1." + d.of(web64, 67) },
	"databricks":        func(d draw) string { return "dapi" + d.of(hexes, 32) },
	"planetscale":       func(d draw) string { return "pscale_tkn_" + d.of(web64, 43) },
	"cloudflare origin": func(d draw) string { return "v1.0-" + d.of(hexes, 24) + "-" + d.of(hexes, 146) },
	"github":            func(d draw) string { return d.pick("ghp_", "gho_", "ghu_", "ghs_", "ghr_") + d.of(alnums, 36) },
	"github fine":       func(d draw) string { return "github_pat_" + d.of(alnums, 22) + "_" + d.of(alnums, 59) },
	"gitlab": func(d draw) string {
		return d.pick("glpat-", "gldt-", "glrt-", "glptt-", "glft-", "glsoat-") + d.of(web64, 20)
	},
	"gitlab runner": func(d draw) string { return "GR1348941" + d.of(web64, 20) },
	"bitbucket":     func(d draw) string { return "ATBB" + d.of(alnums, 31) + d.of(digits, 1) },
	"atlassian":     func(d draw) string { return "ATATT3xFfGF0" + d.of(web64, 170) },
	"docker hub":    func(d draw) string { return "dckr_pat_" + d.of(web64, 27) },
	"slack bot": func(d draw) string {
		return "xoxb-" + d.of(digits, 12) + "-" + d.of(digits, 12) + "-" + d.of(alnums, 24)
	},
	"slack user": func(d draw) string {
		return "xoxp-" + d.of(digits, 11) + "-" + d.of(digits, 11) + "-" + d.of(digits, 12) + "-" + d.of(hexes, 32)
	},
	"slack app": func(d draw) string {
		return "xapp-1-A" + d.of(uppers+digits, 10) + "-" + d.of(digits, 13) + "-" + d.of(hexes, 64)
	},
	"slack webhook": func(d draw) string {
		return "https://hooks.slack.com/services/T" + d.of(uppers+digits, 8) + "/B" + d.of(uppers+digits, 10) + "/" + d.of(alnums, 24)
	},
	"discord bot": func(d draw) string {
		return d.pick("MT", "Nz", "OD") + d.of(alnums, 22) + "." + d.of(alnums, 6) + "." + d.of(web64, 38)
	},
	"discord webhook": func(d draw) string {
		return "https://discord.com/api/webhooks/" + d.of(digits, 18) + "/" + d.of(web64, 68)
	},
	"telegram": func(d draw) string { return d.of(digits, 10) + ":AA" + d.of(web64, 33) },
	"teams webhook": func(d draw) string {
		return "https://acme.webhook.office.com/webhookb2/" + d.uuid() + "@" + d.uuid() + "/IncomingWebhook/" + d.of(hexes, 32) + "/" + d.uuid()
	},
	"stripe":         func(d draw) string { return d.pick("sk_live_", "sk_test_", "rk_live_", "pk_live_") + d.of(alnums, 24) },
	"stripe webhook": func(d draw) string { return "whsec_" + d.of(alnums, 32) },
	"square":         func(d draw) string { return "sq0atp-" + d.of(web64, 22) },
	"braintree": func(d draw) string {
		return "access_token$production$" + d.of(lowers+digits, 16) + "$" + d.of(hexes, 32)
	},
	"plaid":          func(d draw) string { return "access-production-" + d.uuid() },
	"shopify":        func(d draw) string { return d.pick("shpat_", "shpca_", "shppa_", "shpss_") + d.of(hexes, 32) },
	"easypost":       func(d draw) string { return "EZAK" + d.of(alnums, 54) },
	"sendgrid":       func(d draw) string { return "SG." + d.of(web64, 22) + "." + d.of(web64, 43) },
	"mailgun":        func(d draw) string { return "key-" + d.of(hexes, 32) },
	"mailchimp":      func(d draw) string { return d.of(hexes, 32) + "-us" + d.of("123", 2) },
	"sendinblue":     func(d draw) string { return "xkeysib-" + d.of(hexes, 64) + "-" + d.of(alnums, 16) },
	"twilio":         func(d draw) string { return "SK" + d.of(hexes, 32) },
	"npm":            func(d draw) string { return "npm_" + d.of(alnums, 36) },
	"pypi":           func(d draw) string { return "pypi-AgEIcHlwaS5vcmc" + d.of(web64, 120) },
	"rubygems":       func(d draw) string { return "rubygems_" + d.of(hexes, 48) },
	"nuget":          func(d draw) string { return "oy2" + d.of(lowers+digits, 43) },
	"crates":         func(d draw) string { return "cio" + d.of(alnums, 31) + d.of(digits, 1) },
	"clojars":        func(d draw) string { return "CLOJARS_" + d.of(lowers+digits, 60) },
	"openai":         func(d draw) string { return "sk-" + d.of(alnums, 20) + "T3BlbkFJ" + d.of(alnums, 20) },
	"openai project": func(d draw) string { return d.pick("sk-proj-", "sk-svcacct-") + d.of(web64, 110) },
	"anthropic":      func(d draw) string { return "sk-ant-api03-" + d.of(web64, 93) + "AA" },
	"openrouter":     func(d draw) string { return "sk-or-v1-" + d.of(hexes, 64) },
	"hugging face":   func(d draw) string { return "hf_" + d.of(lowers+uppers, 34) },
	"perplexity":     func(d draw) string { return "pplx-" + d.of(alnums, 48) },
	"replicate":      func(d draw) string { return "r8_" + d.of(alnums, 37) },
	"groq":           func(d draw) string { return "gsk_" + d.of(alnums, 52) },
	"grafana":        func(d draw) string { return "glsa_" + d.of(alnums, 32) + "_" + d.of(hexes, 8) },
	"grafana cloud":  func(d draw) string { return "glc_" + d.of(alnums, 60) + "==" },
	"new relic":      func(d draw) string { return "NRAK-" + d.of(uppers+digits, 27) },
	"sentry":         func(d draw) string { return "sntryu_" + d.of(hexes, 64) },
	"dynatrace":      func(d draw) string { return "dt0c01." + d.of(uppers+digits, 24) + "." + d.of(uppers+digits, 64) },
	"notion":         func(d draw) string { return "ntn_" + d.of(digits, 11) + d.of(alnums, 35) },
	"linear":         func(d draw) string { return "lin_api_" + d.of(alnums, 40) },
	"adobe":          func(d draw) string { return "p8e-" + d.of(alnums, 32) },
	"airtable":       func(d draw) string { return "pat" + d.of(alnums, 14) + "." + d.of(hexes, 64) },
	"postman":        func(d draw) string { return "PMAK-" + d.of(hexes, 24) + "-" + d.of(hexes, 34) },
	"1password":      func(d draw) string { return "ops_eyJ" + d.of(base64s, 300) },
	"artifactory":    func(d draw) string { return "AKCp" + d.of(alnums, 69) },
	"age":            func(d draw) string { return "AGE-SECRET-KEY-1" + d.of("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58) },
	"tailscale":      func(d draw) string { return "tskey-auth-" + d.of(alnums, 17) + "-" + d.of(alnums, 32) },
	"jwt":            draw.jwt,
	"sourcegraph":    func(d draw) string { return "sgp_" + d.of(hexes, 40) },
	"scalingo":       func(d draw) string { return "tk-us-" + d.of(web64, 48) },
	"prefect":        func(d draw) string { return "pnu_" + d.of(alnums, 36) },
	"maxmind":        func(d draw) string { return d.of(alnums, 6) + "_" + d.of(alnums, 29) + "_mmk" },
	"openshift":      func(d draw) string { return "sha256~" + d.of(web64, 43) },
	"private key": func(d draw) string {
		return d.pem(d.pick("RSA PRIVATE KEY", "PRIVATE KEY", "EC PRIVATE KEY", "OPENSSH PRIVATE KEY"), "\n")
	},
	"private key quoted": func(d draw) string { return d.pem("PRIVATE KEY", `\n`) },
	"pgp key":            func(d draw) string { return d.pem("PGP PRIVATE KEY BLOCK", "\n") },
}

// surroundings is how such a token turns up in what agents write. {} is the token.
var surroundings = []string{
	"{}",
	"deploy failed, the token {} was rejected; rotate it",
	"I used {}, see the log",
	`curl -H "X-Auth: {}" https://api.example.com/v1/me`,
	"export CI_VALUE={}",
	"+  value: '{}'",
	`{"note":"tried {}","next":"ask"}`,
	`cfg := Config{Remote: "{}"}`,
	"(see `{}`)",
	"line one\nline two {}\nline three",
	`escaped: \"{}\"\n`,
	"Das Zeichen 「{}」 ist geheim",
	"GET /cb?state=1&code={}&x=2",
}

// names of values, in every style, with the notations they are written in.
var (
	secretNames = []string{
		"password", "db_password", "dbPassword", "DB_PASSWORD", "PGPASSWORD", "spring.datasource.password", "passwd", "user_pwd",
		"passphrase", "adminPassword", "secret", "client_secret", "clientSecret", "CLIENT_SECRET", "client-secret", "token",
		"access_token", "accessToken", "AUTH_TOKEN", "refresh-token", "apiKey", "api_key", "API-KEY", "X_API_KEY", "MY_API_KEY",
		"apikey", "secretKey", "AWS_SECRET_ACCESS_KEY", "aws_secret_access_key", "privateKey", "encryption_key", "signingKey",
		"AccountKey", "SharedAccessKey", "credentials", "secret_key_base", "webhook_secret", "JWT_SECRET", "SMTP_PASS",
		"masterKey", "api_token_prod", "apiKey2",
	}
	quotedForms = []string{
		`@ = "{}"`, `@: "{}"`, `"@": "{}"`, `'@': '{}',`, `@="{}"`, `@='{}'`, "@ := `{}`", `const @ = "{}";`,
		`var @ string = "{}"`, `private static final String @ = "{}";`, `  @: '{}'`, `'@' => '{}',`, `os.Setenv("@", "{}")`,
		`config["@"] = "{}"`, `{\"@\":\"{}\",\"x\":1}`, `<add key="@" value="{}" />`, `- name: @` + "\n" + `  value: "{}"`,
		`@: str = "{}"`, `if @ == "{}" {`, `let @: &str = "{}";`,
	}
	bareForms = []string{
		"@={}", "@: {}", "export @={}", "-e @={} image", "  @: {}  # comment", "<@>{}</@>", "@ = {}",
		"https://example.com/?@={}&page=2", "Server=db;User Id=sa;@={};Encrypt=true", "@={}\nNEXT=1", "--@={} run", "ENV @={}",
	}
)

// values that people give such names.
var secretValues = map[string]func(d draw) string{
	"alphanumeric": func(d draw) string { return d.of(alnums, 24) },
	"short":        func(d draw) string { return d.of(lowers, 6) + d.of(digits, 4) },
	"hexadecimal":  func(d draw) string { return d.of(hexes, 32) },
	"base64":       func(d draw) string { return d.of(base64s, 43) + "=" },
	"uuid":         draw.uuid,
	"signs": func(d draw) string {
		return d.of(alnums, 5) + d.of("!@#^*", 2) + d.of(alnums, 6) + "!" + d.of(digits, 1)
	},
	"dashed": func(d draw) string { return d.of(lowers, 5) + "-" + d.of(lowers+digits, 6) + "-" + d.of(digits, 4) },
}

type example struct{ kind, text, secret string }

// filled puts the secret in place of {}.
func filled(kind, form, secret string) example {
	return example{kind, strings.ReplaceAll(form, "{}", secret), secret}
}

// secretCorpus returns the samples, the same in every run.
func secretCorpus(seed uint64) (list []example) {
	d := newDraw(seed)
	put := func(kind, form, secret string) {
		list = append(list, filled(kind, form, secret))
	}
	for _, kind := range sorted(bareTokens) {
		for i := range 5 {
			put(kind, surroundings[(i*3+d.IntN(3))%len(surroundings)], bareTokens[kind](d))
		}
	}
	for _, name := range secretNames {
		for _, kind := range sorted(secretValues) {
			put("named "+kind, strings.ReplaceAll(d.pick(quotedForms...), "@", name), secretValues[kind](d))
			put("bare "+kind, strings.ReplaceAll(d.pick(bareForms...), "@", name), secretValues[kind](d))
		}
		put("phrase", strings.ReplaceAll(d.pick(quotedForms[:12]...), "@", name), d.phrase())
	}
	for range 4 {
		pair := base64.StdEncoding.EncodeToString([]byte("svc:" + d.of(alnums, 15)))
		put("basic", "Authorization: Basic {}", pair)
		put("basic", `curl -H "Authorization: Basic {}" https://h/`, pair)
		put("basic", "proxy said Basic {} is wrong", pair)
		put("bearer", "Authorization: Bearer {}", d.of(alnums, 32))
		put("bearer", "authorization: bearer {}", d.of(base64s, 40)+"==")
		put("bearer", `headers: { Authorization: "Bearer {}" }`, d.of(web64, 40))
		put("header", `"Authorization": "token {}",`, d.of(hexes, 40))
		put("header", "-H 'Private-Token: {}'", d.of(alnums, 20))
		put("header", "X-Api-Key: {}", d.of(alnums, 32))
		put("url", "https://deploy:{}@git.example.com/app.git", d.of(alnums, 20))
		put("url", "postgres://app:{}@db.internal:5432/prod?sslmode=disable", d.of(alnums, 12)+"!"+d.of(alnums, 3))
		put("url", "DATABASE_URL=mysql://root:{}@127.0.0.1/x", "p@"+d.of(alnums, 10))
		put("url", "redis://:{}@cache:6379/0", d.of(alnums, 24))
		put("url", "https://{}@github.com/acme/app", d.of(alnums, 39)+"7")
		put("dsn", `sql.Open("mysql", "app:{}@tcp(db:3306)/prod")`, d.of(alnums, 14))
		put("connection", "DefaultEndpointsProtocol=https;AccountName=x;AccountKey={};EndpointSuffix=core.windows.net", d.of(base64s, 86)+"==")
		put("connection", "Endpoint=sb://x.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey={}", d.of(base64s, 43)+"=")
		put("sas", "https://x.blob.core.windows.net/c?sv=2022-11-02&sp=r&sig={}", d.of(alnums, 43)+"%3D")
		put("netrc", "machine api.example.com login bob password {}", d.of(alnums, 12))
		put("netrc", "machine api.example.com\n  login bob\n  password {}\n", d.of(alnums, 12))
		put("flag", "mysqldump --password {} app > dump.sql", d.of(alnums, 10))
		put("flag", "app login --api-key {} --verbose", d.of(alnums, 20))
		put("command", "curl -u admin:{} https://example.com/", d.of(alnums, 14))
		put("command", "sshpass -p '{}' ssh host", d.of(alnums, 14))
		put("command", "mysql -u root -p{} app", d.of(alnums, 14))
		put("command", "openssl rsa -in k.pem -passin pass:{}", d.of(alnums, 12))
		put("sql", "CREATE USER app IDENTIFIED BY '{}';", d.of(alnums, 12))
		put("prose", "the password is {}", d.of(lowers, 5)+d.of(digits, 4)+"!")
		put("prose", "API key: {}", d.of(alnums, 28))
		put("prose", "use the secret `{}` for now: token = {}", d.of(alnums, 26))
		put("vendor", "heroku: {}", d.uuid())
		put("vendor", `datadog = "{}"`, d.of(hexes, 40))
		put("vendor", "TRAVIS={}", d.of(alnums, 22))
		put("yaml block", "private_key: |\n  {}\nnext: 1", d.of(base64s, 60))
		put("kubernetes", "kind: Secret\nmetadata:\n  name: x\ndata:\n  conf: {}\n", base64.StdEncoding.EncodeToString([]byte(d.of(alnums, 20))))
		put("plist", "<key>password</key>\n<string>{}</string>", d.of(alnums, 14))
		put("json array", `{"secrets": ["{}", "x"]}`, d.of(alnums, 18))
		put("json number", `{"password": {}}`, d.of("123456789", 12))
		put("putty", "PuTTY-User-Key-File-3: ssh-rsa\nPrivate-Lines: 1\n{}\nPrivate-MAC: 00", d.of(base64s, 64))
		id := "AKIA" + d.of(uppers+"234567", 16)
		put("aws pair", "bob,"+id+",{}", d.of(alnums, 20)+"/"+d.of(alnums, 19))
		key := d.pem("RSA PRIVATE KEY", "\n")
		put("key without end", "key:\n{}\n", key[:len(key)-40])
		put("key without start", "{}\nok", key[200:])
	}
	return list
}

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// survives returns ten characters of the secret that are still in the text, or
// all of a shorter one, or nothing.
func survives(text, secret string) string {
	const enough = 10
	if len(secret) <= enough {
		if strings.Contains(text, secret) {
			return secret
		}
		return ""
	}
	for i := range len(secret) - enough + 1 {
		if piece := secret[i : i+enough]; strings.Contains(text, piece) {
			return piece
		}
	}
	return ""
}

func TestRecall(t *testing.T) {
	const wanted = 0.99
	list := append(secretCorpus(2026), heldCorpus(2026)...)
	kinds := map[string]bool{}
	missed := 0
	for _, e := range list {
		kinds[e.kind] = true
		out := Text(e.text)
		if piece := survives(out, e.secret); piece != "" {
			missed++
			t.Logf("%s: %q survives in %q", e.kind, piece, out)
		}
		if again := Text(out); again != out {
			t.Errorf("%s: redacting %q again gives %q", e.kind, out, again)
		}
		quoted := appendString(nil, e.text)
		raw, err := JSON(append(append([]byte(`{"note":`), quoted...), '}'))
		if err != nil || !json.Valid(raw) {
			t.Fatalf("%s: JSON of %q: %s, %v", e.kind, e.text, raw, err)
		}
		if piece := survives(string(raw), e.secret); piece != "" && survives(out, e.secret) == "" {
			t.Errorf("%s: %q survives in JSON %s", e.kind, piece, raw)
		}
	}
	recall := 1 - float64(missed)/float64(len(list))
	t.Logf("recall %.2f %%: %d of %d secrets of %d kinds missed", 100*recall, missed, len(list), len(kinds))
	if recall < wanted {
		t.Errorf("recall %.4f, want at least %.2f", recall, wanted)
	}
}
