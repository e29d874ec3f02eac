package event

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agentloadout/loadout/store/jsonline"
)

// decode reads one line or fails the test.
func decode(t *testing.T, line string) Event {
	t.Helper()
	e, err := decodeLine(line)
	if err != nil {
		t.Fatalf("decode %s: %v", line, err)
	}
	return e
}

func decodeLine(line string) (Event, error) {
	var o jsonline.Object
	if err := o.Parse([]byte(line)); err != nil {
		return Event{}, err
	}
	return Decode(&o, []byte(line))
}

func golden(t *testing.T) []string {
	t.Helper()
	data, err := os.ReadFile("testdata/golden.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
}

// Every known type has one golden line, which decodes, keeps its bytes when it is written again and when it is normalised.
func TestGoldenLines(t *testing.T) {
	var types []Type
	for _, line := range golden(t) {
		e := decode(t, line)
		types = append(types, e.Type)
		if got := string(e.AppendLine(nil)); got != line {
			t.Errorf("%s changes when written again\n got %s\nwant %s", e.Type, got, line)
		}
		body, err := e.Body()
		if err != nil {
			t.Errorf("%s: %v", e.Type, err)
			continue
		}
		if typeOf(body) != e.Type {
			t.Errorf("%s decodes to %T", e.Type, body)
		}
		if err := e.Normalize(); err != nil {
			t.Errorf("normalize %s: %v", e.Type, err)
		}
		if got := string(e.AppendLine(nil)); got != line {
			t.Errorf("%s changes when normalised\n got %s\nwant %s", e.Type, got, line)
		}
	}
	if want := Types(); !slices.Equal(types, sortedLike(types, want)) || len(types) != len(want) {
		t.Errorf("golden lines of %v, want one of each of %v", types, want)
	}
	for _, known := range Types() {
		if !KnownType(known) || internType([]byte(`"`+string(known)+`"`)) != known {
			t.Errorf("%s is listed but not known", known)
		}
	}
}

// sortedLike is want in the order of types, so that the two can be compared as sets.
func sortedLike(types, want []Type) []Type {
	var out []Type
	for _, t := range types {
		if slices.Contains(want, t) && !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	return out
}

func TestUnknownTypeIsKept(t *testing.T) {
	const line = `{"id":"x1","seq":3,"type":"skill","from":"a","to":"b","description":"later","timestamp":"2026-09-10T08:00:00.000Z","payload":{"any":[1,{"x":null}]}}`
	e := decode(t, line)
	if KnownType(e.Type) {
		t.Fatal("skill is known")
	}
	body, err := e.Body()
	if err != nil {
		t.Fatal(err)
	}
	if unknown, ok := body.(Unknown); !ok || string(unknown.Raw) != `{"any":[1,{"x":null}]}` {
		t.Errorf("body %#v", body)
	}
	if got := string(e.AppendLine(nil)); got != line {
		t.Errorf("got %s", got)
	}
}

// A decoded event does not change with the line that it came from, nor with what is written into its payload.
func TestDecodedEventIsItsOwn(t *testing.T) {
	for _, line := range golden(t) {
		raw := []byte(line)
		var o jsonline.Object
		if err := o.Parse(raw); err != nil {
			t.Fatal(err)
		}
		e, err := Decode(&o, raw)
		if err != nil {
			t.Fatal(err)
		}
		clear(raw)
		if got := string(e.AppendLine(nil)); got != line {
			t.Errorf("changed with its line: %s", got)
		}
		before := e
		before.Payload = nil
		was := string(before.AppendLine(nil))
		_ = append(e.Payload, "xxxxxxxx"...)
		clear(e.Payload)
		if got := string(before.AppendLine(nil)); got != was {
			t.Errorf("changed with its payload: %s", got)
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	const good = `{"id":"a","seq":1,"type":"task","from":"x","to":"*","description":"d","timestamp":"2026-09-10T08:00:00Z"}`
	decode(t, good)
	long := strings.Repeat("x", MaxName+1)
	for _, c := range []struct{ name, old, new, field string }{
		{"no id", `"id":"a",`, ``, "id"},
		{"blank id", `"id":"a"`, `"id":" \u3000"`, "id"},
		{"long id", `"id":"a"`, `"id":"` + long + `"`, "id"},
		{"number as id", `"id":"a"`, `"id":7`, "id"},
		{"no seq", `"seq":1,`, ``, "seq"},
		{"negative seq", `"seq":1`, `"seq":-1`, "seq"},
		{"fractional seq", `"seq":1`, `"seq":1.5`, "seq"},
		{"seq as text", `"seq":1`, `"seq":"1"`, "seq"},
		{"seq above 2^53-1", `"seq":1`, `"seq":9007199254740992`, "seq"},
		{"no type", `"type":"task",`, ``, "type"},
		{"null type", `"type":"task"`, `"type":null`, "type"},
		{"no from", `"from":"x",`, ``, "from"},
		{"long from", `"from":"x"`, `"from":"` + long + `"`, "from"},
		{"no to", `"to":"*",`, ``, "to"},
		{"no description", `"description":"d",`, ``, "description"},
		{"blank description", `"description":"d"`, `"description":"\ufeff "`, "description"},
		{"long description", `"description":"d"`, `"description":"` + strings.Repeat("x", MaxDescription+1) + `"`, "description"},
		{"long context", `"seq":1`, `"seq":1,"context":"` + strings.Repeat("x", MaxContext+1) + `"`, "context"},
		{"null context", `"seq":1`, `"seq":1,"context":null`, "context"},
		{"long resolves", `"seq":1`, `"seq":1,"resolves":"` + long + `"`, "resolves"},
		{"no timestamp", `,"timestamp":"2026-09-10T08:00:00Z"`, ``, "timestamp"},
		{"bad timestamp", `08:00:00Z`, `08:00Z`, "timestamp"},
		{"list as payload", `"seq":1`, `"seq":1,"payload":[]`, "payload"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := decodeLine(strings.Replace(good, c.old, c.new, 1))
			var invalid *InvalidError
			if !errors.As(err, &invalid) || invalid.Field != c.field {
				t.Errorf("got %v, want an error of %s", err, c.field)
			}
		})
	}
}

func TestDecodeTolerates(t *testing.T) {
	plain := decode(t, `{"id":"a","seq":1,"type":"task","from":"x","to":"*","description":"d e","timestamp":"2026-09-10T08:00:00Z","payload":{"k":1}}`)
	for name, line := range map[string]string{
		"blanks between":    "{ \"id\" : \"a\",\t\"seq\":1, \"type\":\"task\",\"from\" :\"x\",\"to\":\"*\" ,\"description\":\"d e\",\"timestamp\":\"2026-09-10T08:00:00Z\",\"payload\": {\"k\":1}}\r",
		"other order":       `{"payload":{"k":1},"timestamp":"2026-09-10T08:00:00Z","description":"d e","to":"*","from":"x","type":"task","seq":1,"id":"a"}`,
		"escapes":           `{"i\u0064":"\u0061","seq":1,"type":"t\u0061sk","from":"x","to":"*","description":"d\u0020e","timestamp":"2026-09-10T08:00:00Z","payload":{"k":1}}`,
		"blanks around":     `{"id":" a","seq":1,"type":"task","from":"x\t","to":" *","description":"\ufeffd e\u2029","timestamp":"2026-09-10T08:00:00Z","payload":{"k":1}}`,
		"unknown keys":      `{"v":9,"id":"a","seq":1,"type":"task","from":"x","to":"*","description":"d e","timestamp":"2026-09-10T08:00:00Z","payload":{"k":1},"more":{}}`,
		"other key and by":  `{"id":"a","seq":1,"type":"task","from":"x","to":"*","description":"d e","timestamp":"2026-09-10T08:00:00Z","payload":{"k":1},"key":5,"by":null}`,
		"empty optional":    `{"id":"a","seq":1,"type":"task","from":"x","to":"*","description":"d e","context":"","timestamp":"2026-09-10T08:00:00Z","resolves":"","payload":{"k":1}}`,
		"duplicate spacing": `   {"id":"a","seq":1,"type":"task","from":"x","to":"*","description":"d e","timestamp":"2026-09-10T08:00:00Z","payload":{"k":1}}   `,
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(plain, decode(t, line)); diff != "" {
				t.Error(diff)
			}
			var o jsonline.Object
			if err := o.Parse([]byte(line)); err != nil {
				t.Fatal(err)
			}
			var borrowed Event
			at, err := BorrowInto(&borrowed, &o)
			if !at.Equal(plain.Time()) {
				t.Errorf("borrowed with the time %v", at)
			}
			if diff := cmp.Diff(plain, borrowed); diff != "" || err != nil {
				t.Errorf("borrowed: %v %s", err, diff)
			}
		})
	}
}

// Limits count UTF-16 code units: a character outside the basic plane counts twice.
func TestLimitsCountUTF16(t *testing.T) {
	line := func(description string) string {
		return `{"id":"a","seq":1,"type":"task","from":"x","to":"*","description":"` + description + `","timestamp":"2026-09-10T08:00:00Z"}`
	}
	for _, c := range []struct {
		name, unit string
		units      int
	}{{"ascii", "x", 1}, {"two bytes", "é", 1}, {"three bytes", "漢", 1}, {"four bytes", "😀", 2}} {
		t.Run(c.name, func(t *testing.T) {
			fit := strings.Repeat(c.unit, MaxDescription/c.units)
			if _, err := decodeLine(line(fit)); err != nil {
				t.Errorf("at the limit: %v", err)
			}
			if _, err := decodeLine(line(" " + fit + "\u2003")); err != nil {
				t.Errorf("at the limit, with blanks around: %v", err)
			}
			if _, err := decodeLine(line(fit + c.unit)); err == nil {
				t.Error("above the limit: accepted")
			}
			if got := Clip(fit+c.unit, MaxDescription); units(got) > MaxDescription || !strings.HasSuffix(got, "…") {
				t.Errorf("clipped to %d units, ends %q", units(got), got[len(got)-3:])
			}
		})
	}
}

func TestParseTime(t *testing.T) {
	want := time.Date(2026, 9, 3, 10, 0, 0, 0, time.UTC)
	for s, want := range map[string]time.Time{
		"2026-09-03T10:00:00Z":              want,
		"2026-09-03T10:00:00.123Z":          want.Add(123 * time.Millisecond),
		"2026-09-03T10:00:00.5Z":            want.Add(500 * time.Millisecond),
		"2026-09-03T10:00:00.123456789012Z": want.Add(123456789),
		"2026-09-03T15:30:00+05:30":         want,
		"2026-09-03T06:30:00.000-03:30":     want,
		"2024-02-29T00:00:00Z":              time.Date(2024, 2, 29, 0, 0, 0, 0, time.UTC),
		"0000-01-01T00:00:00Z":              time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC),
		"9999-12-31T23:59:59.999Z":          time.Date(9999, 12, 31, 23, 59, 59, 999e6, time.UTC),
	} {
		if got, ok := ParseTime(s); !ok || !got.Equal(want) {
			t.Errorf("%s: got %v %v, want %v", s, got, ok, want)
		}
	}
	for _, s := range []string{
		"", "2026-09-03", "2026-09-03T10:00Z", "2026-09-03T10:00:00", "2026-09-03 10:00:00Z", "2026-09-03T10:00:00+0530",
		"2026-09-03t10:00:00Z", "2026-09-03T10:00:00z", "2026-02-30T10:00:00Z", "2025-02-29T10:00:00Z", "1900-02-29T00:00:00Z",
		"2026-13-01T10:00:00Z", "2026-00-01T10:00:00Z", "2026-04-31T10:00:00Z", "2026-09-00T10:00:00Z", "2026-09-03T24:00:00Z",
		"2026-09-03T10:60:00Z", "2026-09-03T10:00:60Z", "2026-09-03T10:00:00.Z", "2026-09-03T10:00:00.1", "2026-09-03T10:00:00Zx",
		"2026-09-03T10:00:00+24:00", "2026-09-03T10:00:00+05:60", "2026-09-03T10:00:00,5Z", "+026-09-03T10:00:00Z", "2026-09-03T10:00:00é",
	} {
		if got, ok := ParseTime(s); ok {
			t.Errorf("%q: accepted as %v", s, got)
		}
	}
	for day := time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC); day.Year() < 10000; day = day.AddDate(0, 0, 1) {
		if got := int64(days(day.Year(), int(day.Month()), day.Day())) * 24 * 60 * 60; got != day.Unix() {
			t.Fatalf("%v: %d seconds, want %d", day, got, day.Unix())
		}
	}
	if got := FormatTime(want.In(time.FixedZone("", 3600))); got != "2026-09-03T10:00:00.000Z" {
		t.Errorf("formatted as %s", got)
	}
}

