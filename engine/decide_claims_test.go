package engine

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agentloadout/loadout/engine/event"
)

// Which claims exclude each other: the first is held by codex, the second wanted by gemini.
func TestOwnOverlap(t *testing.T) {
	for _, c := range []struct {
		held, wanted             string
		heldShared, wantedShared bool
		fold                     bool
		refused                  bool
	}{
		{held: "src/api", wanted: "src/api", refused: true},
		{held: "src/api", wanted: "src/api/x.ts", refused: true},
		{held: "src/api/x.ts", wanted: "src/api", refused: true},
		{held: "src/api", wanted: "src/api2"},
		{held: "src/api", wanted: "src/ap"},
		{held: "src/api", wanted: "web"},
		{held: ".", wanted: "web", refused: true},
		{held: "web", wanted: ".", refused: true},
		{held: "src/api", wanted: "src/API"},
		{held: "src/api", wanted: "src/API", fold: true, refused: true},
		{held: "src/api", wanted: "SRC/api/x", fold: true, refused: true},
		{held: "docs/\u00e4", wanted: "docs/a\u0308/x", refused: true},
		{held: "docs/\u00e4", wanted: "docs/A\u0308", fold: true, refused: true},
		{held: "docs/ß", wanted: "docs/ss", fold: true},
		{held: "src", wanted: "src", heldShared: true, wantedShared: true},
		{held: "src", wanted: "src/api", heldShared: true, wantedShared: true},
		{held: "src", wanted: "src", heldShared: true, refused: true},
		{held: "src", wanted: "src", wantedShared: true, refused: true},
		{held: "src", wanted: "src/api", heldShared: true, refused: true},
	} {
		t.Run(fmt.Sprintf("%+v", c), func(t *testing.T) {
			d := newDesk(t)
			d.fold = c.fold
			d.do(Own{Agent: "codex", Paths: []string{c.held}, Shared: c.heldShared})
			want := Own{Agent: "gemini", Paths: []string{c.wanted}, Shared: c.wantedShared}
			if !c.refused {
				d.do(want)
				return
			}
			refusal := d.conflict(ConflictOwnership, want, "codex")
			if got := refusal.Conflicts; len(got) != 1 || got[0].Requested != c.wanted || got[0].Claim.Path != c.held || got[0].RequestedBy != "gemini" {
				t.Errorf("conflicts %+v", got)
			}
		})
	}
}

func TestOwnIsAllOrNone(t *testing.T) {
	d := newDesk(t)
	d.do(Own{Agent: "codex", Paths: []string{"src/api"}})
	refusal := d.conflict(ConflictOwnership, Own{Agent: "gemini", Paths: []string{"web", "src", "docs"}})
	if len(refusal.Conflicts) != 1 {
		t.Errorf("%d conflicts", len(refusal.Conflicts))
	}
	d.holds("src/api codex exclusive 0")
	d.do(Own{Agent: "gemini", Paths: []string{"web/", "./web", "docs"}})
	d.holds("docs gemini exclusive 1", "src/api codex exclusive 0", "web gemini exclusive 1")
}

func TestOwnRefusesWhatIsNoPath(t *testing.T) {
	d := newDesk(t)
	for _, paths := range [][]string{nil, {}, {"/etc"}, {".."}, {"a/../../b"}, {"C:/x"}, make([]string, event.MaxPaths+1)} {
		d.wrong("paths", Own{Agent: "codex", Paths: paths})
		d.wrong("paths", ReleasePaths{Agent: "codex", Paths: paths})
	}
	d.wrong("ttl", Own{Agent: "codex", Paths: []string{"a"}, TTL: -time.Second})
	d.wrong("ttl", Own{Agent: "codex", Paths: []string{"a"}, TTL: MaxTTL + 1})
	d.wrong("ttl", Own{Agent: "codex", Paths: []string{"a"}, TTL: MinTTL - 1})
}

