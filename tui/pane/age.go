package pane

import (
	"fmt"
	"time"
)

// Age says how long ago t was, in the unit that matters: now, 3m, 2h, 4d.
func Age(now, t time.Time) string {
	if t.IsZero() {
		return "?"
	}
	d := now.Sub(t)
	if d < time.Minute { // also a clock that is behind
		return "now"
	}
	return short(d)
}

// Left says how long until t, by the second in the last minute.
func Left(now, t time.Time) string {
	d := t.Sub(now)
	switch {
	case d <= 0:
		return "lapsed"
	case d < time.Minute:
		return fmt.Sprintf("%ds left", int(d.Seconds()))
	}
	return short(d) + " left"
}

func short(d time.Duration) string {
	switch {
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	default:
		return fmt.Sprintf("%dd", int(d.Hours()/24))
	}
}

// Count writes a number with its noun: 1 claim, 2 claims.
func Count[N int | int64](n N, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
