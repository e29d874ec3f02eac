package redact

import (
	"encoding/base64"
	"strings"
)

// shapeRules are the secrets whose shape is more than a prefix and a body.
var shapeRules = []rule{
	{prefix: "eyJ", find: jsonWebToken},
	{prefix: "ZXlK", find: jsonWebToken}, // the same, encoded once more
	{prefix: "sk-", find: secretKey},
	{prefix: "sk_", find: secretKey},
	{prefix: "pk-", find: secretKey},
	{prefix: "pk_", find: secretKey},
	{prefix: "rk-", find: secretKey},
	{prefix: "rk_", find: secretKey},
	{prefix: "xox", find: slackToken},
	{prefix: ":AA", find: telegramToken},
	{prefix: "-us", find: mailchimpKey},
	{prefix: "_mmk", find: maxmindKey},
	{prefix: ".atlasv1.", find: around},
	{prefix: ".acc_", find: around},
	{prefix: ".acc-", find: around},
	{prefix: "AKIA", find: awsPair},
	{prefix: "ASIA", find: awsPair},
	{prefix: "BEGIN ", find: privateKey},
	{prefix: "-----END ", find: privateKeyTail},
	{prefix: "Private-Lines:", find: puttyKey},
	{prefix: "Private-MAC:", find: puttyKey},
	{prefix: "://", find: urlCredentials},
	{prefix: "hooks.slack.com/", find: webhook},
	{prefix: "/api/webhooks/", find: webhook}, // Discord
	{prefix: "/webhookb2/", find: webhook},    // Teams
	{prefix: "hooks.zapier.com/hooks/", find: webhook},
	{prefix: "maker.ifttt.com/", find: webhook},
	{prefix: "/bot/v2/hook/", find: webhook},      // Feishu
	{prefix: "/webhook/send?key=", find: webhook}, // WeCom
	{prefix: "@tcp(", find: dsnPassword},
	{prefix: "@unix(", find: dsnPassword},
	{prefix: "@udp(", find: dsnPassword},
	{prefix: "bearer", fold: true, find: bearer},
	{prefix: "basic", fold: true, find: basic},
	{prefix: "kind", fold: true, find: kubernetesSecret},
	{prefix: "identified by", fold: true, find: sqlPassword},
	{prefix: "curl", find: command},
	{prefix: "wget", find: command},
	{prefix: "sshpass", find: command},
	{prefix: "mysql", find: command},
	{prefix: "mariadb", find: command},
	{prefix: "docker login", find: command},
	{prefix: "podman login", find: command},
	{prefix: "redis-cli", find: command},
	{prefix: "ldapsearch", find: command},
	{prefix: "smbclient", find: command},
	{prefix: "pass:", find: opensslPassword},
}

// jsonWebToken finds header.payload.signature, encrypted tokens of five parts,
// tokens without a signature, and single parts that are known to be keys.
func jsonWebToken(c *scan, at int, _ *rule) int {
	if at < c.jwtEnd {
		return at
	}
	end := url64.run(c.s, at)
	first, parts, longest := end-at, 1, 0
	for end < len(c.s) && c.s[end] == '.' {
		next := url64.run(c.s, end+1)
		if next == end+1 && (parts > 1 || next >= len(c.s) || c.s[next] != '.') {
			break
		}
		longest = max(longest, next-end-1)
		parts++
		end = next
	}
	c.jwtEnd = end
	switch {
	case parts >= 2 && first >= 13 && longest >= 10:
	case strings.HasPrefix(c.s[at:], "eyJrIjoi") && first >= 70: // Grafana
	case c.s[at] == 'Z' && first >= 70:
	default:
		return at
	}
	c.add(at, end)
	return end
}

// secretKey finds the keys of the sk- family: OpenAI, Anthropic, Stripe and the
// many that copied them. The prefix also ends English words (task-, risk_),
// whose vowel before it tells them apart.
func secretKey(c *scan, at int, r *rule) int {
	if at > 0 && strings.IndexByte("aeiou", c.s[at-1]) >= 0 {
		return at
	}
	from := at + len(r.prefix)
	body := c.s[from:wordy.run(c.s[:min(len(c.s), from+sample)], from)]
	for _, mode := range []string{"live", "test", "prod"} {
		if tail, ok := strings.CutPrefix(body, mode); ok && tail != "" && (tail[0] == '_' || tail[0] == '-') &&
			alnum.run(tail, 1) > 10 {
			return c.addRun(at, wordy)
		}
	}
	ok := false
	switch r.prefix {
	case "sk-":
		ok = alnum.run(body, 0) >= 20 || ownSpace(body) ||
			len(body) >= 32 && wordStart(c.s, at) && isMixed(body) && isRandom(body)
	case "sk_":
		ok = len(body) >= 29 && wordStart(c.s, at) && alnum.all(body)
	}
	if !ok {
		return at
	}
	return c.addRun(at, wordy)
}

// addRun adds the whole run of characters of a set that starts at i, and returns
// its end.
func (c *scan) addRun(i int, set charset) int {
	end := set.run(c.s, i)
	c.add(i, end)
	return end
}

// ownSpace reports whether the body of an sk- key starts with the name space of
// a known provider and goes on long enough.
func ownSpace(body string) bool {
	for _, name := range []string{"ant-", "proj-", "svcacct-", "admin-", "service-", "or-", "lf-"} {
		if tail, ok := strings.CutPrefix(body, name); ok {
			return len(tail) >= 20
		}
	}
	return false
}