// A refusal says who holds it, in which mode, since when, why, from which session, when that was last heard of, and what helps.
func TestRefusedClaimSaysWhatToDo(t *testing.T) {
	d := newDesk(t)
	codex := d.session("codex")
	d.do(Own{Agent: codex, Paths: []string{"src/api"}, Reason: "backend", TTL: time.Hour})
	d.now = d.now.Add(10 * time.Minute)
	refusal := d.conflict(ConflictOwnership, Own{Agent: "gemini", Paths: []string{"src/api/checkout.ts"}},
		"gemini cannot claim src/api/checkout.ts",
		"src/api/checkout.ts is inside of src/api: held by codex (exclusive) since 08:01 (11m ago), fence 1",
		"because: backend", "lapses at 09:01 (49m left)", "for ada, session s-codex-1",
		"the session lives; last sign of life 08:01 (11m ago)",
		"loadout coord own gemini src/api/checkout.ts --wait 10m",
		`loadout coord ask codex "…" --from gemini`,
		`--force --reason "…"    for a person`)
	if strings.Contains(strings.Join(refusal.Hints, "\n"), "--shared") {
		t.Errorf("sharing would not help: %v", refusal.Hints)
	}
	c := refusal.Conflicts[0]
	if c.Human != "ada" || c.Session != "s-codex-1" || c.LastBeat == nil || c.Stale || c.RequestedMode != event.Exclusive {
		t.Errorf("conflict %+v", c)
	}

	d.do(Own{Agent: "codex-2", Paths: []string{"web"}, Shared: true})
	d.conflict(ConflictOwnership, Own{Agent: "gemini", Paths: []string{"web"}}, "--shared    to share it", "no session is registered under the name; its last event was 08:12")
	d.conflict(ConflictOwnership, Own{Agent: "gemini", Paths: []string{"."}}, ". contains src/api:", ". contains web:")
}

func TestRefusalOfManyConflictsIsBounded(t *testing.T) {
	d := newDesk(t)
	for i := range 30 {
		d.do(Own{Agent: fmt.Sprintf("agent-%d", i), Paths: []string{fmt.Sprintf("src/m%02d", i)}})
	}
	refusal := d.conflict(ConflictOwnership, Own{Agent: "gemini", Paths: []string{"src"}}, "and 22 more")
	if len(refusal.Conflicts) != 30 || strings.Count(refusal.Message, "\n") > 40 || len(refusal.Hints) > 12 {
		t.Errorf("%d conflicts, %d lines, %d hints", len(refusal.Conflicts), strings.Count(refusal.Message, "\n"), len(refusal.Hints))
	}
}

func TestOwningAgainRenews(t *testing.T) {
	d := newDesk(t)
	d.do(Own{Agent: "codex", Paths: []string{"src"}, TTL: 30 * time.Minute, Reason: "first"})
	again := d.one(Own{Agent: "Codex", Paths: []string{"src/"}, TTL: 30 * time.Minute})
	claim := d.state.Claims()[0]
	if claim.Fence != 0 || claim.Seq != again.Seq || claim.Reason != "first" || !claim.Since.Equal(time.Date(2026, 9, 10, 8, 0, 0, 0, time.UTC)) {
		t.Errorf("renewed claim %+v", claim)
	}
	if want := time.Date(2026, 9, 10, 8, 31, 0, 0, time.UTC); claim.ExpiresAt == nil || !claim.ExpiresAt.Equal(want) {
		t.Errorf("expires at %v, want %v", claim.ExpiresAt, want)
	}
	d.do(Own{Agent: "codex", Paths: []string{"src"}})
	if claim := d.state.Claims()[0]; claim.ExpiresAt != nil || claim.Fence != 0 {
		t.Errorf("owned again without a limit: %+v", claim)
	}
}

func TestModeChange(t *testing.T) {
	d := newDesk(t)
	d.do(Own{Agent: "codex", Paths: []string{"src"}, Shared: true})
	d.do(Own{Agent: "codex", Paths: []string{"src"}})
	d.holds("src codex exclusive 0")
	d.do(Own{Agent: "codex", Paths: []string{"src"}, Shared: true})
	d.do(Own{Agent: "gemini", Paths: []string{"src"}, Shared: true})
	d.conflict(ConflictOwnership, Own{Agent: "codex", Paths: []string{"src"}}, "gemini (shared)")
	d.conflict(ConflictOwnership, Own{Agent: "codex", Paths: []string{"src/api"}}, "gemini (shared)")
	d.holds("src codex shared 0", "src gemini shared 3")
	d.do(ReleasePaths{Agent: "gemini", Paths: []string{"src"}})
	d.do(Own{Agent: "codex", Paths: []string{"src"}})
	d.holds("src codex exclusive 0")
}

