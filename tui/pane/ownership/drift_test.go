package ownership

import (
	"strings"
	"testing"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/state"
	"github.com/agentloadout/loadout/tui/keymap"
	"github.com/agentloadout/loadout/tui/pane"
	"github.com/agentloadout/loadout/tui/pane/panetest"
)

// foreign is a file that changed under a claim where another agent works.
func foreign(path, claim, owner string) engine.Drift {
	return engine.Drift{
		Path: path, Kind: engine.DriftForeign, Owners: []string{owner}, Mode: event.Exclusive, Claim: claim,
		Worktree: "/home/dev/shop-web", Branch: "web", Agents: []string{"codex"}, Status: "modified",
	}
}

// unclaimed is a changed file that nobody has claimed.
func unclaimed(path string) engine.Drift {
	return engine.Drift{Path: path, Kind: engine.DriftUnclaimed, Worktree: "/home/dev/shop", Branch: "main", Status: "untracked"}
}

// drifted shows claims with what git shows as changed.
func drifted(t *testing.T, s *state.State, w int, items ...engine.Drift) *Pane {
	t.Helper()
	p := show(t, s, w)
	snap := snapshot(s)
	snap.Drift = &engine.DriftReport{Git: true, Items: items, Worktrees: []engine.DriftWorktree{{Path: "/home/dev/shop", Branch: "main", Changed: 2}}}
	p.Apply(snap, pane.Changes{})
	return p
}

// The key for unclaimed files says why there are none.
func TestNothingUnclaimedIsSaid(t *testing.T) {
	s := claims(t, "a exclusive src/api")
	p := show(t, s, 76)
	tell := func(want string, edit func(s *pane.Snapshot)) {
		t.Helper()
		snap := snapshot(s)
		edit(&snap)
		p.Apply(snap, pane.Changes{})
		if say, ok := p.Handle(keymap.Unclaimed).(pane.Say); !ok || !strings.Contains(say.Text, want) {
			t.Errorf("%+v, want %q", say, want)
		}
	}
	tell("not told yet", func(*pane.Snapshot) {})
	tell("of now alone", func(s *pane.Snapshot) { s.Past = true })
	tell("no git repository", func(s *pane.Snapshot) { s.Drift = &engine.DriftReport{} })
	tell("is claimed", func(s *pane.Snapshot) { s.Drift = &engine.DriftReport{Git: true} })
	if a := drifted(t, s, 76, unclaimed("x")).Handle(keymap.Unclaimed); a != nil {
		t.Errorf("%#v", a)
	}
}

func TestDriftIsMarkedOnItsClaim(t *testing.T) {
	s := claims(t, "a exclusive src/api", "b exclusive web")
	p := drifted(t, s, 76, foreign("src/api/handler/x.go", "src/api", "a"))
	want := `
▌src/api/             a ■ exclusive ≠ 1 drift   1h
 └ handler/x.go       ≠ codex in web  modified
 web                  b ■ exclusive             1h`
	if got := squeeze(panetest.Screen(t, p, 76, false)); got != squeeze(want) {
		t.Errorf("got\n%s\nwant%s", got, want)
	}
	twice := drifted(t, s, 76, foreign("src/api/x.go", "src/api", "a"), foreign("src/api/x.go", "src/api", "a"))
	if got := panetest.Screen(t, twice, 76, false); !strings.Contains(got, "≠ codex in web and 1 more  modified") {
		t.Errorf("changed in two places:\n%s", got)
	}
	if p.Status() != "2 claims, ≠ 1 drift" {
		t.Errorf("status %q", p.Status())
	}
	detail := panetest.Screen(t, p, 120, true)
	for _, said := range []string{"changed where another agent works", "src/api/handler/x.go", "/home/dev/shop-web", "(web) by"} {
		if !strings.Contains(detail, said) {
			t.Errorf("the detail of the claim does not say %q:\n%s", said, detail)
		}
	}
	p.Handle(keymap.Down)
	detail = panetest.Screen(t, p, 120, true)
	for _, said := range []string{"modified", "/home/dev/shop-web", "a, by the exclusive claim on src/api", "codex"} {
		if !strings.Contains(detail, said) {
			t.Errorf("the detail of the file does not say %q:\n%s", said, detail)
		}
	}
	narrow := panetest.Screen(t, p, 38, false)
	if !strings.Contains(narrow, "a ■ ≠") || !strings.Contains(narrow, "≠ codex in web") {
		t.Errorf("narrow:\n%s", narrow)
	}
}

// squeeze takes runs of blanks for one.
func squeeze(s string) string {
	lines := strings.Split(strings.Trim(s, "\n"), "\n")
	for i, line := range lines {
		lines[i] = strings.Join(strings.Fields(line), " ")
	}
	return strings.Join(lines, "\n")
}

