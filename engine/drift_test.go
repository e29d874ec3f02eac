package engine

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// trees is a project with a main worktree and a linked one, and an engine for each.
type trees struct {
	main, linked string
	machine      *machine
}

func newTrees(t *testing.T) trees {
	t.Helper()
	main := gitRepository(t)
	linked := filepath.Join(filepath.Dir(main), "linked-"+filepath.Base(main))
	gitOutput(t, main, "worktree", "add", "-q", "-b", "side", linked)
	return trees{main, linked, &machine{name: "here", dirs: map[int]string{}}}
}

func (w trees) engine(t *testing.T, dir string) *Engine {
	t.Helper()
	p, err := Discover(Where{Dir: dir, Home: filepath.Dir(w.main)})
	if err != nil {
		t.Fatal(err)
	}
	return Open(p, Options{Host: w.machine, Env: func(string) string { return "" }})
}

func must(t *testing.T, e *Engine, c Command) {
	t.Helper()
	if _, err := e.Do(t.Context(), Request{Command: c}); err != nil {
		t.Fatal(err)
	}
}

func TestDrift(t *testing.T) {
	w := newTrees(t)
	main, linked := w.engine(t, w.main), w.engine(t, w.linked)
	must(t, main, Register{Base: "claude-code", PID: 100, Start: "start-100", Boot: "boot", Host: "here"})
	must(t, linked, Register{Base: "codex", PID: 200, Start: "start-200", Boot: "boot", Host: "here"})
	w.machine.dirs[100] = filepath.Join(w.main, "src")
	must(t, main, own("claude-code", "src/api"))
	must(t, linked, own("codex", "web"))
	must(t, linked, Own{Agent: "gemini", Paths: []string{"docs"}, Shared: true})
	writeFile(t, filepath.Join(w.main, "src", "api", "mine.go"), "x")
	writeFile(t, filepath.Join(w.linked, "src", "api", "stolen.go"), "x")
	writeFile(t, filepath.Join(w.linked, "web", "mine.ts"), "x")
	writeFile(t, filepath.Join(w.main, "loose file"), "x")
	writeFile(t, filepath.Join(w.linked, "README"), "changed\n")
	report, err := linked.Drift(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	type row struct {
		Path, Kind, Owners, Worktree, Branch, Agents, Status string
	}
	var got []row
	for _, d := range report.Items {
		got = append(got, row{d.Path, string(d.Kind), strings.Join(d.Owners, " "), filepath.Base(d.Worktree), d.Branch, strings.Join(d.Agents, " "), d.Status})
	}
	m, l := filepath.Base(w.main), filepath.Base(w.linked)
	want := []row{
		{"src/api/stolen.go", "foreign", "claude-code", l, "side", "codex", "untracked"},
		{"README", "unclaimed", "", l, "side", "codex", "modified"},
		{"loose file", "unclaimed", "", m, "main", "claude-code", "untracked"},
		{"src/api/mine.go", "claimed", "claude-code", m, "main", "claude-code", "untracked"},
		{"web/mine.ts", "claimed", "codex", l, "side", "codex", "untracked"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("drift (-want +got):\n%s", diff)
	}
	if report.Partial || !report.Git || report.Omitted != 0 || len(report.Worktrees) != 2 || report.AsOf != 4 {
		t.Errorf("report %+v", report)
	}
}

// TestDriftInSeveralWorktrees: one path, claimed by somebody of whom nobody knows where he works, changed in two places.
func TestDriftInSeveralWorktrees(t *testing.T) {
	w := newTrees(t)
	e := w.engine(t, w.main)
	must(t, e, own("claude-code", "README"))
	writeFile(t, filepath.Join(w.main, "README"), "two\n")
	one, err := e.Drift(t.Context())
	if err != nil || len(one.Items) != 1 || one.Items[0].Kind != DriftClaimed {
		t.Fatalf("%+v, %v", one.Items, err)
	}
	writeFile(t, filepath.Join(w.linked, "README"), "three\n")
	two, err := e.Drift(t.Context())
	if err != nil || len(two.Items) != 2 || two.Items[0].Kind != DriftForeign || len(two.Items[0].Also) != 1 || two.Items[0].Also[0] == two.Items[0].Worktree {
		t.Errorf("%+v, %v", two.Items, err)
	}
}

func TestDriftOutsideGit(t *testing.T) {
	s := newScene(t)
	s.do(own("codex", "src"))
	r, err := s.Drift(t.Context())
	if err != nil || r.Git || len(r.Items) != 0 {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestPreview(t *testing.T) {
	w := newTrees(t)
	e := w.engine(t, w.main)
	must(t, e, own("claude-code", "README", "src"))
	must(t, e, Own{Agent: "gemini", Paths: []string{"docs"}, Shared: true, Reason: "reading"})
	writeFile(t, filepath.Join(w.main, "README"), "one\ntwo\n")
	writeFile(t, filepath.Join(w.main, "src", "new.go"), "x")
	p, err := e.Preview(t.Context(), "codex", []string{"README", "src/new.go", "docs/a", "web"})
	if err != nil || len(p.Conflicts) != 3 || len(p.Safe) != 1 || p.Safe[0] != "web" || len(p.Notes) > 0 {
		t.Fatalf("%+v, %v", p, err)
	}
	c := p.Conflicts[0]
	if c.Owner != "claude-code" || c.Status != "modified" || c.LinesChanged != 1 || !strings.Contains(c.Diff, "+two") {
		t.Errorf("modified %+v", c)
	}
	if c := p.Conflicts[1]; c.Status != "added" || c.OwnerPath != "src" || c.Diff != "" {
		t.Errorf("untracked %+v", c)
	}
	if c := p.Conflicts[2]; c.Status != "unchanged" || c.OwnerMode != "shared" || c.Reason != "reading" {
		t.Errorf("shared %+v", c)
	}
	if p, err := e.Preview(t.Context(), "Claude-Code", []string{"README"}); err != nil || len(p.Conflicts) != 0 {
		t.Errorf("own %+v, %v", p, err)
	}
	_, err = e.Preview(t.Context(), "codex", nil)
	as[*UsageError](t, err)
}

// TestDriftKnowsAWorktreeInside: the checkout of a linked worktree below the main one is nobody's change there.
func TestDriftKnowsAWorktreeInside(t *testing.T) {
	top := gitRepository(t)
	inside := filepath.Join(top, "trees", "side")
	gitOutput(t, top, "worktree", "add", "-q", "-b", "side", inside)
	writeFile(t, filepath.Join(inside, "new.go"), "x")
	writeFile(t, filepath.Join(top, "loose.go"), "x")
	e := trees{main: top, machine: &machine{name: "here"}}.engine(t, top)
	must(t, e, note("codex", "x"))
	report, err := e.Drift(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, d := range report.Items {
		got = append(got, d.Path+" in "+filepath.Base(d.Worktree))
	}
	if want := []string{"loose.go in " + filepath.Base(top), "new.go in side"}; !slices.Equal(got, want) || report.Worktrees[0].Changed != 1 {
		t.Errorf("drift %q, %+v", got, report.Worktrees)
	}
	card, err := e.Card(t.Context(), "codex")
	if err != nil || !strings.Contains(card.Text, "Not committed (1): loose.go\n") {
		t.Errorf("card %q, %v", card.Text, err)
	}
}
