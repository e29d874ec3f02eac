package words

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

const (
	day     = 24 * time.Hour
	maxDays = 36500 // well below what a time.Duration can hold
)

// unknown is a time that nobody knows: the zero one.
const unknown = "an unknown time"

// Stamp is a moment in the reader's zone: "14:03" today, else with its date, "2026-09-10 14:03".
func Stamp(now, t time.Time) string {
	if t.IsZero() {
		return unknown
	}
	t = t.In(now.Location())
	if t.Format(time.DateOnly) == now.Format(time.DateOnly) {
		return t.Format("15:04")
	}
	return t.Format("2006-01-02 15:04")
}

// Age is how long ago t was, in one unit and rounded down: "now", "3m", "47h", "4d", and "?" for an unknown time. What a clock that
// went back makes appear ahead of now is "now": no age is negative.
func Age(now, t time.Time) string {
	switch d := now.Sub(t); {
	case t.IsZero():
		return "?"
	case d < time.Minute:
		return "now"
	default:
		return short(d)
	}
}

// Ago is Age as the end of a sentence: "just now", "3m ago".
func Ago(now, t time.Time) string {
	switch age := Age(now, t); age {
	case "?":
		return "at " + unknown
	case "now":
		return "just now"
	default:
		return age + " ago"
	}
}

// Since is a moment with how long ago it was: "14:03 (3m ago)".
func Since(now, t time.Time) string {
	if t.IsZero() {
		return unknown
	}
	return Stamp(now, t) + " (" + Ago(now, t) + ")"
}

// Left is how long it is until t, to the nearest minute and by the second in the last one: "30m left", "12s left", "lapsed".
func Left(now, t time.Time) string {
	switch d := t.Sub(now); {
	case d <= 0:
		return "lapsed"
	case d < time.Minute:
		return fmt.Sprintf("%ds left", int(d.Seconds()))
	default:
		return short(d.Round(time.Minute)) + " left"
	}
}

// short is a duration of at least a minute in one unit.
func short(d time.Duration) string {
	switch {
	case d < time.Hour:
		return fmt.Sprintf("%dm", d/time.Minute)
	case d < 2*day:
		return fmt.Sprintf("%dh", d/time.Hour)
	}
	return fmt.Sprintf("%dd", d/day)
}

// Span is a length of time in at most two units: "350ms", "12s", "5m 3s", "2h 10m", "3d 4h". A negative one is "0s".
func Span(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return "0s"
	case d < time.Second:
		return fmt.Sprintf("%dms", d/time.Millisecond)
	case d < time.Minute:
		return fmt.Sprintf("%ds", d/time.Second)
	case d < time.Hour:
		return twoUnits(d, time.Minute, "m", time.Second, "s")
	case d < day:
		return twoUnits(d, time.Hour, "h", time.Minute, "m")
	}
	return twoUnits(d, day, "d", time.Hour, "h")
}

func twoUnits(d, large time.Duration, largeName string, small time.Duration, smallName string) string {
	s := fmt.Sprintf("%d%s", d/large, largeName)
	if rest := d % large / small; rest > 0 {
		s += fmt.Sprintf(" %d%s", rest, smallName)
	}
	return s
}

// ParseDuration is time.ParseDuration with days ("7d") and weeks ("2w") of 24 and 168 hours. It refuses what is not above zero. The
// error is a sentence for people that quotes what was typed.
func ParseDuration(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	if err != nil {
		if d, err = parseDays(s); err != nil {
			return 0, fmt.Errorf("%q is not a duration such as 90s, 30m, 2h or 7d", s)
		}
	}
	if d <= 0 {
		return 0, fmt.Errorf("%q is not above zero", s)
	}
	return d, nil
}

var errNotDays = errors.New("no number of days or weeks")

func parseDays(s string) (time.Duration, error) {
	digits, unit := strings.TrimSuffix(s, "d"), int64(1)
	if digits == s {
		digits, unit = strings.TrimSuffix(s, "w"), 7
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || digits == s || n > maxDays/unit || n < 0 {
		return 0, errNotDays
	}
	return time.Duration(n*unit) * day, nil
}
