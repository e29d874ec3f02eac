package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/agentloadout/loadout/engine"
)

// hooked is the length of the log that hooks are timed on.
const hooked = 100_000

// measureHook times the hook that a program waits for before each edit, on a long log.
func measureHook(ctx context.Context, b *bench) ([]row, error) {
	project, err := b.project("hooked")
	if err != nil {
		return nil, err
	}
	if _, err := generate(project, hooked); err != nil {
		return nil, err
	}
	found, err := engine.Discover(engine.Where{Dir: project})
	if err != nil {
		return nil, err
	}
	e := engine.Open(found, engine.Options{Command: "bench"})
	if _, err := e.Do(ctx, engine.Request{Command: engine.Own{Agent: "other", Paths: []string{"theirs"}, Reason: "bench"}}); err != nil {
		return nil, err
	}
	input, err := json.Marshal(map[string]any{
		"session_id": "bench", "cwd": project, "tool_name": "Write",
		"tool_input": map[string]any{"file_path": filepath.Join(project, "theirs", "a.go"), "content": strings.Repeat("x", 10_000)},
	})
	if err != nil {
		return nil, err
	}
	hook := contender{run: func() error {
		cmd := exec.CommandContext(ctx, b.loadout, "hook", "PreToolUse", "--host", "claude-code")
		cmd.Dir, cmd.Stdin = project, bytes.NewReader(input)
		out, err := cmd.Output()
		if err == nil && !bytes.Contains(out, []byte(`"deny"`)) {
			err = fmt.Errorf("not denied: %q", out)
		}
		return err
	}}
	if _, err := takeTurns(3, hook); err != nil { // the first of these leaves the checkpoint
		return nil, err
	}
	times, err := takeTurns(200, hook, process(ctx, project, "node", "-e", "0"))
	if err != nil {
		return nil, err
	}
	what := fmt.Sprintf("`hook PreToolUse` that denies an edit, %d events", hooked)
	return []row{atMost(what, "`node -e 0`", median(times[0]), median(times[1]), 1.0/6)}, nil
}
