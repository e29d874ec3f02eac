package main

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
)

// TestEveryVerbAnswersInJSON calls every command with --json: its answer is one JSON value, and nothing else is printed.
func TestEveryVerbAnswersInJSON(t *testing.T) {
	calls := map[string][]string{
		"cockpit":         {},
		"status":          {"status"},
		"handoff":         {"handoff", "codex", "the", "frontend"},
		"kill":            {"kill", "a reason"},
		"resume":          {"resume"},
		"daemon kill":     {"daemon", "kill", "a reason"},
		"daemon resume":   {"daemon", "resume"},
		"doctor":          {"doctor"},
		"tui":             {"tui", "--frame", "80x24"},
		"demo":            {"demo", "--plain"},
		"completion":      {"completion", "zsh"},
		"version":         {"version"},
		"coord own":       {"coord", "own", "codex", "web"},
		"coord release":   {"coord", "release", "claude-code", "src"},
		"coord conflicts": {"coord", "conflicts", "codex", "web"},
		"coord drift":     {"coord", "drift"},
		"coord contract":  {"coord", "contract", "api"},
		"coord diff":      {"coord", "diff", "api"},
		"coord task":      {"coord", "task", "codex", "work"},
		"coord next":      {"coord", "next", "codex"},
		"coord done":      {"coord", "done", "#2"},
		"coord cancel":    {"coord", "cancel", "#2"},
		"coord ask":       {"coord", "ask", "codex", "why?"},
		"coord answer":    {"coord", "answer", "#3", "because"},
		"coord update":    {"coord", "update", "codex", "--note", "x"},
		"coord decide":    {"coord", "decide", "codex", "cents"},
		"coord status":    {"coord", "status"},
		"coord snapshot":  {"coord", "snapshot", "codex"},
		"coord subscribe": {"coord", "subscribe", "codex"},
		"coord ack":       {"coord", "ack", "codex", "1"},
		"coord card":      {"coord", "card", "codex"},
		"coord replay":    {"coord", "replay"},
		"coord compact":   {"coord", "compact", "--max-events", "1"},
		"coord doctor":    {"coord", "doctor"},
		"agent register":  {"agent", "register", "--base", "codex"},
		"agent list":      {"agent", "list"},
		"agent rename":    {"agent", "rename", "codex", "other"},
		"agent end":       {"agent", "end", "cursor"},
		"agent forget":    {"agent", "forget", "gone"},

		"coord agents detect": {"coord", "agents", "detect"},
		"coord agents start":  {"coord", "agents", "start", "sim"},
		"coord agents attach": {"coord", "agents", "attach", "codex:0199a0f3-1111-7222-8333-444455556666"},
		"coord agents list":   {"coord", "agents", "list"},
		"coord agents send":   {"coord", "agents", "send", "sim", "hello"},
		"coord agents forget": {"coord", "agents", "forget", "sim"},
		"coord agents bridge": {"coord", "agents", "bridge", "sim", "--dry-run"},
		"coord agents raise":  {"coord", "agents", "raise", "--max-turns", "3"},
		"coord agents retry":  nil, // these three need a turn: bridge.txtar
		"coord agents skip":   nil,
		"coord agents cancel": nil,

		"coord discuss list":      {"coord", "discuss", "list"},
		"coord discuss start":     nil, // these announce on stderr what they spend, or need a discussion: discuss.txtar
		"coord discuss resume":    nil,
		"coord discuss show":      nil,
		"coord discuss export":    nil,
		"coord discuss implement": nil,

		"coord guard": {"coord", "guard"},
		"connect":     nil, // these two write files of other programs: connect.txtar
		"disconnect":  nil,
		"hook":        nil, // answers in the format of the program that calls it: hook.txtar

		"coord watch":    nil, // streams: TestWatchMissesAndRepeatsNothing
		"serve":          nil, // speaks a protocol of its own: serve.txtar
		"torture-writer": nil, // not for people
		"__complete":     {"__complete", "bash", "loadout coord ow"},
	}
	for _, n := range leaves(t) {
		verb := verbOf(n)
		args, known := calls[verb]
		if !known {
			t.Errorf("%s is not tested", verb)
		}
		if args == nil {
			continue
		}
		t.Run(verb, func(t *testing.T) {
			a, stdout, stderr := testApp(t)
			for _, before := range [][]string{
				{"coord", "own", "claude-code", "src"},
				{"coord", "contract", "api", "--body", "one"},
				{"coord", "task", "codex", "work"},
				{"coord", "ask", "codex", "why?"},
				{"agent", "register", "--name", "cursor"},
				{"agent", "register", "--name", "gone"},
				{"agent", "end", "gone"},
				{"coord", "agents", "attach", "sim:sim-1"},
			} {
				if code := run(context.Background(), before, a); code != exitDone {
					t.Fatalf("%q: exit %d: %s", before, code, stderr)
				}
			}
			stdout.Reset()
			stderr.Reset()
			if code := run(t.Context(), append(args, "--json"), a); code != exitDone || stderr.Len() > 0 {
				t.Errorf("exit %d, stderr %q", code, stderr)
			}
			d := json.NewDecoder(strings.NewReader(stdout.String()))
			var answer any
			if err := d.Decode(&answer); err != nil || d.More() {
				t.Fatalf("%v: %s", err, stdout)
			}
			noNull(t, "", answer)
		})
	}
}

// noNull finds members that are null though they should be a list, or absent.
func noNull(t *testing.T, at string, v any) {
	t.Helper()
	switch v := v.(type) {
	case nil:
		if name := at[strings.LastIndex(at, ".")+1:]; !mayBeNull[name] {
			t.Errorf("%s is null", at)
		}
	case map[string]any:
		for name, member := range v {
			noNull(t, at+"."+name, member)
		}
	case []any:
		for _, item := range v {
			noNull(t, at+"[]", item)
		}
	}
}
