package redact

import (
	"strings"
	"testing"
)

// event is what one write has to look through: about 500 bytes without a secret.
const event = `{"note":"Form validated, the token type moved to web/auth/token.ts and the key handling stays in lib/keys.go",` +
	`"files":["web/form.tsx","web/auth/token.ts","lib/keys.go","lib/session/store_test.go"],"commands":[{"command":"npm test -- --watch=false",` +
	`"exitCode":0,"summary":"12 passed, 0 failed in 4.2 s (commit 3f786850e387550fdab836ed7e6dc881de23001b)"}],"blockers":[],` +
	`"next":"style the password field, then ask codex about POST /api/checkout -> 201 { id: string }"}`

func BenchmarkTextClean(b *testing.B) {
	b.SetBytes(int64(len(event)))
	for b.Loop() {
		Text(event)
	}
}

func BenchmarkJSONClean(b *testing.B) {
	raw := []byte(event)
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := JSON(raw); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkTextSecret(b *testing.B) {
	s := event[:250] + " ghp_" + strings.Repeat("aB3d", 9) + " password=hunter2222 " + event[250:]
	b.SetBytes(int64(len(s)))
	for b.Loop() {
		Text(s)
	}
}

// BenchmarkTextMegabyte is a megabyte of names of secrets, each of which has to
// be looked at.
func BenchmarkTextMegabyte(b *testing.B) {
	s := strings.Repeat("token: next, ", 1<<20/13)
	b.SetBytes(int64(len(s)))
	for b.Loop() {
		Text(s)
	}
}

// BenchmarkRules is what the first call of a process pays once.
func BenchmarkRules(b *testing.B) {
	for b.Loop() {
		buildIndex()
	}
}
