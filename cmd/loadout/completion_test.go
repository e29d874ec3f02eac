package main

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agentloadout/loadout/engine"
)

func TestRunnerCompletes(t *testing.T) {
	a, _, _ := testApp(t)
	r := newRunner(&call{app: a})
	tests := []struct {
		line string
		want []string
	}{
		{"coord ow", []string{"own"}},
		{"coordinate co", []string{"conflicts", "contract", "compact"}},
		{"coord own --t", []string{"--ttl"}},
		{"coord own --ttl ", nil},
		{"--project coord sta", []string{"status"}},
		{"completion ", []string{"bash", "zsh", "fish"}},
		{"coord own codex ", nil},
		{"tort", nil},
		{"'open", nil},
	}
	for _, tt := range tests {
		if got := r.Complete(tt.line); !slices.Equal(got, tt.want) {
			t.Errorf("%q: %q, want %q", tt.line, got, tt.want)
		}
	}
	if got := r.Complete(""); !slices.Contains(got, "coord") || slices.Contains(got, "torture-writer") {
		t.Errorf("empty line: %q", got)
	}
}

func TestSplitLine(t *testing.T) {
	got, err := splitLine(`coord  own me 'a b'/c "d \"e\"" f\ g '' '\'`)
	want := []string{"coord", "own", "me", "a b/c", `d "e"`, "f g", "", `\`}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v", got, err)
	}
	for _, line := range []string{`"open`, `end\`} {
		if _, err := splitLine(line); err == nil {
			t.Errorf("%q is accepted", line)
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
			ask() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _loadout; printf '%s\n' "${COMPREPLY[@]}"; }
			ask loadout coord ow; ask loadout coordinate own --t; ask loadout completion z`},
		{"fish", `source $SCRIPT
			complete -C 'loadout coord ow' | string split -f1 \t
			complete -C 'loadout coordinate own --t' | string split -f1 \t
			complete -C 'loadout completion z' | string split -f1 \t`},
		{"zsh", `compdef() { }; source "$SCRIPT"
			_describe() { local name=${@[-1]}; local w; for w in ${(P)name}; do [[ ${w%%:*} == $PREFIX* ]] && print -r -- ${w%%:*}; done }
			ask() { words=("$@"); CURRENT=$#; PREFIX=${@[-1]}; _loadout; }
			ask loadout coord ow; ask loadout coordinate own --t; ask loadout completion z`},
	}
	for _, tt := range tests {
		t.Run(tt.shell, func(t *testing.T) {
			shell, err := exec.LookPath(tt.shell)
			if err != nil {
				t.Skipf("%s is not here", tt.shell)
			}
			script := filepath.Join(t.TempDir(), "loadout."+tt.shell)
			a, stdout, stderr := testApp(t)
			if code := run(t.Context(), []string{"completion", tt.shell}, a); code != exitDone {
				t.Fatalf("exit %d: %s", code, stderr)
			}
			if err := os.WriteFile(script, stdout.Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
			cmd := exec.CommandContext(t.Context(), shell, "-c", tt.ask+"\nexit 0")
			cmd.Env = append(os.Environ(), "SCRIPT="+script, "HOME="+t.TempDir(), "XDG_CONFIG_HOME="+t.TempDir())
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			if got := strings.Fields(string(out)); !slices.Equal(got, []string{"own", "--ttl", "zsh"}) {
				t.Errorf("%q", got)
			}
		})
	}
}

func TestRunnerRefusesWhatNeedsAShell(t *testing.T) {
	a, _, _ := testApp(t)
	a.terminal = true
	r := newRunner(&call{app: a})
	var out strings.Builder
	for _, verb := range []string{"completion bash", "demo", "tui", ""} {
		var usage *engine.UsageError
		if err := r.Run(t.Context(), strings.Fields(verb), &out); !errors.As(err, &usage) || out.Len() > 0 {
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
