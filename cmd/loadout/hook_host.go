package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentloadout/loadout/engine/hook"
)

// maxHookInput bounds what a program tells of an event, in bytes: the text of a file that is written is in it.
const maxHookInput = 32 << 20

// The programs whose hooks differ from Claude Code's, by what they go by.
const (
	codexHost  = "codex"
	cursorHost = "cursor"
	geminiHost = "gemini"
)

// hookInput is what programs write to a hook's stdin, as far as it is of use.
type hookInput struct {
	Session  lenient   `json:"session_id"`
	Cwd      lenient   `json:"cwd"`
	Roots    rawTexts  `json:"workspace_roots"` // Cursor's, whose cwd may be empty
	Reason   lenient   `json:"reason"`
	ToolName lenient   `json:"tool_name"`
	Tool     toolInput `json:"tool_input"`
}

// toolInput is what a tool was called with.
type toolInput struct {
	File     lenient  `json:"file_path"`
	Notebook lenient  `json:"notebook_path"`
	Path     lenient  `json:"path"`    // of some of Cursor's tools
	Command  rawTexts `json:"command"` // of a shell, or a patch
	Patch    lenient  `json:"patch"`
}

// UnmarshalJSON reads a tool's input, which need not be an object: then it names no file.
func (t *toolInput) UnmarshalJSON(raw []byte) error { //nolint:unparam // json.Unmarshaler
	type plain toolInput
	if json.Unmarshal(raw, (*plain)(t)) != nil {
		*t = toolInput{}
	}
	return nil
}

// lenient is a JSON string; any other value is an empty one. One field of a kind that is not expected must not hide the others.
type lenient string

func (l *lenient) UnmarshalJSON(raw []byte) error { //nolint:unparam // json.Unmarshaler
	if json.Unmarshal(raw, (*string)(l)) != nil {
		*l = ""
	}
	return nil
}

// rawTexts are the texts of a JSON string, or of a list of strings; any other value has none.
type rawTexts []string

func (t *rawTexts) UnmarshalJSON(raw []byte) error { //nolint:unparam // json.Unmarshaler
	var one string
	switch {
	case json.Unmarshal(raw, &one) == nil:
		*t = rawTexts{one}
	case json.Unmarshal(raw, (*[]string)(t)) != nil:
		*t = nil
	}
	return nil
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

// dir is the folder that the session works in, "" when the program does not say.
func (in *hookInput) dir() string {
	for _, dir := range append([]string{string(in.Cwd)}, in.Roots...) {
		if filepath.IsAbs(dir) {
			return dir
		}
	}
	return ""
}

func (in *hookInput) call(ev hook.Event, host, dir string) hook.Call {
	return hook.Call{
		Event: ev, Program: host, Session: string(in.Session), Dir: dir, Reason: string(in.Reason), Paths: in.paths(),
		Late: host == cursorHost || host == geminiHost,
	}
}

// paths are the files that the tool edits.
func (in *hookInput) paths() []string {
	var list []string
	add := func(p string) {
		if p != "" && !slices.Contains(list, p) {
			list = append(list, p)
		}
	}
	if !slices.Contains([]lenient{"Read", "Grep", "Glob", "LS", "read_file"}, in.ToolName) {
		for _, p := range []lenient{in.Tool.File, in.Tool.Notebook, in.Tool.Path} {
			add(string(p))
		}
	}
	for _, text := range append(in.Tool.Command, string(in.Tool.Patch)) {
		for _, p := range patched(text) {
			add(p)
		}
	}
	return list
}

// patched are the files that a patch in Codex's format edits, also inside of a shell command.
func patched(text string) []string {
	_, patch, found := strings.Cut(text, "*** Begin Patch")
	if !found {
		return nil
	}
	var list []string
	for line := range strings.Lines(patch) {
		line = strings.TrimSpace(line) // as Codex does
		for _, mark := range []string{"*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "} {
			if p, ok := strings.CutPrefix(line, mark); ok {
				list = append(list, p)
			}
		}
	}
	return list
}

// hookOutput is what programs read from a hook's stdout. Each reads its own part of it.
type hookOutput struct {
	Specific *specificOutput `json:"hookSpecificOutput,omitempty"`

	Decision string `json:"decision,omitempty"` // Gemini CLI
	Reason   string `json:"reason,omitempty"`
	Message  string `json:"systemMessage,omitempty"`

	Permission string `json:"permission,omitempty"` // Cursor
	ToUser     string `json:"user_message,omitempty"`
	ToAgent    string `json:"agent_message,omitempty"`
	Context    string `json:"additional_context,omitempty"`
}

type specificOutput struct {
	Event    string `json:"hookEventName"`
	Decision string `json:"permissionDecision,omitempty"`
	Reason   string `json:"permissionDecisionReason,omitempty"`
	Context  string `json:"additionalContext,omitempty"`
}

// writeAnswer writes an answer in the program's format, nothing when there is nothing to say.
func writeAnswer(w io.Writer, ev hook.Event, host string, a hook.Answer) error {
	if a.Verdict == hook.Ask && (host == codexHost || host == cursorHost) { // nobody is asked there
		a.Verdict = hook.Deny
		a.Reason += "\nThis needs your user's leave: ask for it."
	}
	var out hookOutput
	switch {
	case host == cursorHost && a.Verdict != "":
		out = hookOutput{Permission: string(a.Verdict), ToUser: a.Reason, ToAgent: a.Reason}
	case host == cursorHost && ev == hook.PreToolUse: // it takes no answer for a failure
		out = hookOutput{Permission: "allow"}
	case a.Verdict == "" && a.Context == "":
		return nil
	case host == cursorHost:
		out = hookOutput{Context: a.Context}
	case host == geminiHost && a.Verdict != "":
		out = hookOutput{Decision: string(a.Verdict), Reason: a.Reason}
		if a.Verdict == hook.Ask {
			out.Message = a.Reason // what the person reads
		}
	default:
		out.Specific = &specificOutput{Event: hostEvent(ev, host), Decision: string(a.Verdict), Reason: a.Reason, Context: a.Context}
	}
	if err := writeJSONLine(w, out); err != nil {
		return fmt.Errorf("answer the program: %w", err)
	}
	return nil
}

// hostEvent is a program's own name for an event.
func hostEvent(ev hook.Event, host string) string {
	if host == geminiHost {
		switch ev {
		case hook.UserPromptSubmit:
			return "BeforeAgent"
		case hook.PostToolUse:
			return "AfterTool"
		case hook.SessionStart, hook.PreToolUse, hook.Stop, hook.SessionEnd:
		}
	}
	return string(ev)
}
