// Package turn says what a turn of an agent's program is: a prompt that goes in, an answer that comes out, and what it cost. A
// Provider drives one such program. This package knows no program and no event; providers/ implements it, and the bridge and the
// design room use it.
package turn

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"time"
)

// Limits of a turn.
const (
	DefaultDeadline = 120 * time.Second
	MinDeadline     = 10 * time.Second
	MaxDeadline     = 600 * time.Second

	CancelGrace = 5 * time.Second        // between an interrupt and the kill, when a person cancels or the deadline passes
	KillGrace   = 500 * time.Millisecond // the same, for the kill switch

	MaxPrompt = 512 << 10 // bytes; below the limit of every program that is driven
	MaxAnswer = 1 << 20   // bytes of answer that are kept
)

// EnvMark is the environment variable that marks a turn's program and all that it starts. Its value has the Mark of the turn and a random
// word, with a slash between them; inside a turn that a turn started, those of the outer one come first. A process that finds it runs on
// behalf of an automatic turn.
const EnvMark = "LOADOUT_TURN"

// Mark names a turn of the project with the directory dir, which is free of links, as far as that matters to processes: the same turn of a
// copy of the project has another one.
func Mark(dir, id string) string {
	sum := sha256.Sum256([]byte(dir + "\x00" + id))
	return hex.EncodeToString(sum[:16])
}

// Reaper ends what turns left running.
type Reaper interface {
	// Reap ends every process of this user on this machine that carries a Mark, with its descendants, and returns when none is left. This
	// process stays. The error says which ones could not be ended. What the system does not show is not found.
	Reap(mark string) error
}

// ErrKilled is the cause of a context that the kill switch cancelled: context.WithCancelCause(ctx) and cancel(ErrKilled). A
// provider then gives the program KillGrace instead of CancelGrace.
var ErrKilled = errors.New("the kill switch was set")

// Provider drives one agent program. Its methods may be called side by side; turns of one session may not, which is the caller's
// part to see to.
type Provider interface {
	// Name is what the program is called everywhere: claude-code, codex.
	Name() string
	// Scripted reports that no model answers: what it says is made up, and is to be labelled so wherever it is shown.
	Scripted() bool
	// Detect looks for the program and asks it for its version and whether it is signed in, without spending anything. command, as
	// in Permissions, starts it instead of its usual name when it is not empty: then it only has to be there. A failure of kind
	// NotInstalled or NotSignedIn is returned as a *Failure together with what was found.
	Detect(ctx context.Context, command []string) (Program, error)
	// Describe says in words what a turn with these permissions may do, and refuses those that the program does not know.
	Describe(p Permissions) (string, error)
	// Do starts a session, or resumes the one that t names, and submits one turn. It returns when the program and all that it
	// started have ended. progress, which may be nil, is called from one goroutine, in order, and never after Do returned. A turn
	// that did not succeed is a *Failure; the Reply then still carries what is known: session, usage, duration.
	Do(ctx context.Context, t Turn, progress func(Progress)) (Reply, error)
}

// SessionChecker is a Provider that knows what ids of the program's sessions look like.
type SessionChecker interface {
	// CheckSession refuses an id that no session of the program can have, without asking the program. The error is a *Failure.
	CheckSession(id string) error
}

// Program is an agent program as it was found.
type Program struct {
	Path     string // of the executable
	Version  string // as the program tells it, in one line
	SignedIn bool
	Account  string // how it is signed in, as far as the program tells; never a secret
}

// Turn is one prompt to one session.
type Turn struct {
	Session     string      // the session to resume; empty: a new one
	Dir         string      // the working directory of the program, absolute
	Prompt      string      // never on the command line
	Permissions Permissions // what the program may do
	Schema      []byte      // JSON Schema that the answer must follow; nil: free text
	Deadline    time.Duration
	Before      Usage    // what the session reported in all before this turn, for programs that report running totals
	Env         []string // further KEY=value for the program
	Mark        string   // for EnvMark, by which a Reaper finds what the turn started; empty: nobody looks for it
}

// Permissions are what a turn may do. The zero value is what the program does by itself.
type Permissions struct {
	Forbid  bool     `json:"forbid,omitempty"`  // no tools, no edits, no commands, by the program's own flags
	Mode    string   `json:"mode,omitempty"`    // the program's own word: a permission mode or a sandbox
	Allow   []string `json:"allow,omitempty"`   // tools that need no leave, in the program's own spelling
	Deny    []string `json:"deny,omitempty"`    // tools that are taken away
	Model   string   `json:"model,omitempty"`   // empty: the program's default
	Command []string `json:"command,omitempty"` // how to start the program instead of by its usual name
}

// Progress is one step of a running turn.
//
//sumtype:decl
type Progress interface{ isProgress() }

// Started says that the session is known, before the model answered.
type Started struct{ Session string }

// Text is a further piece of the answer, as it streams in. Not safe to show before it was cleaned.
type Text struct{ Delta string }

// Tool says that the program uses a tool.
type Tool struct {
	Name   string
	Detail string // what for, in one line, not safe to show before it was cleaned
}

// Notice is what the program says about itself: a retry, a warning.
type Notice struct{ Text string }

func (Started) isProgress() {}
func (Text) isProgress()    {}
func (Tool) isProgress()    {}
func (Notice) isProgress()  {}

// Reply is what came of a turn.
type Reply struct {
	Session   string
	Text      string // the answer, at most MaxAnswer bytes
	Truncated bool   // there was more
	Data      []byte // the answer to a Schema, as the program validated it; nil when it does not
	Usage     Usage  // of this turn
	Total     Usage  // of the session, when the program reports running totals; give it back as the next turn's Before
	Duration  time.Duration
	Denied    []string // what the program wanted to do and was not allowed to
}

// Usage is what turns used.
type Usage struct {
	Input  int64   `json:"input"`           // tokens read, those from a cache included
	Cached int64   `json:"cached"`          // of Input, those from a cache
	Output int64   `json:"output"`          // tokens written, reasoning included
	Cost   float64 `json:"cost"`            // US dollars
	Priced bool    `json:"priced"`          // Cost is what the program reported; false: it reports none
	Known  bool    `json:"known,omitempty"` // the program reported tokens at all
}

// Tokens is the sum that caps and meters count.
func (u Usage) Tokens() int64 { return u.Input + u.Output }

// Add is u and v together.
func (u Usage) Add(v Usage) Usage {
	return Usage{
		Input: u.Input + v.Input, Cached: u.Cached + v.Cached, Output: u.Output + v.Output,
		Cost: u.Cost + v.Cost, Priced: u.Priced || v.Priced, Known: u.Known || v.Known,
	}
}
