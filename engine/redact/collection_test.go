package redact

import (
	"strings"
	"testing"
)

// heldForms are the notations in which a value stands inside of another one that a name of a secret is given.
var heldForms = []string{
	// Lists.
	`api_keys: ["{}", "other"]`, `api_keys: [{}]`, `api_keys: [other, {}]`, `passwords = ["{}"]`, "passwords = [\n  \"{}\",\n]\n", `passwords = ('{}', 'x')`,
	`const apiKeys: string[] = ["{}"];`, `apiKeys := []string{"{}"}`, `var secrets = []string{"a", "{}"}`, `String[] passwords = {"{}"};`,
	`String[] passwords = new String[] {"{}"};`, `let api_keys = vec!["{}"];`, `auth_tokens = set(["{}"])`, `List<String> passwords = List.of("{}");`,
	`passwords: list[str] = ["{}"]`, `API_KEYS=("{}" "x")`, `'api_keys' => ['{}'],`, `$secrets = array('{}');`, `client_secrets = frozenset({'{}'})`,
	`db_password: ['{}']`, `token: [{}]`, `{\"access_tokens\":[\"{}\"]}`, `{"tokens":["{}"]}`, `tokens = ["{}"]`, `refresh_tokens: [["{}"]]`,
	// Maps.
	`auth_token: {prod: {}}`, `auth_token: { prod: "{}", dev: x }`, `const config = { apiKeys: { prod: "{}" } };`, `credentials = {'prod': '{}'}`,
	"credentials = {\n    'stripe': {'live': '{}'},\n}", `secrets = { stripe = "{}" }`, "auth_tokens = {\n  github = \"{}\"\n}", `api_keys => { :github => "{}" }`,
	`apiKeys := map[string]string{"github": "{}"}`, `const apiKeys: Record<string, string> = { github: '{}' };`, "passwords: {\n  alice: '{}',\n  bob: '',\n}",
	`"secrets": {alice: "{}"}`, `private_keys: {a: {b: {c: "{}"}}}`, `passphrases = dict(prod="{}")`, `const apiKeys = new Map([["github", "{}"]]);`,
	`Object.assign(x, { secrets: Object.freeze({ a: "{}" }) })`, `password: { value: "{}" }`,
	// Blocks of YAML.
	"db_password:\n  value: {}", "secret:\n  value: {}", "password:\n  - {}", "passwords:\n- {}", "api_keys:\n  - \"{}\"\n  - x", "auth_token:\n  prod: '{}'\n  dev: x\n",
	"credentials:\n  github:\n    live: {}\nnext: 1", "app:\n  api_keys:\n    # of the staff\n    alice: \"{}\"\n\n    bob: {}\n", "secrets:\n  - name: a\n    value: {}\n",
	"- password:\n    - {}\n  user: x", "tokens:\n  - {}", "api_keys: &keys\n  - {}", "secrets: !!map\n  a: {}", "passwords:\n  prod: [x, {}]", "apiKeys:\n  - - {}",
	"secret:\n  value: |\n    {}\n", "+  password:\n+    - {}\n", "\"api_keys\":\n  'a': {}", "passwords:\n  prod: !!str {}", "passwords:\n  - &p {}",
	// Tags and anchors.
	"password: !!str {}", `password: !!str "{}"`, "password: &anchor {}", "password: &anchor !!str {}", "password: !<tag:yaml.org,2002:str> {}", "{password: !!str {}, a: 1}",
	"password: !!binary |\n  {}\n", "password: !!str\n  {}", "token: &t\n  \"{}\"",
	// Tables of TOML and INI.
	"[credentials]\nprod = \"{}\"\n", "[auth_tokens]\n# of the build\ngithub = \"{}\"\ngitlab = '{}'\n\n[next]\nx = 1", "[[api_keys]]\nname = \"x\"\nvalue = \"{}\"", "[secrets.prod]\nstripe = {}\n",
	"db_password: # of the staff\n  value: {}", "passwords:\r\n  - {}\r\nx: y\r\n", "SECRET_KEY_FALLBACKS = [\"{}\"]", "passwords = \"\"\"\n{}\nx\n\"\"\"",
	`requests.get(url, auth=("bob", "{}"))`, `auth = ('bob', '{}')`,
	`let passwords: [&str; 1] = ["{}"];`, `pw: ["{}"]`, `passwords := map[string][]string{"a": []string{"{}"}}`,
	"[app.secrets]\nkeys = [\"{}\"]",
}

// heldPhrases are those of passwords, which may be words.
var heldPhrases = []string{
	"password:\n  - {}", "passwords:\n  - {}\n  - x", `passwords = ["{}"]`, `passwords: ['{}']`, "passphrases:\n  prod: {}", `db_password: { prod: "{}" }`, "password:\n  value: \"{}\"",
	`passwords: [{}]`, "password: !!str {}", "passwords: &all\n- {}", "[passwords]\nalice = \"{}\"",
}

