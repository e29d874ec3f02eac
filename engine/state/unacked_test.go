package state

import (
	"strconv"
	"testing"

	"github.com/agentloadout/loadout/engine/event"
)

// TestUnackedAfterACompaction: the number stays, or says that it is at most so many and is not below the true one.
func TestUnackedAfterACompaction(t *testing.T) {
	for name, tt := range map[string]struct {
		prepare func(*log)
		before  int64
		after   Unread
	}{
		"nobody has read":     {func(*log) {}, 20, Unread{20, true}},
		"one who only reads":  {func(l *log) { l.add("b", "*", event.Ack{EventSeq: 9}) }, 10, Unread{10, true}},
		"the furthest of two": {func(l *log) { l.add("c", "*", event.Ack{EventSeq: 3}); l.add("b", "*", event.Ack{EventSeq: 9}) }, 10, Unread{10, true}},
		"one who also writes": {func(l *log) { l.add("b", "*", event.Update{}); l.add("b", "*", event.Ack{EventSeq: 9}) }, 11, Unread{11, false}},
		"one who was asked":   {func(l *log) { l.add("a", "b", event.Task{}); l.add("b", "*", event.Ack{EventSeq: 9}) }, 10, Unread{11, false}},
		"everything was read": {func(l *log) { l.add("b", "*", event.Ack{EventSeq: 20}) }, 0, Unread{0, true}},
		"the writer has read": {func(l *log) { l.add("a", "*", event.Ack{EventSeq: 9}) }, 10, Unread{20, false}},
		"not even the newest": {func(l *log) { l.add("b", "*", event.Ack{EventSeq: 0}) }, 19, Unread{19, true}},
		"one who is forgotten": {func(l *log) {
			l.add("b", "*", event.Ack{EventSeq: 9})
			l.add("b", "*", event.Agent{Action: event.AgentForgotten, Name: "b"})
		}, 20, Unread{20, true}},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLog(t)
			for i := range 20 {
				l.add("a", "*", event.Update{Note: strconv.Itoa(i)})
			}
			tt.prepare(l)
			if got := l.state.Unacked(); got != (Unread{tt.before, true}) {
				t.Errorf("before: %+v, want %d", got, tt.before)
			}
			carried, err := l.state.Carry(l.state, int64(len(l.events)))
			if err != nil {
				t.Fatal(err)
			}
			l.add(event.Loadout, event.Broadcast, event.Status{
				CompactedCount: 1, CompactedRange: &event.SeqRange{From: 0, To: int64(len(l.events) - 1)}, Carried: carried,
			})
			if got := l.state.Unacked(); got != tt.after {
				t.Errorf("after: %+v, want %+v", got, tt.after)
			}
		})
	}
}
