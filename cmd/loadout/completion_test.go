package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/words"
)

// completionProject is a project with something of everything that can be completed.
func completionProject(t *testing.T) *app {
	t.Helper()
	a, _, stderr := testApp(t)
	a.host = &scene{ancestors: []engine.Process{process(7)}}
	for _, dir := range []string{".git", "src/api", "src/web", "my dir", ".hidden"} {
		if err := os.MkdirAll(filepath.Join(a.dir, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{"src/main.go", "my dir/a file", "README.md"} {
		if err := os.WriteFile(filepath.Join(a.dir, file), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, line := range []string{
		"agent register --name gone", "agent end gone", "agent register --name codex --pid 7",
		"coord own claude-code src/api 'my dir' --reason checkout", "coord own codex src/web",
		"coord contract api --agent codex --body one", "coord contract api --agent codex --body two",
		"coord task codex 'the form' --from claude-code", "coord ask claude-code 'cents?' --from codex",
		"coord decide codex cents",
	} {
		argv, err := words.Split(line)
		if err != nil {
			t.Fatal(err)
		}
		if code := run(t.Context(), argv, a); code != exitDone {
			t.Fatalf("%s: exit %d: %s", line, code, stderr)
		}
	}
	return a
}

func TestRunnerCompletes(t *testing.T) {
	a := completionProject(t)
	r := newRunner(&call{app: a})
	ids := r.Complete("coord cancel ")
	if len(ids) != 2 {
		t.Fatalf("tasks and questions: %q", ids)
	}
	agents := []string{"codex", "claude-code", "gone", "me"}
	parties := []string{"codex", "claude-code", "gone", "me", "user", "'*'"}
	tests := []struct {
		line string
		want []string
	}{
		// commands and flags
		{"coord ow", []string{"own"}},
		{"loadout coord ow", []string{"own"}},
		{"help coord ow", []string{"own"}},
		{"coordinate co", []string{"conflicts", "contract", "compact"}},
		{"coord own --t", []string{"--ttl"}},
		{"coord own codex src --ttl 5m --t", nil},
		{"coord own --ttl ", nil},
		{"--project . coord sta", []string{"status"}},
		{"coord -- ow", []string{"own"}},
		{"coord nothing ", nil},
		{"tort", nil},
		{"__", nil},
		// enums
		{"completion ", []string{"bash", "zsh", "fish"}},
		{"tui --pane t", []string{"timeline"}},
		{"tui --pane=t", []string{"--pane=timeline"}},
		// agents
		{"coord own ", agents},
		{"coord own c", []string{"codex", "claude-code"}},
		{"coord task ", parties},
		{"coord status --agent ", agents},
		{"coord contract api --consume cl", []string{"claude-code"}},
		{"handoff c", []string{"codex", "claude-code"}},
		{"agent forget g", []string{"gone"}},
		// paths
		{"coord own codex ", []string{"README.md", "'my dir/", "src/"}},
		{"coord own codex s", []string{"src/"}},
		{"coord own codex README.md src/", []string{"src/api/", "src/main.go", "src/web/"}},
		{"coord own codex 'my dir/", []string{"'my dir/a file'"}},
		{"coord own codex my\\ d", []string{"'my dir/"}},
		{"coord own codex .h", []string{".hidden/"}},
		{"coord own codex .", []string{".hidden/"}},
		{"coord own codex ./R", []string{"./README.md"}},
		{"coord own codex no/such/", nil},
		{"coord own codex README.md/", nil},
		{"coord update codex --note x --files src/m", []string{"src/main.go"}},
		{"coord update codex --files README.md src/m", []string{"src/main.go"}},
		{"coord contract api --file R", []string{"README.md"}},
		{"--project s", []string{"src/"}},
		// what is held
		{"coord release claude-code ", []string{"'my dir'", "src/api"}},
		{"coord release codex ", []string{"src/web"}},
		{"coord release codex src/web --fence ", []string{"4"}},
		// what is named
		{"coord contract ", []string{"api"}},
		{"coord diff a", []string{"api"}},
		{"coord diff api --from ", []string{"2", "1"}},
		{"coord done ", ids[:1]},
		{"coord answer ", ids[1:]},
		{"coord task codex text --needs ", ids[:1]},
		{"coord task codex text --needs x ", ids[:1]},
		{"coord ack codex ", []string{"9"}},
		// free text
		{"coord task codex the f", nil},
		{"coord own codex 'op", nil},
	}
	for _, tt := range tests {
		if got := r.Complete(tt.line); !slices.Equal(got, tt.want) {
			t.Errorf("%q: %q, want %q", tt.line, got, tt.want)
		}
	}
	if got := r.Complete(""); !slices.Contains(got, "coord") || slices.Contains(got, "torture-writer") {
		t.Errorf("empty line: %q", got)
	}
	if got := r.Complete("coord status "); !slices.Contains(got, "--at") || !slices.Contains(got, "--json") {
		t.Errorf("where only a flag may stand: %q", got)
	}
	if got := r.Complete("coord decide codex x --supersedes "); len(got) != 1 {
		t.Errorf("decisions: %q", got)
	}
}

// Claims are completed as one would type them where one is.
func TestCompletesClaimsFromASubfolder(t *testing.T) {
	a := completionProject(t)
	a.dir = filepath.Join(a.dir, "src")
	r := newRunner(&call{app: a})
	if got := r.Complete("coord release claude-code "); !slices.Equal(got, []string{"'../my dir'", "api"}) {
		t.Errorf("%q", got)
	}
	if got := r.Complete("coord own codex ../s"); !slices.Equal(got, []string{"../src/"}) {
		t.Errorf("%q", got)
	}
}

func TestCompletionIsBounded(t *testing.T) {
	a, _, _ := testApp(t)
	for i := range 2 * maxCandidates {
		if err := os.WriteFile(filepath.Join(a.dir, fmt.Sprintf("f%04d", i)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got := newRunner(&call{app: a}).Complete("coord own codex "); len(got) != maxCandidates {
		t.Errorf("%d candidates", len(got))
	}
}

// TestEveryValueSaysHowItIsCompleted finds values whose tag is misspelt, and names or paths without one.
func TestEveryValueSaysHowItIsCompleted(t *testing.T) {
	kinds := []string{
		"", "agent", "party", "path", "claim", "file", "dir", "contract", "revision", "fence", "task", "question", "open",
		"decision", "seq", "pane", "thread",
	}
	named := map[string]bool{"AGENT": true, "SEQ": true, "ID": true, "PATH": true, "FILE": true, "DIR": true}
	free := []string{"register --session", "registered"} // ids that this program does not give
	for _, n := range leaves(t) {
		values := slices.Clone(n.Positional)
		for _, f := range n.Flags {
			values = append(values, f.Value)
		}
		for _, v := range values {
			kind := v.Tag.Get("complete")
			if !slices.Contains(kinds, kind) {
				t.Errorf("%s: %s is completed as %q", verbOf(n), v.Name, kind)
			}
			wanted := v.Name == "agent" || v.Name == "path" || v.Flag != nil && named[v.Flag.PlaceHolder]
			if kind == "" && wanted && !slices.Contains(free, n.Name+" --"+v.Name) {
				t.Errorf("%s: nothing completes %s", verbOf(n), v.Name)
			}
		}
	}
}

// TestShellsComplete asks each shell that is here what its script completes.
func TestShellsComplete(t *testing.T) {
	tests := []struct {
		shell string
		ask   string // prints one candidate a line; $SCRIPT is the script
	}{
		{"bash", `source "$SCRIPT"
			ask() { COMP_LINE="$1"; COMP_POINT=${#COMP_LINE}; _loadout; printf '%s\n' "${COMPREPLY[@]}"; }
			ask 'loadout coord ow'; ask 'loadout coordinate own --t'; ask 'loadout completion z'
			ask 'loadout coord release claude-code m'; ask 'loadout coord own me s'; ask 'loadout tui --pane=t'`},
		{"fish", `source $SCRIPT
			for line in 'loadout coord ow' 'loadout coordinate own --t' 'loadout completion z' \
				'loadout coord release claude-code m' 'loadout coord own me s' 'loadout tui --pane=t'
				complete -C $line | string split -f1 \t
			end`},
		{"zsh", `compdef() { }; source "$SCRIPT"
			_files() { }
			_describe() { local name w; for name in $@[2] $@[4]; do for w in ${(P)name}; do print -r -- ${w%%:*}; done; done }
			ask() { words=("$@"); CURRENT=$#; PREFIX=${@[-1]}; _loadout; }
			ask loadout coord ow; ask loadout coordinate own --t; ask loadout completion z
			ask loadout coord release claude-code m; ask loadout coord own me s; ask loadout tui --pane=t`},
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range tests {
		t.Run(tt.shell, func(t *testing.T) {
			shell, err := exec.LookPath(tt.shell)
			if err != nil {
				t.Skipf("%s is not here", tt.shell)
			}
			a := completionProject(t)
			stdout := &bytes.Buffer{}
			a.stdout = stdout
			if code := run(t.Context(), []string{"completion", tt.shell}, a); code != exitDone {
				t.Fatalf("exit %d", code)
			}
			home := t.TempDir()
			script := filepath.Join(home, "script."+tt.shell)
			if err := os.WriteFile(script, stdout.Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(self, filepath.Join(home, "loadout")); err != nil {
				t.Fatal(err)
			}
			cmd := exec.CommandContext(t.Context(), shell, "-c", tt.ask+"\nexit 0")
			cmd.Dir = a.dir
			cmd.Env = append(os.Environ(), "SCRIPT="+script, "HOME="+home, "XDG_CONFIG_HOME="+home,
				"PATH="+home+string(os.PathListSeparator)+os.Getenv("PATH"))
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			want := map[string][]string{
				"bash": {"own", "--ttl", "zsh", "'my dir'", "src/", "timeline"},
				"fish": {"own", "--ttl", "zsh", "my dir", "src/", "--pane=timeline"},
				"zsh":  {"own", "--ttl", "zsh", "my dir", "src/", "--pane=timeline"},
			}[tt.shell]
			if got := strings.Split(strings.TrimSpace(string(out)), "\n"); !slices.Equal(got, want) {
				t.Errorf("%q, want %q", got, want)
			}
		})
	}
}

func TestRunnerRefusesWhatNeedsAShell(t *testing.T) {
	a, _, _ := testApp(t)
	a.terminal = true
	r := newRunner(&call{app: a})
	var out strings.Builder
	for verb, why := range map[string]string{
		"completion bash": "completion", "serve": "speaks with a program", "hook SessionStart": "answered to a program",
		"tui": "tui", "tui --plain": "tui", "tui --frame 80x24": "tui", "": "the cockpit", "demo": "terminal",
	} {
		var usage *engine.UsageError
		if err := r.Run(t.Context(), strings.Fields(verb), &out); !errors.As(err, &usage) || !strings.Contains(err.Error(), why) || out.Len() > 0 {
			t.Errorf("%q: %v, %s", verb, err, out.String())
		}
	}
	if err := r.Run(t.Context(), []string{"version"}, &out); err != nil || out.Len() == 0 {
		t.Errorf("version: %v", err)
	}
	if err := r.Run(t.Context(), []string{"--help"}, io.Discard); err != nil {
		t.Errorf("help: %v", err)
	}
}
