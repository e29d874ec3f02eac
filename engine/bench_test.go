package engine

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/store"
)

// mixed writes n events of the kinds that a project is made of.
func mixed(s *scene, n int) {
	s.t.Helper()
	var text strings.Builder
	for i := range n {
		agent := fmt.Sprintf("agent-%d", i%5)
		var body event.Body = event.Update{Note: "validated the form against revision 4 of the contract", Files: []string{"web/form.tsx", "web/form.test.tsx"}, Next: "styling"}
		switch i % 20 {
		case 0:
			body = event.Ownership{Paths: []string{fmt.Sprintf("src/%d", i%400)}, Mode: event.Exclusive, Reason: "backend"}
		case 5:
			body = event.Ownership{Paths: []string{fmt.Sprintf("src/%d", (i-5)%400)}, Mode: event.Release}
		case 10:
			body = event.Ack{EventSeq: int64(i - 1)}
		case 15:
			body = event.Contract{Name: fmt.Sprintf("contract-%d", i%7), Revision: int64(i), Body: "POST /api/checkout -> 201 { id: string }"}
		}
		ev := s.draft(agent, "*", body)
		ev.Seq = int64(i)
		text.Write(ev.AppendLine(nil))
		text.WriteByte('\n')
	}
	s.append(text.String())
}

func BenchmarkFirstFold(b *testing.B) {
	const n = 100000
	s := newScene(b)
	mixed(s, n)
	b.Run("engine", func(b *testing.B) {
		for range b.N {
			b.StopTimer()
			_ = os.RemoveAll(s.path("cache"))
			e := s.open(Options{})
			b.StartTimer()
			if _, err := e.View(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/event")
	})
	b.Run("encoding-json", func(b *testing.B) {
		type envelope struct {
			ID, Type, From, To, Description, Context, Timestamp, Resolves string
			Seq                                                           int64
			Payload                                                       json.RawMessage
		}
		text := s.log()
		b.ResetTimer()
		for range b.N {
			for line := range strings.Lines(text) {
				var ev envelope
				if err := json.Unmarshal([]byte(line), &ev); err != nil {
					b.Fatal(err)
				}
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/event")
	})
}

// BenchmarkOneShot is what a read verb does with a checkpoint there, at two sizes that should not matter.
func BenchmarkOneShot(b *testing.B) {
	for _, n := range []int{1000, 100000} {
		b.Run(fmt.Sprintf("%d-events", n), func(b *testing.B) {
			s := newScene(b)
			mixed(s, n)
			s.view()
			b.ResetTimer()
			for range b.N {
				if _, err := s.open(Options{}).View(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkDo(b *testing.B) {
	s := newScene(b)
	mixed(s, 10000)
	b.Run("engine", func(b *testing.B) {
		for range b.N {
			s.do(note("codex", "a note of usual length, as an agent writes it"))
		}
	})
	b.Run("store", func(b *testing.B) { // the floor: lock, append, sync
		log := store.Open(s.path(""), store.Options{})
		var at place
		for range b.N {
			if err := log.Update(b.Context(), func(tx *store.Tx) (err error) {
				if at, err = tx.Read(b.Context(), at, func(store.Batch) error { return nil }); err != nil {
					return err
				}
				at, err = tx.Append([][]byte{fmt.Appendf(nil, `{"seq":%d}`, at.MaxSeq+1)})
				return err
			}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkView(b *testing.B) {
	s := newScene(b)
	mixed(s, 10000)
	s.view()
	b.ResetTimer()
	for range b.N {
		s.view()
	}
}
