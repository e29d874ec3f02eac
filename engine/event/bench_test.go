package event

import (
	"testing"

	"github.com/agentloadout/loadout/store/jsonline"
)

func BenchmarkDecode(b *testing.B) {
	line := []byte(`{"id":"00000001e240","seq":123456,"type":"update","from":"claude-code","to":"*","description":"Wired the handler to the store and covered the refusal with a test","timestamp":"2026-09-10T08:00:00.000Z","payload":{"files":["src/module07/api"],"note":"Wired the handler to the store and covered the refusal with a test","next":"review"}}`)
	var o jsonline.Object
	if err := o.Parse(line); err != nil {
		b.Fatal(err)
	}
	var r Reader
	b.Run("envelope", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := Decode(&o, line); err != nil {
				b.Fatal(err)
			}
		}
	})
	e, err := Decode(&o, line)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("brief", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := r.Brief(&e); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("append", func(b *testing.B) {
		var line []byte
		b.ReportAllocs()
		for b.Loop() {
			line = e.AppendLine(line[:0])
		}
	})
}
