package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/store"
	"github.com/agentloadout/loadout/store/storetest"
)

// fillDisk lets every file be read, and none take anything more.
func fillDisk(disk *storetest.FS) {
	disk.Inject(storetest.Fault{Op: storetest.Write, Name: "*", Err: syscall.ENOSPC})
}

// TestFullDisk has verbs meet a disk on which nothing can be stored: who writes is told so once, not by each layer, and who reads gets
// the answer.
func TestFullDisk(t *testing.T) {
	a, stdout, stderr := testApp(t)
	disk := storetest.New()
	a.files = disk
	e := engine.Open(engine.Project{Root: a.dir, Dir: a.dir + "/" + store.DirName}, engine.Options{Clock: a.now, Host: a.host, Env: a.env})
	if _, err := e.Do(t.Context(), engine.Request{Command: engine.AddTask{From: "user", To: "codex", Text: "build it"}}); err != nil {
		t.Fatal(err)
	}
	// A turn whose process is gone: whoever lists the sessions records that, if it can.
	through := int64(-1)
	_, err := e.RecordTurns(t.Context(), "", func(engine.View) (list []event.Event, err error) {
		for _, b := range []event.Turn{
			{Action: event.TurnAttached, Agent: "codex", Provider: "codex", Session: "s1", Through: &through},
			{Action: event.TurnQueued, Turn: "t1", Agent: "codex", Provider: "codex", Why: event.WhyMessage},
			{Action: event.TurnStarted, Turn: "t1", Agent: "codex", Provider: "codex", Attempt: 1},
		} {
			ev, err := engine.TurnEvent(b)
			if err != nil {
				return nil, err
			}
			list = append(list, ev)
		}
		return list, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	fillDisk(disk)
	const full = "no space left on device"
	for _, verb := range []string{
		"coord own codex src", "coord task codex more", "coord contract c --body x", "coord next codex", "coord update codex --note x",
		"agent register --name anna", "handoff codex more", "coord decide codex this",
	} {
		stdout.Reset()
		stderr.Reset()
		if code := run(t.Context(), strings.Fields(verb), a); code != exitUnexpected || strings.Count(stderr.String(), full) != 1 || stdout.Len() > 0 || !strings.Contains(stderr.String(), "try: loadout doctor") {
			t.Errorf("%s: exit %d: %s%s", verb, code, stdout, stderr)
		}
		stdout.Reset()
		stderr.Reset()
		code := run(t.Context(), append(strings.Fields(verb), "--json"), a)
		if code != exitUnexpected || strings.Count(stderr.String(), full) != 1 || !json.Valid(stderr.Bytes()) || stdout.Len() > 0 {
			t.Errorf("%s --json: exit %d: %s%s", verb, code, stdout, stderr)
		}
	}
	for verb, want := range map[string]string{
		"agent list": "codex", "coord agents list": "turn t1  codex  running", "status": "build it", "coord snapshot codex": "build it",
		"coord replay": "build it", "coord card codex": "build it", "handoff": "No handoff messages", "coord discuss list": "No design discussions",
	} {
		stdout.Reset()
		stderr.Reset()
		if code := run(t.Context(), strings.Fields(verb), a); code != exitDone || !strings.Contains(stdout.String(), want) || strings.Count(stderr.String(), full) > 1 {
			t.Errorf("%s: exit %d: %s%s", verb, code, stdout, stderr)
		}
	}
}

// TestWhereDoctorHelps and where not: it looks at the project's folder, and not at where an answer is printed.
func TestWhereDoctorHelps(t *testing.T) {
	a, _, stderr := testApp(t)
	const doctor = "try: loadout doctor"
	if err := os.WriteFile(filepath.Join(a.dir, store.DirName), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, verb := range []string{"status", "coord own codex src"} {
		stderr.Reset()
		if code := run(t.Context(), strings.Fields(verb), a); code != exitUnexpected || !strings.Contains(stderr.String(), doctor) {
			t.Errorf("%s: exit %d: %s", verb, code, stderr)
		}
	}
	a, _, stderr = testApp(t)
	a.stdout = fullFile{}
	if code := run(t.Context(), []string{"status"}, a); code != exitUnexpected || strings.Contains(stderr.String(), doctor) {
		t.Errorf("exit %d: %s", code, stderr)
	}
}

// fullFile is one that takes nothing any more.
type fullFile struct{}

func (fullFile) Write([]byte) (int, error) { return 0, syscall.ENOSPC }
