package fakemodel

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// post sends a request for an answer.
func post(ctx context.Context, t *testing.T, url, body string) (*http.Response, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Api-Key", "secret")
	return http.DefaultClient.Do(req)
}

// read is the status and body of the answer to a request.
func read(t *testing.T, url, body string) (int, string) {
	t.Helper()
	res, err := post(t.Context(), t, url, body)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(text)
}

const (
	claudeBody = `{"model":"m","stream":%v,"tools":[{"name":"Read"}],"messages":[` +
		`{"role":"user","content":"first"},{"role":"assistant","content":"answer"},` +
		`{"role":"user","content":[{"type":"text","text":"second"},{"type":"text","text":"<system-reminder>x"}]}]}`
	codexBody = `{"model":"m","stream":%v,"text":{"format":{"type":"json_schema"}},"tools":[{"type":"function","name":"shell"},` +
		`{"type":"namespace","name":"demo","tools":[{"name":"list"}]},{"type":"web_search"}],"input":[` +
		`{"type":"message","role":"user","content":[{"type":"input_text","text":"first"}]},` +
		`{"type":"additional_tools","tools":[{"name":"exec"}]},` +
		`{"type":"message","role":"user","content":[{"type":"input_text","text":"second"}]}]}`
)

func TestRequestsAreRecorded(t *testing.T) {
	s := New()
	defer s.Close()
	tests := []struct {
		path, body, api string
		tools           []string
		turns           int
	}{
		{"/v1/messages?beta=true", claudeBody, "anthropic", []string{"Read"}, 3},
		{"/v1/responses", codexBody, "openai", []string{"shell", "demo.list", "web_search", "exec"}, 2},
	}
	for i, tt := range tests {
		if status, text := read(t, s.URL+tt.path, fmt.Sprintf(tt.body, false)); status != http.StatusOK || !strings.Contains(text, "echo: second") {
			t.Errorf("%s: %d %s", tt.api, status, text)
		}
		if err := s.Await(t.Context(), i+1); err != nil {
			t.Fatal(err)
		}
		r := s.Requests()[i]
		if r.API != tt.api || r.Model != "m" || r.Stream || r.Auth != "x-api-key" || r.Prompt != "second" || len(r.Turns) != tt.turns ||
			!slices.Equal(r.Tools, tt.tools) || (len(r.Schema) > 0) != (tt.api == "openai") || strings.Contains(string(r.Body), "secret") {
			t.Errorf("recorded %+v", r)
		}
	}
}

// events are the names of the events of a stream, and the data of the last.
func events(t *testing.T, text string) (names []string, last map[string]any) {
	t.Helper()
	for in := bufio.NewScanner(strings.NewReader(text)); in.Scan(); {
		if name, ok := strings.CutPrefix(in.Text(), "event: "); ok {
			names = append(names, name)
		}
		if data, ok := strings.CutPrefix(in.Text(), "data: "); ok {
			last = nil
			if err := json.Unmarshal([]byte(data), &last); err != nil {
				t.Fatalf("%q: %v", data, err)
			}
			if last["type"] != names[len(names)-1] {
				t.Errorf("event %s has type %v", names[len(names)-1], last["type"])
			}
		}
	}
	return names, last
}

func TestStreams(t *testing.T) {
	reply := Reply{Text: "Hi.", Tools: []Tool{{Name: "Read", Input: map[string]any{"path": "x"}}, {Name: "patch", Input: "free"}}, Times: -1}
	s := New(reply)
	defer s.Close()
	_, text := read(t, s.URL+"/v1/messages", fmt.Sprintf(claudeBody, true))
	names, last := events(t, text)
	block := []string{"content_block_start", "content_block_delta", "content_block_stop"}
	want := slices.Concat([]string{"message_start"}, block, block, block, []string{"message_delta", "message_stop"})
	if !slices.Equal(names, want) || last["type"] != "message_stop" || !strings.Contains(text, `"partial_json":"{\"path\":\"x\"}"`) {
		t.Errorf("stream %v\n%s", names, text)
	}
	_, text = read(t, s.URL+"/v1/responses", fmt.Sprintf(codexBody, true))
	names, last = events(t, text)
	want = []string{
		"response.created", "response.output_item.added", "response.output_text.delta", "response.output_text.done", "response.output_item.done",
		"response.output_item.added", "response.output_item.done", "response.output_item.added", "response.output_item.done", "response.completed",
	}
	response, _ := last["response"].(map[string]any)
	output, _ := response["output"].([]any)
	if !slices.Equal(names, want) || len(output) != 3 || !strings.Contains(text, `"type":"custom_tool_call"`) || !strings.Contains(text, `"total_tokens":18`) {
		t.Errorf("stream %v\n%s", names, text)
	}
}

