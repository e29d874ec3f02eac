package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"
)

// hostile tries to write the clipboard, move the cursor, reverse the reading order and hide text.
const hostile = "\x1b]52;c;aGk=\x07\x1b[2Jx\u202ey\u009b31m\u2066z\r\nq\U000e0041"

func TestTextIsMadeSafe(t *testing.T) {
	type named string
	var b bytes.Buffer
	p := printer{w: &b}
	p.printf("%s %s %s %d %s\n", hostile, named(hostile), errors.New(hostile), 7, styled("kept"))
	p.block("| ", hostile)
	p.printf("%s %s %s\n", p.bold(hostile), pad(hostile, 30), clip(hostile, 5))
	if i := strings.IndexFunc(b.String(), func(r rune) bool {
		return r < ' ' && r != '\n' || r >= 0x7f && r <= 0x9f || r == 0x202e || r == 0x2066 || r > 0xe0000
	}); i >= 0 {
		t.Errorf("unsafe text at %d: %q", i, b.String())
	}
	if !strings.Contains(b.String(), " 7 kept\n") {
		t.Errorf("%q", b.String())
	}
}

// TestTypedTextIsMadeSafe: what somebody pastes comes back in refusals and answers.
func TestTypedTextIsMadeSafe(t *testing.T) {
	a, stdout, stderr := testApp(t)
	for _, args := range [][]string{
		{"coord", "own", hostile, "src"},
		{"coord", "own", "codex", hostile},
		{"coord", "decide", "codex", hostile},
		{"coord", "task", hostile, hostile},
		{"coord", "contract", hostile},
		{"coord", "done", hostile},
		{hostile},
		{"status", "--" + hostile},
		{"status", "--project", hostile},
		{"kill", hostile},
		{"coord", "update", "codex"},
		{"status"},
	} {
		run(t.Context(), args, a)
	}
	for _, text := range []string{stdout.String(), stderr.String()} {
		if strings.ContainsAny(text, "\x1b\x07\r\u202e\u009b\u2066\U000e0041") || text == "" {
			t.Errorf("%q", text)
		}
	}
}

func TestColours(t *testing.T) {
	var b bytes.Buffer
	p := printer{w: &b, coloured: true}
	p.printf("%s\n", p.red("a\x1b[0mb"))
	if got := b.String(); got != "\x1b[31mab\x1b[0m\n" {
		t.Errorf("%q", got)
	}
}

// fullDisk takes nothing.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestAnAnswerThatCannotBePrintedIsAFailure(t *testing.T) {
	for _, args := range [][]string{{"version"}, {"version", "--json"}, {"status"}, {"--help"}} {
		a, _, stderr := testApp(t)
		a.stdout = fullDisk{}
		if code := run(t.Context(), args, a); code != exitUnexpected || !strings.Contains(stderr.String(), "no space left") {
			t.Errorf("%q: exit %d, %s", args, code, stderr)
		}
	}
}

func TestShowsColour(t *testing.T) {
	tests := []struct {
		goos string
		env  map[string]string
		want bool
	}{
		{"linux", map[string]string{"TERM": "xterm"}, true},
		{"linux", map[string]string{"TERM": "xterm", "NO_COLOR": "1"}, false},
		{"linux", map[string]string{"TERM": "dumb"}, false},
		{"linux", nil, true},
		{"windows", nil, false},
		{"windows", map[string]string{"WT_SESSION": "x"}, true},
	}
	for _, tt := range tests {
		if got := showsColour(tt.goos, func(name string) string { return tt.env[name] }); got != tt.want {
			t.Errorf("%s %v: %v", tt.goos, tt.env, got)
		}
	}
}

func TestJSONIsSafeAndWhole(t *testing.T) {
	var b bytes.Buffer
	if err := writeJSON(&b, map[string]string{"text": hostile + "<&>"}); err != nil {
		t.Fatal(err)
	}
	if i := strings.IndexFunc(b.String(), func(r rune) bool { return r > 0x7e || r < ' ' && r != '\n' }); i >= 0 {
		t.Errorf("unsafe at %d: %q", i, b.String())
	}
	if !strings.Contains(b.String(), "<&>") {
		t.Errorf("escaped for HTML: %s", b.String())
	}
	var back map[string]string
	if err := json.Unmarshal(b.Bytes(), &back); err != nil || back["text"] != hostile+"<&>" {
		t.Errorf("%q, %v", back["text"], err)
	}
}

