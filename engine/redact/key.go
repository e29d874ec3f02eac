package redact

import "strings"

// class says what the name of a value promises about it.
type class uint8

const (
	plain    class = iota // nothing
	vendor                // names a provider: a value in the shape of a key is one
	hint                  // mentions a secret: a random value is one
	secret                // names a secret: a token, an API key
	password              // names a password, which may be short and a word
)

// maxName is the longest name that is looked at.
const maxName = 96

// nameStems are the pieces of text that start a look at the name they are in.
var nameStems = []string{
	"pass", "pwd", "secret", "token", "cred", "auth", "bearer", "key", "api", "access", "sig",
	"pw=", "pw:", "pw ", `pw"`, "pw'", `pw\`, "mnemonic", "sessid", "sessionid", "connect.sid", "private", "kennwort", "senha",
}

// vendors are the providers whose keys have no mark of their own, so that only
// the name they are assigned to tells. They stand at the start of a word.
var vendors = []string{
	"adafruit", "adobe", "airtable", "algolia", "alibaba", "asana", "atlassian", "beamer", "bitbucket",
	"bittrex", "cloudflare", "codecov", "cohere", "coinbase", "confluence", "confluent", "contentful",
	"contribsys", "datadog", "digitalocean", "discord", "droneci", "dropbox", "etsy", "facebook", "fastly",
	"finicity", "finnhub", "flickr", "freshbooks", "gitter", "gocardless", "heroku", "hubspot", "intercom",
	"jfrog", "artifactory", "bintray", "jira", "kraken", "kucoin", "launchdarkly", "linear", "linkedin",
	"linked_in", "linked-in", "lob", "looker", "mailchimp", "mailgun", "mapbox", "mattermost", "meraki",
	"messagebird", "message_bird", "message-bird", "netlify", "newrelic", "new_relic", "new-relic",
	"nytimes", "okta", "paypal", "plaid", "postmark", "privateai", "private_ai", "private-ai", "rapidapi",
	"sendbird", "sentry", "snyk", "sonar", "sourcegraph", "squarespace", "sumo", "sumologic", "telegram", "travis",
	"trello", "twilio", "twitch", "twitter", "typeform", "yandex", "zendesk",
}

// parts splits a name into its lower-case words: apiKey, api_key, API-KEY and
// api.key are api and key; a number is a word of its own.
type parts struct {
	buf  [maxName]byte
	ends [24]uint8
	n    int
}

func split(name string) (p parts) {
	for i := range len(name) {
		b := name[i]
		k := classes[b]
		if k&alnum == 0 {
			p.buf[i] = 0
			p.cut(i)
			continue
		}
		if i > 0 {
			before := classes[name[i-1]]
			switch {
			case before&lower != 0 && k&upper != 0, // apiKey
				before&upper != 0 && k&upper != 0 && i+1 < len(name) && classes[name[i+1]]&lower != 0 && name[i+1] != 's', // APIKey
				before&digit != 0 && k&digit == 0 && before&alnum != 0, before&digit == 0 && before&alnum != 0 && k&digit != 0:
				p.cut(i)
			}
		}
		if k&upper != 0 {
			b |= 0x20
		}
		p.buf[i] = b
	}
	p.cut(len(name))
	return p
}

// cut ends the current word at i; past the room for them, words run together.
func (p *parts) cut(i int) {
	if p.n < len(p.ends) {
		p.ends[p.n] = uint8(i)
		p.n++
	} else {
		p.ends[p.n-1] = uint8(i)
	}
}

// at returns word i, or nothing when there is none.
func (p *parts) at(i int) []byte {
	if i < 0 || i >= p.n {
		return nil
	}
	from := 0
	if i > 0 {
		from = int(p.ends[i-1])
	}
	w := p.buf[from:p.ends[i]]
	for len(w) > 0 && w[0] == 0 {
		w = w[1:]
	}
	return w
}

// classify returns the class of a name. At the end of a name stands what the
// value is; words such as PROD, 2 and Value after it do not matter.
func classify(name string) class {
	if len(name) > maxName || len(name) < 2 {
		return plain
	}
	p := split(name)
	last := p.n - 1
	for last > 0 && (len(p.at(last)) == 0 || isQualifier(string(p.at(last)))) {
		last--
	}
	if isAttribute(string(p.at(last))) {
		return plain
	}
	k := classifyWord(string(p.at(last)), string(p.at(last-1)), last > 0)
	if k >= secret {
		for i := range last {
			if isOtherToken(string(p.at(i))) {
				return hint
			}
		}
		return k
	}
	if w := string(p.at(last)); last == 0 && (w == "key" || w == "keys") {
		return plain
	}
	if p.n > 1 && isPublicKey(string(p.at(last-1))) {
		return plain
	}
	for i := range p.n {
		if isHint(string(p.at(i))) {
			return hint
		}
	}
	return k
}

// classifyWord judges the last word of a name by itself and by the one before.
func classifyWord(w, before string, compound bool) class {
	switch w {
	case "pass", "pw":
		if compound && isAccount(before) {
			return password
		}
		return hint
	case "key", "keys":
		if isKeyKind(before) {
			return secret
		}
		return plain
	case "tokens", "sid", "sig", "signature":
		if before == "access" && w == "signature" || w == "tokens" && isTokenKind(before) {
			return secret
		}
		return hint
	case "auth", "authorization", "bearer", "mnemonic", "creds", "cred", "apikeys", "secrets":
		return secret
	case "phrase", "word":
		if before == "pass" || before == "seed" || before == "recovery" {
			return password
		}
		return plain
	}
	word := w
	if !strings.HasSuffix(w, "ss") {
		w = strings.TrimSuffix(w, "s") // passwords as password
	}
	for _, end := range [...]string{
		"password", "passwd", "pwd", "passphrase", "passcode", "userpass", "dbpass", "requirepass", "kennwort", "passwort", "senha",
	} {
		if strings.HasSuffix(w, end) {
			return password
		}
	}
	for _, end := range [...]string{
		"secret", "credential", "apikey", "accesskey", "secretkey", "privatekey", "authkey",
		"accountkey", "masterkey", "encryptionkey", "signingkey", "licensekey", "appkey", "sharedkey", "storagekey",
	} {
		if strings.HasSuffix(w, end) {
			return secret
		}
	}
	if strings.HasSuffix(word, "token") {
		return secret
	}
	return plain
}

// isTokenKind reports whether the tokens of this kind are all secret. Those
// without a kind are mostly those of a parser, a model or a design.
func isTokenKind(w string) bool {
	switch w {
	case "access", "auth", "authentication", "api", "refresh", "bearer", "oauth", "secret", "deploy", "github", "gitlab", "slack", "npm", "bot":
		return true
	}
	return false
}

// isQualifier reports whether a word at the end of a name says which of several
// values this is, or in what form.
func isQualifier(w string) bool {
	if digit.all(w) {
		return true
	}
	switch w {
	case "prod", "production", "dev", "development", "staging", "stage", "test", "testing", "live", "local", "sandbox",
		"old", "new", "backup", "bak", "current", "previous", "primary", "secondary", "main", "root",
		"value", "val", "string", "str", "text", "plain", "plaintext", "clear", "raw", "base", "b", "default", "env",
		"hex", "bytes", "pem", "der", "fallback", "fallbacks",
		"confirmation", "confirm", "again", "repeat", "verify", "here", "v":
		return true
	}
	return false
}

// isAttribute reports whether a word at the end of a name makes it something
// about a secret, and not the secret.
func isAttribute(w string) bool {
	switch w {
	case "url", "uri", "urls", "endpoint", "host", "path", "paths", "file", "files", "filename", "dir", "directory", "folder",
		"name", "names", "username", "id", "ids", "type", "types", "kind", "len", "length", "size", "count", "counts", "num",
		"limit", "max", "min", "hash", "hashes", "hashed", "digest", "sha", "checksum", "fingerprint", "algorithm", "alg",
		"algo", "method", "policy", "rule", "rules", "field", "fields", "label", "title", "hint", "prompt", "help",
		"description", "error", "errors", "err", "message", "msg", "regex", "regexp", "pattern", "format", "version",
		"rev", "revision", "commit", "image", "tag", "expiry", "expires", "expiration", "expired", "ttl", "timeout",
		"age", "at", "date", "time", "timestamp", "enabled", "disabled", "required", "optional", "valid", "invalid",
		"validator", "index", "idx", "pos", "position", "offset", "start", "end", "ref", "refs", "arn", "store", "storage",
		"vault", "manager", "service", "provider", "handler", "parser", "lexer", "scanner", "reader", "writer", "header",
		"prefix", "suffix", "separator", "source", "target", "class", "func", "function", "callback", "factory", "builder",
		"generator", "strength", "reset", "change", "changed", "flag", "mode", "option", "options", "config", "settings",
		"scope", "scopes", "status", "state", "result", "response", "request", "tests", "spec", "mock", "pair",
		"ring", "board", "code", "codes", "alias", "usage", "bits", "map", "list", "set", "page", "form", "input",
		"column", "table", "schema", "selector", "char", "chars", "symbol", "agent", "user", "owner", "issuer", "audience",
		"subject", "realm", "module", "model", "package", "lib", "plugin", "client", "server", "port", "rate", "fee",
		"accessor", "accessibility", "public", "pub", "template", "placeholder", "variable", "var":
		return true
	}
	return false
}

// isOtherToken reports whether a word makes a token one of a parser, a model, a
// list or a form.
func isOtherToken(w string) bool {
	switch w {
	case "max", "min", "num", "count", "total", "pad", "eos", "bos", "unk", "sep", "cls", "mask", "special", "stop",
		"next", "prev", "peek", "curr", "lookahead", "unexpected", "expected", "page", "continuation", "cursor", "sync",
		"cancellation", "cancel", "lex", "syntax", "open", "close", "csrf", "xsrf", "fence", "public", "no", "invalid",
		"missing", "forgot", "reset", "change", "idempotency", "hash", "hashed", "is", "has", "use", "with", "show", "hide":
		return true
	}
	return false
}

// isAccount reports whether "pass" after this word is a password.
func isAccount(w string) bool {
	switch w {
	case "db", "database", "smtp", "user", "usr", "mail", "email", "admin", "root", "ftp", "sftp", "ssh", "mysql", "pg",
		"postgres", "postgresql", "redis", "mongo", "mongodb", "rabbitmq", "amqp", "auth", "login", "http", "https", "proxy",
		"wifi", "wlan", "ldap", "bind", "key", "cert", "pfx", "keystore", "truststore", "default", "account", "app", "api",
		"service", "imap", "pop", "git", "vpn", "sudo", "my", "the", "sql", "registry", "docker", "jenkins", "basic", "elastic":
		return true
	}
	return false
}

// isKeyKind reports whether a "key" after this word is secret. Other keys
// (primary, public, cache, sort, …) are not.
func isKeyKind(w string) bool {
	switch w {
	case "api", "access", "secret", "private", "priv", "account", "auth", "encryption", "encrypt", "decryption", "signing",
		"sign", "signature", "master", "shared", "service", "storage", "app", "application", "admin", "license", "licence",
		"deploy", "consumer", "subscription", "ssh", "gpg", "webhook", "write", "ingest", "ingestion", "insert",
		"instrumentation", "integration", "server", "crypt", "crypto", "aes", "hmac", "jwt", "sas", "root", "merchant",
		"live", "token", "client", "secure", "security", "tls", "ssl", "rsa", "wallet", "bot", "developer", "dev",
		"prod", "sendgrid", "stripe", "openai", "anthropic", "aws", "azure", "gcp", "google", "github", "gitlab", "slack",
		"mailgun", "twilio", "datadog", "heroku", "dd", "preshared", "psk", "cookie", "symmetric",
		"activation":
		return true
	}
	return false
}

// isPublicKey reports whether what comes after this word, in particular a key, is
// no secret even if it looks random.
func isPublicKey(w string) bool {
	switch w {
	case "public", "pub", "primary", "foreign", "partition", "sort", "cache", "idempotency", "natural", "bucket", "schema",
		"sequence", "hot", "index", "row", "object", "dedupe", "lock", "map", "shard", "routing", "group", "unique", "publishable":
		return true
	}
	return false
}

// isHint reports whether a word anywhere in a name suggests a secret.
func isHint(w string) bool {
	switch w {
	case "password", "passwd", "pwd", "passphrase", "secret", "secrets", "token", "tokens", "credential", "credentials", "cred",
		"creds", "auth", "authorization", "api", "access", "private", "apikey", "key", "authtoken", "sessid", "phpsessid",
		"jsessionid", "sig":
		return true
	}
	return strings.HasSuffix(w, "secret") || strings.HasSuffix(w, "token") || strings.HasSuffix(w, "password") ||
		strings.HasSuffix(w, "apikey")
}
