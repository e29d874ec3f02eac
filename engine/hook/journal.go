package hook

import (
	"bytes"
	"fmt"
	"os"
	"time"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/safetext"
	"github.com/agentloadout/loadout/store"
)

// JournalName is the private file that says what went wrong in hooks, the newest last.
const JournalName = "hooks.log"

const (
	maxJournal = 64 << 10 // bytes, after which the older half goes
	maxEntry   = 2000     // bytes of one line
)

// Journal notes what went wrong in a hook of a project, as well as it can.
func Journal(p engine.Project, at time.Time, what string) {
	if info, err := os.Lstat(p.Dir); err != nil || !info.IsDir() {
		return // no such project: hooks make none
	}
	log := store.Open(p.Dir, store.Options{})
	old, err := log.ReadFile(JournalName, 2*maxJournal)
	if err != nil {
		old = nil
	}
	if len(old) > maxJournal {
		old = old[len(old)-maxJournal/2:]
		old = old[bytes.IndexByte(old, '\n')+1:]
	}
	line := safetext.Line(engine.Redact(what))
	if len(line) > maxEntry {
		line = line[:maxEntry]
	}
	_ = log.WriteCache(JournalName, fmt.Appendf(old, "%s %s\n", at.UTC().Format(time.RFC3339), line)) // there is no better place to say that this failed
}