func heldCorpus(seed uint64) (list []example) {
	d := newDraw(seed)
	put := func(kind, form, secret string) {
		list = append(list, filled(kind, form, secret))
	}
	for _, form := range heldForms {
		put("held alphanumeric", form, d.of(alnums, 24))
		put("held dashed", form, d.of(lowers, 5)+"-"+d.of(lowers+digits, 6)+"-"+d.of(digits, 4))
		put("held base64", form, d.of(alnums, 40)+"9A=")
	}
	for _, form := range heldPhrases {
		put("held phrase", form, d.pick("correct", "brown", "quiet")+" "+d.pick("horse", "paper")+" "+d.pick("battery", "river", "staple"))
		put("held letters", form, d.of(lowers+uppers, 24))
	}
	for range 2 {
		put("digest", `Authorization: Digest username="bob", realm="x", nonce="n1", uri="/", response="{}"`, d.of(hexes, 32))
		put("digest", `curl -H 'Authorization: Digest username="bob", response="{}", qop=auth' http://h`, d.of(hexes, 32))
		put("digest", `"Authorization": "Digest username=\"bob\", response=\"{}\"",`, d.of(hexes, 32))
		put("digest", "Authorization: Digest username=bob,response={}", d.of(alnums, 24))
		put("digest", `authorization: OAuth oauth_nonce="n", oauth_consumer_key="c", oauth_signature="{}"`, d.of(alnums, 27)+"%3D")
		put("digest", "Authorization: Digest username=\"bob\",\r\n  response=\"{}\"\r\nHost: h", d.of(hexes, 32))
		put("pw", "PW={}", d.of(alnums, 20)+"7a")
		put("login", `auth=("bob", "{}")`, d.of(lowers, 6)+"!!")
		put("pw", "pw={}", d.of(alnums, 24))
		put("pw", "pw: {}", d.of(alnums, 14)+"7a")
		put("pw", `pw = "{}"`, d.of(alnums, 14)+"7a")
		put("pw", `{"pw":"{}"}`, d.of(alnums, 14)+"7a")
		put("pw", "user=bob&db_pw={}", d.of(alnums, 14)+"7a")
		put("notion old", "the token secret_{} of Notion", d.of(alnums, 43))
		put("notion old", "NOTION=secret_{}", d.of(alnums, 43))
	}
	return list
}

// TestHeldPlaces has what is gone beside what stays.
func TestHeldPlaces(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{`passwords = ["S3cr3tS3cr3t", "x"]`, `passwords = ["M", "x"]`},
		{`{ apiKeys: { prod: "S3cr3tS3cr3t", url: "https://h" } }`, `{ apiKeys: { prod: "M", url: "https://h" } }`},
		{"secret:\n  name: app-db\n  value: S3cr3tS3cr3t # c\nx: y1", "secret:\n  name: app-db\n  value: M # c\nx: y1"},
		{"password: !!str S3cr3tS3cr3t", "password: !!str M"},
		{"password: &anchor S3cr3tS3cr3t\nb: *anchor", "password: &anchor M\nb: *anchor"},
		{"password:\n  - correct horse battery\n  - ${OTHER}", "password:\n  - M\n  - ${OTHER}"},
		{`Authorization: Digest username="bob", response="S3cr3tS3cr3t" is`, `Authorization: Digest M is`},
		{`-H 'Authorization: Digest a="b", response="S3cr3tS3cr3t"' x`, `-H 'Authorization: Digest M' x`},
		{"pw=S3cr3tS3cr3t, x", "pw=M, x"},
		{`{"tokens":["S3cr3tS3cr3tAb9xQ"]}`, `{"tokens":["M"]}`},
		{"[credentials]\nprod = \"S3cr3tS3cr3t\"\nurl = \"https://h/\"\n[next]\nprod = \"S3cr3tS3cr3t\"", "[credentials]\nprod = \"M\"\nurl = \"https://h/\"\n[next]\nprod = \"S3cr3tS3cr3t\""},
		{"passwords: [S3cr3tS3cr3t", "passwords: [M"},
		{"Authorization: Digest a=\"b\", response=\"S3cr3tS3cr3t\"\nAccept=x", "Authorization: Digest M\nAccept=x"},
		{"passwords: [M, M]", "passwords: [M, M]"},
		{"passwords:\n  - M\n  - M", "passwords:\n  - M\n  - M"},
	} {
		in, want := marked(tt.in), marked(tt.want)
		got := Text(in)
		if got != want {
			t.Errorf("Text(%q)\n = %q\nwant %q", in, got, want)
		}
		if again := Text(got); again != got {
			t.Errorf("Text(%q) = %q, again %q", in, got, again)
		}
	}
}

// marked writes Marker for M where that is all of a value.
func marked(s string) string {
	for _, around := range [...][2]string{{"\"", "\""}, {" ", " "}, {" ", "\n"}, {" ", "'"}, {"[", ","}, {" ", "]"}, {"=", ","}} {
		s = strings.ReplaceAll(s, around[0]+"M"+around[1], around[0]+Marker+around[1])
	}
	if head, ok := strings.CutSuffix(s, "M"); ok && strings.HasSuffix(strings.TrimRight(head, " ["), ":") || strings.HasSuffix(head, "- ") || strings.HasSuffix(head, "str ") {
		s = head + Marker
	}
	return s
}
