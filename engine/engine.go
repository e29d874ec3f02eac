package engine

import (
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/host"
	"github.com/agentloadout/loadout/engine/turn"
	"github.com/agentloadout/loadout/store"
)

// DefaultCompactAbove is the size of a log in bytes above which it is compacted by itself.
const DefaultCompactAbove = 1 << 30

// Options tune an Engine. The zero value is what a verb needs.
type Options struct {
	Command string                   // who holds the lock, for people: "loadout coord own"
	Clock   func() time.Time         // default time.Now; its zone is that of whoever reads the refusals and notes
	Env     func(name string) string // default os.Getenv
	Host    Host                     // the machine's processes; default this machine
	Dir     string                   // the folder that paths in hints are relative to; default the top
	FS      FS                       // default the real file system
	Reaper  turn.Reaper              // ends what lost turns left running; default: nobody does

	LockWait     time.Duration // how long to wait for the lock, default 10 s
	Poll         time.Duration // how often Follow looks at the log's size and the kill switch, default 250 ms
	NoNotify     bool          // Follow polls only
	AllowNetwork bool          // permit a log on NFS or SMB, refused by default because locks are not dependable there

	CompactAbove int64 // size in bytes above which the log is compacted after a write was answered; 0: DefaultCompactAbove, negative: never
}

// Engine is the coordination engine of one project.
type Engine struct {
	project Project
	options Options
	log     *store.Log
	head    *store.Slate // the file headName

	mu   sync.Mutex // guards what follows
	mem  memory
	read time.Time // when the log was last read to its end

	known int64 // highest number that was read or written, -1: none

	beats beats
	below func() (string, error) // the stored form of Options.Dir

	exposed atomic.Pointer[string] // why the directory could not be kept out of git; nil: it was, or was not asked for
}

// Open makes the engine of a project. It does no I/O.
func Open(p Project, o Options) *Engine {
	if o.Clock == nil {
		o.Clock = time.Now //nolint:forbidigo // the one place that says which clock there is
	}
	if o.Env == nil {
		o.Env = os.Getenv
	}
	if o.Host == nil {
		o.Host = host.Machine{}
	}
	if o.Poll <= 0 {
		o.Poll = store.DefaultPoll
	}
	if o.CompactAbove == 0 {
		o.CompactAbove = DefaultCompactAbove
	}
	e := &Engine{project: p, options: o, known: -1, below: sync.OnceValues(func() (string, error) {
		if o.Dir == "" {
			return ".", nil
		}
		return p.Rel(o.Dir, ".")
	})}
	e.log = store.Open(p.Dir, store.Options{
		FS: o.FS, LockWait: o.LockWait, Command: o.Command,
		Poll: o.Poll, NoNotify: o.NoNotify, AllowNetwork: o.AllowNetwork, Made: e.keepOutOfGit, Waited: e.readAhead,
	})
	e.head = e.log.Slate(headName)
	return e
}

// keepOutOfGit keeps the project's directory out of git: when it is made, whatever comes of the verb that makes it, and once more with
// the first event, should somebody else have made it. It fails no write; the next receipt says so.
func (e *Engine) keepOutOfGit() {
	if err := store.ExcludeFromGit(e.project); err != nil {
		note := fmt.Sprintf("%s could not be kept out of git: %v", store.DirName, err)
		e.exposed.Store(&note)
	}
}

// MakeDir makes the project's directory exist, closed to others and kept out of git, for what lies there beside the log.
func (e *Engine) MakeDir() error {
	if err := e.log.MakeDir(); err != nil {
		return fmt.Errorf("make %s: %w", e.project.Dir, err)
	}
	return nil
}

// Project is the project that the engine works on.
func (e *Engine) Project() Project { return e.project }

func (e *Engine) now() time.Time { return e.options.Clock() }

// Receipt proves a write: its events are on disk.
type Receipt struct {
	Events    []event.Event // the command's own events as stored, redacted; empty when there was nothing to do
	Expired   []event.Event // claims that lapsed before, recorded with this write
	Duplicate bool          // a retry: Events are those of the first time, nothing was written now
	Notes     []string      // repairs and the like that the person should know
	Agent     string        // of Register: the name that the session has
	Head      int64         // highest sequence number in the log, -1 when it is empty
}

// Seq is the sequence number of the last of the command's own events, -1 when it wrote none.
func (r Receipt) Seq() int64 {
	if len(r.Events) == 0 {
		return -1
	}
	return r.Events[len(r.Events)-1].Seq
}
