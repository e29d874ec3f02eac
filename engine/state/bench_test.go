package state

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/store/jsonline"
)

// typicalLog is a log as a busy project has it: updates, acknowledgements, claims and releases, tasks, contracts, decisions.
func typicalLog(tb testing.TB, n int) [][]byte {
	tb.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	agents := []string{"claude-code", "claude-code-2", "codex", "codex-2", "gemini"}
	held := map[string]string{}
	revisions := map[string]int64{}
	var open []string
	lines := make([][]byte, 0, n)
	for seq := range int64(n) {
		agent := agents[random.IntN(len(agents))]
		path := fmt.Sprintf("src/module%02d/api", random.IntN(60))
		description, resolves := "Wired the handler to the store and covered the refusal with a test", ""
		var body event.Body
		switch p := random.IntN(100); {
		case p < 40:
			body = event.Update{Note: description, Files: []string{path}, Next: "review"}
		case p < 60:
			last := max(seq-1-random.Int64N(20), 0)
			body, description = event.Ack{EventSeq: last}, fmt.Sprintf("Acknowledged through seq %d", last)
		case p < 80 && held[path] != "":
			agent, description = held[path], held[path]+" releases: "+path
			body = event.Ownership{Paths: []string{path}, Mode: event.Release}
			delete(held, path)
		case p < 80:
			held[path], description = agent, agent+" claims: "+path
			body = event.Ownership{Paths: []string{path}, Mode: event.Exclusive, Reason: "backend"}
		case p < 90 && len(open) < 25:
			open = append(open, fmt.Sprintf("%012x", seq))
			body, description = event.Task{}, "Build the invoice endpoint and its tests"
		case p < 97 && len(open) > 0:
			resolves, open = open[0], open[1:]
			body, description = event.Done{Evidence: "go test ./..."}, "Endpoint finished"
		case p < 99:
			name := fmt.Sprintf("invoice-api-%d", random.IntN(40))
			revisions[name]++
			body = event.Contract{Name: name, Revision: revisions[name], Body: "POST /api/invoices -> 201 { id: string, cents: number }"}
		default:
			body = event.Decision{Title: "Use cents", Rationale: "No rounding, no locale."}
		}
		e, err := event.New(agent, event.Broadcast, description, body)
		if err != nil {
			tb.Fatal(err)
		}
		e.ID, e.Seq, e.Resolves = fmt.Sprintf("%012x", seq), seq, resolves
		e.Timestamp = event.FormatTime(start.Add(time.Duration(seq) * 900 * time.Millisecond))
		lines = append(lines, e.AppendLine(nil))
	}
	return lines
}

func parse(tb testing.TB, lines [][]byte) []jsonline.Object {
	tb.Helper()
	objects := jsonline.Make(len(lines))
	for i := range lines {
		if err := objects[i].Parse(lines[i]); err != nil {
			tb.Fatal(err)
		}
	}
	return objects
}

// The time of one event in a first fold, without scanning its line.
func BenchmarkFold(b *testing.B) {
	lines := typicalLog(b, 50_000)
	objects := parse(b, lines)
	size := 0
	for _, l := range lines {
		size += len(l)
	}
	b.ReportAllocs()
	b.ResetTimer()
	for i := 0; i < b.N; i += len(lines) {
		foldAll(New(), objects[:min(len(lines), b.N-i)])
	}
	b.ReportMetric(float64(size)/float64(len(lines)), "B/event")
}

func foldAll(s *State, objects []jsonline.Object) {
	s.ApplyLines(len(objects), func(i int) Line { return Line{Number: int64(i + 1), Object: &objects[i]} }, nil)
}

func BenchmarkCheckpoint(b *testing.B) {
	for _, n := range []int{1000, 100_000} {
		lines := typicalLog(b, n)
		s := New()
		foldAll(s, parse(b, lines))
		data := marshal(b, s)
		b.Run(fmt.Sprintf("marshal/%d", n), func(b *testing.B) {
			for b.Loop() {
				marshal(b, s)
			}
			b.ReportMetric(float64(len(data)), "bytes")
		})
		b.Run(fmt.Sprintf("unmarshal/%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Unmarshal(data); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("clone/%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				s.Clone()
			}
		})
	}
}

// What a first fold is measured against: encoding/json into an envelope, on the same lines.
func BenchmarkEncodingJSON(b *testing.B) {
	lines := typicalLog(b, 50_000)
	b.ResetTimer()
	for i := range b.N {
		var e struct {
			ID, Type, From, To, Description, Context, Timestamp, Resolves string
			Seq                                                           int64
			Payload                                                       json.RawMessage
		}
		if err := json.Unmarshal(lines[i%len(lines)], &e); err != nil {
			b.Fatal(err)
		}
	}
}
