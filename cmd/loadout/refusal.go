package main

import (
	"errors"
	"io/fs"
	"strings"
	"syscall"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/safetext"
	"github.com/agentloadout/loadout/store"
)

// refuse says on stderr why the verb did not do its work, and what helps: as text, or with --json as one object.
func (c *call) refuse(err error, code int) {
	if code == exitInterrupted && !c.JSON {
		return
	}
	if _, ok := err.(errSilent); ok { //nolint:errorlint // it is never wrapped
		return
	}
	lost := c.lost()
	if c.JSON {
		body := map[string]any{"code": errorCode(err, code), "message": err.Error()}
		if code == exitInterrupted {
			body["message"] = "interrupted; what was not answered may or may not be stored"
		}
		for k, v := range engine.Details(err) {
			if _, taken := body[k]; !taken {
				body[k] = v
			}
		}
		if hints := c.hints(err, code); len(hints) > 0 {
			body["hints"] = hints
		}
		if lost != "" {
			body["notes"] = []string{lost}
		}
		for k, v := range body {
			if text, ok := v.(string); ok {
				body[k] = brief(text)
			}
		}
		_ = writeJSON(c.stderr, map[string]any{"error": body}) // there is no better place to say that this failed
		return
	}
	p := printer{w: c.stderr}
	message := brief(err.Error())
	first, rest, more := strings.Cut(strings.TrimSuffix(safetext.Block(message), "\n"), "\n")
	p.printf("loadout: %s\n", first)
	if more {
		p.block("  ", rest)
	}
	for _, hint := range c.hints(err, code) {
		p.printf("  try: %s\n", brief(hint))
	}
	if lost != "" {
		c.note("note: %s", lost)
	}
}

// hints are the commands that help.
func (c *call) hints(err error, code int) []string {
	hints := engine.Hints(err)
	var unsafe *store.UnsafeError
	stuck := errors.As(err, &unsafe) || errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EROFS)
	printing := c.err != nil // what failed is the answer's
	if len(hints) == 0 && stuck && !printing && code == exitUnexpected && c.opened != nil && !strings.HasSuffix(c.name, "doctor") {
		hints = []string{"loadout doctor    says what keeps the project's folder from being read or written"}
	}
	return hints
}

// A refusal repeats what was typed, which may be a file by mistake: of a longer line it keeps the beginning, and the end, which says what
// is wrong.
const (
	maxRefused = 2500 // bytes of a line
	refusedEnd = 600  // of those, at its end
)

// brief is text with its long lines cut in the middle.
func brief(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if len(line) > maxRefused {
			lines[i] = strings.ToValidUTF8(line[:maxRefused-refusedEnd], "") + " … " + strings.ToValidUTF8(line[len(line)-refusedEnd:], "")
		}
	}
	return strings.Join(lines, "\n")
}

// errorCode is the stable name of an error in JSON.
func errorCode(err error, code int) string {
	if code == exitInterrupted {
		return "interrupted"
	}
	return engine.ErrorCode(err)
}

// note says something beside the answer: a repair, a retry, progress. With --json the answer carries it instead.
func (c *call) note(format string, args ...any) {
	if c.JSON {
		return
	}
	p := printer{w: c.stderr}
	p.printf(format+"\n", args...)
}
