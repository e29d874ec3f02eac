package state

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/store/jsonline"
)

var (
	names     = []string{"claude-code", "Claude-Code", "codex", "user", "gemini", "ｃｏｄｅｘ"}
	someNames = append([]string{event.Broadcast, event.Broadcast, event.Loadout}, names...)
	paths     = []string{".", "src", "src/api", "src/api/v2", "web", "docs/ä", "docs/a\u0308", "src/API"}
	texts     = []string{"api", "schema", "ui"}
)

// drawLog draws a log. With orderly, numbers only rise, as this program writes them.
func drawLog(t *rapid.T, orderly bool) []event.Event {
	n := rapid.IntRange(1, 80).Draw(t, "events")
	events := make([]event.Event, 0, n)
	seq := int64(-1)
	for i := range n {
		seq += rapid.Int64Range(1, 2).Draw(t, "step")
		e := drawEvent(t, events, seq, i)
		if !orderly && i > 0 {
			switch rapid.IntRange(0, 12).Draw(t, "disorder") {
			case 0:
				e.Seq = rapid.Int64Range(0, seq).Draw(t, "seq")
			case 1:
				e = events[i-1]
			}
		}
		events = append(events, e)
	}
	return events
}

func drawEvent(t *rapid.T, before []event.Event, seq int64, i int) event.Event {
	from, to := rapid.SampledFrom(names).Draw(t, "from"), rapid.SampledFrom(someNames).Draw(t, "to")
	e := event.Event{
		ID: fmt.Sprintf("id%04d", seq), Seq: seq, From: from, To: to,
		Description: fmt.Sprintf("text %d", rapid.IntRange(0, 9).Draw(t, "text")),
		Timestamp:   event.FormatTime(start.Add(time.Duration(i) * time.Minute)),
	}
	if rapid.IntRange(0, 5).Draw(t, "keyed") == 0 {
		e.Key = rapid.SampledFrom(texts).Draw(t, "key")
	}
	body := drawBody(t, &e, before)
	if unknown, ok := body.(event.Unknown); ok {
		e.Type, e.Payload = "skill", unknown.Raw
		return e
	}
	made, err := event.New(from, to, "x", body)
	if err != nil {
		t.Fatal(err)
	}
	e.Type, e.Payload = made.Type, made.Payload
	if rapid.IntRange(0, 30).Draw(t, "spoil") == 0 {
		e.Payload = json.RawMessage(`{"paths":["/abs"],"revision":-1,"eventSeq":"x"}`)
	}
	return e
}

