package claude

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/agentloadout/loadout/engine/turn"
	"github.com/agentloadout/loadout/providers/internal/process"
	"github.com/agentloadout/loadout/providers/internal/program"
)

// structuredOutput is the tool by which the program asks the model for an answer that follows a schema. It does nothing.
const structuredOutput = "StructuredOutput"

// usage is as the API reports it. Input excludes what was read from or written to a cache.
type usage struct {
	Input      int64 `json:"input_tokens"`
	CacheWrite int64 `json:"cache_creation_input_tokens"`
	CacheRead  int64 `json:"cache_read_input_tokens"`
	Output     int64 `json:"output_tokens"`
}

func (u usage) turn() turn.Usage {
	return turn.Usage{
		Input: u.Input + u.CacheWrite + u.CacheRead, Cached: u.CacheRead, Output: u.Output,
		Known: u != usage{},
	}
}

// result is the last line of a run.
type result struct {
	Subtype    string          `json:"subtype"`
	Session    string          `json:"session_id"`
	IsError    bool            `json:"is_error"`
	Status     int             `json:"api_error_status"`
	Turns      int             `json:"num_turns"`
	Text       string          `json:"result"`
	Errors     []string        `json:"errors"`
	Structured json.RawMessage `json:"structured_output"`
	Cost       *float64        `json:"total_cost_usd"`
	Usage      usage           `json:"usage"`
	Denials    []struct {
		Tool  string          `json:"tool_name"`
		Input json.RawMessage `json:"tool_input"`
	} `json:"permission_denials"`
}

// retry says that a request failed and is repeated.
type retry struct {
	Attempt int     `json:"attempt"`
	Max     int     `json:"max_retries"`
	DelayMS float64 `json:"retry_delay_ms"`
	Status  int     `json:"error_status"`
	Error   string  `json:"error"`
}

// stream reads the lines of one run.
type stream struct {
	turn     turn.Turn
	session  string // that all lines must name
	progress func(turn.Progress)

	started  bool
	result   *result
	retry    *retry // the last one
	streamed bool   // text of the message in progress was reported in pieces
	texts    bool   // any text was reported
	done     usage  // of the requests that were finished
	request  usage  // of the request in progress
	garbage  int    // lines that were no JSON
}

func newStream(t turn.Turn, session string, progress func(turn.Progress)) *stream {
	if progress == nil {
		progress = func(turn.Progress) {}
	}
	return &stream{turn: t, session: session, progress: progress}
}

// line takes one line. Types and fields that it does not know are skipped. An error ends the run.
func (s *stream) line(text []byte) error {
	var head struct {
		Type    string `json:"type"`
		Subtype string `json:"subtype"`
	}
	if !s.decode(text, &head) {
		return nil
	}
	switch head.Type + "/" + head.Subtype {
	case "system/init":
		return s.init(text)
	case "system/api_retry":
		return s.retried(text)
	}
	switch head.Type {
	case "stream_event":
		s.event(text)
	case "assistant":
		s.assistant(text)
	case "user":
		return s.toolResult(text)
	case "result":
		var r result
		if !s.decode(text, &r) {
			return nil
		}
		s.result = &r
	}
	return nil
}

// decode reads a line into v. It counts those that do not fit and reports false for them.
func (s *stream) decode(text []byte, v any) bool {
	if fits(text, v) {
		return true
	}
	s.garbage++
	return false
}

// fits reads JSON into v and reports whether it is what v expects.
func fits(text []byte, v any) bool { return json.Unmarshal(text, v) == nil }

// init checks that the run is in the session, and with the tools, that were asked for, before the model is.
func (s *stream) init(text []byte) error {
	var m struct {
		Session string   `json:"session_id"`
		Tools   []string `json:"tools"`
		Servers []struct {
			Name   string `json:"name"`
			Status string `json:"status"`
		} `json:"mcp_servers"`
	}
	if !s.decode(text, &m) {
		return nil
	}
	if m.Session != s.session {
		return s.otherSession(m.Session)
	}
	for _, server := range m.Servers {
		if s.turn.Permissions.Forbid {
			return claude.Failure(turn.Forbidden, s.spent(turn.Maybe), "it offers the tools of the MCP server "+server.Name, nil)
		}
		if server.Status == "failed" {
			s.progress(turn.Notice{Text: "the MCP server " + server.Name + " did not start"})
		}
	}
	for _, tool := range m.Tools {
		if s.turn.Permissions.Forbid && tool != structuredOutput {
			return claude.Failure(turn.Forbidden, s.spent(turn.Maybe), "it offers the tool "+tool, nil)
		}
	}
	if !s.started {
		s.started = true
		s.progress(turn.Started{Session: s.session})
	}
	return nil
}

func (s *stream) otherSession(id string) error {
	return claude.Failure(turn.UnknownSession, s.spent(turn.Maybe), fmt.Sprintf("it answers in session %s, not in %s", id, s.session), nil)
}

// retried reports a retry, and ends the run where a further try cannot help.
func (s *stream) retried(text []byte) error {
	var r retry
	if !s.decode(text, &r) {
		return nil
	}
	s.retry = &r
	if r.Error == "authentication_failed" {
		return claude.Failure(turn.NotSignedIn, s.spent(turn.Nothing), fmt.Sprintf("the key was refused (status %d)", r.Status), nil)
	}
	wait := time.Duration(r.DelayMS * float64(time.Millisecond)).Round(100 * time.Millisecond)
	s.progress(turn.Notice{Text: fmt.Sprintf("request failed (%s), try %d of %d in %v", r.Error, r.Attempt, r.Max, wait)})
	return nil
}