// slackToken finds xoxb-, xoxp-, xoxe.xoxp-1- and their kin.
func slackToken(c *scan, at int, _ *rule) int {
	set := alnum | dash | percent
	body := c.s[at:(set|dot).run(c.s[:min(len(c.s), at+40)], at)]
	if len(body) < 18 || strings.IndexByte("abcdeoprs", body[3]) < 0 || body[4] != '-' && !strings.HasPrefix(body[4:], ".xox") {
		return at
	}
	if k, _ := in(body[5:]); k&digit == 0 {
		return at
	}
	from := at
	if body[4] == '.' {
		at += len("xoxe.")
	}
	end := set.run(c.s, at)
	if end-from < 18 {
		return from
	}
	c.add(from, end)
	return end
}

// telegramToken finds 123456789:AA… .
func telegramToken(c *scan, at int, _ *rule) int {
	from := digit.back(c.s, at, 17)
	end := wordy.run(c.s[:min(len(c.s), at+50)], at+1)
	if n := at - from; n < 5 || n > 16 || end-at-1 < 30 || end-at-1 > 46 {
		return at
	}
	c.add(from, end)
	return end
}

// mailchimpKey finds 32 hexadecimal digits before -us and the data centre.
func mailchimpKey(c *scan, at int, _ *rule) int {
	from := anyHex.back(c.s, at, 33)
	end := digit.run(c.s, at+3)
	if at-from != 32 || end == at+3 || !wordEnd(c.s, end) {
		return at
	}
	c.add(from, end)
	return end
}

func maxmindKey(c *scan, at int, r *rule) int {
	const longest = 40
	from := word.back(c.s, at, longest)
	if at-from < 30 || at-from == longest || !wordEnd(c.s, at+len(r.prefix)) {
		return at
	}
	c.add(from, at+len(r.prefix))
	return at + len(r.prefix)
}

// around finds tokens that are known by a piece in the middle.
func around(c *scan, at int, r *rule) int {
	from := (wordy | dot).back(c.s, at, 80)
	const longest = 400
	end := path.run(c.s[:min(len(c.s), at+longest)], at+len(r.prefix))
	if at-from < 8 || end-at < 30 {
		return at
	}
	c.add(from, end)
	return end
}

// awsPair finds the secret access key that stands within reach of its id, as in
// a CSV export: 40 characters of base64 without a name.
func awsPair(c *scan, at int, r *rule) int {
	end := upNum.run(c.s, at)
	if end-at < len(r.prefix)+16 {
		return at
	}
	const reach, length = 120, 40
	secret := alnum | slash | plus
	stop := min(len(c.s), end+reach)
	for i := end; i < stop; {
		if !secret.has(c.s[i]) {
			i++
			continue
		}
		next := secret.run(c.s[:min(len(c.s), i+length+1)], i)
		if v := c.s[i:next]; len(v) == length && !anyHex.all(v) && isRandom(v) {
			c.add(i, next)
			break
		}
		i = next
	}
	return at
}

// shapes finds the tokens that have neither a prefix nor a middle of three
// characters, by the rarest of their characters.
func (c *scan) shapes() {
	c.each('.', dottedToken)
	c.each('~', azureSecret)
	c.each('|', facebookToken)
}

func (c *scan) each(b byte, find func(c *scan, at int)) {
	for i := 0; ; i++ {
		n := strings.IndexByte(c.s[i:], b)
		if n < 0 {
			return
		}
		i += n
		find(c, i)
	}
}

// dottedToken finds Discord bot tokens (an id of 24 to 28 characters, six, 27
// or more) and Airtable tokens (pat and 14, 64 hexadecimal).
func dottedToken(c *scan, at int) {
	if at+7 < len(c.s) && c.s[at+7] == '.' && wordy.run(c.s[:at+7], at+1) == at+7 {
		from := wordy.back(c.s, at, 29)
		end := wordy.run(c.s[:min(len(c.s), at+7+46)], at+8)
		if n := at - from; n >= 23 && n <= 28 && end-at-8 >= 27 && isMixed(c.s[from:end]) {
			c.add(from, end)
		}
		return
	}
	if at >= 17 && c.s[at-17:at-14] == "pat" && alnum.all(c.s[at-14:at]) {
		if end := hex.run(c.s[:min(len(c.s), at+65)], at+1); end-at-1 == 64 {
			c.add(at-17, end)
		}
	}
}

// azureSecret finds xxx8Q~ and 31 to 34 characters.
func azureSecret(c *scan, at int) {
	if at < 5 || c.s[at-1] != 'Q' || !digit.has(c.s[at-2]) {
		return
	}
	body := wordy | dot | tilde
	from := body.back(c.s, at-2, 4)
	end := body.run(c.s[:min(len(c.s), at+37)], at+1)
	if at-2-from == 3 && end-at-1 >= 31 && end-at-1 <= 35 {
		c.add(from, end)
	}
}

// facebookToken finds an application's id, a bar and its token.
func facebookToken(c *scan, at int) {
	from := digit.back(c.s, at, 17)
	end := wordy.run(c.s[:min(len(c.s), at+42)], at+1)
	if n := at - from; n >= 15 && n <= 16 && end-at-1 >= 27 && end-at-1 <= 40 {
		c.add(from, end)
	}
}

// decodes reports whether s is the base64 form of user:password.
func decodes(s string) bool {
	raw, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(s, "="))
	if err != nil {
		return false
	}
	pair := string(raw)
	for i := range len(pair) {
		if pair[i] < ' ' || pair[i] == 0x7f {
			return false
		}
	}
	return strings.Contains(pair, ":")
}
