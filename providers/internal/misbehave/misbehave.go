// Package misbehave is the bad program of the tests: a test binary that starts itself again calls As in the new process, which
// then does what an agent's program must never do.
package misbehave

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Variables of the environment that As reads.
const (
	EnvHow  = "MISBEHAVE"      // how to misbehave; unset: not at all
	EnvNote = "MISBEHAVE_NOTE" // a file to which each process appends its number and a newline
	EnvArgs = "MISBEHAVE_ARGS" // a file to which the arguments are written, a line each
	EnvText = "MISBEHAVE_TEXT" // what Say writes to stdout; SESSION in it stands for the argument after --session-id, --resume or resume
	EnvExit = "MISBEHAVE_EXIT" // the exit status of Say
	EnvOpen = "MISBEHAVE_OPEN" // set: stdin, which somebody keeps open, is not read
)

// Ways to misbehave, most of them when stdin was read to the end.
const (
	Hang        = "hang"         // writes nothing and waits, also for its interrupt
	Deaf        = "deaf"         // hangs and ignores interrupts
	PipeHolder  = "pipe-holder"  // ends, while a child keeps stdout and stderr open
	OwnSession  = "own-session"  // hangs deaf, with a child in a session of its own whose parent has died
	Daemon      = "daemon"       // ends, and leaves such a child behind that holds no pipe
	Bare        = "bare"         // as OwnSession, and the child has an empty environment
	Flood       = "flood"        // 100 MB in lines
	LongLine    = "long-line"    // 100 MB without a newline
	HalfLine    = "half-line"    // half a JSON object
	Silent      = "silent"       // ends well without a word
	Signal      = "signal"       // dies by a signal
	SlowStderr  = "slow-stderr"  // ends with 3 after its child, which holds stderr, wrote slowly to it
	Unreadable  = "unreadable"   // lines that are no JSON
	NeverReads  = "never-reads"  // ends well without reading its stdin
	FullStderr  = "full-stderr"  // 10 MB on stderr, then ends with 3
	ExitMessage = "exit-message" // ends with 3 and a reason on stderr
)

// Say says what the test lets it say, and is no misbehaviour but for that. Asked for anything but a session, it
// answers with an empty list.
const Say = "say"

// sleeper is the way of the children, which do nothing for a minute.
const sleeper = "sleeper"

// As misbehaves in the way that the environment names and ends the process. Without one it returns.
func As() {
	how, set := os.LookupEnv(EnvHow)
	if !set {
		return
	}
	if how == Deaf || how == OwnSession || how == Bare {
		signal.Ignore(syscall.SIGINT, syscall.SIGTERM) // before the note, by which tests know that it is so
	}
	note()
	if how != NeverReads && os.Getenv(EnvOpen) == "" {
		_, _ = io.Copy(io.Discard, os.Stdin)
	}
	os.Exit(act(how))
}

func act(how string) int {
	switch how {
	case Say:
		for i, arg := range os.Args[:len(os.Args)-1] {
			if arg == "--session-id" || arg == "--resume" || arg == "resume" {
				fmt.Print(strings.ReplaceAll(os.Getenv(EnvText), "SESSION", os.Args[i+1]))
				code, _ := strconv.Atoi(os.Getenv(EnvExit))
				return code
			}
		}
		fmt.Print("[]")
	case Hang, Deaf, sleeper, "bare-sleeper":
		time.Sleep(time.Minute)
	case PipeHolder:
		child(sleeper, os.Stdout, os.Stderr)
	case OwnSession:
		_ = child("forker", nil, nil).Wait()
		time.Sleep(time.Minute)
	case Bare:
		_ = child("bare-sleeper", nil, nil).Wait()
	case Daemon, "forker":
		child(sleeper, nil, nil)
	case Flood:
		line := []byte(`{"type":"noise","text":"` + strings.Repeat("x", 1000) + "\"}\n")
		for range 100_000 {
			if _, err := os.Stdout.Write(line); err != nil {
				return 4
			}
		}
	case LongLine:
		part := []byte(strings.Repeat("x", 1<<20))
		for range 100 {
			if _, err := os.Stdout.Write(part); err != nil {
				return 4
			}
		}
	case HalfLine:
		fmt.Print(`{"type":"result","subtype":"succ`)
	case Unreadable:
		fmt.Print("Welcome!\n<html>\n\x00\xff\n[1,2\n")
	case Signal:
		p, err := os.FindProcess(os.Getpid())
		if err != nil || p.Signal(syscall.SIGKILL) != nil {
			return 4
		}
		time.Sleep(time.Minute)
	case SlowStderr:
		child("trickle", nil, os.Stderr)
		return 3
	case "trickle":
		for range 5 {
			fmt.Fprintln(os.Stderr, "still talking")
			time.Sleep(20 * time.Millisecond)
		}
	case FullStderr:
		part := []byte(strings.Repeat("e", 1<<20))
		for range 10 {
			_, _ = os.Stderr.Write(part)
		}
		fmt.Fprintln(os.Stderr, "the reason")
		return 3
	case ExitMessage:
		fmt.Fprintln(os.Stderr, "Error: the reason")
		return 3
	}
	return 0
}

// child starts this program once more, in a session of its own, and misbehaving as how says.
func child(how string, stdout, stderr *os.File) *exec.Cmd {
	self, err := os.Executable()
	if err != nil {
		os.Exit(4)
	}
	c := exec.Command(self)
	c.Stdout, c.Stderr = stdout, stderr
	c.Env = append(os.Environ(), EnvHow+"="+how)
	if how == "bare-sleeper" {
		c.Env = []string{EnvHow + "=" + how, EnvNote + "=" + os.Getenv(EnvNote)}
	}
	ownSession(c)
	if err := c.Start(); err != nil {
		os.Exit(4)
	}
	return c
}

// note tells the test the number of this process, that it is ready, and what it was given.
func note() {
	add(os.Getenv(EnvNote), strconv.Itoa(os.Getpid()))
	add(os.Getenv(EnvArgs), strings.Join(os.Args[1:], "\n"))
}

// add appends a line to a file, if it has a name.
func add(path, line string) {
	if path == "" {
		return
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		os.Exit(4)
	}
	defer f.Close()
	if _, err := f.WriteString(line + "\n"); err != nil {
		os.Exit(4)
	}
}

// Noted reads what processes noted in a file; without one, none did.
func Noted(path string) ([]int, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read notes: %w", err)
	}
	var pids []int
	for _, field := range strings.Fields(string(text)) {
		pid, err := strconv.Atoi(field)
		if err != nil {
			return nil, fmt.Errorf("read notes: %w", err)
		}
		pids = append(pids, pid)
	}
	return pids, nil
}
