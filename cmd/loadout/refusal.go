package main

import (
	"strings"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/safetext"
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
		if lost != "" {
			body["notes"] = []string{lost}
		}
		_ = writeJSON(c.stderr, map[string]any{"error": body}) // there is no better place to say that this failed
		return
	}
	p := printer{w: c.stderr}
	first, rest, more := strings.Cut(strings.TrimSuffix(safetext.Block(err.Error()), "\n"), "\n")
	p.printf("loadout: %s\n", first)
	if more {
		p.block("  ", rest)
	}
	for _, hint := range engine.Hints(err) {
		p.printf("  try: %s\n", hint)
	}
	if lost != "" {
		c.note("note: %s", lost)
	}
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
