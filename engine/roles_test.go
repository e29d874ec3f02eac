package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/agentloadout/loadout/store"
)

// role makes the command of a process of the test binary that plays a role.
func role(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, os.Args[0], args...) //nolint:gosec // the test binary itself
	cmd.Env = append(os.Environ(), "ENGINE_TEST_ROLE="+name)
	return cmd
}

// playRole is the main function of such a process.
func playRole(name string, args []string) error {
	ctx := context.Background()
	switch name {
	case "contender":
		return contend(ctx, args[0], args[1], args[2])
	case "do": // one command of one line, for faults and crashes
		return doOne(ctx, args[0], args[1:])
	}
	return fmt.Errorf("no role %q", name)
}

func openAt(dir string) *Engine {
	return Open(Project{Root: dir, Dir: filepath.Join(dir, store.DirName)}, Options{})
}

// operation is what a contender did and what came of it, for the check of linearizability.
type operation struct {
	Agent    string
	Kind     string // claim, release, publish
	Call     int64  // nanoseconds
	Return   int64
	OK       bool
	Revision int64 // published
	Refused  string
}

// contend claims and releases one path and publishes one contract, rounds times, and prints what it saw.
func contend(ctx context.Context, dir, agent, rounds string) error {
	n, err := strconv.Atoi(rounds)
	if err != nil {
		return err
	}
	e := openAt(dir)
	out := json.NewEncoder(os.Stdout)
	try := func(kind string, c Command) error {
		op := operation{Agent: agent, Kind: kind, Call: time.Now().UnixNano()}
		r, err := e.Do(ctx, Request{Command: c})
		op.Return = time.Now().UnixNano()
		var conflict *ConflictError
		var missing *NotFoundError
		switch {
		case errors.As(err, &conflict), errors.As(err, &missing):
			op.Refused = ErrorCode(err)
		case err != nil:
			return err
		default:
			op.OK = true
			if kind == "publish" {
				op.Revision = revisionOf(r)
			}
		}
		return out.Encode(op)
	}
	for range n {
		if err := try("claim", Own{Agent: agent, Paths: []string{"src/api"}}); err != nil {
			return err
		}
		if err := try("publish", Publish{Agent: agent, Name: "api", Body: agent}); err != nil {
			return err
		}
		if err := try("release", ReleasePaths{Agent: agent, Paths: []string{"src/api"}}); err != nil {
			return err
		}
	}
	return nil
}

func doOne(ctx context.Context, dir string, args []string) error {
	e := openAt(dir)
	r, err := e.Do(ctx, Request{Command: note(args[0], args[1])})
	if err != nil {
		return err
	}
	_, err = fmt.Println(r.Seq())
	return err
}

// rounds is how often a test repeats what chance decides: few by default, LOADOUT_TEST_ROUNDS when it is set.
func rounds(t testing.TB, few int) int {
	t.Helper()
	n, err := strconv.Atoi(os.Getenv("LOADOUT_TEST_ROUNDS"))
	if err != nil {
		return few
	}
	return n
}
