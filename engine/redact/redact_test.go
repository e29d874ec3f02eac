package redact

import (
	"strings"
	"testing"
)

// TestProtocolVectors checks the vectors of the coordination protocol: what they
// take away must be gone. Their blanks are not eaten here, and the leaks that
// the protocol lists are closed.
func TestProtocolVectors(t *testing.T) {
	hex40 := strings.Repeat("0a1b2c3d", 5)
	for _, tt := range []struct{ in, want string }{
		{"api_key=supersecretvalue123456", "api_key=[REDACTED]"},
		{`apiKey: "mySecretKey12345678"`, `apiKey: "[REDACTED]"`},
		{"mytoken = 'abcdefghijkl' tail", "mytoken = '[REDACTED]' tail"},
		{"token: abc", "token: abc"},
		{"Authorization: Bearer abcdefghijklmnopqrstuvwxyz123456", "Authorization: Bearer [REDACTED]"},
		{"use ghp_" + strings.Repeat("a", 36) + " now", "use [REDACTED] now"},
		{"sk-ant-api03-abcdefghijklmnopqrstuv", "[REDACTED]"},
		{"sk-ABCDEFGHIJKLMNOPQRSTuv", "[REDACTED]"},
		{"pk-test-abcdefghij", "[REDACTED]"},
		{"rk_live_0123456789", "[REDACTED]"},
		{"github_pat_abcdefghijklmnopqrstuv", "[REDACTED]"},
		{"AKIAIOSFODNN7EXAMPLE0", "[REDACTED]"},
		{"STRIPE_SECRET_KEY = whatever is here # c", "STRIPE_SECRET_KEY = [REDACTED]"},
		{"FOO_CREDENTIAL=z", "FOO_CREDENTIAL=[REDACTED]"},
		{"commit " + hex40 + " done", "commit " + hex40 + " done"},
		{"sha256-" + hex40, "sha256-" + hex40},
		{"Bearer QWxhZGRpbjpvcGVuIHNlc2FtZTEyMw==", "Bearer [REDACTED]"},
		{"bearer   abcdefghijklmnopqrst", "bearer   [REDACTED]"},
		{"sk-proj-abcdefghijklmnopqrstuvwxyz", "[REDACTED]"},
		{"gho_" + strings.Repeat("b", 36), "[REDACTED]"},
		{"xoxb-123456789012-" + strings.Repeat("c", 24), "[REDACTED]"},
		{"-----BEGIN RSA PRIVATE KEY-----", "[REDACTED]"},
		{"https://u:pw@h/", "https://u:[REDACTED]@h/"},
		{`password = "two words here"`, `password = "[REDACTED]"`},
	} {
		if got := Text(tt.in); got != tt.want {
			t.Errorf("Text(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
}

// TestPlaces has a secret, S3cr3t or a longer one that begins so, in each place
// where secrets are written; the rest of the line stays.
func TestPlaces(t *testing.T) {
	for _, line := range []string{
		// Names and notations.
		`password: "S3cr3t"`, `password: S3cr3t`, `password = 'S3cr3t'`, `PASSWORD=S3cr3t`, `password: "S3cr3t and more"`, `password='it''s S3cr3t'`,
		`password="with \"S3cr3t\""`, `{"password":"S3cr3t","user":"bob"}`, `{"a":{"dbPassword" : "S3cr3t"}}`, `{\"client_secret\":\"S3cr3t-abcdef\"}`,
		`{"pwd": "S3cr3t"`, `password: "S3cr3t and then the text ends`, `password:S3cr3t`, `passphrase: S3cr3t`, `passwort: S3cr3t`,
		`MY_API_KEY=S3cr3tabcdef`, `"client-secret": "S3cr3t-abcdef"`, `secretAccessKey: 'S3cr3t/abc+def'`, `spring.datasource.password=S3cr3t`,
		`_authToken=S3cr3tabcdef`, `  password: S3cr3t # comment`, `+    password: S3cr3t`, `> password: S3cr3t`, `"passwordConfirmation":"S3cr3t"`,
		"API key: S3cr3tabcdefgh", "client secret = S3cr3tabcdefgh", "password%3DS3cr3t", "export DB_PASS='S3cr3t'", "$env:API_TOKEN = \"S3cr3tabcdef\"",
		"db_password: >-\n  S3cr3t line\n  more S3cr3t\nnext: ok", "password:\n  \"S3cr3t\"", "passwords:\n  - S3cr3tabc\n  - other9S3cr3t",
		"data: x\n---\nkind: Secret\ndata:\n  a: S3cr3t\n  b: |\n    S3cr3t\ntype: Opaque", "- name: DB_PASSWORD\n  value: S3cr3t",
		`{"name": "API_TOKEN", "value": "S3cr3tabcdef"}`, "| password | S3cr3tAbc123xyz |", "MAIL_PASSWORD=null\nDB_PASSWORD=S3cr3t",
		// Code.
		`String password = "S3cr3t";`, `const char *password = "S3cr3t";`, `#define WIFI_PASSWORD "S3cr3t"`, `let apiKey: String = "S3cr3tabcdef"`,
		`var password string = "S3cr3t"`, "token := `S3cr3tabcdef`", `connect(host="h", password='S3cr3t')`, `$config['password'] = 'S3cr3t';`,
		`define('DB_PASSWORD', 'S3cr3t');`, `:password => "S3cr3t"`, `ENV["SECRET_KEY"] = "S3cr3tabcdef"`, `os.Setenv("API_TOKEN", "S3cr3tabcdef")`,
		`os.getenv("API_KEY", "S3cr3tabcdef")`, `if (password == "S3cr3t") {`, `b"password": b"S3cr3t"`, `password = """S3cr3t"""`,
		`{"password": 1234567890123}` + "S3cr3t"[:0], // S3cr3t is a number here
		// Markup.
		`<password>S3cr3t</password>`, "<Password>\n  S3cr3t\n</Password>", `<add key="Password" value="S3cr3t" />`,
		`<string name="api_key">S3cr3tabc1</string>`, `<key>password</key><string>S3cr3t</string>`,
		// Commands.
		"app --password S3cr3t --verbose", "the token -> S3cr3tAb9xQ", "app --password=S3cr3t", "app -password 'S3cr3t x'", "app --api-key S3cr3tabcdef run",
		"curl -uadmin:S3cr3t http://x", "curl --user 'admin:S3cr3t x' http://x", "curl -X POST \\\n  -u admin:S3cr3t http://x", `sh -c "curl -u a:S3cr3t x"`,
		"mysql -u root -pS3cr3t db", "docker login -u me -p S3cr3t host", "sshpass -p S3cr3t ssh h", "redis-cli -a S3cr3t ping",
		"openssl rsa -passin pass:S3cr3t", "PGPASSWORD=S3cr3t psql", "docker run -e POSTGRES_PASSWORD=S3cr3t postgres", "helm --set auth.password=S3cr3t,x=1",
		"java -Dpassword=S3cr3t -jar x", "ENV SECRET_KEY=S3cr3tabcdef", "ENV SECRET_KEY S3cr3tabcdef", "CREATE USER x IDENTIFIED BY 'S3cr3t'",
		"machine h login u password S3cr3t", "machine h\nlogin u\npassword S3cr3t\n", "requirepass S3cr3tabc1",
		// URLs, connection strings, headers.
		"https://u:S3cr3t@h:8080/x?y=z", "redis://:S3cr3t@h", "amqp://u:S3cr3t/with/slash@h/v", "jdbc:postgresql://h/db?user=u&password=S3cr3t",
		"https://h/?access_token=S3cr3tabcdef&x=1", "https://h/x?sig=S3cr3tabcdef%3D", "Server=h;Password=S3cr3t with blanks;Encrypt=true",
		"u:S3cr3t@tcp(h:3306)/db", "Authorization: ApiKey S3cr3tabc1", "authorization: Basic S3cr3tcGFzcw==", "X-Api-Key: S3cr3tabcdef",
		`Authorization: Digest username="u", response="S3cr3tabcdef"`[:0] + `Authorization: OAuth a="b", oauth_token=S3cr3tabcdef`,
		"Authorization: AWS4-HMAC-SHA256 Credential=a/b, Signature=S3cr3tabcdef0123",
		// Prose.
		"the password is S3cr3t", "user: bob, pass: S3cr3t!", `auth: { user: "bob", pass: "S3cr3t" }`, "password = S3cr3t", "password = S3cr3t!",
		"token = S3cr3tabc", "postgres://u:p@S3cr3t/x@db.host/app", "The admin password was changed to S3cr3t9x", "password is `S3cr3t9`",
	} {
		got := Text(line)
		if strings.Contains(got, "S3cr3t") || strings.Contains(got, "1234567890123") || !strings.Contains(got, Marker) {
			t.Errorf("Text(%q) = %q", line, got)
		}
		if again := Text(got); again != got {
			t.Errorf("Text(%q) = %q, again %q", line, got, again)
		}
		// Nothing but the secret is gone: what is left is in the line, in order.
		rest := line
		for part := range strings.SplitSeq(got, Marker) {
			i := strings.Index(rest, part)
			if i < 0 {
				t.Errorf("Text(%q) = %q: %q is not from there", line, got, part)
				break
			}
			rest = rest[i+len(part):]
		}
	}
}

// TestExtent pins how much goes.
func TestExtent(t *testing.T) {
	key := newDraw(1).pem("PRIVATE KEY", "\n")
	for _, tt := range []struct{ in, want string }{
		{"a  password = \"x1y2z3\"  b", "a  password = \"[REDACTED]\"  b"},
		{"password=hunter2, user=bob", "password=[REDACTED], user=bob"},
		{"password=hunter2; next", "password=[REDACTED]; next"},
		{"(token=a1b2c3d4e5f6)", "(token=[REDACTED])"},
		{"see " + key + "\nand more", "see [REDACTED]\nand more"},
		{key + "\n" + key, "[REDACTED]\n[REDACTED]"},
		{key[:200] + "\n\nThe log goes on here.", "[REDACTED]\n\nThe log goes on here."},
		{`{"k":"` + strings.ReplaceAll(key, "\n", `\n`) + `\n","x":1}`, `{"k":"[REDACTED]\n","x":1}`},
		{"-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----", "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----"},
		{`{"token": {"type": "string"}}`, `{"token": {"type": "string"}}`},
		{`{"token": {"a": [1, "x"]}, "b": 1}`, `{"token": [REDACTED], "b": 1}`},
		{"task-0123456789abcdefghij01", "task-0123456789abcdefghij01"},
		{"password: [REDACTED]", "password: [REDACTED]"},
		{"app --password foo", "app --password [REDACTED]"},
		{"app --password=foo", "app --password=[REDACTED]"},
		{"app --password prompt", "app --password prompt"},
		{"pass: 12/14, fail: 2", "pass: 12/14, fail: 2"},
		{"https://u:pw@host.example/@scope/name", "https://u:[REDACTED]@host.example/@scope/name"},
		{key[:27] + "\r\n" + strings.ReplaceAll(key[28:], "\n", "\r\n"), "[REDACTED]"},
		{"key: |\n  " + strings.ReplaceAll(key, "\n", "\n  ") + "\nnext: 1", "key: |\n  [REDACTED]\nnext: 1"},
		{`"` + strings.ReplaceAll(key, "\n", "\\n\" +\n    \"") + `";`, `"[REDACTED]";`},
		{strings.ReplaceAll(key, "\n", " "), "[REDACTED]"},
		{"> " + strings.ReplaceAll(key, "\n", "\n> "), "> [REDACTED]"},
		{"use --password to log in", "use --password to log in"},
		{"Bearer [REDACTED]", "Bearer [REDACTED]"},
		{"", ""},
	} {
		if got := Text(tt.in); got != tt.want {
			t.Errorf("Text(%q)\n = %q\nwant %q", tt.in, got, tt.want)
		}
	}
}

func TestTokenRulesArePlain(t *testing.T) {
	for _, r := range tokenRules {
		if len(r.prefix) < 2 || r.body == 0 || r.min < 10 || r.max != 0 && r.max < r.min {
			t.Errorf("rule %+v is incomplete", r)
		}
	}
	if n := len(tokenRules) + len(shapeRules) + len(vendors); n < 40 {
		t.Errorf("%d rules", n)
	}
	seen := map[string]bool{}
	for _, name := range append(append([]string{}, nameStems...), vendors...) {
		if seen[name] || name != strings.ToLower(name) || len(name) < gramLen {
			t.Errorf("name %q is there twice, not lower case or too short", name)
		}
		seen[name] = true
	}
}

func TestClassify(t *testing.T) {
	for want, names := range map[class][]string{
		plain: {
			// The keys of the project's own events.
			"id", "seq", "type", "from", "to", "description", "context", "timestamp", "resolves", "payload", "name", "revision", "body",
			"format", "paths", "mode", "reason", "title", "rationale", "supersedes", "files", "commands", "command", "exitCode", "summary",
			"note", "blockers", "next", "eventSeq", "threadId", "kind", "round", "role", "content", "participants", "fence", "holder",
			"displaced", "expiresAt", "needs", "key", "session", "author", "authors", "bundle", "criteria", "evidence",
			// Other words.
			"monkey", "keyboard", "tokenizer", "password_hash", "tokenUrl", "secretName", "key_id", "publicKey", "primary_key", "cacheKey",
			"compass", "authority", "oauth_client_type",
		},
		hint:   {"tokens", "inputTokens", "max_tokens", "nextPageToken", "mySecretString2x", "fooKey", "signature", "pass"},
		secret: {"token", "secret", "apiKey", "API_KEY", "api-key", "APIKey", "auth", "authorization", "bearer", "client_secret", "credential", "credentials", "access_token", "accessToken", "MY_API_KEY", "secret_key_base", "api_token_123", "access_tokens", "authTokens", "client_secrets", "private_keys", "api_credentials", "SharedAccessSignature", "apikey", "x-api-key"},
		password: {
			"password", "passwd", "pwd", "dbPassword", "DB_PASSWORD", "passphrase", "passwordConfirm", "PGPASSWORD", "smtp_pass", "password1",
			"passwords", "user_passwords", "passphrases", "db_pw",
		},
	} {
		for _, name := range names {
			if got := classify(name); got != want {
				t.Errorf("classify(%q) = %d, want %d", name, got, want)
			}
		}
	}
}
