package jsonline

import (
	"encoding/json"
	"testing"
)

var line450 = []byte(`{"id":"3f1c9a02","seq":123456,"type":"update","from":"claude-code","to":"*","description":"Implemented the checkout endpoint and its tests, next is the error path","timestamp":"2026-09-10T08:00:00.000Z","payload":{"note":"Implemented the checkout endpoint and its tests","files":["src/api/checkout.ts","src/api/checkout.test.ts"],"commands":[{"command":"npm test","exitCode":0,"summary":"12 passed"}],"blockers":[],"next":"error path of the endpoint"}}`)

func BenchmarkParse(b *testing.B) {
	var o Object
	b.SetBytes(int64(len(line450)))
	b.ReportAllocs()
	for b.Loop() {
		if err := o.Parse(line450); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEncodingJSON(b *testing.B) {
	b.SetBytes(int64(len(line450)))
	for b.Loop() {
		var e struct {
			ID, Type, From, To, Description, Timestamp, Context, Resolves string
			Seq                                                           int64
			Payload                                                       json.RawMessage
		}
		if err := json.Unmarshal(line450, &e); err != nil {
			b.Fatal(err)
		}
	}
}