func TestClaimsThatEndedHaveNoDrift(t *testing.T) {
	p := drifted(t, claims(t, "b exclusive web"), 76, foreign("src/x.go", "src", "a"), unclaimed("web/new.go"), unclaimed("docs/a.md"))
	if got := panetest.Screen(t, p, 76, false); strings.Contains(got, "x.go") || !strings.Contains(got, "1 changed file claimed by nobody") {
		t.Errorf("an old report marks\n%s", got)
	}
}

func TestUnclaimedChangesAreListedOnDemand(t *testing.T) {
	p := drifted(t, claims(t, "a exclusive src"), 76, unclaimed("docs/a.md"), unclaimed("go.mod"))
	p.Handle(keymap.End)
	if got := panetest.Screen(t, p, 76, false); !strings.Contains(got, "▸ 2 changed files claimed by nobody") || strings.Contains(got, "docs/a.md") {
		t.Fatalf("at first\n%s", got)
	}
	p.Handle(keymap.Unclaimed)
	p.Handle(keymap.Down)
	if got := panetest.Screen(t, p, 76, false); !strings.Contains(got, "▌├ docs/a.md") || !strings.Contains(got, "≠ main  untracked") {
		t.Fatalf("listed\n%s", got)
	}
	if s := p.Subject(); s.Path != "docs/a.md" || s.Claim != nil {
		t.Errorf("what could be claimed is %+v", s)
	}
	p.Handle(keymap.Collapse) // to the heading
	p.Handle(keymap.Collapse)
	if got := panetest.Screen(t, p, 76, false); strings.Contains(got, "docs/a.md") {
		t.Errorf("hidden again\n%s", got)
	}
	p.SetFilter("go.mod")
	if got := panetest.Screen(t, p, 76, false); !strings.Contains(got, "go.mod") || strings.Contains(got, "docs/a.md") {
		t.Errorf("filtered\n%s", got)
	}
}

func TestOrders(t *testing.T) {
	s := claims(t, "b exclusive a", "a exclusive z", "c shared m")
	p := show(t, s, 60)
	p.Handle(keymap.Sort)
	if got := p.Status(); got != "3 claims, by age" {
		t.Errorf("status %q", got)
	}
	p.Handle(keymap.Sort)
	var agents []string
	for _, r := range p.rows {
		agents = append(agents, r.claim.Agent)
	}
	if strings.Join(agents, "") != "abc" {
		t.Errorf("by agent: %v", agents)
	}
	p.Handle(keymap.Sort)
	if p.order != byPath {
		t.Error("the third time is not the first order again")
	}
}

func TestNarrowNamesStayDifferent(t *testing.T) {
	s := claims(t, "claude-code-of-anna-1 exclusive src/a-very-long-folder/handler_one.go", "claude-code-of-anna-2 exclusive src/a-very-long-folder/handler_two.go")
	for _, w := range []int{38, 30, 24} {
		lines := strings.Split(panetest.Screen(t, show(t, s, w), w, false), "\n")
		a, b := strings.TrimLeft(lines[1], "├└ "), strings.TrimLeft(lines[2], "├└ ")
		if a == b || !strings.Contains(a, "1 ■") || !strings.Contains(b, "2 ■") {
			t.Errorf("in %d cells the holders look alike:\n%s", w, strings.Join(lines, "\n"))
		}
	}
}

// TestGolden draws claims of every kind, in scripts of every kind.
func TestGolden(t *testing.T) {
	s := claims(t,
		"claude-code exclusive src/api because=the_new_checkout_of_the_shop", "claude-code-2 exclusive src/web because=日本語の理由", "gone exclusive src/api/v2 ttl", "live shared docs", "codex shared docs",
		"日本語のエージェント exclusive 文書/設計書.md", "emoji👩‍💻 exclusive assets/👍🏽.png", "שרון exclusive שלום/עולם", "e\u0301lan shared cafe\u0301/menu.md")
	p := drifted(t, s, 80, foreign("src/api/handler.go", "src/api", "claude-code"), foreign("src/api/v2/pager.go", "src/api/v2", "gone"), unclaimed("go.mod"), unclaimed("文書/メモ.md"))
	p.Handle(keymap.Unclaimed)
	p.Handle(keymap.Down)
	p.Handle(keymap.Down)
	p.Handle(keymap.Down)
	p.Handle(keymap.Down)
	p.Handle(keymap.Down)
	panetest.Golden(t, "frames", p)
	ascii := New(panetest.Look(t, true))
	ascii.SetFocus(true)
	ascii.Apply(p.snap, pane.Changes{})
	panetest.Golden(t, "ascii", ascii)
}
