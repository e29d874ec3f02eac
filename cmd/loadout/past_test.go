package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/agentloadout/loadout/engine/words"
)

// What may be run in the past leaves the log as it is, byte for byte; the kill switch may too.
func TestWhatMayBeRunInThePastChangesNothing(t *testing.T) {
	a := completionProject(t)
	r := newRunner(&call{app: a})
	log := filepath.Join(a.dir, ".handoff", "coordination.jsonl")
	before, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"status", "coord status --at 2", "coord snapshot codex", "coord subscribe codex", "coord card codex", "coord replay",
		"coord replay --at 1",
		"coord conflicts codex src", "coord drift", "coord diff api", "coord contract", "coord contract api", "coord contract api --history",
		"agent list", "coord agents list", "coord discuss list", "handoff", "handoff codex", "coord guard", "coord compact --dry-run", "doctor",
		"version", "coord own --help", "--agent codex status",
	} {
		argv, err := words.Split(line)
		if err != nil {
			t.Fatal(err)
		}
		if !r.InPast(argv) {
			t.Errorf("%s is refused in the past", line)
		}
		if err := r.Run(t.Context(), argv, io.Discard); err != nil {
			t.Errorf("%s: %v", line, err)
		}
		if after, err := os.ReadFile(log); err != nil || !bytes.Equal(after, before) {
			t.Fatalf("%s changed the log (%v)", line, err)
		}
	}
	for _, line := range []string{
		"kill now", "resume", "daemon kill now", "daemon resume", "coord watch", "coord agents detect", "coord discuss show x",
		"coord discuss export x", "coord discuss implement x", "tui", "serve", "hook Stop", "completion bash", "no such verb", "coord own",
	} {
		if argv, _ := words.Split(line); !r.InPast(argv) {
			t.Errorf("%s is refused in the past", line)
		}
	}
	for _, line := range []string{
		"coord own user docs/past", "coord contract api --body x", "coord contract api --file x", "coord contract api --consume codex",
		"handoff codex do it", "handoff --done x", "coord guard --mode ask", "coord guard --no-claim", "coord discuss implement x --yes",
		"coord discuss start x",
		"coord compact", "doctor --fix", "connect git", "disconnect git", "demo", "coord agents bridge codex:x", "coord agents start sim",
		"--agent codex coord own me docs/past", "coordinate own user x",
	} {
		if argv, _ := words.Split(line); r.InPast(argv) {
			t.Errorf("%s may be run in the past", line)
		}
	}
}

// A verb with the flags of every verb that stores an event needs more than its name to be one that only looks.
func TestVerbsThatStoreDoNotOnlyLook(t *testing.T) {
	looks := []string{"coord contract", "handoff"} // without words that make them store
	for _, n := range leaves(t) {
		cmd, ok := n.Target.Addr().Interface().(command)
		if !ok {
			t.Fatalf("%s is no command", verbOf(n))
		}
		if _, stores := n.Target.Type().FieldByName(reflect.TypeFor[writing]().Name()); !stores {
			continue
		}
		if may := changesNothing(cmd); may != slices.Contains(looks, verbOf(n)) {
			t.Errorf("%s only looks: %t", verbOf(n), may)
		}
	}
}
