package fakemodel

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
)

// anthropic is the Messages API.
type anthropic struct{}

type m = map[string]any

// name is an identifier of an answer or a part of one.
func name(kind string, parts ...int) string {
	for _, n := range parts {
		kind += "_" + strconv.Itoa(n)
	}
	return kind
}

func (anthropic) read(r *Request, body []byte) error {
	var in struct {
		Model    string `json:"model"`
		Stream   bool   `json:"stream"`
		Messages []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
		Tools []struct {
			Name string `json:"name"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return fmt.Errorf("read request: %w", err)
	}
	r.Model, r.Stream = in.Model, in.Stream
	for _, message := range in.Messages {
		if message.Role == "user" {
			r.Turns = append(r.Turns, texts(message.Content)...)
		}
	}
	for _, tool := range in.Tools {
		r.Tools = append(r.Tools, tool.Name)
	}
	r.Prompt = prompt(r.Turns)
	return nil
}

// texts are those of a content that is a text, or a list of parts some of which are.
func texts(content json.RawMessage) []string {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return []string{text}
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(content, &parts) != nil {
		return nil
	}
	var list []string
	for _, part := range parts {
		if part.Text != "" {
			list = append(list, part.Text)
		}
	}
	return list
}

func (anthropic) fail(reply Reply) any {
	kind := reply.ErrorType
	if kind == "" {
		switch reply.Status {
		case http.StatusBadRequest:
			kind = "invalid_request_error"
		case http.StatusUnauthorized:
			kind = "authentication_error"
		case http.StatusNotFound:
			kind = "not_found_error"
		case http.StatusTooManyRequests:
			kind = "rate_limit_error"
		case 529: // the API's own
			kind = "overloaded_error"
		default:
			kind = "api_error"
		}
	}
	return m{"type": "error", "error": m{"type": kind, "message": reply.Message}}
}

func (anthropic) answer(id, model string, reply Reply) (any, []sse) {
	tokens := DefaultUsage()
	if reply.Usage != nil {
		tokens = *reply.Usage
	}
	usage := func(output int64) m {
		return m{
			"input_tokens": tokens.Input, "cache_read_input_tokens": tokens.Cached,
			"cache_creation_input_tokens": 0, "output_tokens": output,
		}
	}
	content := []m{}
	if reply.Text != "" {
		content = append(content, m{"type": "text", "text": reply.Text})
	}
	stop := "end_turn"
	for i, tool := range reply.Tools {
		stop = "tool_use"
		content = append(content, m{"type": "tool_use", "id": name("toolu_"+id, i), "name": tool.Name, "input": tool.Input})
	}
	message := func(content []m, stop any, output int64) m {
		return m{
			"id": "msg_" + id, "type": "message", "role": "assistant", "model": model,
			"content": content, "stop_reason": stop, "stop_sequence": nil, "usage": usage(output),
		}
	}
	event := func(kind string, data m) sse {
		data["type"] = kind
		return sse{kind, data}
	}
	events := []sse{event("message_start", m{"message": message([]m{}, nil, 1)})}
	if reply.Failed {
		kind := reply.ErrorType
		if kind == "" {
			kind = "overloaded_error"
		}
		return nil, append(events, event("error", m{"error": m{"type": kind, "message": reply.Message}}))
	}
	for i, block := range content {
		start, delta := m{"type": "text", "text": ""}, m{"type": "text_delta", "text": block["text"]}
		if block["type"] == "tool_use" {
			input, _ := json.Marshal(block["input"]) // an input of the test that is no JSON fails with the whole event
			start = m{"type": "tool_use", "id": block["id"], "name": block["name"], "input": m{}}
			delta = m{"type": "input_json_delta", "partial_json": string(input)}
		}
		events = append(events,
			event("content_block_start", m{"index": i, "content_block": start}),
			event("content_block_delta", m{"index": i, "delta": delta}),
			event("content_block_stop", m{"index": i}))
	}
	return message(content, stop, tokens.Output), append(events,
		event("message_delta", m{"delta": m{"stop_reason": stop, "stop_sequence": nil}, "usage": usage(tokens.Output)}),
		event("message_stop", m{}))
}
