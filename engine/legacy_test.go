package engine

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/agentloadout/loadout/engine/event"
)

// summaryFirst is a log as a program leaves it that puts the summary of a compaction in front, with the number of the last line
// that it took out, and then what it kept of the lines before.
const summaryFirst = `{"id":"compaction-1789027200000","seq":13,"type":"status","from":"loadout","to":"*","description":"Compacted 12 events (seq 0–13)","timestamp":"2026-09-10T09:00:00.000Z","payload":{"compactedCount":12,"compactedRange":{"from":0,"to":13},"agents":["claude-code","codex"],"typeCounts":{"task":1,"ack":1},"compactedAt":"2026-09-10T09:00:00.000Z"}}
{"id":"5c0e7b19","seq":4,"type":"ownership","from":"claude-code","to":"*","description":"claude-code claims: src/api/","timestamp":"2026-09-10T08:04:00.000Z","payload":{"paths":["src/api/","docs"],"mode":"exclusive","reason":"backend"}}
{"id":"e8aa3310","seq":5,"type":"contract","from":"claude-code","to":"*","description":"Contract 'invoice-api' rev1","timestamp":"2026-09-10T08:05:00.000Z","payload":{"name":"invoice-api","revision":1,"body":"GET /invoices -> 200","format":"openapi-yaml","extra":true}}
{"id":"b6c2f1e3","seq":14,"type":"update","from":"codex","to":"*","description":"Form validated","timestamp":"2026-09-10T09:07:00Z","payload":{"note":"Form validated"},"unknown":1}
{"id":"c9e07a64","seq":15,"type":"ack","from":"codex","to":"*","description":"Acknowledged through seq 5","timestamp":"2026-09-10T10:08:00.5+01:00","payload":{"eventSeq":5}}
`

func TestLogWithItsSummaryInFront(t *testing.T) {
	s := newScene(t)
	s.append(summaryFirst)
	v := s.view()
	if k := v.State.Skips(); k.Bad != 0 || v.State.Count() != 5 || k.OutOfOrder != 2 || v.State.Head() != 15 {
		t.Errorf("%d events, skips %+v, head %d", v.State.Count(), k, v.State.Head())
	}
	if claims := v.State.ClaimsOf("claude-code"); len(claims) != 2 || claims[1].Path != "src/api" {
		t.Errorf("claims %+v", claims)
	}
	if c, err := s.ContractBody(t.Context(), "invoice-api", 0); err != nil || c.Body != "GET /invoices -> 200" {
		t.Errorf("contract %+v, %v", c, err)
	}
	for name, tt := range map[string]struct {
		query Query
		want  []int64
	}{
		"everything":  {Query{After: Everything}, []int64{13, 4, 5, 14, 15}},
		"last":        {Query{After: Everything, Last: 2}, []int64{14, 15}},
		"last of all": {Query{After: Everything, Last: 9}, []int64{13, 4, 5, 14, 15}},
		"last of one": {Query{After: Everything, Last: 1, Agent: "claude-code", Types: []event.Type{event.TypeContract}}, []int64{5}},
		"last after":  {Query{After: 4, Last: 9}, []int64{13, 5, 14, 15}},
		"last before": {Query{After: Everything, Before: 14, Last: 2}, []int64{4, 5}},
		"after":       {Query{After: 4}, []int64{13, 5, 14, 15}},
		"before":      {Query{After: Everything, Before: 14}, []int64{13, 4, 5}},
	} {
		r, err := s.Events(t.Context(), tt.query)
		var got []int64
		for _, ev := range r.Events {
			got = append(got, ev.Seq)
		}
		if err != nil || !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	if got, err := s.StateAt(t.Context(), 14); err != nil || got.Count() != 4 || len(got.Claims()) != 2 {
		t.Errorf("state at 14: %+v, %v", got, err)
	}
	_, err := s.StateAt(t.Context(), 5)
	as[*NotFoundError](t, err)
	if r := s.do(note("codex", "next")); r.Seq() != 16 {
		t.Errorf("next number %d", r.Seq())
	}
	if r := s.doctor(false); !r.Healthy || codes(r) != "falling-seqs?" {
		t.Errorf("doctor: %s", codes(r))
	}
	if r, err := s.Compact(t.Context(), CompactOptions{MaxEvents: 1, MaxAge: -1}); err != nil || !r.Compacted {
		t.Errorf("%+v, %v", r, err)
	}
	if claims := s.view().State.ClaimsOf("claude-code"); len(claims) != 2 {
		t.Errorf("claims after a compaction %+v", claims)
	}
}

// TestHostileLines: what can be read is read, the rest is counted, and nothing stops.
func TestHostileLines(t *testing.T) {
	s := newScene(t)
	s.do(note("codex", "first"))
	s.append(strings.Repeat("x", 10<<20) + "\n")
	s.append("\x00\x00\x00\n\xff\xfe\n\n   \n{}\n[]\nnull\n")
	s.append(strings.Repeat(`{"a":`, 5000) + "\n")
	s.append(strings.Repeat("not json\n", 10000))
	s.append(`{"id":"esc","seq":3,"type":"update","from":"\u001b[31mred","to":"*","description":"\u001b]0;title\u0007","timestamp":"2026-09-10T08:00:00.000Z","payload":{"note":"\u202e"}}` + "\n")
	s.append(`{"id":"dup","seq":4,"seq":5,"type":"status","from":"a","to":"*","description":"d","timestamp":"2026-09-10T08:00:00.000Z"}` + "\n")
	r := s.do(note("codex", "second"))
	v := s.view()
	if k := v.State.Skips(); k.Bad < 10007 || v.State.Count() < 2 || len(k.Recent) == 0 {
		t.Errorf("%d events, skips %d", v.State.Count(), k.Bad)
	}
	if r.Seq() < 4 {
		t.Errorf("number %d", r.Seq())
	}
	heard := 0
	stop := errors.New("stop")
	err := s.Follow(t.Context(), Everything, func(d Delivery) error {
		for _, ev := range d.Events {
			if ev.From == "codex" {
				heard++
			}
		}
		if d.CaughtUp {
			return stop
		}
		return nil
	})
	if !errors.Is(err, stop) || heard != 2 {
		t.Errorf("heard %d, %v", heard, err)
	}
	if r := s.doctor(true); !r.Healthy || r.Archive == "" {
		t.Errorf("doctor: %s", codes(r))
	}
	if k := s.view().State.Skips(); k.Bad != 0 {
		t.Errorf("%d bad lines after mending", k.Bad)
	}
	s.do(note("codex", "third"))
}
