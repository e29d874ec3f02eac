package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/agentloadout/loadout/engine/hook"
)

// maxHookInput bounds what a program tells of an event, in bytes: the text of a file that is written is in it.
const maxHookInput = 32 << 20

// hookInput is what Claude Code and Codex write to a hook's stdin, as far as it is of use.
type hookInput struct {
	Session  string `json:"session_id"`
	Cwd      string `json:"cwd"`
	Reason   string `json:"reason"`
	ToolName string `json:"tool_name"`
	Tool     struct {
		File     string          `json:"file_path"`
		Notebook string          `json:"notebook_path"`
		Command  json.RawMessage `json:"command"` // of a shell, or a patch
	} `json:"tool_input"`
}

// readHook reads an event. It ends with ctx, though a program may keep the pipe open, and reads no further than the event does.
func readHook(ctx context.Context, stdin io.Reader) (hookInput, error) {
	type result struct {
		in  hookInput
		err error
	}
	done := make(chan result, 1)
	go func() {
		var r result
		limited := &io.LimitedReader{R: stdin, N: maxHookInput}
		r.err = json.NewDecoder(limited).Decode(&r.in)
		if r.err != nil && limited.N <= 0 {
			r.err = fmt.Errorf("more than %d bytes", maxHookInput)
		}
		done <- r
	}()
	select {
	case r := <-done:
		if r.err != nil {
			return hookInput{}, fmt.Errorf("read event: %w", r.err)
		}
		return r.in, nil
	case <-ctx.Done():
		return hookInput{}, fmt.Errorf("read event: %w", ctx.Err())
	}
}

func (in *hookInput) call(ev hook.Event, host, dir string) hook.Call {
	return hook.Call{Event: ev, Program: host, Session: in.Session, Dir: dir, Reason: in.Reason, Paths: in.paths()}
}

// paths are the files that the tool edits.
func (in *hookInput) paths() []string {
	var list []string
	add := func(p string) {
		if p != "" && !slices.Contains(list, p) {
			list = append(list, p)
		}
	}
	if !slices.Contains([]string{"Read", "Grep", "Glob", "LS"}, in.ToolName) {
		add(in.Tool.File)
		add(in.Tool.Notebook)
	}
	for _, text := range texts(in.Tool.Command) {
		for _, p := range patched(text) {
			add(p)
		}
	}
	return list
}

// texts are the texts of a JSON string, or of a list of strings.
func texts(raw json.RawMessage) []string {
	var one string
	var several []string
	switch {
	case len(raw) == 0:
		return nil
	case json.Unmarshal(raw, &one) == nil:
		return []string{one}
	case json.Unmarshal(raw, &several) == nil:
		return several
	}
	return nil
}

// patched are the files that a patch in Codex's format edits, also inside of a shell command.
func patched(text string) []string {
	_, patch, found := strings.Cut(text, "*** Begin Patch")
	if !found {
		return nil
	}
	var list []string
	for line := range strings.Lines(patch) {
		line = strings.TrimRight(line, "\r\n")
		for _, mark := range []string{"*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "} {
			if p, ok := strings.CutPrefix(line, mark); ok {
				list = append(list, strings.TrimSpace(p))
			}
		}
	}
	return list
}

// hookOutput is what both programs read from a hook's stdout.
type hookOutput struct {
	Specific struct {
		Event    hook.Event `json:"hookEventName"`
		Decision string     `json:"permissionDecision,omitempty"`
		Reason   string     `json:"permissionDecisionReason,omitempty"`
		Context  string     `json:"additionalContext,omitempty"`
	} `json:"hookSpecificOutput"`
}

// writeAnswer writes an answer in the program's format, nothing when there is nothing to say.
func writeAnswer(w io.Writer, ev hook.Event, host string, a hook.Answer) error {
	if a.Verdict == "" && a.Context == "" {
		return nil
	}
	var out hookOutput
	out.Specific.Event, out.Specific.Context = ev, a.Context
	if a.Verdict != "" {
		out.Specific.Decision, out.Specific.Reason = string(a.Verdict), a.Reason
		if host == codexHost && a.Verdict == hook.Ask { // nobody is asked there
			out.Specific.Decision = string(hook.Deny)
			out.Specific.Reason += "\nThis needs your user's leave: ask for it."
		}
	}
	if err := writeJSONLine(w, out); err != nil {
		return errors.Join(errors.New("answer the program"), err)
	}
	return nil
}

// codexHost is what Codex goes by.
const codexHost = "codex"
