package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

const (
	gitTimeout  = 5 * time.Second // for all that one call asks of git
	maxGitBytes = 4 << 20         // of one git command's output
)

// errGitOutput ends a git command that says more than maxGitBytes.
var errGitOutput = errors.New("more output than can be read")

// git runs a read-only git command in dir and returns what it prints. With errGitOutput and with a deadline the output is what
// there was until then. It starts no helper of git's that could write or linger: no file system monitor, no hooks, no pager, no
// external diff, and it takes none of git's optional locks.
func git(ctx context.Context, dir string, args ...string) ([]byte, error) {
	words := slices.Concat([]string{
		"--no-optional-locks", "--literal-pathspecs", "--no-pager",
		"-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "diff.external=", "-c", "color.ui=false",
	}, args)
	cmd := exec.CommandContext(ctx, "git", words...) //nolint:gosec // the program is fixed and the arguments are our own
	cmd.Dir = dir
	cmd.Env = gitEnv(os.Environ())
	out := &boundedBuffer{max: maxGitBytes}
	var complaint boundedBuffer
	complaint.max = 4096
	cmd.Stdout, cmd.Stderr = out, &complaint
	cmd.WaitDelay = time.Second
	ownGroup(cmd)
	err := cmd.Run()
	switch {
	case out.full:
		return out.Bytes(), errGitOutput
	case ctx.Err() != nil:
		return out.Bytes(), fmt.Errorf("git %s: %w", args[0], ctx.Err())
	case err != nil:
		if line, _, _ := strings.Cut(strings.TrimSpace(complaint.String()), "\n"); line != "" {
			return nil, fmt.Errorf("git %s: %s", args[0], line)
		}
		return nil, fmt.Errorf("git %s: %w", args[0], err)
	}
	return out.Bytes(), nil
}

// gitEnv is the environment without what a surrounding git (a hook) set for its own repository and index, in plain English.
func gitEnv(env []string) []string {
	out := make([]string, 0, len(env)+4)
	for _, kv := range env {
		if !strings.HasPrefix(kv, "GIT_") && !strings.HasPrefix(kv, "LC_ALL=") {
			out = append(out, kv)
		}
	}
	return append(out, "LC_ALL=C", "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "GIT_NO_LAZY_FETCH=1")
}

// boundedBuffer keeps the first max bytes and refuses the rest, which ends the command that writes to it.
type boundedBuffer struct {
	bytes.Buffer
	max  int
	full bool
}

func (b *boundedBuffer) Write(p []byte) (int, error) {
	if room := b.max - b.Len(); len(p) > room {
		b.full = true
		n, _ := b.Buffer.Write(p[:room])
		return n, errGitOutput
	}
	return b.Buffer.Write(p)
}

// gitChange is one path that git status shows as changed.
type gitChange struct {
	Path   string
	Status string // added, modified, deleted, untracked, conflicted
}

// gitStatus lists the changed files of a worktree below dir. With an error, the list is what is known so far.
func gitStatus(ctx context.Context, dir string, paths ...string) ([]gitChange, error) {
	args := []string{"status", "--porcelain=v2", "-z", "--untracked-files=all", "--no-renames", "--ignore-submodules=all"}
	out, err := git(ctx, dir, append(append(args, "--"), paths...)...)
	return parseStatus(out), err
}

// parseStatus reads git status --porcelain=v2 -z. A last entry that is cut off is left out.
func parseStatus(out []byte) []gitChange {
	end := bytes.LastIndexByte(out, 0)
	if end < 0 {
		return nil
	}
	var changes []gitChange
	for entry := range strings.SplitSeq(string(out[:end]), "\x00") {
		kind, rest, _ := strings.Cut(entry, " ")
		switch kind {
		case "1": // XY sub mH mI mW hH hI path
			changes = appendTracked(changes, rest, 8)
		case "u": // XY sub m1 m2 m3 mW h1 h2 h3 path
			changes = appendTracked(changes, rest, 10)
		case "?":
			changes = append(changes, gitChange{Path: rest, Status: "untracked"})
		}
	}
	return changes
}

// appendTracked adds an entry of so many fields, the first of which are the two letters of its state and the last its path.
func appendTracked(changes []gitChange, entry string, fields int) []gitChange {
	f := strings.SplitN(entry, " ", fields)
	if len(f) < fields || len(f[0]) != 2 {
		return changes
	}
	status := "modified"
	switch xy := f[0]; {
	case fields == 10:
		status = "conflicted"
	case strings.Contains(xy, "D"):
		status = "deleted"
	case strings.Contains(xy, "A"):
		status = "added"
	}
	return append(changes, gitChange{Path: f[fields-1], Status: status})
}
