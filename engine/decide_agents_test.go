package engine

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentloadout/loadout/engine/event"
)

func TestRegisterMintsAName(t *testing.T) {
	d := newDesk(t)
	for _, want := range []string{"claude-code", "claude-code-2", "claude-code-3"} {
		if got := d.session("claude-code"); got != want {
			t.Errorf("minted %s, want %s", got, want)
		}
	}
	e := d.one(Register{Base: "codex", Human: "ada", Session: "s1", PID: 7, Start: "11", Boot: "b", Host: "h"})
	want := event.Agent{
		Action: event.AgentRegistered, Name: "codex", Base: "codex", Human: "ada", Session: "s1", PID: 7, Start: "11", Boot: "b", Host: "h",
	}
	if diff := cmp.Diff(event.Body(want), d.body(e)); diff != "" || e.From != "codex" {
		t.Errorf("from %s\n%s", e.From, diff)
	}

	d.do(EndAgent{Name: "claude-code-2"})
	delete(d.live, "claude-code-2")
	if got := d.session("claude-code"); got != "claude-code-2" {
		t.Errorf("minted %s although claude-code-2 has ended and left nothing", got)
	}
}

// The same session keeps its name, however often it registers.
func TestRegisterAgainKeepsTheName(t *testing.T) {
	d := newDesk(t)
	d.session("codex")
	first := d.one(Register{Base: "codex", Session: "s1", PID: 7})
	d.live["codex-2"] = Liveness{Known: true, Live: true}
	again := d.one(Register{Base: "codex", Session: "s1", PID: 8})
	if first.From != "codex-2" || again.From != "codex-2" {
		t.Errorf("names %s, then %s", first.From, again.From)
	}
	if a, _ := d.state.Agent("codex-2"); a.PID != 8 {
		t.Errorf("process %d", a.PID)
	}
	if e := d.one(Register{Name: "codex-2", Session: "s1"}); e.From != "codex-2" {
		t.Errorf("by name: %s", e.From)
	}
	d.conflict(ConflictName, Register{Name: "codex-2", Session: "s9"}, "a live session has the name codex-2 since 08:0", "loadout agent register --base codex-2", "loadout agent end codex-2")
}

// A name under which somebody left claims or tasks goes to no other session.
func TestRegisterLeavesWhatOthersLeft(t *testing.T) {
	for name, leave := range map[string]func(d *desk, agent string){
		"claims": func(d *desk, agent string) { d.do(Own{Agent: agent, Paths: []string{"src"}}) },
		"a taken task": func(d *desk, agent string) {
			d.do(AddTask{From: "user", To: "*", Text: "t"})
			d.do(Next{Agent: agent})
		},
		"a task for it": func(d *desk, agent string) { d.do(AddTask{From: "user", To: agent, Text: "t"}) },
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			agent := d.session("codex")
			leave(d, agent)
			d.dies(agent)
			d.conflict(ConflictName, Register{Name: "Codex"}, "another session left", "--base Codex", "to take over what it held")
			if got := d.session("codex"); got != "codex-2" {
				t.Errorf("minted %s", got)
			}
			d.conflict(ConflictName, ForgetAgent{Name: agent}, "codex still has 1", "loadout coord release codex .")
		})
	}
	// Work that waits for a name that nobody had yet is for the first who gets it.
	d := newDesk(t)
	d.do(AddTask{From: "user", To: "codex", Text: "t"})
	if got := d.session("codex"); got != "codex" {
		t.Errorf("minted %s", got)
	}
	// Nor does a claim under a name that never registered go to a session that would be called so.
	d.do(Own{Agent: "gemini", Paths: []string{"src"}})
	if got := d.session("gemini"); got != "gemini-2" {
		t.Errorf("minted %s", got)
	}
}

func TestRegisterRefusesLookalikes(t *testing.T) {
	d := newDesk(t)
	d.session("claude-code")
	for _, name := range []string{"claude_code", "ClaudeCode", "cl\u0430ude-code", "c1aude-code", "claude.code", "cIaude-code", "claud\u00e9-code"} {
		d.conflict(ConflictName, Register{Name: name}, "looks like claude-code", "loadout agent register --base claude-code")
	}
	for _, name := range []string{"claude-code", "Claude-Code", "ｃｌａｕｄｅ-code"} {
		d.conflict(ConflictName, Register{Name: name}, "a live session has the name claude-code")
	}
	d.wrong("name", Register{Name: "claude-co\u200bde"})
	d.conflict(ConflictName, Own{Agent: "claude_code", Paths: []string{"src"}}, "looks like claude-code", "the same with claude-code")
	d.conflict(ConflictName, Ask{From: "user", To: "cl\u0430ude-code", Text: "?"}, "looks like claude-code", "the same with claude-code")
	d.do(Register{Name: "claudia"})
	d.dies("claude-code")
	d.do(Register{Name: "claude_code"}) // nobody can be taken for who is not there
}

func TestRegisterRefusesNames(t *testing.T) {
	d := newDesk(t)
	for _, name := range []string{"user", "User", "me", "two words", "a,b", "a:b", "it's", `"x"`, "#4", "-x", "tab\there", strings.Repeat("x", event.MaxName+1)} {
		d.wrong("name", Register{Name: name})
		d.wrong("base", Register{Base: name})
	}
	d.wrong("base", Register{})
}

func TestEndForgetRename(t *testing.T) {
	d := newDesk(t)
	codex := d.session("codex")
	d.do(Report{Agent: "gemini", Update: event.Update{}})
	d.missing("agent", EndAgent{Name: "codx"}, "did you mean codex?", "loadout agent list")
	d.missing("agent", ForgetAgent{Name: "nobody"})
	d.missing("agent", RenameAgent{Old: "nobody", New: "x"})
	d.conflict(ConflictName, EndAgent{Name: "gemini"}, "it was never registered")
	d.conflict(ConflictName, ForgetAgent{Name: codex}, "codex has a live session", "loadout agent end codex")

	d.do(Own{Agent: codex, Paths: []string{"src"}})
	d.wrong("name", RenameAgent{Old: codex, New: "CODEX"})
	d.wrong("name", RenameAgent{Old: codex, New: "user"})
	claude := d.session("claude-code")
	d.conflict(ConflictName, RenameAgent{Old: codex, New: claude}, "a live session has the name")
	d.conflict(ConflictName, RenameAgent{Old: codex, New: "claude_code"}, "looks like claude-code")
	e := d.one(RenameAgent{Old: "Codex", New: "co-dex"})
	if b := d.body(e).(event.Agent); b.Action != event.AgentRenamed || b.Name != "co-dex" || b.Previous != "codex" || e.From != "codex" {
		t.Errorf("event %+v", e)
	}
	d.live["co-dex"] = d.live["codex"]
	d.holds("src co-dex exclusive 2")

	e = d.one(EndAgent{Name: "co-dex", Reason: "done for today"})
	if e.Description != "co-dex has left: done for today" || e.From != "co-dex" {
		t.Errorf("event %+v", e)
	}
	d.conflict(ConflictName, EndAgent{Name: "co-dex"}, "co-dex has no session to end: it ended at 08:05")
	delete(d.live, "co-dex")
	d.do(ReleasePaths{Agent: "co-dex", Paths: []string{"."}})
	d.do(ForgetAgent{Name: "co-dex"})
	if _, known := d.state.Agent("co-dex"); known {
		t.Error("still known")
	}
}
