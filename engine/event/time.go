package event

import (
	"strings"
	"time"
)

// FormatTime is t as the log stores it.
func FormatTime(t time.Time) string { return t.UTC().Format(TimeFormat) }

// ParseTime reads a timestamp of the log: an ISO 8601 date and time with seconds, an optional fraction, and Z or ±hh:mm. ok is
// false for anything else, also for a day that the calendar does not have. Digits beyond nanoseconds are dropped.
func ParseTime(s string) (t time.Time, ok bool) {
	const shortest = len("2006-01-02T15:04:05Z")
	if len(s) < shortest || s[4] != '-' || s[7] != '-' || s[10] != 'T' || s[13] != ':' || s[16] != ':' {
		return time.Time{}, false
	}
	century, year := two(s, 0), two(s, 2)
	month, day := two(s, 5), two(s, 8)
	hour, minute, second := two(s, 11), two(s, 14), two(s, 17)
	if century < 0 || year < 0 || hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 59 {
		return time.Time{}, false
	}
	year += 100 * century
	if month < 1 || month > 12 || day < 1 || day > daysIn(month, year) {
		return time.Time{}, false
	}
	nanos, rest, ok := fraction(s[19:])
	if !ok {
		return time.Time{}, false
	}
	offset, ok := zone(rest)
	if !ok {
		return time.Time{}, false
	}
	t = time.Date(year, time.Month(month), day, hour, minute, second, nanos, time.UTC)
	if offset != 0 {
		t = t.Add(-offset)
	}
	return t, true
}

// two reads the two digits at s[i], -1 when there are none.
func two(s string, i int) int {
	a, b := s[i]-'0', s[i+1]-'0'
	if a > 9 || b > 9 {
		return -1
	}
	return int(a)*10 + int(b)
}

func daysIn(month, year int) int {
	switch month {
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	case 4, 6, 9, 11:
		return 30
	}
	return 31
}

// fraction reads an optional fraction of a second from the start of s.
func fraction(s string) (nanos int, rest string, ok bool) {
	if !strings.HasPrefix(s, ".") {
		return 0, s, true
	}
	i := 1
	for scale := int(1e8); i < len(s) && '0' <= s[i] && s[i] <= '9'; i++ {
		nanos += int(s[i]-'0') * scale
		scale /= 10
	}
	return nanos, s[i:], i > 1
}

// zone reads a time zone that is all of s.
func zone(s string) (offset time.Duration, ok bool) {
	if s == "Z" {
		return 0, true
	}
	if len(s) != len("+00:00") || s[0] != '+' && s[0] != '-' || s[3] != ':' {
		return 0, false
	}
	hours, minutes := two(s, 1), two(s, 4)
	if hours < 0 || hours > 23 || minutes < 0 || minutes > 59 {
		return 0, false
	}
	offset = time.Duration(hours)*time.Hour + time.Duration(minutes)*time.Minute
	if s[0] == '-' {
		offset = -offset
	}
	return offset, true
}