// A claim whose time has passed is free at once; the record of that is stored before what the next writer stores.
func TestLapse(t *testing.T) {
	d := newDesk(t)
	d.do(Own{Agent: "codex", Paths: []string{"src", "web"}, TTL: 5 * time.Minute})
	d.now = d.now.Add(3 * time.Minute)
	d.conflict(ConflictOwnership, Own{Agent: "gemini", Paths: []string{"src"}})
	if events, err := expire(d.view()); err != nil || len(events) != 0 {
		t.Errorf("nothing has lapsed: %v, %v", events, err)
	}
	d.now = d.now.Add(time.Minute)
	events, err := expire(d.view())
	if err != nil || len(events) != 1 {
		t.Fatalf("%d records, %v", len(events), err)
	}
	want := event.Ownership{Paths: []string{"src", "web"}, Mode: event.Release, Cause: event.CauseExpired, Holder: "codex"}
	if diff := cmp.Diff(event.Body(want), d.body(events[0])); diff != "" || events[0].From != event.Loadout || events[0].To != event.Broadcast {
		t.Errorf("record %+v:\n%s", events[0], diff)
	}
	d.do(Own{Agent: "gemini", Paths: []string{"src"}})
	d.holds("src gemini exclusive 2")

	d.do(Own{Agent: "codex", Paths: []string{"web"}, TTL: time.Minute})
	d.now = d.now.Add(time.Hour)
	d.do(Own{Agent: "codex", Paths: []string{"web"}})
	d.holds("src gemini exclusive 2", "web codex exclusive 5") // lapsed, so a new holding with a new fence
}

func TestExpireManyPaths(t *testing.T) {
	d := newDesk(t)
	for i := range 3 {
		paths := make([]string, 200)
		for k := range paths {
			paths[k] = fmt.Sprintf("d%d/f%03d", i, k)
		}
		d.do(Own{Agent: "codex", Paths: paths, TTL: time.Hour})
	}
	d.do(Own{Agent: "gemini", Paths: []string{"web"}, TTL: time.Hour})
	d.now = d.now.Add(2 * time.Hour)
	d.do(Report{Agent: "user", Update: event.Update{Note: "hello"}})
	d.holds()
	if got := d.state.Head(); got != 3+4+1 {
		t.Errorf("head %d: want three records of codex, one of gemini, and the update", got)
	}
}

// Who slept through a lapse is refused at the next write with its fence, and told who holds it now.
func TestFence(t *testing.T) {
	d := newDesk(t)
	d.do(Own{Agent: "codex", Paths: []string{"src"}, TTL: 5 * time.Minute})
	d.do(Own{Agent: "codex", Paths: []string{"src"}, TTL: 5 * time.Minute, Fence: number(0)})
	d.conflict(ConflictFence, Own{Agent: "codex", Paths: []string{"src"}, Fence: number(7)}, "fence 7 on src does not hold: codex has no claim under that number now",
		"codex holds src now, with fence 0", "the same with --fence 0")
	d.conflict(ConflictFence, ReleasePaths{Agent: "codex", Paths: []string{"src"}, Fence: number(7)})

	d.now = d.now.Add(time.Hour)
	refusal := d.conflict(ConflictFence, Own{Agent: "codex", Paths: []string{"src"}, Fence: number(0)}, "it lapsed at 08:06", "nobody holds it now", "loadout coord own codex src    to claim it anew")
	if refusal.Want != 0 || refusal.Have != -1 {
		t.Errorf("want %d, have %d", refusal.Want, refusal.Have)
	}
	d.do(Own{Agent: "gemini", Paths: []string{"src"}, Reason: "took over"})
	for _, c := range []Command{
		Own{Agent: "codex", Paths: []string{"src"}, Fence: number(0)},
		ReleasePaths{Agent: "codex", Paths: []string{"src"}, Fence: number(0)},
	} {
		refusal = d.conflict(ConflictFence, c, "held by gemini (exclusive)", "because: took over",
			"loadout coord own codex src --wait 10m", `loadout coord ask gemini "…" --from codex`)
		if hints := strings.Join(refusal.Hints, "\n"); strings.Contains(hints, "own codex src   ") {
			t.Errorf("a hint that would be refused: %s", hints)
		}
		if len(refusal.Conflicts) != 1 || refusal.Conflicts[0].Claim.Agent != "gemini" {
			t.Errorf("conflicts %+v", refusal.Conflicts)
		}
	}
	d.do(ReleasePaths{Agent: "gemini", Paths: []string{"src"}, Fence: number(3)})
	d.holds()
	d.conflict(ConflictFence, ReleasePaths{Agent: "gemini", Paths: []string{"src"}, Fence: number(3)}, "nobody holds it now")
}

// Fences only grow.
func TestFencesGrow(t *testing.T) {
	d := newDesk(t)
	last := int64(-1)
	for range 5 {
		d.do(Own{Agent: "codex", Paths: []string{"src"}})
		d.do(Own{Agent: "codex", Paths: []string{"src"}})
		fence := d.state.Claims()[0].Fence
		if fence <= last {
			t.Fatalf("fence %d after %d", fence, last)
		}
		last = fence
		d.do(ReleasePaths{Agent: "codex", Paths: []string{"src"}})
	}
}

