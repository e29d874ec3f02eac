package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/agentloadout/loadout/engine/event"
)

func (s *scene) snapshot(agent string) Snapshot {
	s.t.Helper()
	snap, err := s.Snapshot(s.t.Context(), agent)
	if err != nil {
		s.t.Fatal(err)
	}
	return snap
}

// TestEmptyIsNotLost: also an empty answer says what it is about.
func TestEmptyIsNotLost(t *testing.T) {
	s := newScene(t)
	empty := s.snapshot("codex")
	if empty.AsOf != -1 || empty.ReadTo != -1 || empty.LogLines != 0 || empty.Truncated.Total() != 0 || len(empty.More) != 0 {
		t.Errorf("%+v", empty)
	}
	b, err := json.Marshal(empty)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"highSeq":-1`, `"pendingTasks":[]`, `"activeContracts":[]`, `"ownership":[]`, `"recentDecisions":[]`, `"unackedForAgent":[]`, `"truncated":{`} {
		if !strings.Contains(string(b), want) {
			t.Errorf("%s is not in %s", want, b)
		}
	}
}

func TestSnapshotIsFilteredAndHonest(t *testing.T) {
	s := newScene(t)
	s.do(own("claude-code", "src"))
	s.do(AddTask{From: "user", To: "codex", Text: "for codex"})
	s.do(AddTask{From: "user", To: "gemini", Text: "for gemini"})
	s.do(AddTask{From: "user", To: "*", Text: "for all"})
	s.do(Publish{Agent: "claude-code", Name: "api", Body: "GET /"})
	s.do(Ask{From: "gemini", To: "claude-code", Text: "private"})
	s.do(Decide{Agent: "codex", Title: "cents"})
	s.append("garbage\n")
	s.do(Ack{Agent: "codex", Seq: 1})
	snap := s.snapshot("codex")
	if len(snap.Tasks) != 2 || snap.Tasks[0].Description != "for codex" || snap.Tasks[1].Description != "for all" {
		t.Errorf("tasks %+v", snap.Tasks)
	}
	for _, ref := range snap.Unacked {
		if ref.To != event.Broadcast && ref.To != "codex" || ref.Seq <= 1 || ref.From == "codex" {
			t.Errorf("news that does not concern codex: %+v", ref)
		}
	}
	if len(snap.Unacked) == 0 || snap.ReadTo != 1 || snap.AsOf != 7 || snap.LogLines != 9 || snap.Skipped.Bad != 1 || len(snap.More) != 1 {
		t.Errorf("read to %d, as of %d, %d lines, %+v, more %q, news %+v", snap.ReadTo, snap.AsOf, snap.LogLines, snap.Skipped, snap.More, snap.Unacked)
	}
	if len(snap.Ownership) != 1 || snap.Ownership[0].Agent != "claude-code" || snap.Ownership[0].Paths[0] != "src" || snap.Ownership[0].Stale {
		t.Errorf("ownership %+v", snap.Ownership)
	}
	if c := snap.Contracts; len(c) != 1 || c[0].Body != "GET /" || c[0].Revision != 1 || c[0].Publisher != "claude-code" {
		t.Errorf("contracts %+v", c)
	}
	before := s.log()
	s.snapshot("codex")
	if s.log() != before {
		t.Error("a snapshot moved something")
	}
	_, err := s.Snapshot(t.Context(), "*")
	as[*ValidationError](t, err)
}

func TestSnapshotBounds(t *testing.T) {
	s := newScene(t)
	for i := range MaxSnapshotTasks + 3 {
		s.do(AddTask{From: "user", To: "codex", Text: fmt.Sprint("task ", i)})
	}
	for i := range 3 {
		s.do(Publish{Agent: "user", Name: fmt.Sprint("c", i), Body: strings.Repeat("x", MaxSnapshotBodies/2)})
	}
	for i := range MaxSnapshotDecisions + 2 {
		s.do(Decide{Agent: "user", Title: fmt.Sprint("decision ", i)})
	}
	for i := range 2*MaxSnapshotUnacked - 60 {
		s.do(note("claude-code", strconv.Itoa(i)))
	}
	snap := s.snapshot("codex")
	want := Truncated{Tasks: 3, Decisions: 2, Bodies: 1}
	want.Unacked = s.view().State.Unread("codex").Count - MaxSnapshotUnacked
	if snap.Truncated != want || want.Unacked <= 0 {
		t.Errorf("truncated %+v, want %+v", snap.Truncated, want)
	}
	if snap.Tasks[0].Description != "task 3" || !snap.Contracts[0].BodyOmitted || snap.Contracts[2].Body == "" || len(snap.Unacked) != MaxSnapshotUnacked || len(snap.More) != 3 {
		t.Errorf("oldest task %q, contracts omitted %v, %v, news %d, more %q", snap.Tasks[0].Description, snap.Contracts[0].BodyOmitted, snap.Contracts[2].BodyOmitted, len(snap.Unacked), snap.More)
	}
}

// The command for what is left out gives more than the snapshot itself has.
func TestSnapshotNamesAllContracts(t *testing.T) {
	s := Snapshot{Truncated: Truncated{Contracts: 1}}
	s.addMore()
	if len(s.More) != 1 || !strings.HasPrefix(s.More[0], "loadout coord contract --all ") {
		t.Errorf("%q", s.More)
	}
}

func TestStaleClaimsAreMarked(t *testing.T) {
	s := newScene(t)
	s.register("claude-code", 100)
	s.do(own("claude-code", "src"))
	if s.snapshot("codex").Ownership[0].Stale {
		t.Error("a live session's claim is stale")
	}
	s.machine.dead = map[int]bool{100: true}
	if !s.snapshot("codex").Ownership[0].Stale {
		t.Error("a dead session's claim is not stale")
	}
}

func TestCard(t *testing.T) {
	w := newTrees(t)
	e := w.engine(t, w.main)
	must(t, e, own("codex", "src/api"))
	must(t, e, AddTask{From: "user", To: "codex", Text: "Implement\x1b[31m the frontend"})
	must(t, e, Decide{Agent: "user", Title: "Use cents"})
	must(t, e, Publish{Agent: "claude-code", Name: "api", Body: "x"})
	must(t, e, Consume{Agent: "codex", Names: []string{"api"}})
	writeFile(t, filepath.Join(w.main, "src", "api", "a.go"), "x")
	writeFile(t, filepath.Join(w.main, "other.go"), "x")
	card, err := e.Card(t.Context(), "codex")
	if err != nil {
		t.Fatal(err)
	}
	if card.AsOf != 4 || card.ReadTo != -1 || card.Unread != 3 || card.LogEvents != 5 {
		t.Errorf("%+v", card)
	}
	for _, want := range []string{"codex, as of seq 4", "read to nothing", "src/api (exclusive, fence 0)", "the frontend, from user", "Use cents", "api rev1 (no revision read)", "src/api/a.go"} {
		if !strings.Contains(card.Text, want) {
			t.Errorf("%q is not in\n%s", want, card.Text)
		}
	}
	if strings.Contains(card.Text, "\x1b") || strings.Contains(card.Text, "other.go") {
		t.Errorf("card\n%s", card.Text)
	}
}

// TestCardHasTheGates: what stands between the work and its acceptance, before what is met.
func TestCardHasTheGates(t *testing.T) {
	s := newScene(t)
	for _, g := range []event.Gate{
		{Ledger: "broken", Invalid: "line 3 is no gate"},
		{Scope: "web", Ledger: "acceptance", Met: 3, Unmet: 2, Abandoned: 1, Gates: []event.GateLine{
			{ID: "g1", Title: "builds", State: event.GateMet}, {ID: "g2", Title: "tests pass", State: event.GateStale},
		}},
		{Ledger: "done", Met: 4},
	} {
		ev := s.draft("codex", "*", g)
		ev.Seq = s.view().State.Head() + 1
		s.append(string(ev.AppendLine(nil)) + "\n")
	}
	card, err := s.Card(t.Context(), "gemini")
	want := "Gates (3): web/acceptance 3 met, 2 unmet, 1 abandoned, first stale-unmet: [g2] tests pass; " +
		"broken cannot be read: line 3 is no gate; done 4 met, 0 unmet\n"
	if err != nil || !strings.Contains(card.Text, want) || len(card.Text) > MaxCardBytes {
		t.Errorf("card %q, %v", card.Text, err)
	}
}

func TestCardIsBounded(t *testing.T) {
	s := newScene(t)
	name := strings.Repeat("é", 100)
	for i := range 30 {
		s.do(own(name, fmt.Sprintf("%s/%d", strings.Repeat("長", 60), i)))
		s.do(AddTask{From: "user", To: name, Text: strings.Repeat("長い", 200)})
		s.do(Decide{Agent: "user", Title: strings.Repeat("決", 150)})
	}
	if _, err := s.Kill(t.Context(), "user", strings.Repeat("止", event.MaxReason)); err != nil {
		t.Fatal(err)
	}
	card, err := s.Card(t.Context(), name)
	if err != nil || len(card.Text) > MaxCardBytes || !strings.Contains(card.Text, "HALTED") || !strings.Contains(card.Text, "Claims (30):") || !strings.Contains(card.Text, "…") {
		t.Errorf("%d bytes, %v:\n%s", len(card.Text), err, card.Text)
	}
}

func TestTimeline(t *testing.T) {
	s := newScene(t)
	if tl, err := s.Timeline(t.Context(), Query{After: Everything}); err != nil || tl.TotalEvents != 0 || tl.Duration != "0s" || tl.Entries == nil {
		t.Errorf("empty %+v, %v", tl, err)
	}
	s.do(own("codex", "a", "b", "c", "d"))
	s.clock.move(65e9)
	s.do(ReleasePaths{Agent: "codex", Paths: []string{"a"}})
	s.do(Publish{Agent: "claude-code", Name: "api", Body: "x"})
	s.do(AddTask{From: "user", To: "codex", Text: "do it", Context: "why"})
	tl, err := s.Timeline(t.Context(), Query{After: Everything})
	if err != nil || tl.TotalEvents != 4 || tl.OwnershipCount != 1 || tl.ContractCount != 1 || tl.Duration != "1m 5s" || len(tl.Agents) != 3 {
		t.Fatalf("%+v, %v", tl, err)
	}
	for i, want := range []string{
		"Claimed exclusive ownership of 4 paths: a, b, c, …", "Released 1 path: a", `Published contract "api" rev1`, "Task: do it",
	} {
		if got := tl.Entries[i].Headline; got != want {
			t.Errorf("headline %q, want %q", got, want)
		}
	}
	if e := tl.Entries[3]; e.Detail != "why" || e.RelativeTime != "+1m 5s" || e.Emoji != "📋" || e.Agent != "user" {
		t.Errorf("entry %+v", e)
	}
}

// TestAStuckTaskSaysSoEverywhere: nobody waits for ever without knowing it.
func TestAStuckTaskSaysSoEverywhere(t *testing.T) {
	s := newScene(t)
	need := s.do(AddTask{From: "user", To: "gemini", Text: "first"}).Events[0].ID
	task := s.do(AddTask{From: "user", To: "w", Text: "second", Needs: []string{need}}).Events[0].ID
	next := func(want string) {
		t.Helper()
		r := s.do(Next{Agent: "w"})
		if len(r.Events) != 0 || strings.Join(r.Notes, "; ") != want {
			t.Errorf("next: %+v, want %s", r, want)
		}
	}
	card := func() string {
		t.Helper()
		card, err := s.Card(t.Context(), "w")
		if err != nil {
			t.Fatal(err)
		}
		return card.Text
	}
	next("task " + task + " from user waits for " + need)
	if text := card(); !strings.Contains(text, "(waits for "+need+")") {
		t.Errorf("card %s", text)
	}
	s.do(Finish{From: "gemini", ID: need, Failed: true})
	why := "can never be begun: needs " + need + ", which has failed"
	next("task " + task + " from user: " + why + "; for who asked, or a person: loadout coord cancel " + task)
	if text := card(); !strings.Contains(text, "("+why+")") {
		t.Errorf("card %s", text)
	}
	if got := s.snapshot("w").Tasks[0]; got.Stuck != why || got.Command() != "loadout coord cancel "+task || len(got.Blocked) != 1 {
		t.Errorf("snapshot %+v", got)
	}
	_, err := s.Do(t.Context(), Request{Command: ClaimTask{Agent: "w", ID: task}})
	var refused *ConflictError
	if !errors.As(err, &refused) || !strings.Contains(refused.Message, why) || !strings.Contains(strings.Join(refused.Hints, "\n"), "coord cancel "+task) {
		t.Errorf("taking it: %+v", refused)
	}
	s.do(Cancel{From: "user", ID: task})
	next("")
}

func TestATaskOfADeadSessionSaysWhatFreesIt(t *testing.T) {
	s := newScene(t)
	name := s.register("codex", 7)
	task := s.do(AddTask{From: "user", To: "*", Text: "build"}).Events[0].ID
	s.do(Next{Agent: name})
	if r := s.do(Next{Agent: "codex-2"}); len(r.Notes) != 0 {
		t.Errorf("its taker lives: %v", r.Notes)
	}
	s.machine.dead = map[int]bool{7: true}
	s.Engine = s.open(Options{})
	want := "task " + task + " from user: taken by codex, whose session is over; a person gives it back: loadout agent end codex"
	if r := s.do(Next{Agent: "codex-2"}); len(r.Notes) != 1 || r.Notes[0] != want {
		t.Errorf("notes %q, want %q", r.Notes, want)
	}
	if got := s.snapshot("codex-2").Tasks[0]; got.Stuck != "taken by codex, whose session is over" {
		t.Errorf("snapshot %+v", got)
	}
	s.do(EndAgent{Name: name})
	if r := s.do(Next{Agent: "codex-2"}); len(r.Events) != 1 || r.Events[0].Resolves != task {
		t.Errorf("freed: %+v", r)
	}
}
