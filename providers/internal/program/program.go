// Package program has what all providers that drive a command-line program share: finding it, checking a turn before it costs
// anything, and telling how it ended.
package program

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/agentloadout/loadout/engine/turn"
	"github.com/agentloadout/loadout/providers/internal/process"
)

// detectLimit bounds how long a program may take to tell its version or whether it is signed in. On a busy machine
// the large ones take seconds to start.
const detectLimit = 30 * time.Second

// Program is an agent's program as its provider knows it.
type Program struct {
	Provider string // the provider's name
	Binary   string // the usual name of the executable
	Install  string // what a person types to install it
	SignIn   string // what a person types to sign in
	AnyID    bool   // its sessions are called anything, not by UUIDs
}

// Find returns the executable and the arguments that come before all others. command, when not empty, is used instead of the
// usual name. The error is a *turn.Failure.
func (p Program) Find(command []string) (path string, args []string, err error) {
	name := p.Binary
	if len(command) > 0 {
		name, args = command[0], command[1:]
	}
	path, err = exec.LookPath(name)
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		return "", nil, p.missing(command, err)
	}
	return path, args, nil
}

// Unasked is a program that a person's own command starts. It may be a wrapper to which every start is a turn, so nothing is asked:
// that it is there is all that is known.
func Unasked(path string) turn.Program {
	return turn.Program{Path: path, Version: "by the settings", SignedIn: true, Account: "not asked: its first turn tells"}
}

// Ask runs the program with a question that costs nothing, and returns what it printed to stdout, its exit status, and the end of
// what it printed to stderr. The error is a *turn.Failure.
func (p Program) Ask(ctx context.Context, c process.Command) (out string, l process.Lines, err error) {
	var b strings.Builder
	c.Deadline = detectLimit
	if c.Dir == "" {
		c.Dir = os.TempDir() // no project's settings
	}
	l, err = process.Run(ctx, c, "", func(line []byte) error {
		if b.Len() < process.MaxStderr {
			b.Write(line)
			b.WriteByte('\n')
		}
		return nil
	})
	if err != nil {
		return "", l, p.NotStarted(ctx, nil, err)
	}
	if failure := p.Ended(l, turn.Nothing); failure != nil {
		return "", l, failure
	}
	return b.String(), l, nil
}

// Check refuses a turn that cannot be carried out, before anything is started. The error is a *turn.Failure.
func (p Program) Check(t turn.Turn) error {
	if strings.TrimSpace(t.Prompt) == "" {
		return p.Failure(turn.Rejected, turn.Nothing, "the prompt is empty", nil)
	}
	if len(t.Prompt) > turn.MaxPrompt {
		return p.Failure(turn.TooLong, turn.Nothing, fmt.Sprintf("the prompt has %d bytes, %d at most", len(t.Prompt), turn.MaxPrompt), nil)
	}
	if !filepath.IsAbs(t.Dir) {
		return p.Failure(turn.Rejected, turn.Nothing, fmt.Sprintf("the working directory %q is not an absolute path", t.Dir), nil)
	}
	if info, err := os.Stat(t.Dir); err != nil || !info.IsDir() {
		return p.Failure(turn.Rejected, turn.Nothing, "the working directory "+t.Dir+" does not exist", err)
	}
	if t.Session != "" {
		return p.CheckSession(t.Session)
	}
	return nil
}

// CheckSession refuses an id that is none of a session of the program: a program takes such a word for a name, for a flag, or for no
// session at all. The error is a *turn.Failure.
func (p Program) CheckSession(id string) error {
	switch {
	case p.AnyID && id != "" && id == OneLine(id):
		return nil
	case p.AnyID:
		return p.Failure(turn.UnknownSession, turn.Nothing, fmt.Sprintf("%q is no id of a session: it has characters that cannot be seen, or too many", id), nil)
	case !uuid.MatchString(id):
		return p.Failure(turn.UnknownSession, turn.Nothing, fmt.Sprintf("%q is no id of its sessions, which are UUIDs", id), nil)
	}
	return nil
}

// uuid is the form of the session ids of the programs.
var uuid = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)

// Deadline is that of a turn: the default where it has none, and never more than the longest.
func Deadline(t turn.Turn) time.Duration {
	if t.Deadline <= 0 {
		return turn.DefaultDeadline
	}
	return min(t.Deadline, turn.MaxDeadline)
}

// InsideHook reports whether this process was started by a hook of an agent's program or in an automatic turn. A turn that it starts
// must run no hooks, or it would start the next one, without end.
func InsideHook() bool {
	return os.Getenv("CLAUDE_CODE_CHILD_SESSION") != "" || os.Getenv(turn.EnvMark) != ""
}

// Ended is the failure that the end of a program alone shows: stopped by us, by the deadline, by the caller, or by a signal. It is nil
// for a program that exited, whatever its status.
func (p Program) Ended(l process.Lines, spent turn.Spent) *turn.Failure {
	switch {
	case l.End == process.Cancelled:
		return p.Failure(turn.Cancelled, spent, "", nil)
	case l.End == process.TimedOut:
		return p.Failure(turn.Timeout, spent, "stopped after "+l.Duration.Round(time.Second).String(), nil)
	case l.Err != nil:
		if failure := (*turn.Failure)(nil); errors.As(l.Err, &failure) {
			return failure
		}
		return p.Failure(turn.Nonsense, spent, l.Err.Error(), l.Err)
	case l.Lost:
		return p.Failure(turn.Crashed, spent, "it could not be ended", nil)
	case l.Signal != "":
		return p.Failure(turn.Crashed, spent, "ended by a signal: "+l.Signal, nil)
	}
	return nil
}

// NoAnswer is the failure of a program that exited without an answer that can be used.
func (p Program) NoAnswer(l process.Lines, spent turn.Spent, missing string) *turn.Failure {
	said := LastLine(l.Stderr)
	if l.Code == 0 {
		if l.Dropped > 0 {
			missing += fmt.Sprintf("; %d lines of output were longer than %d MiB", l.Dropped, process.MaxLine>>20)
		}
		return p.Failure(turn.Nonsense, spent, missing, nil)
	}
	if said == "" {
		said = fmt.Sprintf("exit status %d without a word", l.Code)
	}
	return p.Failure(turn.Crashed, spent, said, nil)
}

// NewUUID makes a random one, of version 4.
func NewUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // it never fails, as its documentation says
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// Cut bounds an answer to turn.MaxAnswer bytes of whole characters.
func Cut(text string) (string, bool) {
	if len(text) <= turn.MaxAnswer {
		return text, false
	}
	end := turn.MaxAnswer
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end], true
}
