package store

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// Names inside the project directory.
const (
	DirName  = ".handoff"           // the directory itself
	LogName  = "coordination.jsonl" // the log
	LockName = "coordination.lock"  // the lock of its writers
)

const (
	dirMode  = 0o700
	fileMode = 0o600
)

// Defaults of Options.
const (
	DefaultLockWait = 10 * time.Second
	DefaultPoll     = 250 * time.Millisecond
)

// Options adjust a Log. The zero value is the usual one.
type Options struct {
	FS           FS            // nil: the file system of the operating system
	LockWait     time.Duration // longest wait for the lock; 0: DefaultLockWait; negative: do not wait
	Command      string        // what holds the lock, for people; "": the program's name
	Poll         time.Duration // how often Follow looks without a notification; 0: DefaultPoll
	NoNotify     bool          // Follow only polls
	AllowNetwork bool          // write on a network file system, where locks are not reliable
	Made         func()        // called when the directory was made, before anything is in it; nil: nobody asks

	// Waited is called when Update has waited for others who write, before it takes the lock: what they wrote can be read then,
	// by read, and need not be read under the lock. nil: nobody asks.
	Waited func(ctx context.Context, read ReadFunc)
}

// ReadFunc is Log.Read or Tx.Read.
type ReadFunc func(ctx context.Context, from Position, fn func(Batch) error) (Position, error)

// Log is the log of one project. Its methods may be called from any goroutine.
type Log struct {
	dir      string
	path     string
	fs       FS
	options  Options
	writer   chan struct{} // one slot: the mutex in front of the lock, with a bounded wait
	turn     turn          // used by whoever has the slot
	lockFile *lockFile     // likewise
	kept     kept          // from the last update; likewise
	scratch  buffer        // memory for what an update reads; likewise
	local    func() error  // once: refuses a network file system
}

// Open returns the log in dir, the .handoff directory of a project. It does no
// I/O: neither needs to exist.
func Open(dir string, o Options) *Log {
	if o.FS == nil {
		o.FS = OS()
	}
	if o.LockWait == 0 {
		o.LockWait = DefaultLockWait
	}
	if o.Poll <= 0 {
		o.Poll = DefaultPoll
	}
	if o.Command == "" {
		o.Command = filepath.Base(os.Args[0])
	}
	dir = filepath.Clean(dir)
	l := &Log{dir: dir, path: filepath.Join(dir, LogName), fs: o.FS, options: o, writer: make(chan struct{}, 1)}
	l.turn.log = l
	l.lockFile = l.newLockFile(filepath.Join(dir, LockName), o.Command)
	l.local = sync.OnceValue(func() error { return refuseNetwork(dir, o.AllowNetwork) })
	return l
}

// Dir returns the directory of the log.
func (l *Log) Dir() string { return l.dir }

// Path returns the path of the log file.
func (l *Log) Path() string { return l.path }
