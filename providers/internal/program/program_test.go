package program

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agentloadout/loadout/engine/turn"
	"github.com/agentloadout/loadout/providers/internal/process"
)

// TestInsideHook keeps a hook that starts a turn from starting itself again.
func TestInsideHook(t *testing.T) {
	for variable, want := range map[string]bool{"CLAUDE_CODE_CHILD_SESSION": true, turn.EnvMark: true, "UNRELATED": false} {
		t.Run(variable, func(t *testing.T) {
			for _, unset := range []string{"CLAUDE_CODE_CHILD_SESSION", turn.EnvMark} {
				t.Setenv(unset, "")
			}
			t.Setenv(variable, "1")
			if got := InsideHook(); got != want {
				t.Errorf("got %v", got)
			}
		})
	}
}

func TestOneLine(t *testing.T) {
	tests := []struct{ text, want string }{
		{"  two\n\tlines \r\n", "two lines"},
		{"\x1b[31mred\x1b[0m\x00", "[31mred [0m"},
		{"a\u202eb\u200bc\uFEFF", "abc"},
		{strings.Repeat("ä", maxMessage), strings.Repeat("ä", maxMessage)},
		{strings.Repeat("ä", maxMessage+1), strings.Repeat("ä", maxMessage) + "…"},
		{"\xff", ""},
		{"", ""},
	}
	for _, tt := range tests {
		if got := OneLine(tt.text); got != tt.want {
			t.Errorf("OneLine(%q) = %q, want %q", tt.text, got, tt.want)
		}
	}
}

func TestCut(t *testing.T) {
	long := strings.Repeat("x", turn.MaxAnswer-1) + "ä"
	for _, tt := range []struct {
		text      string
		length    int
		truncated bool
	}{{"short", 5, false}, {long[:turn.MaxAnswer-1], turn.MaxAnswer - 1, false}, {long, turn.MaxAnswer - 1, true}, {long + "y", turn.MaxAnswer - 1, true}} {
		if got, truncated := Cut(tt.text); len(got) != tt.length || truncated != tt.truncated {
			t.Errorf("%d bytes cut to %d, truncated %v", len(tt.text), len(got), truncated)
		}
	}
}

func TestNewUUID(t *testing.T) {
	first, second := NewUUID(), NewUUID()
	if !uuid.MatchString(first) || first == second || first[14] != '4' || !strings.ContainsRune("89ab", rune(first[19])) {
		t.Errorf("%s and %s", first, second)
	}
}

// TestMissingProgram says what helps: to install it, or to see to the command that the settings name for it.
func TestMissingProgram(t *testing.T) {
	p := Program{Provider: "agent", Binary: "no-such-program-anywhere", Install: "npm install it"}
	file := filepath.Join(t.TempDir(), "agent")
	if err := os.WriteFile(file, nil, 0o600); err != nil { // nobody may run it
		t.Fatal(err)
	}
	for _, tt := range []struct {
		command []string
		hint    string
	}{
		{nil, "install it: npm install it"},
		{[]string{"no-such-wrapper", "agent"}, "see that no-such-wrapper is there and may be run"},
		{[]string{file}, "see that " + file + " is there and may be run"},
	} {
		_, _, err := p.Find(tt.command)
		for _, failure := range []error{err, p.NotStarted(t.Context(), tt.command, err)} { // gone since it was looked for
			var missing *turn.Failure
			if !errors.As(failure, &missing) || missing.Kind != turn.NotInstalled || missing.Spent != turn.Nothing || !strings.HasPrefix(missing.Hint()[0], tt.hint) {
				t.Errorf("%q: %+v", tt.command, failure)
			}
		}
	}
}

// TestBrokenProgram: a program that is there and cannot be started is not one to install, unless what is there is no good.
func TestBrokenProgram(t *testing.T) {
	p := Program{Provider: "agent", Binary: "agent", Install: "npm install it"}
	file := filepath.Join(t.TempDir(), "agent")
	if err := os.WriteFile(file, []byte("#!/no/such/interpreter\n"), 0o700); err != nil { //nolint:gosec // it is to be started
		t.Fatal(err)
	}
	_, _, err := p.Ask(t.Context(), process.Command{Path: file, Args: []string{"--version"}})
	var broken *turn.Failure
	if !errors.As(err, &broken) || broken.Kind != turn.Broken || broken.Spent != turn.Nothing ||
		!strings.Contains(broken.Error(), "cannot be started: "+file) || !strings.HasPrefix(broken.Hint()[0], "run "+file+" --version") {
		t.Errorf("%v, hints %q", err, broken.Hint())
	}
}

func TestDeadline(t *testing.T) {
	for given, want := range map[time.Duration]time.Duration{
		0: turn.DefaultDeadline, -1: turn.DefaultDeadline, 30 * time.Second: 30 * time.Second, time.Hour: turn.MaxDeadline,
	} {
		if got := Deadline(turn.Turn{Deadline: given}); got != want {
			t.Errorf("%s: %s", given, got)
		}
	}
}

func TestCheckSession(t *testing.T) {
	for _, tt := range []struct {
		anyID bool
		id    string
		ok    bool
	}{
		{false, "0e7d3a62-7a0e-4f7e-9c39-3f1f0f8a1234", true},
		{false, "--last", false},
		{false, "refactoring", false},
		{true, "--last", true}, // it is no argument
		{true, "one/two:3", true},
		{true, "", false},
		{true, "one ", false},
		{true, "one\ntwo", false},
		{true, "one\x1b[31m", false},
		{true, "one\u202e", false},
		{true, "\xff", false},
		{true, strings.Repeat("x", 2000), false},
	} {
		if err := (Program{AnyID: tt.anyID}).CheckSession(tt.id); (err == nil) != tt.ok {
			t.Errorf("%.20q: %v", tt.id, err)
		}
	}
}

func TestEveryKindHasAHint(t *testing.T) {
	for _, kind := range []turn.Kind{
		turn.NotInstalled, turn.NotSignedIn, turn.UnknownSession, turn.SessionBusy, turn.Quota, turn.Overloaded, turn.Unreachable, turn.TooLong,
		turn.Timeout, turn.Forbidden, turn.Nonsense, turn.Rejected, turn.Crashed,
	} {
		if failure := (Program{}).Failure(kind, turn.Nothing, "", nil); len(failure.Hint()) == 0 {
			t.Errorf("%s has none", kind)
		}
	}
}
