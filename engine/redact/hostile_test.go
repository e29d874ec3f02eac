package redact

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

// hostile are texts made of one piece over and over, against searches that start
// anew at each.
var hostile = []string{
	"a", " ", "\n", "token", "token ", "token=", "token=$", "token: ", `token="`, `token=\"`, `token='`, "token=`", "token=\n", "token:\n- ",
	`"token":[`, `"token":{`, `"token":["`, "token: |\n ", "<token>", "<token", "name: token value: ", "token is ", "token a ", "token,",
	"--token ", "--password a", "password ", "login password ", "machine login password ",
	"eyJ", "eyJ.", "eyJa.eyJ", "ZXlK", "sk-", "sk_live_", "xox", "xoxb-1", "ghp_", "AKIA", "AKIAAAAAAAAAAAAAAAAA ", ":AA", "1:AA", "-us1", "_mmk",
	".atlasv1.", "a.acc_", "pat.", "A3-", "key-", "s.", "SK", "EAAA", "AAAAAAAAAAAAAAAAAAAAAA",
	"-----BEGIN PRIVATE KEY-----", "-----BEGIN PRIVATE KEY-----\n", "---- BEGIN PRIVATE KEY----", "-----END PRIVATE KEY-----", "\n-----END PRIVATE KEY-----",
	"BEGIN ", "-----BEGIN PRIVATE KEY-----x", "A\n-----END PRIVATE KEY-----\n", "Private-Lines:", "Private-Lines: 1\n", "PuTTY",
	"://", "a://b:c", "://a:b/", "://:@", "@tcp(", "a:b@tcp(", "bearer ", "Basic ", "Basic YTpi", "curl ", "curl -u ", "curl -u a:b ", `curl "`,
	"mysql -p", "kind: Secret\n", "kind: Secret\ndata:\n a: b\n", "kind: Secret\n---\n", "identified by '", "create identified by ",
	"authorization: ", "authorization: basic ", "pass:", "-pass pass:", "hooks.slack.com/", "A.bcdefg.", "1~Q~", "8Q~", "123456789012345|", "API_KEY=", "API_KEY=\n",
	"api key: ", "heroku", "heroku: ", "heroku a b: ", `{"token":`, "[REDACTED]", "token=[REDACTED]", `\`, `\\n`, "token=\\", "'token':'", "\x00", "\xff", "é",
	"password=a;", "; password=a b", "token%3D", "::token", "a.b.c.d.token.e", "token-", "TOKEN_KEY=x\n", "{{token}}", "token=(", "token=a,b=", "token=a&",
	"sig=", "?sig=", "|token|", "token|", "token==", `token=="`, "signature", "/.acc_", "tvly-", "hvs.a", "xoxb-", "xoxz-", "api=", "api: ", "api=$", "token=)", ")", "token:|", "token:> ",
	`token="""`, "token=\x27\x27\x27", `token="a""b""`, `token="%(`, "%(", "curl 'a' ", "curl -u 'a", "token:\n  - token:\n", "token: a,",
	"authorization: bearer ", "hf_-", "xoxe.xoxp-", `token=\n`, "[token] = ", "token\t", "AccountKey=a;", "key", "api", "pass", "secret_key_base",
	"passwords: [", "passwords: {", "passwords: (", "passwords: [a", "passwords: ['", `passwords: ["a",`, "passwords: [a, ", "passwords: {a: ", "passwords = {a:[", "passwords:\n", "passwords:\n ",
	"passwords:\n  - a\n", "passwords:\n- a\n", "- passwords:\n", "passwords:\n  a:\n", "a:\n passwords:\n  ", "[passwords]\n", "[passwords]\na = 1\n", "[passwords", "[[passwords]]", "passwords: !!str ",
	"passwords: !!str\n", "passwords: &a ", "!!str ", "&a ", "password: !", "password: !<", "tokens: [", "tokens:\n- ", "passwords: list[", "passwords: a[] = ", "passwords = new a[] {", "passwords: vec![",
	`passwords: ["\"`, `passwords: ['\\'`, "passwords: [//", "passwords: [#\n", "passwords: [a:", "passwords: {a=", "passwords: [a b c", "pw=", "pw: ", "authorization: digest a=", `authorization: digest a="b", `,
	"authorization: digest a=b,", "secret_", "passwords:\n  a: |\n", "passwords:\n  a: [", "passwords:\n  'a': ", "passwords: [[", "passwords: [(", "passwords: {{", "passwords:\n  - - ", "passwords: [list(", "passwords: [a ", "passwords: ]",
	"token = \"\"\"\n", "token = '''\na", "token: # ", "token: # a\n", `auth=("a","b")`, `auth=("a",`, "authorization: digest a=b,\n ",
}

// TestHostileText checks that no repetition makes the work grow faster than the
// text. A megabyte takes less than half a second of a free processor; the
// limit leaves room for busy ones and for the race detector. What is quadratic
// takes longer still.
func TestHostileText(t *testing.T) {
	const (
		size  = 1 << 17
		limit = 3 * time.Second
	)
	for _, piece := range hostile {
		s := strings.Repeat(piece, size/len(piece)+1)
		began := time.Now()
		Text(s)
		if took := time.Since(began); took > limit {
			t.Errorf("%q repeated to %d bytes took %v", piece, size, took)
		}
	}
}

func TestHostileJSON(t *testing.T) {
	for name, raw := range map[string]string{
		"arrays":       strings.Repeat("[", 20000) + strings.Repeat("]", 20000),
		"deep objects": strings.Repeat(`{"token":`, 5000) + "1" + strings.Repeat("}", 5000),
		"open":         strings.Repeat("[", 20000),
		"empty":        "",
		"two values":   `{} {}`,
		"half":         `{"password":"a`,
	} {
		if out, err := JSON([]byte(raw)); err == nil {
			t.Errorf("%s: no error, %d bytes", name, len(out))
		}
	}
	long := `{"a":[` + strings.Repeat(`{"token":"x","b":[1,2]},`, 40000) + `0]}`
	began := time.Now()
	out, err := JSON([]byte(long))
	if err != nil || !json.Valid(out) {
		t.Fatalf("JSON of a long value: %v", err)
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("%d bytes of JSON took %v", len(long), took)
	}
}
