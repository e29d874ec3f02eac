package tui

import (
	"context"
	"testing"
	"time"

	"github.com/agentloadout/loadout/engine/event"
)

func TestMoment(t *testing.T) {
	now := time.Date(2026, 9, 3, 10, 18, 0, 0, time.UTC)
	tests := []struct {
		typed string
		want  time.Time
	}{
		{"10:05", time.Date(2026, 9, 3, 10, 5, 0, 0, time.UTC)},
		{"23:59", time.Date(2026, 9, 2, 23, 59, 0, 0, time.UTC)}, // still to come today
		{"10:05:30", time.Date(2026, 9, 3, 10, 5, 30, 0, time.UTC)},
		{"2026-08-01 12:00", time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)},
		{"2h ago", time.Date(2026, 9, 3, 8, 18, 0, 0, time.UTC)},
		{"2h", time.Date(2026, 9, 3, 8, 18, 0, 0, time.UTC)},
		{"1d ago", time.Date(2026, 9, 2, 10, 18, 0, 0, time.UTC)},
	}
	for _, tt := range tests {
		if got, err := moment(tt.typed, now); err != nil || !got.Equal(tt.want) {
			t.Errorf("%q is %v, %v; want %v", tt.typed, got, err, tt.want)
		}
	}
	for _, typed := range []string{"25:00", "soon", "-2h", "#x"} {
		if got, err := moment(typed, now); err == nil {
			t.Errorf("%q is %v", typed, got)
		}
	}
}

func TestSeqAt(t *testing.T) {
	f := newFake()
	for range 100 { // one a minute from 10:01
		f.add(t, "codex", event.Broadcast, "x", event.Status{})
	}
	for _, tt := range []struct {
		after time.Duration
		want  int64
	}{{0, -1}, {time.Minute, 0}, {90 * time.Second, 0}, {50 * time.Minute, 49}, {time.Hour * 9, 99}} {
		if got, err := seqAt(context.Background(), f, 99, start.Add(tt.after)); err != nil || got != tt.want {
			t.Errorf("%v after the start: #%d, %v; want #%d", tt.after, got, err, tt.want)
		}
	}
}

func TestJump(t *testing.T) {
	d := drive(t, story(t))
	d.press("g", "4", "enter")
	d.shows("THE PAST", "as of #4 of #17", "1 Ownership · ◷ as of #4", "2 Contracts · ◷ as of #4")
	d.press("c")
	d.shows("this is the past, as of #4", "esc returns to now")
	d.press("g", "10:09", "enter")
	d.shows("as of #8 of #17")
	d.press("g", "12m ago", "enter")
	d.shows("as of #5 of #17")
	d.press("g", "now", "enter")
	d.hides("THE PAST")
	d.press("g", "1h ago", "enter")
	d.shows("the log begins after")
	d.press("g", "1m", "enter")
	d.shows("as of #16 of #17")
	d.press("g", "yesterday", "enter")
	d.shows("neither a number nor a time")
	d.press("g", "999", "enter")
	d.hides("THE PAST")
}

func TestTwiceGGoesToTheFirstRow(t *testing.T) {
	d := drive(t, story(t))
	d.press("7", "g", "g")
	if seq := d.m.panes[d.m.focus].Subject().Seq; seq != 0 {
		t.Errorf("the selected event is #%d", seq)
	}
}