func drawBody(t *rapid.T, e *event.Event, before []event.Event) event.Body {
	one := func(list []string) string { return rapid.SampledFrom(list).Draw(t, "one") }
	some := func(list []string) []string { return rapid.SliceOfN(rapid.SampledFrom(list), 1, 3).Draw(t, "some") }
	id := func() string {
		if len(before) == 0 {
			return "none"
		}
		return before[rapid.IntRange(0, len(before)-1).Draw(t, "id")].ID
	}
	switch rapid.IntRange(0, 28).Draw(t, "kind") {
	case 0, 1, 2:
		o := event.Ownership{Paths: some(paths), Mode: rapid.SampledFrom([]event.Mode{event.Exclusive, event.Shared}).Draw(t, "mode"), Reason: one(texts)}
		if rapid.Bool().Draw(t, "limited") {
			o.ExpiresAt = "2026-09-11T00:00:00.000Z"
		}
		if rapid.IntRange(0, 3).Draw(t, "forced") == 0 {
			o.Cause = event.CauseForced
			o.Displaced = []event.Displaced{{Agent: one(names), Path: one(paths), Mode: event.Shared}}
		}
		return o
	case 3, 4:
		return event.Ownership{Paths: some(paths), Mode: event.Release}
	case 5:
		e.From = event.Loadout
		return event.Ownership{Paths: some(paths), Mode: event.Release, Cause: event.CauseExpired, Holder: one(names)}
	case 6, 7:
		return event.Contract{Name: one(texts), Revision: rapid.Int64Range(1, 30).Draw(t, "revision"), Body: one(texts)}
	case 8:
		return event.Update{Consumes: some(texts), Note: "n"}
	case 9, 10:
		return event.Ack{EventSeq: rapid.Int64Range(0, e.Seq).Draw(t, "cursor")}
	case 11:
		return event.Task{Needs: []string{id(), id()}}
	case 12:
		e.Resolves = id()
		return event.Task{Handoff: true}
	case 13:
		return event.Question{}
	case 14:
		e.Resolves = id()
		return rapid.SampledFrom([]event.Body{event.Done{Evidence: "e"}, event.Error{}, event.Cancel{}}).Draw(t, "settle")
	case 15:
		return event.Decision{Title: one(texts), Rationale: "r", Supersedes: rapid.SampledFrom([]string{"", id(), one(texts)}).Draw(t, "old")}
	case 16:
		return event.Discussion{
			ThreadID: one(texts), Role: "system", Content: "c", Participants: []string{"a", "b"},
			Kind: rapid.SampledFrom([]event.DiscussionKind{event.KindStarted, event.KindStarted, event.KindSummary, event.KindClosed}).Draw(t, "statement"),
		}
	case 17:
		return event.Agent{
			Action: rapid.SampledFrom([]event.AgentAction{event.AgentRegistered, event.AgentEnded, event.AgentForgotten, event.AgentRenamed}).Draw(t, "action"),
			Name:   one(names), Previous: one(names), Base: "b", PID: 7,
		}
	case 19, 20, 21, 22, 23:
		return drawTurn(t, e.Seq, one(names))
	case 25, 26, 27, 28:
		return drawWork(t)
	case 18:
		return event.Halt{Action: rapid.SampledFrom([]event.HaltAction{event.HaltSet, event.HaltLifted}).Draw(t, "halt"), Reason: "r"}
	}
	return event.Unknown{Raw: json.RawMessage(`{"any":1}`)}
}

// A state that was marshalled and read again goes on as if nothing had happened, whatever the log.
func TestMarshalledStateGoesOn(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		events := drawLog(rt, false)
		at := rapid.IntRange(0, len(events)).Draw(rt, "at")
		whole := fold(events)
		half := fold(events[:at])
		again, err := Unmarshal(marshal(rt, half))
		if err != nil {
			rt.Fatal(err)
		}
		mustEqual(rt, "read again", again, half)
		for i := range events[at:] {
			_ = again.Apply(&events[at+i])
		}
		mustEqual(rt, "continued", again, whole)
		if !bytes.Equal(marshal(rt, again), marshal(rt, whole)) {
			rt.Fatal("continued: other bytes than of the straight fold")
		}
	})
}

// Folding lines gives what folding their events gives, however many there are at once, and keeps nothing of the lines.
func TestApplyLines(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		events := drawLog(rt, false)
		for range rapid.IntRange(0, 3).Draw(rt, "doublings") {
			events = append(events, events...)
		}
		lines := make([][]byte, len(events))
		objects := jsonline.Make(len(events))
		for i := range events {
			lines[i] = events[i].AppendLine(nil)
			if err := objects[i].Parse(lines[i]); err != nil {
				rt.Fatal(err)
			}
		}
		bad := rapid.IntRange(0, len(events)-1).Draw(rt, "bad")
		s, want := New(), New()
		told := 0
		s.ApplyLines(len(lines), func(i int) Line {
			l := Line{Number: int64(i), Seq: events[i].Seq, Object: &objects[i]}
			if i == bad {
				l.Object, l.Reason = nil, "torn"
			}
			return l
		}, func(i int, e *event.Event) {
			if told++; e.ID != events[i].ID {
				rt.Errorf("told of %s, want %s", e.ID, events[i].ID)
			}
		})
		wantTold := 0
		for i := range events {
			if i == bad {
				want.Skip(int64(i), events[i].Seq, "torn")
			} else if want.ApplyLine(&events[i], int64(i)) == nil {
				wantTold++
			}
		}
		for i := range lines {
			clear(lines[i])
		}
		if !bytes.Equal(marshal(rt, s), marshal(rt, want)) || told != wantTold {
			rt.Fatalf("other bytes than of the fold one by one, or told of %d events instead of %d", told, wantTold)
		}
	})
}