func TestAppendLineEscapesLikeJSONStringify(t *testing.T) {
	e := Event{ID: "i", Type: "task", From: "a", To: "b", Timestamp: "t", Description: "<&>\u2028 \"\\\b\f\n\r\t\x01\x1f\x7f é 😀 \xff"}
	const want = `"description":"<&>` + "\u2028" + ` \"\\\b\f\n\r\t\u0001\u001f` + "\x7f" + ` é 😀 ` + "\uFFFD" + `",`
	if got := string(e.AppendLine(nil)); !strings.Contains(got, want) {
		t.Errorf("got %q, want it to contain %q", got, want)
	}
}

func TestNewID(t *testing.T) {
	seen := map[string]bool{}
	for range 1000 {
		id := NewID()
		if len(id) != 13 || seen[id] || strings.ToLower(id) != id {
			t.Fatalf("id %q", id)
		}
		seen[id] = true
	}
}

func TestCleanPath(t *testing.T) {
	for in, want := range map[string]string{
		"src/api": "src/api", "src/api/": "src/api", "./src//api/.": "src/api", `src\api\x`: "src/api/x", "": ".", ".": ".", "./": ".",
		"a/../b": "b", "  src ": "src", "a/..": ".", "...": "...", "..a/b": "..a/b", "a:b": "a:b", "ab:/c": "ab:/c", "\ufeffx": "x",
	} {
		if got, err := CleanPath(in); err != nil || got != want {
			t.Errorf("%q: got %q, %v; want %q", in, got, err, want)
		}
	}
	for _, in := range []string{"/etc", `\x`, "C:/x", `c:\x`, "C:", "..", "../x", "a/../../x", `..\x`} {
		if got, err := CleanPath(in); err == nil {
			t.Errorf("%q: accepted as %q", in, got)
		}
	}
}

