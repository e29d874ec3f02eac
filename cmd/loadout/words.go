package main

import (
	"fmt"
	"strconv"
	"time"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/state"
)

// plural is a number with its noun: "1 path", "3 paths".
func plural[N int | int64](n N, noun string) string {
	s := strconv.FormatInt(int64(n), 10) + " " + noun
	if n != 1 {
		s += "s"
	}
	return s
}

// span is a duration for people, at most two units, never below a second: "12s", "5m 3s", "2h 10m", "3d 4h".
func span(d time.Duration) string {
	d = max(d, 0)
	s := int64(d.Round(time.Second) / time.Second)
	switch {
	case s < 60:
		return fmt.Sprintf("%ds", s)
	case s < 3600:
		return twoUnits(s/60, "m", s%60, "s")
	case s < 24*3600:
		return twoUnits(s/3600, "h", s%3600/60, "m")
	}
	return twoUnits(s/(24*3600), "d", s%(24*3600)/3600, "h")
}

func twoUnits(a int64, unitA string, b int64, unitB string) string {
	if b == 0 {
		return fmt.Sprintf("%d%s", a, unitA)
	}
	return fmt.Sprintf("%d%s %d%s", a, unitA, b, unitB)
}

// clockTime is a moment for people in local time: the clock alone today, else with its date.
func clockTime(t, now time.Time) string {
	t = t.In(now.Location())
	if y, m, d := t.Date(); now.Year() == y && now.Month() == m && now.Day() == d {
		return t.Format("15:04:05")
	}
	return t.Format("2006-01-02 15:04:05")
}

// ago is a moment and how long ago it was: "14:02:07, 5m 3s ago".
func ago(t, now time.Time) string {
	if t.IsZero() {
		return "an unknown time"
	}
	return clockTime(t, now) + ", " + span(now.Sub(t)) + " ago"
}

// seqAndFence names the number of a stored claim, and its fence where a renewal kept an older one.
func seqAndFence(r engine.Receipt, claims []state.Claim) string {
	s := fmt.Sprintf("seq %d", r.Seq())
	if distinctFences(claims) == 1 {
		s += fmt.Sprintf(", fence %d", claims[0].Fence)
	}
	return s
}
