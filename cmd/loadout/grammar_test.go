package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/settings"
	"github.com/agentloadout/loadout/engine/turn"
	"github.com/agentloadout/loadout/engine/words"
	"github.com/agentloadout/loadout/tui/overlay"
	"github.com/agentloadout/loadout/tui/theme"
)

// testApp is an app without a terminal whose output is kept.
func testApp(t *testing.T) (a *app, stdout, stderr *bytes.Buffer) {
	t.Helper()
	stdout, stderr = &bytes.Buffer{}, &bytes.Buffer{}
	return &app{
		stdin: strings.NewReader(""), stdout: stdout, stderr: stderr,
		env: func(string) string { return "" },
		now: func() time.Time { return time.Date(2026, 9, 10, 12, 0, 0, 0, time.UTC) },
		dir: t.TempDir(), host: &scene{},
	}, stdout, stderr
}

// leaves are all commands of the whole grammar, hidden ones too.
func leaves(t *testing.T) []*kong.Node {
	t.Helper()
	parser, err := newParser(&grammar{}, func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	var found []*kong.Node
	var visit func(n *kong.Node)
	visit = func(n *kong.Node) {
		if len(n.Children) == 0 {
			found = append(found, n)
		}
		for _, child := range n.Children {
			visit(child)
		}
	}
	visit(parser.Model.Node)
	if len(found) < 40 {
		t.Fatalf("only %d commands", len(found))
	}
	return found
}

// exampleLines are the calls that a command's help shows.
func exampleLines(n *kong.Node) []string {
	var lines []string
	for line := range strings.SplitSeq(n.Detail, "\n") {
		if line, ok := strings.CutPrefix(line, "    "); ok {
			lines = append(lines, line)
		}
	}
	return lines
}

func TestEveryCommandRunsAndIsShown(t *testing.T) {
	for _, n := range leaves(t) {
		verb := verbOf(n)
		if _, ok := n.Target.Addr().Interface().(command); !ok {
			t.Errorf("%s does not implement command", verb)
		}
		if n.Help == "" {
			t.Errorf("%s has no help", verb)
		}
		if n.Hidden {
			continue
		}
		if len(exampleLines(n)) == 0 {
			t.Errorf("%s has no example", verb)
		}
		for _, arg := range n.Positional {
			if arg.Help == "" {
				t.Errorf("%s: argument %s has no help", verb, arg.Name)
			}
		}
		for _, f := range n.Flags {
			if f.Help == "" || !f.IsBool() && f.PlaceHolder == "" {
				t.Errorf("%s --%s lacks help or a placeholder", verb, f.Name)
			}
		}
	}
}

func TestExamplesParse(t *testing.T) {
	for _, n := range leaves(t) {
		if n.Name == "completion" {
			continue // its examples are about shells
		}
		for _, line := range exampleLines(n) {
			if i := strings.Index(line, "$(loadout "); i >= 0 {
				line = strings.TrimSuffix(line[i+2:], ")")
				line = strings.ReplaceAll(line, "$PPID", "1")
			}
			line, _, _ = strings.Cut(line, " < ")
			args, err := words.Split(line)
			if err != nil {
				t.Errorf("%s: %v", line, err)
				continue
			}
			a, _, _ := testApp(t)
			c, _, err := parse(a, append(args[1:], "--json"))
			if err != nil {
				t.Errorf("%s: %v", line, err)
				continue
			}
			if !c.JSON {
				t.Errorf("%s: --json is not seen", line)
			}
			last := c.name[strings.LastIndex(c.name, " ")+1:]
			if last != n.Name && !(n.Name == "cockpit" && c.name == "cockpit") {
				t.Errorf("%s: example of %s calls %s", line, n.Name, c.name)
			}
		}
	}
}

// TestExampleSessions: an id in the docs or an example is one that its program would take, unless it is plainly cut off.
func TestExampleSessions(t *testing.T) {
	text := ""
	for _, n := range leaves(t) {
		text += strings.Join(exampleLines(n), "\n") + "\n"
	}
	docs, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(docs) == 0 {
		t.Fatal(docs, err)
	}
	for _, name := range docs {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		text += string(data)
	}
	for _, p := range programs(settings.Default()) {
		checker, ok := p.(turn.SessionChecker)
		if !ok || p.Scripted() {
			continue
		}
		for _, found := range regexp.MustCompile(regexp.QuoteMeta(p.Name())+":([0-9a-f][0-9a-f-]{3,})(…?)").FindAllStringSubmatch(text, -1) {
			if err := checker.CheckSession(found[1]); err != nil && found[2] == "" {
				t.Errorf("%s: %v", found[0], err)
			}
		}
	}
}

// TestPruneSeesWhatKongSees: the part of the grammar that is built holds the command that the whole would find.
func TestPruneSeesWhatKongSees(t *testing.T) {
	for _, n := range leaves(t) {
		verb := verbOf(n)
		args := strings.Fields(verb)
		for _, line := range [][]string{
			args,
			append([]string{"--json", "--project", "coord", "--agent=x"}, args...),
			append([]string{args[0], "--as", "status"}, args[1:]...),
		} {
			if n.Name == "cockpit" {
				continue
			}
			path := commandPath(reflect.TypeFor[grammar](), line)
			if len(path) != len(args) || commandName(path[len(path)-1]) != n.Name {
				t.Errorf("%q leads to %d fields", line, len(path))
				continue
			}
			parser, err := newParser(prune(line), func(string) {})
			if err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			if got := countLeaves(parser.Model.Node); got != 1 {
				t.Errorf("%q builds %d commands", line, got)
			}
		}
	}
	for _, line := range [][]string{{}, {"--json"}, {"coord"}, {"nonsense"}, {"--", "status"}, {"--project"}} {
		if _, whole := prune(line).(*grammar); !whole {
			t.Errorf("%q does not build the whole grammar", line)
		}
	}
}

func countLeaves(n *kong.Node) int {
	if len(n.Children) == 0 {
		return 1
	}
	sum := 0
	for _, child := range n.Children {
		sum += countLeaves(child)
	}
	return sum
}

func TestAliases(t *testing.T) {
	for typed, want := range map[string]string{
		"coordinate preview codex a": "coord conflicts",
		"coord status":               "coord status",
		"daemon kill x":              "daemon kill",
	} {
		a, _, _ := testApp(t)
		c, _, err := parse(a, strings.Fields(typed))
		if err != nil || c.name != want {
			t.Errorf("%s: %q, %v", typed, c.name, err)
		}
	}
}

func TestWordsAreRefused(t *testing.T) {
	tests := []struct{ typed, want string }{
		{"nonsense", "unexpected argument nonsense"},
		{"own codex a", "try: loadout coord own\n"},
		{"detect", "try: loadout coord agents detect\n"},
		{"discuss list", "try: loadout coord discuss\n"},
		{"connect", "loadout: expected PROGRAM: claude-code, codex, cursor, gemini, opencode, git\n"},
		{"coord", "loadout: expected COMMAND: own, release, "},
		{"daemon", "loadout: expected COMMAND: kill, resume\n"},
		{"--version", "try: loadout version\n"},
		{"coord own", "loadout: expected AGENT PATH...\n"},
		{"coord own codex", "loadout: expected PATH...\n"},
		{"coord own codex a --ttl", "--ttl: needs a value"},
		{"coord own codex a --ttl --shared", "--ttl: needs a value before --shared"},
		{"coord own codex a --ttl 5", "not a duration"},
		{"coord own codex a --ttl -5m", "not above zero"},
		{"coord own codex a --fence 0x10", "not a whole decimal number"},
		{"coord own codex a --fence 1_0", "not a whole decimal number"},
		{"coord own codex a --fence 1.5", "not a whole decimal number"},
		{"coord own codex a --bogus", "unknown flag --bogus"},
		{"coord ack codex twelve", `loadout: SEQ: "twelve" is not a whole decimal number`},
		{"coord task codex -list", "try: words that begin with a dash follow --\n"},
		{"coord task codex -5", "loadout: unknown flag -5"},
		{"coord update codex --files a --blokers b", "unknown flag --blokers"},
		{"coord ack codex 99999999999999999999", "not a whole decimal number"},
		{"coord compact --max-age -1", "not a number of days"},
		{"completion powershell", `loadout: expected SHELL: bash, zsh, fish; got "powershell"` + "\n"},
		{"connect foo", `loadout: expected PROGRAM: claude-code, codex, cursor, gemini, opencode, git; got "foo"` + "\n"},
		{"connect git --scope all", `loadout: expected --scope: project, user; got "all"` + "\n"},
		{"tui --theme pink", `loadout: expected --theme: auto, dark, light, none; got "pink"` + "\n"},
		{"version extra", "unexpected argument extra"},
	}
	for _, tt := range tests {
		t.Run(tt.typed, func(t *testing.T) {
			a, stdout, stderr := testApp(t)
			if code := run(t.Context(), strings.Fields(tt.typed), a); code != exitUsage {
				t.Errorf("exit %d", code)
			}
			if !strings.Contains(stderr.String(), tt.want) {
				t.Errorf("stderr %q does not say %q", stderr, tt.want)
			}
			if !strings.Contains(stderr.String(), "try: loadout") || stdout.Len() > 0 {
				t.Errorf("stdout %q, stderr %q", stdout, stderr)
			}
		})
	}
}

func TestValues(t *testing.T) {
	tests := []struct {
		name string
		args []string
		want func(command) bool
	}{
		{"several words", []string{"coord", "own", "codex", "a", "b,c", "d"}, func(c command) bool {
			return reflect.DeepEqual(c.(*ownCmd).Paths, []string{"a", "b,c", "d"})
		}},
		{"words after --", []string{"coord", "own", "codex", "a", "--shared", "--ttl", "1h", "--", "-b"}, nil},
		{"all words after --", []string{"coord", "own", "codex", "--", "-a", "--shared"}, func(c command) bool {
			o := c.(*ownCmd)
			return reflect.DeepEqual(o.Paths, []string{"-a", "--shared"}) && !o.Shared
		}},
		{"-- in the middle", []string{"coord", "own", "codex", "a", "--", "-b"}, func(c command) bool {
			return reflect.DeepEqual(c.(*ownCmd).Paths, []string{"a", "-b"})
		}},
		{"a flag takes several words", []string{"coord", "update", "codex", "--files", "a", "b", "--note", "x", "--files", "c,d"}, func(c command) bool {
			o := c.(*updateCmd)
			return reflect.DeepEqual(o.Files, []string{"a", "b", "c,d"}) && o.Note == "x"
		}},
		{"a joined value is one word", []string{"coord", "update", "--files=a", "codex"}, func(c command) bool {
			o := c.(*updateCmd)
			return reflect.DeepEqual(o.Files, []string{"a"}) && o.Author == "codex"
		}},
		{"names split at commas", []string{"coord", "task", "codex", "do it", "--needs", "a,b", "c", "--needs", "d, "}, func(c command) bool {
			return reflect.DeepEqual(c.(*taskCmd).Needs, []string{"a", "b", "c", "d"})
		}},
		{"text takes several words", []string{"coord", "task", "codex", "do", "this"}, func(c command) bool {
			return strings.Join(c.(*taskCmd).Text, " ") == "do this"
		}},
		{"a value may start with a dash", []string{"coord", "update", "codex", "--note", "-x", "--next", "--y"}, func(c command) bool {
			o := c.(*updateCmd)
			return o.Note == "-x" && o.Next == "--y"
		}},
		{"each of several values may start with a dash", []string{
			"coord", "update", "codex", "--files", "-a", "-b", "c", "-", "-5", "--note", "x", "--blockers", "--y", "-z", "--json",
		}, func(c command) bool {
			o := c.(*updateCmd)
			return reflect.DeepEqual(o.Files, []string{"-a", "-b", "c", "-", "-5"}) && o.Note == "x" &&
				reflect.DeepEqual(o.Blockers, []string{"--y", "-z"})
		}},
		{"a value may be the name of a flag if it is joined", []string{"coord", "update", "codex", "--note=--next"}, func(c command) bool {
			return c.(*updateCmd).Note == "--next"
		}},
		{"an empty value is a value", []string{"coord", "contract", "x", "--body", ""}, func(c command) bool {
			o := c.(*contractCmd)
			return o.Body != nil && *o.Body == ""
		}},
		{"negative numbers", []string{"coord", "subscribe", "codex", "--cursor", "-1"}, func(c command) bool {
			return c.(*subscribeCmd).Cursor == -1
		}},
		{"numbers are decimal", []string{"coord", "own", "codex", "a", "--fence", "010"}, func(c command) bool {
			return *c.(*ownCmd).Fence == 10
		}},
		{"fence 0 is a fence", []string{"coord", "own", "codex", "a", "--fence=0"}, func(c command) bool {
			return *c.(*ownCmd).Fence == 0
		}},
		{"days", []string{"coord", "compact", "--max-age", "10"}, func(c command) bool {
			return time.Duration(c.(*compactCmd).MaxAge) == 240*time.Hour
		}},
		{"no days", []string{"coord", "compact", "--max-age", "0"}, func(c command) bool {
			return c.(*compactCmd).MaxAge == 0
		}},
		{"weeks", []string{"coord", "own", "codex", "a", "--ttl", "2w"}, func(c command) bool {
			return c.(*ownCmd).TTL == 14*24*time.Hour
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a, _, _ := testApp(t)
			_, cmd, err := parse(a, tt.args)
			if tt.want == nil {
				var usage *engine.UsageError
				if !errors.As(err, &usage) {
					t.Fatalf("%v, want a usage error", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if !tt.want(cmd) {
				t.Errorf("%+v", cmd)
			}
		})
	}
}

func TestHelp(t *testing.T) {
	for _, args := range [][]string{{"--help"}, {"-h"}, {"coord", "--help"}, {"coord", "own", "-h"}, {"--help", "coord", "own", "codex", "a"}, {"help"}, {"help", "coord", "own"}} {
		a, stdout, stderr := testApp(t)
		if code := run(t.Context(), args, a); code != exitDone || stderr.Len() > 0 {
			t.Errorf("%q: exit %d, stderr %q", args, code, stderr)
		}
		if !strings.HasPrefix(stdout.String(), "Usage: loadout") || !strings.Contains(stdout.String(), "--json") {
			t.Errorf("%q: %s", args, stdout)
		}
		for line := range strings.SplitSeq(stdout.String(), "\n") {
			if len(line) > helpWidth && !strings.HasPrefix(line, "    loadout") {
				t.Errorf("%q: a line is too long: %s", args, line)
			}
		}
	}
	a, stdout, _ := testApp(t)
	run(t.Context(), []string{"--help", "coord", "own", "codex", "a", "--bogus"}, a)
	if stdout.Len() > 0 {
		t.Error("help hides that the words are wrong")
	}
}

// A page of help is wrapped once, also where the cockpit shows it.
func TestHelpFitsTheCockpit(t *testing.T) {
	look, err := theme.New(theme.Options{Name: theme.None})
	if err != nil {
		t.Fatal(err)
	}
	pane := overlay.NewDialog(look, "help", overlay.Paragraph{Text: strings.Repeat("x", helpWidth)}).Wide()
	if lines := pane.View(80, 24); len(lines) != 5 { // its frame, the line, and the keys below a blank
		t.Errorf("a line of help takes %d: %q", len(lines)-4, lines)
	}
}

func BenchmarkParse(b *testing.B) {
	a := &app{stdout: &bytes.Buffer{}, stderr: &bytes.Buffer{}, env: func(string) string { return "" }, now: time.Now}
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := parse(a, []string{"coord", "own", "codex", "src/api", "--ttl", "30m"}); err != nil {
			b.Fatal(err)
		}
	}
}

// Without a home directory there are no files of the person to write to.
func TestConnectWithoutHome(t *testing.T) {
	a, stdout, stderr := testApp(t)
	code := run(t.Context(), []string{"connect", "codex", "--scope", "user", "--yes"}, a)
	if code != exitUsage || stdout.Len() > 0 || !strings.Contains(stderr.String(), "try: the same with HOME set") {
		t.Errorf("exit %d: %s%s", code, stdout, stderr)
	}
}

func TestAShortFlagEndsAList(t *testing.T) {
	a, stdout, _ := testApp(t)
	if code := run(t.Context(), []string{"coord", "update", "codex", "--files", "-a", "-h"}, a); code != exitDone || !strings.Contains(stdout.String(), "--blockers") {
		t.Errorf("exit %d, %s", code, stdout)
	}
}