func TestRelease(t *testing.T) {
	d := newDesk(t)
	d.do(Own{Agent: "codex", Paths: []string{"src", "src/api", "src/api/v2", "srcs", "web"}})
	d.do(Own{Agent: "gemini", Paths: []string{"docs"}})
	e := d.one(ReleasePaths{Agent: "codex", Paths: []string{"src/api/"}})
	want := event.Ownership{Paths: []string{"src/api", "src/api/v2"}, Mode: event.Release}
	if diff := cmp.Diff(event.Body(want), d.body(e)); diff != "" {
		t.Errorf("the release names each claim:\n%s", diff)
	}
	if e.Description != "codex releases: src/api" {
		t.Errorf("description %q", e.Description)
	}
	if e := d.one(ReleasePaths{Agent: "codex", Paths: []string{"."}}); e.Description != "codex releases: everything" {
		t.Errorf("description %q", e.Description)
	}
	d.holds("docs gemini exclusive 1")
}

func TestReleaseRefuses(t *testing.T) {
	d := newDesk(t)
	codex := d.session("codex")
	d.do(Own{Agent: codex, Paths: []string{"src"}, Reason: "backend"})
	d.do(Own{Agent: "gemini", Paths: []string{"web"}})
	d.conflict(ConflictRelease, ReleasePaths{Agent: "gemini", Paths: []string{"web", "src"}},
		"gemini does not hold src", "src: held by codex (exclusive)", "because: backend", `loadout coord ask codex "…" --from gemini`, "loadout coord release user src --force")
	d.conflict(ConflictRelease, ReleasePaths{Agent: "gemini", Paths: []string{"src/api"}}, "src/api is inside of src: held by codex")
	refusal := d.conflict(ConflictRelease, ReleasePaths{Agent: "codex", Paths: []string{"src/api"}}, "codex holds src, not src/api", "loadout coord release codex src")
	if refusal.Have != 1 {
		t.Errorf("have %d, want the fence of src", refusal.Have)
	}
	d.missing("claim", ReleasePaths{Agent: "codex", Paths: []string{"docs"}}, "nobody holds it")
	d.missing("claim", ReleasePaths{Agent: "codex", Paths: []string{"sr"}}, "did you mean src?")
	d.holds("src codex exclusive 1", "web gemini exclusive 2")

	d.do(Own{Agent: "gemini", Paths: []string{"docs"}, TTL: time.Minute})
	d.now = d.now.Add(time.Hour)
	d.missing("claim", ReleasePaths{Agent: "gemini", Paths: []string{"docs"}}, "it lapsed at 08:04")
}

func TestForce(t *testing.T) {
	d := newDesk(t)
	d.do(Own{Agent: "codex", Paths: []string{"src/api", "web"}, Reason: "backend"})
	d.do(Own{Agent: "gemini", Paths: []string{"src/ui"}, Shared: true})
	force := Own{Agent: "user", Paths: []string{"src"}, Force: true, Reason: "release day"}
	d.conflict(ConflictIdentity, force, "for a person", "src/api: held by codex", "src/ui: held by gemini")
	d.person = true
	d.wrong("reason", Own{Agent: "user", Paths: []string{"src"}, Force: true, Reason: " "})
	e := d.one(force)
	want := event.Ownership{
		Paths: []string{"src"}, Mode: event.Exclusive, Reason: "release day", Cause: event.CauseForced,
		Displaced: []event.Displaced{
			{Agent: "codex", Path: "src/api", Mode: event.Exclusive, Fence: 0},
			{Agent: "gemini", Path: "src/ui", Mode: event.Shared, Fence: 1},
		},
	}
	if diff := cmp.Diff(event.Body(want), d.body(e)); diff != "" {
		t.Errorf("the event says whom it displaced:\n%s", diff)
	}
	d.holds("src user exclusive 2", "web codex exclusive 0")
	if e := d.one(Own{Agent: "user", Paths: []string{"docs"}, Force: true, Reason: "release day"}); d.body(e).(event.Ownership).Cause != "" {
		t.Error("force without anybody in the way leaves a trace")
	}
}