// What happens to a state after it was cloned does not reach the clone, nor the other way round.
func TestCloneIsIndependent(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		events := drawLog(rt, false)
		other := drawLog(rt, false)
		at := rapid.IntRange(0, len(events)).Draw(rt, "at")
		s := fold(events[:at])
		before := marshal(rt, s)
		c := s.Clone()
		for i := range events[at:] {
			_ = s.Apply(&events[at+i])
		}
		if !bytes.Equal(marshal(rt, c), before) {
			rt.Fatal("the clone changed with the original")
		}
		after := marshal(rt, s)
		for i := range other {
			_ = c.Apply(&other[i])
		}
		if !bytes.Equal(marshal(rt, s), after) {
			rt.Fatal("the original changed with the clone")
		}
		mustEqual(rt, "original", s, fold(events))
	})
}

// A compacted log gives the state of the whole one, and goes on giving it.
func TestCompactionKeepsTheState(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		events := drawLog(rt, true)
		cut := rapid.IntRange(0, len(events)-1).Draw(rt, "cut")
		rest := rapid.IntRange(cut, len(events)).Draw(rt, "rest")
		compactAndCompare(rt, events[:rest], events[rest:], cut)
	})
}

func compactAndCompare(t failing, events, later []event.Event, cut int) {
	t.Helper()
	if len(events) == 0 {
		return
	}
	whole := fold(events)
	since := whole.Head() + 1
	if cut < len(events) {
		since = events[cut].Seq
	}
	left := New()
	isRoot := whole.Roots()
	for i := range events {
		if events[i].Seq >= since || isRoot(events[i].Seq) {
			_ = left.Apply(&events[i])
		}
	}
	carried, err := whole.Carry(left, since)
	if err != nil {
		t.Fatalf("%v", err)
	}
	summary, err := event.New(event.Loadout, event.Broadcast, "Compacted", event.Status{CompactedCount: 1, Carried: carried})
	if err != nil {
		t.Fatalf("%v", err)
	}
	summary.ID, summary.Seq, summary.Timestamp = "compaction-1", whole.Head()+1, event.FormatTime(start)
	for _, s := range []*State{whole, left} {
		if err := s.Apply(&summary); err != nil {
			t.Fatalf("%v", err)
		}
	}
	mustEqual(t, "compacted", left, whole)
	for i := range later {
		later[i].Seq = whole.Head() + 1
		_ = whole.Apply(&later[i])
		_ = left.Apply(&later[i])
	}
	mustEqual(t, "compacted and continued", left, whole)
}

// Counts of unread news agree with a count by hand.
func TestUnreadAgreesWithCounting(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		events := drawLog(rt, true)
		var kept []event.Event
		for _, e := range events {
			if e.Type != event.TypeAgent { // renaming and forgetting change who somebody is
				kept = append(kept, e)
			}
		}
		s := fold(kept)
		for _, agent := range s.Agents() {
			want := int64(0)
			for i := range kept {
				e := &kept[i]
				if _, err := e.Body(); err == nil && e.Type.IsNews(e.From) && e.Concerns(agent.Name) && e.Seq > agent.Cursor && e.To != event.Loadout {
					want++
				}
			}
			if got := agent.Unread; got.Count != want || !got.Exact {
				rt.Fatalf("%s: unread %+v, counted %d", agent.Name, got, want)
			}
			refs, omitted := s.News(agent.Name, agent.Cursor, 3)
			if int64(len(refs))+omitted != want {
				rt.Fatalf("%s: %d news and %d omitted, counted %d", agent.Name, len(refs), omitted, want)
			}
		}
	})
}

