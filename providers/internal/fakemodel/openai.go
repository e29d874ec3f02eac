package fakemodel

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// openai is the Responses API.
type openai struct{}

// openaiTool is a tool that is offered, or a group of them under a name.
type openaiTool struct {
	Type  string       `json:"type"`
	Name  string       `json:"name"`
	Tools []openaiTool `json:"tools"`
}

func (openai) read(r *Request, body []byte) error {
	var in struct {
		Model  string `json:"model"`
		Stream bool   `json:"stream"`
		Input  []struct {
			Type    string          `json:"type"`
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
			Tools   []openaiTool    `json:"tools"` // in an item of the type additional_tools
		} `json:"input"`
		Tools []openaiTool `json:"tools"`
		Text  struct {
			Format json.RawMessage `json:"format"`
		} `json:"text"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return fmt.Errorf("read request: %w", err)
	}
	r.Model, r.Stream, r.Schema = in.Model, in.Stream, in.Text.Format
	r.Tools = toolNames("", in.Tools)
	for _, item := range in.Input {
		r.Tools = append(r.Tools, toolNames("", item.Tools)...)
		if item.Role == "user" {
			r.Turns = append(r.Turns, texts(item.Content)...)
		}
	}
	r.Prompt = prompt(r.Turns)
	return nil
}

func toolNames(group string, tools []openaiTool) []string {
	var names []string
	for _, tool := range tools {
		word := tool.Name
		if word == "" {
			word = tool.Type
		}
		if tool.Type == "namespace" {
			names = append(names, toolNames(word+".", tool.Tools)...)
		} else {
			names = append(names, group+word)
		}
	}
	return names
}

func (openai) fail(reply Reply) any {
	kind := reply.ErrorType
	if kind == "" {
		kind = "server_error"
		if reply.Status < http.StatusInternalServerError {
			kind = "invalid_request_error"
		}
	}
	return m{"error": m{"message": reply.Message, "type": kind, "param": nil, "code": nil}}
}

func (openai) answer(id, model string, reply Reply) (any, []sse) {
	tokens := DefaultUsage()
	if reply.Usage != nil {
		tokens = *reply.Usage
	}
	output := []m{}
	if reply.Text != "" {
		output = append(output, m{
			"type": "message", "id": "msg_" + id, "role": "assistant", "status": "completed",
			"content": []m{{"type": "output_text", "text": reply.Text, "annotations": []m{}}},
		})
	}
	for i, tool := range reply.Tools {
		call := m{"id": name("fc_"+id, i), "call_id": name("call_"+id, i), "name": tool.Name, "status": "completed"}
		if tool.Namespace != "" {
			call["namespace"] = tool.Namespace
		}
		if text, free := tool.Input.(string); free {
			call["type"], call["input"] = "custom_tool_call", text
		} else {
			arguments, _ := json.Marshal(tool.Input) // an input of the test that is no JSON is an empty one
			call["type"], call["arguments"] = "function_call", string(arguments)
		}
		output = append(output, call)
	}
	response := func(status string, output []m, usage, failure any) m {
		return m{
			"id": "resp_" + id, "object": "response", "created_at": 1700000000, "model": model,
			"status": status, "output": output, "usage": usage, "error": failure,
		}
	}
	usage := m{
		"input_tokens": tokens.Input + tokens.Cached, "input_tokens_details": m{"cached_tokens": tokens.Cached},
		"output_tokens": tokens.Output, "output_tokens_details": m{"reasoning_tokens": 0},
		"total_tokens": tokens.Input + tokens.Cached + tokens.Output,
	}
	var events []sse
	event := func(kind string, data m) {
		data["type"], data["sequence_number"] = kind, len(events)
		events = append(events, sse{kind, data})
	}
	event("response.created", m{"response": response("in_progress", []m{}, nil, nil)})
	if reply.Failed {
		kind := reply.ErrorType
		if kind == "" {
			kind = "server_error"
		}
		event("response.failed", m{"response": response("failed", []m{}, nil, m{"code": kind, "message": reply.Message})})
		return nil, events
	}
	for i, item := range output {
		event("response.output_item.added", m{"output_index": i, "item": opened(item)})
		if item["type"] == "message" {
			event("response.output_text.delta", m{"item_id": item["id"], "output_index": i, "content_index": 0, "delta": reply.Text})
			event("response.output_text.done", m{"item_id": item["id"], "output_index": i, "content_index": 0, "text": reply.Text})
		}
		event("response.output_item.done", m{"output_index": i, "item": item})
	}
	whole := response("completed", output, usage, nil)
	event("response.completed", m{"response": whole})
	return whole, events
}

// opened is an item at its beginning.
func opened(item m) m {
	begun := m{}
	for key, value := range item {
		begun[key] = value
	}
	begun["status"] = "in_progress"
	if begun["type"] == "message" {
		begun["content"] = []m{}
	}
	return begun
}