func TestForcedRelease(t *testing.T) {
	d := newDesk(t)
	d.do(Own{Agent: "codex", Paths: []string{"src/api", "src/db"}})
	d.do(Own{Agent: "gemini", Paths: []string{"src/ui"}})
	d.do(Own{Agent: "user", Paths: []string{"src/x"}})
	d.conflict(ConflictIdentity, ReleasePaths{Agent: "user", Paths: []string{"src"}, Force: true, Reason: "r"}, "for a person")
	d.person = true
	d.wrong("reason", ReleasePaths{Agent: "user", Paths: []string{"src"}, Force: true})
	d.conflict(ConflictRelease, ReleasePaths{Agent: "user", Paths: []string{"src/api/v2"}, Force: true, Reason: "r"}, "src/api/v2 is inside of src/api")
	events := d.do(ReleasePaths{Agent: "user", Paths: []string{"src"}, Force: true, Reason: "cleaning up"})
	got := map[string]event.Ownership{}
	for _, e := range events {
		b := d.body(e).(event.Ownership)
		got[b.Holder] = b
	}
	want := map[string]event.Ownership{
		"codex":  {Paths: []string{"src/api", "src/db"}, Mode: event.Release, Reason: "cleaning up", Cause: event.CauseForced, Holder: "codex"},
		"gemini": {Paths: []string{"src/ui"}, Mode: event.Release, Reason: "cleaning up", Cause: event.CauseForced, Holder: "gemini"},
		"":       {Paths: []string{"src/x"}, Mode: event.Release, Reason: "cleaning up"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("releases (-want +got):\n%s", diff)
	}
	d.holds()
}

// Who may not use force is told what helps instead, by name.
func TestForceRefusedSaysWhatHelps(t *testing.T) {
	d := newDesk(t)
	d.do(Own{Agent: "codex", Paths: []string{"src"}})
	for _, c := range []Command{
		Own{Agent: "gemini", Paths: []string{"src/api"}, Force: true, Reason: "r"},
		ReleasePaths{Agent: "gemini", Paths: []string{"src"}, Force: true, Reason: "r"},
	} {
		refusal := d.conflict(ConflictIdentity, c, "src", "held by codex", `loadout coord ask codex "…" --from gemini`)
		if len(refusal.Conflicts) != 1 {
			t.Errorf("%T: conflicts %+v", c, refusal.Conflicts)
		}
	}
	d.conflict(ConflictIdentity, Own{Agent: "gemini", Paths: []string{"doc"}, Force: true, Reason: "r"}, "the same without --force")
	d.conflict(ConflictIdentity, ReleasePaths{Agent: "codex", Paths: []string{"src"}, Force: true, Reason: "r"}, "the same without --force")
}

// What a session left behind that ended or died may be taken over by anybody who says why.
func TestTakeover(t *testing.T) {
	for name, leave := range map[string]func(d *desk, agent string){
		"ended": func(d *desk, agent string) { d.do(EndAgent{Name: agent}) },
		"died":  func(d *desk, agent string) { d.dies(agent) },
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			codex := d.session("codex")
			d.do(Own{Agent: codex, Paths: []string{"src"}})
			d.conflict(ConflictOwnership, Own{Agent: "gemini", Paths: []string{"src"}, Reason: "mine now"}, "the session lives")
			leave(d, codex)
			refusal := d.conflict(ConflictOwnership, Own{Agent: "gemini", Paths: []string{"src"}}, "the session", "to take over: the session of the holder does not run")
			if !refusal.Conflicts[0].Stale || strings.Contains(strings.Join(refusal.Hints, "\n"), "--wait") {
				t.Errorf("stale %v, hints %v", refusal.Conflicts[0].Stale, refusal.Hints)
			}
			e := d.one(Own{Agent: "gemini", Paths: []string{"src"}, Reason: "codex has left"})
			b := d.body(e).(event.Ownership)
			if b.Cause != event.CauseTakeover || len(b.Displaced) != 1 || b.Displaced[0].Agent != codex {
				t.Errorf("event %+v", b)
			}
			d.holds(fmt.Sprintf("src gemini exclusive %d", e.Seq))
		})
	}
	d := newDesk(t)
	codex := d.session("codex")
	d.do(Own{Agent: codex, Paths: []string{"src/a"}})
	d.do(Own{Agent: "claude-code", Paths: []string{"src/b"}})
	d.dies(codex)
	d.conflict(ConflictOwnership, Own{Agent: "gemini", Paths: []string{"src"}, Reason: "all"}, "claude-code", "--wait 10m")
}

// Force without a reason is refused also where nothing is in the way.
func TestForceAlwaysNeedsAReason(t *testing.T) {
	d := newDesk(t)
	d.person = true
	d.wrong("reason", Own{Agent: "codex", Paths: []string{"src"}, Force: true, Reason: " "})
	d.do(Own{Agent: "codex", Paths: []string{"src"}, Force: true, Reason: "why"})
	d.person = false
	d.conflict(ConflictIdentity, Own{Agent: "codex", Paths: []string{"docs"}, Force: true, Reason: "why"}, "is for a person")
}