// event takes a piece of a message that is being written.
func (s *stream) event(text []byte) {
	var m struct {
		Parent *string `json:"parent_tool_use_id"` // set for the messages of a sub-agent
		Event  struct {
			Type    string `json:"type"`
			Message struct {
				Usage usage `json:"usage"`
			} `json:"message"`
			Usage usage `json:"usage"`
			Delta struct {
				Type string `json:"type"`
				Text string `json:"text"`
			} `json:"delta"`
		} `json:"event"`
	}
	if !s.decode(text, &m) {
		return
	}
	switch m.Event.Type {
	case "message_start":
		s.done = s.spentTokens()
		s.request = m.Event.Message.Usage
		s.streamed = false
	case "message_delta":
		s.request.Output = max(s.request.Output, m.Event.Usage.Output)
	case "content_block_delta":
		if m.Parent == nil && m.Event.Delta.Type == "text_delta" {
			s.say(m.Event.Delta.Text, !s.streamed)
			s.streamed = true
		}
	}
}

// spentTokens is the sum over the requests of this run.
func (s *stream) spentTokens() usage {
	return usage{
		Input: s.done.Input + s.request.Input, Output: s.done.Output + s.request.Output,
		CacheWrite: s.done.CacheWrite + s.request.CacheWrite, CacheRead: s.done.CacheRead + s.request.CacheRead,
	}
}

// say reports text. opening starts a message of its own.
func (s *stream) say(text string, opening bool) {
	if text == "" {
		return
	}
	if opening && s.texts {
		text = "\n\n" + text
	}
	s.texts = true
	s.progress(turn.Text{Delta: text})
}

// assistant takes a whole message, of which the text was streamed already, or not.
func (s *stream) assistant(text []byte) {
	var m struct {
		Parent  *string `json:"parent_tool_use_id"`
		Message struct {
			Model   string `json:"model"`
			Content []struct {
				Type  string          `json:"type"`
				Text  string          `json:"text"`
				Name  string          `json:"name"`
				Input json.RawMessage `json:"input"`
			} `json:"content"`
		} `json:"message"`
	}
	if !s.decode(text, &m) {
		return
	}
	if m.Message.Model == "<synthetic>" {
		return // what the program says of an error; it is in the result too
	}
	for _, block := range m.Message.Content {
		switch {
		case block.Type == "tool_use" && block.Name != structuredOutput:
			s.progress(turn.Tool{Name: block.Name, Detail: detail(block.Input)})
		case block.Type == "text" && m.Parent == nil && !s.streamed:
			s.say(block.Text, true)
		}
	}
}

// toolResult looks for a tool that ran although all were taken away.
func (s *stream) toolResult(text []byte) error {
	if !s.turn.Permissions.Forbid || s.turn.Schema != nil {
		return nil
	}
	var m struct {
		Message struct {
			Content []struct {
				Type    string `json:"type"`
				IsError bool   `json:"is_error"`
			} `json:"content"`
		} `json:"message"`
	}
	if !fits(text, &m) {
		return nil // content that is plain text is no result of a tool
	}
	for _, block := range m.Message.Content {
		if block.Type == "tool_result" && !block.IsError {
			return claude.Failure(turn.Forbidden, turn.Yes, "it ran a tool", nil)
		}
	}
	return nil
}

// detail names what a tool is used for, by the first of its arguments that says so.
func detail(input json.RawMessage) string {
	var arguments map[string]any
	if !fits(input, &arguments) {
		return ""
	}
	for _, key := range []string{"command", "file_path", "path", "pattern", "url", "query", "description"} {
		if value, ok := arguments[key].(string); ok {
			return program.OneLine(value)
		}
	}
	return ""
}

// spent is at least what is known: tokens that were reported are paid for.
func (s *stream) spent(otherwise turn.Spent) turn.Spent {
	if s.texts || s.spentTokens() != (usage{}) || s.result != nil && s.result.Usage != (usage{}) {
		return turn.Yes
	}
	return otherwise
}

// finish is the outcome of the run.
func (s *stream) finish(lines process.Lines) (turn.Reply, error) {
	reply := turn.Reply{Session: s.turn.Session, Duration: lines.Duration, Usage: s.spentTokens().turn()}
	if s.started {
		reply.Session = s.session
	}
	if r := s.result; r != nil {
		if u := r.Usage.turn(); u.Known {
			reply.Usage = u
		}
		if r.Cost != nil {
			reply.Usage.Cost, reply.Usage.Priced = *r.Cost, true
		}
		for _, d := range r.Denials {
			reply.Denied = append(reply.Denied, strings.TrimSpace(program.OneLine(d.Tool)+" "+detail(d.Input)))
		}
	}
	if failure := claude.Ended(lines, s.spent(turn.Maybe)); failure != nil {
		return reply, failure
	}
	if failure := s.failure(lines); failure != nil {
		return reply, failure
	}
	reply.Text, reply.Truncated = program.Cut(s.result.Text)
	if s.turn.Schema != nil {
		reply.Data = bytes.Clone(s.result.Structured)
	}
	return reply, nil
}