func TestPathOverlapProperties(t *testing.T) {
	segment := rapid.StringMatching(`[a-cA-C.äÄßſ̈]{1,3}`)
	path := rapid.Custom(func(t *rapid.T) string {
		for {
			segments := rapid.SliceOfN(segment, 1, 4).Draw(t, "segments")
			joined := segments[0]
			for _, s := range segments[1:] {
				joined += "/" + s
			}
			if clean, err := event.CleanPath(joined); err == nil {
				return clean
			}
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b, fold := path.Draw(t, "a"), path.Draw(t, "b"), rapid.Bool().Draw(t, "fold")
		checkOverlap(t, a, b, fold)
	})
}

type failer interface{ Errorf(string, ...any) }

func checkOverlap(t failer, a, b string, fold bool) {
	if overlap(a, b, fold) != overlap(b, a, fold) {
		t.Errorf("overlap of %q and %q depends on the order", a, b)
	}
	if !overlap(a, a, fold) || !Within(a, a, fold) {
		t.Errorf("%q does not overlap itself", a)
	}
	if !overlap(a, ".", fold) || !Within(a, ".", fold) {
		t.Errorf("%q is not below the top", a)
	}
	if a != "." && (!overlap(a, a+"/x", fold) || !Within(a+"/x", a, fold) || Within(a, a+"/x", fold)) {
		t.Errorf("%q is not above what lies in it", a)
	}
	if a != "." && overlap(a, a+"x", false) {
		t.Errorf("%q overlaps its sibling", a)
	}
	if overlap(a, b, false) && !overlap(a, b, true) {
		t.Errorf("%q and %q overlap only while case counts", a, b)
	}
}

func FuzzOverlap(f *testing.F) {
	f.Add("src/api", "src/API", true)
	f.Add("a\u0308", "ä/x", false)
	f.Add("\u017f", "S", true)
	f.Fuzz(func(t *testing.T, a, b string, fold bool) {
		cleanA, errA := event.CleanPath(a)
		cleanB, errB := event.CleanPath(b)
		if errA == nil && errB == nil {
			checkOverlap(t, cleanA, cleanB, fold)
		}
	})
}

// Whatever the lines of a log hold: no panic, every line is accounted for, and the state survives being marshalled.
func FuzzFold(f *testing.F) {
	for _, name := range []string{"v0.9.0.jsonl", "v0.9.1-compacted.jsonl", "damaged.jsonl"} {
		data, err := os.ReadFile(filepath.Join("..", "..", "testdata", "logs", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte(`{"id":"compaction-1","seq":9,"type":"status","from":"loadout","to":"*","description":"d","timestamp":"2026-09-10T08:00:00Z","payload":{"compactedCount":1,"carried":{"v":1,"since":5,"members":[{"agent":{"name":"a"}}],"claims":[{"path":"..","agent":"a"}],"gone":{"tasks":["x"]}}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		s := New()
		lines := int64(0)
		for raw := range bytes.SplitSeq(data, []byte("\n")) {
			lines++
			o := new(jsonline.Object)
			l := Line{Number: lines, Seq: -1, Object: o}
			if err := o.Parse(raw); err != nil {
				l.Object, l.Reason = nil, err.Error()
			}
			s.ApplyLines(1, func(int) Line { return l }, nil)
		}
		skips := s.Skips()
		if s.Count()+skips.Bad+skips.Duplicate != lines {
			t.Fatalf("%d events, %d bad and %d repeated of %d lines", s.Count(), skips.Bad, skips.Duplicate, lines)
		}
		again, err := Unmarshal(marshal(t, s))
		if err != nil {
			t.Fatal(err)
		}
		mustEqual(t, "read again", again, s)
		s.Agents()
		s.Contracts()
		s.FirstReady("a")
		s.Overlapping("src", true)
	})
}

func FuzzUnmarshal(f *testing.F) {
	l := newLog(f)
	l.add("a", "*", claim(event.Exclusive, "src"))
	l.add("a", "b", event.Task{})
	l.add("a", "*", event.Contract{Name: "n", Revision: 1, Body: "b"})
	l.add("b", "*", event.Ack{EventSeq: 1}, func(e *event.Event) { e.Key = "k" })
	f.Add(marshal(f, l.state))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := Unmarshal(data)
		if err != nil {
			return
		}
		s.Agents()
		s.Contracts()
		s.Tasks()
		s.News("a", -1, 10)
		next := event.Event{ID: "x", Seq: max(s.Head(), -1) + 1, Type: event.TypeStatus, From: "a", To: "b", Description: "d", Timestamp: "2026-09-10T08:00:00Z"}
		_ = s.Clone().Apply(&next)
	})
}