func TestJoined(t *testing.T) {
	out, err := json.Marshal(joined{json.RawMessage(`{"b":1,"a":"<"}`), struct{}{}, struct {
		C []int `json:"c"`
	}{[]int{1}}})
	if err != nil || !bytes.Contains(out, []byte(`"b":1,"a":"`)) || !bytes.HasSuffix(out, []byte(`,"c":[1]}`)) {
		t.Errorf("%s, %v", out, err)
	}
	if out, err := json.Marshal(joined{}); err != nil || string(out) != "{}" {
		t.Errorf("%s, %v", out, err)
	}
	if _, err := json.Marshal(joined{[]int{1}}); err == nil {
		t.Error("a list was joined")
	}
}

func TestParseSince(t *testing.T) {
	now := time.Date(2026, 9, 10, 12, 0, 0, 0, time.UTC)
	for typed, want := range map[string]time.Time{
		"2h":                        now.Add(-2 * time.Hour),
		"7d":                        now.Add(-7 * 24 * time.Hour),
		"2026-09-09":                time.Date(2026, 9, 9, 0, 0, 0, 0, time.UTC),
		"2026-09-09T10:30":          time.Date(2026, 9, 9, 10, 30, 0, 0, time.UTC),
		"2026-09-09T10:30:00+02:00": time.Date(2026, 9, 9, 8, 30, 0, 0, time.UTC),
	} {
		if got, err := parseSince(typed, now); err != nil || !got.Equal(want) {
			t.Errorf("%s: %v, %v", typed, got, err)
		}
	}
	for _, typed := range []string{"", "yesterday", "2h ago", "-2h", "2026-13-01", "99999999d"} {
		if _, err := parseSince(typed, now); err == nil {
			t.Errorf("%q is accepted", typed)
		}
	}
}

func TestCommandRun(t *testing.T) {
	run := commandRun("npm test -> 0 12 passed")
	if run.Command != "npm test" || run.ExitCode == nil || *run.ExitCode != 0 || run.Summary != "12 passed" {
		t.Errorf("%+v", run)
	}
	for _, text := range []string{"make", "POST /x -> created", "a -> "} {
		if run := commandRun(text); run.Command != text || run.ExitCode != nil {
			t.Errorf("%q: %+v", text, run)
		}
	}
}

// TestLongWordsAreNotRepeated whole by a refusal, which still says what is wrong with them.
func TestLongWordsAreNotRepeated(t *testing.T) {
	long := strings.Repeat("a", 100_000)
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{long}, "unexpected argument"},
		{[]string{"coord", "own", "codex", long}, "path"},
		{[]string{"coord", "status", "--at", long}, "is not a whole decimal number"},
		{[]string{"coord", "conflicts", long, "src"}, "name is longer than"},
		{[]string{"coord", "snapshot", long}, "name is longer than"},
		{[]string{"coord", "subscribe", long}, "name is longer than"},
		{[]string{"coord", "watch", long}, "name is longer than"},
		{[]string{"handoff", long}, "name is longer than"},
		{[]string{"coord", "update", "codex", "--note", long}, "loadout: note is longer than"},
		{[]string{"tui", "--frame", "80x24", "--pane", long}, "no pane"},
	} {
		a, stdout, stderr := testApp(t)
		if code := run(t.Context(), tt.args, a); code != exitUsage || !strings.Contains(stderr.String(), tt.want) || stderr.Len() > 3000 || stdout.Len() > 0 {
			t.Errorf("%.40q: exit %d, %d bytes: %.200q", tt.args, code, stderr.Len(), stderr)
		}
		stderr.Reset()
		if run(t.Context(), append([]string{"--json"}, tt.args...), a); !json.Valid(stderr.Bytes()) || stderr.Len() > 6000 {
			t.Errorf("%.40q --json: %d bytes: %.200q", tt.args, stderr.Len(), stderr)
		}
	}
}
