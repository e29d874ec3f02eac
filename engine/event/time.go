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
	if len(s) < shortest {
		return time.Time{}, false
	}
	d := [19]byte([]byte(s[:19]))
	if d[4] != '-' || d[7] != '-' || d[10] != 'T' || d[13] != ':' || d[16] != ':' {
		return time.Time{}, false
	}
	year := two(d[0], d[1])*100 + two(d[2], d[3])
	month, day := two(d[5], d[6]), two(d[8], d[9])
	hour, minute, second := two(d[11], d[12]), two(d[14], d[15]), two(d[17], d[18])
	if year < 0 || hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 59 ||
		month < 1 || month > 12 || day < 1 || day > daysIn(month, year) {
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
	seconds := int64(days(year, month, day))*24*60*60 + int64(hour*60*60+minute*60+second) - offset
	return time.Unix(seconds, int64(nanos)).UTC(), true // time.Date takes several times as long
}

// two is the number that two digits stand for, far below zero when they are none.
func two(a, b byte) int {
	if a -= '0'; a > 9 {
		return -1e6
	}
	if b -= '0'; b > 9 {
		return -1e6
	}
	return int(a)*10 + int(b)
}

// days counts the days from 1970-01-01 to a day of the Gregorian calendar. Years begin in March here, so that a leap day is the
// last of its year.
func days(year, month, day int) int {
	const toEpoch = 719468 // days from 0000-03-01 to 1970-01-01
	if month < 3 {
		year--
		month += 12
	}
	year += 400 // no year before March of the year 0 is negative then
	return year*365 + year/4 - year/100 + year/400 + (153*(month-3)+2)/5 + day - 1 - toEpoch - 400*365 - 97
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
	if len(s) == len(".000Z") { // as it is usually written
		if nanos = two(s[1], s[2])*1e7 + two('0', s[3])*1e6; nanos < 0 {
			return 0, s, false
		}
		return nanos, s[4:], true
	}
	i := 1
	for scale := int(1e8); i < len(s) && '0' <= s[i] && s[i] <= '9'; i++ {
		nanos += int(s[i]-'0') * scale
		scale /= 10
	}
	return nanos, s[i:], i > 1
}

// zone reads a time zone that is all of s and returns how many seconds it is ahead.
func zone(s string) (offset int64, ok bool) {
	if s == "Z" {
		return 0, true
	}
	if len(s) != len("+00:00") || s[0] != '+' && s[0] != '-' || s[3] != ':' {
		return 0, false
	}
	hours, minutes := two(s[1], s[2]), two(s[4], s[5])
	if hours < 0 || hours > 23 || minutes < 0 || minutes > 59 {
		return 0, false
	}
	offset = int64(hours*60+minutes) * 60
	if s[0] == '-' {
		offset = -offset
	}
	return offset, true
}