func TestRepliesAreTakenInOrder(t *testing.T) {
	s := New(Reply{When: "nobody says this", Text: "a"}, Reply{Text: "b", Times: 2}, Reply{When: "second", Text: "c"}, Reply{Text: "d"})
	defer s.Close()
	for i, want := range []string{"b", "b", "c", "d", "echo: second", "echo: second"} {
		if _, text := read(t, s.URL+"/v1/messages", fmt.Sprintf(claudeBody, false)); !strings.Contains(text, `"text":"`+want+`"`) {
			t.Errorf("request %d: %s, want %s", i, text, want)
		}
	}
}

func TestErrors(t *testing.T) {
	tests := []struct {
		reply  Reply
		stream bool
		status int
		says   string
	}{
		{Reply{Status: 401, Message: "wrong"}, true, 401, `"message":"wrong"`},
		{Reply{Status: 529, Header: http.Header{"Retry-After": {"7"}}}, true, 529, "error"},
		{Reply{Malformed: true}, true, 200, "<html>"},
		{Reply{Failed: true, Message: "boom"}, true, 200, "boom"},
		{Reply{Failed: true, Message: "boom"}, false, 500, "boom"},
		{Reply{Delay: time.Millisecond, Text: "late"}, false, 200, "late"},
	}
	for _, path := range []string{"/v1/messages", "/v1/responses"} {
		body := claudeBody
		if path == "/v1/responses" {
			body = codexBody
		}
		for _, tt := range tests {
			s := New(tt.reply)
			if status, text := read(t, s.URL+path, fmt.Sprintf(body, tt.stream)); status != tt.status || !strings.Contains(text, tt.says) {
				t.Errorf("%s %+v: %d %s", path, tt.reply, status, text)
			}
			s.Close()
		}
	}
	s := New()
	defer s.Close()
	if status, _ := read(t, s.URL+"/v1/messages", "no JSON"); status != http.StatusBadRequest {
		t.Errorf("status %d", status)
	}
	if status, _ := read(t, s.URL+"/v1/unknown", "{}"); status != http.StatusNotFound || len(s.Requests()) != 0 {
		t.Errorf("status %d, %d requests", status, len(s.Requests()))
	}
}

func TestAnswersThatNeverEnd(t *testing.T) {
	s := New(Reply{Text: "x", Cut: true}, Reply{Hang: HangSilent}, Reply{Text: "x", Hang: HangStream})
	res, err := post(t.Context(), t, s.URL+"/v1/messages", fmt.Sprintf(claudeBody, true))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(res.Body)
	res.Body.Close()
	if names, _ := events(t, string(text)); !errors.Is(err, io.ErrUnexpectedEOF) || len(names) != 3 {
		t.Errorf("cut: %v, %v", names, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	silent := make(chan error, 1)
	go func() {
		res, err := post(ctx, t, s.URL+"/v1/messages", fmt.Sprintf(claudeBody, true))
		if err == nil {
			res.Body.Close()
		}
		silent <- err
	}()
	if err := s.Await(t.Context(), 2); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := <-silent; !errors.Is(err, context.Canceled) {
		t.Errorf("silent: %v", err)
	}
	res, err = post(t.Context(), t, s.URL+"/v1/messages", fmt.Sprintf(claudeBody, true))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if _, err := bufio.NewReader(res.Body).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	s.Close() // ends what hangs
	if _, err := io.Copy(io.Discard, res.Body); err == nil {
		t.Error("the stream ended well")
	}
}

func TestOtherRequests(t *testing.T) {
	s := New()
	defer s.Close()
	for path, want := range map[string]int{"/": 200, "/v1/models": 200, "/v1/messages/count_tokens": 200, "/none": 404} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != want {
			t.Errorf("%s: %d", path, res.StatusCode)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Await(ctx, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("await: %v", err)
	}
}
