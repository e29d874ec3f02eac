package codex

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/agentloadout/loadout/engine/turn"
	"github.com/agentloadout/loadout/providers/internal/process"
	"github.com/agentloadout/loadout/providers/internal/program"
)

// usage is the running total of a thread, over all its turns. Input includes what was read from a cache.
type usage struct {
	Input  int64 `json:"input_tokens"`
	Cached int64 `json:"cached_input_tokens"`
	Output int64 `json:"output_tokens"`
}

// event is a line of output.
type event struct {
	Type   string `json:"type"`
	Thread string `json:"thread_id"`
	Usage  *usage `json:"usage"`
	Error  struct {
		Message string `json:"message"`
	} `json:"error"`
	Message string `json:"message"`
	Item    item   `json:"item"`
}

// item is a part of a turn.
type item struct {
	Type    string `json:"type"`
	Text    string `json:"text"`
	Message string `json:"message"`
	Command string `json:"command"`
	Server  string `json:"server"`
	Tool    string `json:"tool"`
	Query   string `json:"query"`
	Changes []struct {
		Path string `json:"path"`
	} `json:"changes"`
}

// stream reads the lines of one run.
type stream struct {
	turn     turn.Turn
	progress func(turn.Progress)

	session   string
	answer    string // the last message of the model
	texts     bool   // any text was reported
	worked    bool   // the model has answered something
	completed bool
	total     *usage
	failed    string // the message of the failure that ended the turn
	notice    string // the last that may be the reason of an end without one
	garbage   int    // lines that were no JSON
}

func newStream(t turn.Turn, progress func(turn.Progress)) *stream {
	if progress == nil {
		progress = func(turn.Progress) {}
	}
	return &stream{turn: t, progress: progress}
}

// line takes one line. Types and fields that it does not know are skipped. An error ends the run.
func (s *stream) line(text []byte) error {
	var e event
	if !fits(text, &e) {
		s.garbage++
		return nil
	}
	switch e.Type {
	case "thread.started":
		if s.turn.Session != "" && e.Thread != s.turn.Session {
			return codex.Failure(turn.UnknownSession, turn.Maybe, fmt.Sprintf("it started session %s instead of going on in %s", e.Thread, s.turn.Session), nil)
		}
		if codex.CheckSession(e.Thread) != nil {
			return codex.Failure(turn.Nonsense, turn.Maybe, fmt.Sprintf("it started a session without an id that can be used: %q", e.Thread), nil)
		}
		s.session = e.Thread
		s.progress(turn.Started{Session: e.Thread})
	case "item.started", "item.completed":
		return s.item(e.Item, e.Type == "item.started")
	case "error":
		s.notice = e.Message
		s.progress(turn.Notice{Text: program.OneLine(e.Message)})
	case "turn.completed":
		s.completed, s.total = true, e.Usage
	case "turn.failed":
		s.failed = e.Error.Message
		if s.failed == "" {
			s.failed = "the turn failed"
		}
	}
	return nil
}

// fits reads JSON into v and reports whether it is what v expects.
func fits(text []byte, v any) bool { return json.Unmarshal(text, v) == nil }

// item takes a part of the turn, at its start or in its final form. Some kinds have no start.
func (s *stream) item(i item, start bool) error {
	switch i.Type {
	case "error": // a warning
		// That a switch is unknown to this version was thought of.
		if !start && !strings.HasPrefix(i.Message, "Codex is ignoring") && !strings.HasPrefix(i.Message, "Code Mode is unavailable") {
			s.progress(turn.Notice{Text: program.OneLine(i.Message)})
		}
		return nil
	case "reasoning", "todo_list":
		s.worked = true
		return nil
	case "agent_message":
		s.worked = true
		if start || i.Text == "" {
			return nil
		}
		s.answer = i.Text
		text := i.Text
		if s.texts {
			text = "\n\n" + text
		}
		s.texts = true
		s.progress(turn.Text{Delta: text})
		return nil
	}
	s.worked = true
	tool := i.tool()
	if s.turn.Permissions.Forbid {
		return codex.Failure(turn.Forbidden, turn.Yes, strings.TrimSpace("it used "+tool.Name+" "+tool.Detail), nil)
	}
	if start || i.Type == "file_change" || i.Type == "web_search" {
		s.progress(tool)
	}
	return nil
}

// tool is what an item does.
func (i item) tool() turn.Tool {
	switch i.Type {
	case "command_execution":
		return turn.Tool{Name: "command", Detail: program.OneLine(i.Command)}
	case "file_change":
		paths := make([]string, len(i.Changes))
		for n, change := range i.Changes {
			paths[n] = change.Path
		}
		return turn.Tool{Name: "edit", Detail: program.OneLine(strings.Join(paths, " "))}
	case "mcp_tool_call":
		return turn.Tool{Name: program.OneLine(i.Server + "." + i.Tool)}
	case "web_search":
		return turn.Tool{Name: "web_search", Detail: program.OneLine(i.Query)}
	}
	return turn.Tool{Name: program.OneLine(i.Type)}
}

// usage is that of this turn and of the thread. Without the total before this turn, that of the turn is not known.
func (s *stream) usage() (this, total turn.Usage) {
	before := s.turn.Before
	if s.total == nil {
		return turn.Usage{}, before
	}
	total = turn.Usage{Input: s.total.Input, Cached: s.total.Cached, Output: s.total.Output, Known: true}
	switch {
	case s.turn.Session == "":
		return total, total
	case !before.Known:
		return turn.Usage{}, total
	case total.Input < before.Input || total.Output < before.Output:
		return total, total // counted anew
	}
	return turn.Usage{
		Input: total.Input - before.Input, Cached: max(0, total.Cached-before.Cached), Output: total.Output - before.Output, Known: true,
	}, total
}

// spent is at least what is known: what the model answered is paid for.
func (s *stream) spent(otherwise turn.Spent) turn.Spent {
	if this, _ := s.usage(); s.worked || this.Tokens() > 0 {
		return turn.Yes
	}
	return otherwise
}

// finish is the outcome of the run.
func (s *stream) finish(lines process.Lines) (turn.Reply, error) {
	reply := turn.Reply{Session: s.session, Duration: lines.Duration}
	if s.session == "" {
		reply.Session = s.turn.Session
	}
	reply.Usage, reply.Total = s.usage()
	if failure := codex.Ended(lines, s.spent(turn.Maybe)); failure != nil {
		return reply, failure
	}
	if failure := s.failure(lines); failure != nil {
		return reply, failure
	}
	reply.Text, reply.Truncated = program.Cut(s.answer)
	return reply, nil
}
