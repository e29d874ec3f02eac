package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// many is how many of each kind the project of TestListsAreBounded has: more than a list in JSON.
const many = maxItems + 5

// crowded fills the project of a call with many of everything.
func crowded(t *testing.T, a *app) {
	t.Helper()
	var log, mail strings.Builder
	seq := 0
	add := func(kind, from, to, payload string) {
		fmt.Fprintf(&log, `{"id":"id%d","seq":%[1]d,"type":%q,"from":%q,"to":%q,"description":"text","timestamp":"2026-01-01T00:00:00.000Z"%s}`+"\n",
			seq, kind, from, to, payload)
		seq++
	}
	for i := range many {
		agent := fmt.Sprintf("agent-%d", i)
		add("agent", "loadout", "*", fmt.Sprintf(`,"payload":{"action":"registered","name":%q}`, agent))
		add("turn", "loadout", "*", fmt.Sprintf(`,"payload":{"action":"attached","agent":%q,"provider":"codex","session":"s%d","through":-1}`, agent, i))
		add("task", agent, "codex", "")
		add("question", agent, "user", "")
		add("ownership", "codex", "*", fmt.Sprintf(`,"payload":{"paths":["src/f%d"],"mode":"exclusive"}`, i))
		add("contract", agent, "*", fmt.Sprintf(`,"payload":{"name":"c%d","revision":1,"body":"x"}`, i))
		add("decision", agent, "*", `,"payload":{"title":"d","rationale":"r"}`)
		add("discussion", "user", "*", fmt.Sprintf(`,"payload":{"threadId":"t%d","round":0,"kind":"started","role":"system","content":"q","participants":["a","b"]}`, i))
		fmt.Fprintf(&mail, `{"id":"mail%d","type":"task","from":"user","to":"codex","description":"text","timestamp":"2026-01-01T00:00:00.000Z"}`+"\n", i)
	}
	dir := filepath.Join(a.dir, ".handoff")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"coordination.jsonl": log.String(), "messages.jsonl": mail.String()} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestListsAreBounded in a project with many of everything: each names what counts most, and says how much it leaves out.
func TestListsAreBounded(t *testing.T) {
	a, stdout, stderr := testApp(t)
	crowded(t, a)
	answer := func(words string, code int) string {
		t.Helper()
		stdout.Reset()
		stderr.Reset()
		if got := run(t.Context(), strings.Fields(words), a); got != code {
			t.Fatalf("%s: exit %d: %s", words, got, stderr)
		}
		return stdout.String()
	}
	verbs := []struct {
		words string
		more  []string // lines that say what is left out
		lists []string // members of the JSON
	}{
		{"status", []string{
			fmt.Sprintf("and %d more things: loadout coord status --all", many-50), fmt.Sprintf("and %d more contracts: loadout coord contract --all", many-50),
			fmt.Sprintf("and %d more paths: loadout coord status --all", many-50), fmt.Sprintf("and %d more tasks: loadout coord status --all", 2*many-50),
			"more agents: loadout agent list --all", "more decisions: loadout coord status --all",
		}, []string{"waiting", "contracts", "ownership", "tasks", "agents", "decisions"}},
		{"coord contract", []string{fmt.Sprintf("and %d more contracts: loadout coord contract --all", many-50)}, []string{"contracts"}},
		{"agent list", []string{"more agents: loadout agent list --all"}, []string{"agents"}},
		{"coord agents list", []string{"more sessions: loadout coord agents list --all"}, []string{"sessions"}},
		{"coord discuss list", []string{"more discussions: loadout coord discuss list --all"}, []string{"discussions"}},
		{"handoff", []string{fmt.Sprintf("and %d more tasks: loadout handoff --all", many-50)}, []string{"messages", "pending"}},
		{"handoff codex", []string{fmt.Sprintf("and %d more tasks: loadout handoff codex --all", many-50)}, []string{"messages"}},
	}
	for _, v := range verbs {
		text := answer(v.words, exitDone)
		for _, more := range v.more {
			if !strings.Contains(text, more) {
				t.Errorf("%s does not say %q", v.words, more)
			}
		}
		if n, most := strings.Count(text, "\n"), 51*5*max(1, len(v.lists)); n > most {
			t.Errorf("%s: %d lines", v.words, n)
		}
		if all := answer(v.words+" --all", exitDone); strings.Count(all, "\n") <= strings.Count(text, "\n") || strings.Contains(all, " more ") {
			t.Errorf("%s --all leaves something out", v.words)
		}
		var object map[string]json.RawMessage
		if err := json.Unmarshal([]byte(answer(v.words+" --json", exitDone)), &object); err != nil {
			t.Fatalf("%s: %v", v.words, err)
		}
		for _, list := range v.lists {
			var items []json.RawMessage
			if err := json.Unmarshal(object[list], &items); err != nil || len(items) == 0 || len(items) > maxItems {
				t.Errorf("%s: %s has %d items: %v", v.words, list, len(items), err)
			}
		}
		if object["omitted"] == nil && object["truncated"] == nil {
			t.Errorf("%s does not say how much is left out", v.words)
		}
	}
	answer("coord own gemini src --json", exitConflict)
	var refusal struct {
		Error struct {
			Conflicts []json.RawMessage `json:"conflicts"`
			Omitted   int               `json:"omitted"`
		} `json:"error"`
	}
	if err := json.Unmarshal(stderr.Bytes(), &refusal); err != nil || len(refusal.Error.Conflicts)+refusal.Error.Omitted != many || refusal.Error.Omitted == 0 {
		t.Errorf("%v: %d conflicts, %d left out", err, len(refusal.Error.Conflicts), refusal.Error.Omitted)
	}
}

// TestSentencesAreBounded that name what was released, or what is waited for.
func TestSentencesAreBounded(t *testing.T) {
	a, stdout, stderr := testApp(t)
	crowded(t, a)
	more := fmt.Sprintf(" and %d more", many-50)
	if code := run(t.Context(), strings.Fields("coord own gemini src --wait 1ms"), a); code != exitConflict || strings.Count(stderr.String(), "codex to release") != 50 ||
		!strings.Contains(stderr.String(), more) {
		t.Errorf("exit %d, %d bytes: %.300s", code, stderr.Len(), stderr)
	}
	if code := run(t.Context(), strings.Fields("coord release codex src"), a); code != exitDone || strings.Count(stdout.String(), "src/f") != 50 || !strings.Contains(stdout.String(), more) {
		t.Errorf("exit %d, %d bytes: %.300s", code, stdout.Len(), stdout)
	}
}

func TestKeep(t *testing.T) {
	weight := func(n *int) int64 { return int64(*n) }
	for _, tt := range []struct {
		list    []int
		most    int
		want    []int
		omitted int
	}{
		{nil, 2, []int{}, 0},
		{[]int{3, 1}, 2, []int{3, 1}, 0},
		{[]int{5, 1, 4, 2}, 2, []int{5, 4}, 2},
		{[]int{1, 1, 1}, 1, []int{1}, 2},
		{[]int{1, 2}, 0, []int{}, 2},
	} {
		got, omitted := keep(tt.list, tt.most, weight)
		if !slices.Equal(got, tt.want) || omitted != tt.omitted {
			t.Errorf("%v of %v: %v, %d left out", tt.most, tt.list, got, omitted)
		}
	}
}