func TestNames(t *testing.T) {
	for _, c := range [][2]string{
		{"Codex", "codex"}, {"ＣＯＤＥＸ", "codex"}, {"ﬁx", "FIX"}, {"straße", "STRAẞE"}, {"ς", "Σ"}, {"caf\u00e9", "CAFE\u0301"}, {"Ωmega", "ωMEGA"}, {"a", "a"},
	} {
		if !SameName(c[0], c[1]) {
			t.Errorf("%q and %q are different", c[0], c[1])
		}
	}
	for _, c := range [][2]string{{"codex", "codex-2"}, {"codex", "соdex"}, {"a b", "ab"}, {"straße", "strasse"}} {
		if SameName(c[0], c[1]) {
			t.Errorf("%q and %q are the same", c[0], c[1])
		}
	}
	for _, c := range [][2]string{
		{"claude-code", "claude_code"},
		{"claude-code", "Claude Code"},
		{"codex", "c\u043edex"},
		{"codex", "c0dex"},
		{"codex", "co\u200bdex"},
		{"codex", "со\u0501ех"},
		{"claude", "cIaude"},
		{"claude", "c1aude"},
		{"codex", "c\u00f6dex"},
		{"gemini", "gеmіnі"},
		{"codex", "CODEX."},
	} {
		if Skeleton(c[0]) != Skeleton(c[1]) {
			t.Errorf("%q and %q look different: %q, %q", c[0], c[1], Skeleton(c[0]), Skeleton(c[1]))
		}
	}
	for _, c := range [][2]string{{"codex", "codex-2"}, {"claude", "cloude"}, {"reviewer", "previewer"}} {
		if Skeleton(c[0]) == Skeleton(c[1]) {
			t.Errorf("%q and %q look alike", c[0], c[1])
		}
	}
}

func TestConcerns(t *testing.T) {
	for _, c := range []struct {
		from, to string
		want     bool
	}{{"a", "*", true}, {"a", "codex", true}, {"a", "Codex", true}, {"codex", "*", false}, {"CODEX", "codex", false}, {"a", "b", false}} {
		e := Event{From: c.from, To: c.to}
		if got := e.Concerns("codex"); got != c.want {
			t.Errorf("%s to %s: got %v", c.from, c.to, got)
		}
	}
}

func TestIsNews(t *testing.T) {
	for _, c := range []struct {
		kind Type
		from string
		want bool
	}{
		{TypeTask, "codex", true},
		{TypeStatus, "codex", true},
		{TypeStatus, Loadout, false}, // of a compaction, say
		{TypeAck, "codex", false},
		{TypeAgent, "codex", false},
		{TypeHalt, User, false},
		{"from the future", "codex", true},
	} {
		if got := c.kind.IsNews(c.from); got != c.want {
			t.Errorf("%s from %s: %t, want %t", c.kind, c.from, got, c.want)
		}
	}
}
