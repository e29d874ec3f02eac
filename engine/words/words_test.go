package words

import (
	"testing"
	"time"
)

func TestPlural(t *testing.T) {
	for n, want := range map[int]string{0: "0 paths", 1: "1 path", 2: "2 paths", -1: "-1 paths"} {
		if got := Plural(n, "path"); got != want {
			t.Errorf("%d: got %q, want %q", n, got, want)
		}
	}
}

// What somebody pastes into a shell must do what it says, whatever the names are.
func TestBytes(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0 B", 1023: "1023 B", 1024: "1.0 KB", 1536: "1.5 KB", 1 << 20: "1.0 MB", 5 << 30: "5.0 GB", 1 << 50: "1048576.0 GB",
	} {
		if got := Bytes(n); got != want {
			t.Errorf("%d is %q, want %q", n, got, want)
		}
	}
}

func TestSeq(t *testing.T) {
	for seq, want := range map[int64][2]string{-1: {"nothing", "the log is empty"}, 0: {"seq 0", "as of seq 0"}, 12: {"seq 12", "as of seq 12"}} {
		if got := [2]string{Seq(seq), AsOf(seq)}; got != want {
			t.Errorf("%d is %q, want %q", seq, got, want)
		}
	}
}

func TestShellWord(t *testing.T) {
	for in, want := range map[string]string{
		"src/api": "src/api", "a b": "'a b'", "$(reboot)": "'$(reboot)'", "`x`": "'`x`'", "it's": `'it'\''s'`, "": "''",
		"ü/漢": "ü/漢", "a;b": "'a;b'", "x\x1b[31m": "x", "a\nb": "'a b'", "~root": "'~root'", "*": "'*'", "\u202e": "''",
	} {
		if got := ShellWord(in); got != want {
			t.Errorf("%q: got %s, want %s", in, got, want)
		}
	}
}

func TestTimes(t *testing.T) {
	zone := time.FixedZone("", 2*3600)
	now := time.Date(2026, 9, 10, 0, 30, 0, 0, zone) // still the day before in UTC
	for _, c := range []struct {
		t                       time.Time
		stamp, age, ago, moment string
	}{
		{now, "00:30", "now", "just now", "00:30 (just now)"},
		{now.Add(-20 * time.Minute).UTC(), "00:10", "20m", "20m ago", "00:10 (20m ago)"},
		{now.Add(-time.Hour).UTC(), "2026-09-09 23:30", "1h", "1h ago", "2026-09-09 23:30 (1h ago)"},
		{now.Add(-47*time.Hour - 59*time.Minute), "2026-09-08 00:31", "47h", "47h ago", "2026-09-08 00:31 (47h ago)"},
		{now.Add(-48 * time.Hour), "2026-09-08 00:30", "2d", "2d ago", "2026-09-08 00:30 (2d ago)"},
		{now.Add(24 * time.Hour), "2026-09-11 00:30", "now", "just now", "2026-09-11 00:30 (just now)"}, // the clock went back
		{time.Time{}, "an unknown time", "?", "at an unknown time", "an unknown time"},
	} {
		if got := Stamp(now, c.t); got != c.stamp {
			t.Errorf("Stamp %v: got %q, want %q", c.t, got, c.stamp)
		}
		if got := Age(now, c.t); got != c.age {
			t.Errorf("Age %v: got %q, want %q", c.t, got, c.age)
		}
		if got := Ago(now, c.t); got != c.ago {
			t.Errorf("Ago %v: got %q, want %q", c.t, got, c.ago)
		}
		if got := Since(now, c.t); got != c.moment {
			t.Errorf("Since %v: got %q, want %q", c.t, got, c.moment)
		}
	}
}

func TestLeft(t *testing.T) {
	now := time.Date(2026, 9, 10, 8, 0, 0, 0, time.UTC)
	for d, want := range map[time.Duration]string{
		-time.Second: "lapsed", 0: "lapsed", 59 * time.Second: "59s left", 89 * time.Second: "1m left", 30*time.Minute - time.Second: "30m left", 3*time.Hour - time.Second: "3h left", 3 * time.Hour: "3h left", 49 * time.Hour: "2d left",
	} {
		if got := Left(now, now.Add(d)); got != want {
			t.Errorf("%v: got %q, want %q", d, got, want)
		}
	}
}

func TestSpan(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Hour: "0s", 0: "0s", 350 * time.Millisecond: "350ms", 999999 * time.Microsecond: "999ms", 12 * time.Second: "12s",
		time.Minute: "1m", 303 * time.Second: "5m 3s", 130 * time.Minute: "2h 10m", 76 * time.Hour: "3d 4h", 7 * day: "7d",
	} {
		if got := Span(d); got != want {
			t.Errorf("%v: got %q, want %q", d, got, want)
		}
	}
}

func TestParseDuration(t *testing.T) {
	for in, want := range map[string]time.Duration{
		"90s": 90 * time.Second, "1h30m": 90 * time.Minute, "7d": 7 * day, "2w": 14 * day, "36500d": 36500 * day,
	} {
		if got, err := ParseDuration(in); err != nil || got != want {
			t.Errorf("%q: got %v, %v, want %v", in, got, err, want)
		}
	}
	for in, want := range map[string]string{
		"":       `"" is not a duration such as 90s, 30m, 2h or 7d`,
		"7":      `"7" is not a duration such as 90s, 30m, 2h or 7d`,
		"36501d": `"36501d" is not a duration such as 90s, 30m, 2h or 7d`,
		"d":      `"d" is not a duration such as 90s, 30m, 2h or 7d`,
		"99999w": `"99999w" is not a duration such as 90s, 30m, 2h or 7d`,
		"0s":     `"0s" is not above zero`,
		"0d":     `"0d" is not above zero`,
		"-1h":    `"-1h" is not above zero`,
	} {
		if _, err := ParseDuration(in); err == nil || err.Error() != want {
			t.Errorf("%q: got %v, want %s", in, err, want)
		}
	}
}
