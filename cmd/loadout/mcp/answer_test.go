package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/event"
)

// same reports whether two JSON texts say the same.
func same(t *testing.T, a, b []byte) bool {
	t.Helper()
	var x, y any
	if err := errors.Join(json.Unmarshal(a, &x), json.Unmarshal(b, &y)); err != nil {
		t.Fatalf("%v in\n%s\n%s", err, a, b)
	}
	return reflect.DeepEqual(x, y)
}

func TestCleaned(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"nothing to do", `{"a":["b",1.50,null,true],"c":""}`, `{"a":["b",1.50,null,true],"c":""}`},
		{"escapes and other letters stay as they are", `{"a":"x\n\t\"\\\u00fcü<&>日"}`, `{"a":"x\n\t\"\\\u00fcü<&>日"}`},
		{"a quote after a backslash", `["\\","\u001b[31mred","\\\""]`, `["\\","red","\\\""]`},
		{"escaped control", `["a\u001b[31mb\u0000c\r\nd"]`, `["ab` + `c\nd"]`},
		{"control and others that show nothing", "[\"a\u202eb\u200bc\x7fd\u0085e\"]", `["abcd\ne"]`},
		{"only a delete character", "[\"a\x7fb\"]", `["ab"]`},
		{"several, and what is between them", "{\"k\u200b\":1,\"b\":\"plain\",\"c\":\"\u200bx\"}", `{"k":1,"b":"plain","c":"x"}`},
		{"what is left is not escaped more than before", "[\"<\u200b>\"]", `["<>"]`},
	} {
		if got := string(cleaned([]byte(tt.in))); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
		}
	}
}

// What an answer encodes itself to is what the SDK would have made of it.
func TestAnswerIsWhatTheSDKEncodes(t *testing.T) {
	texts := []sdk.Content{&sdk.TextContent{Text: "a \"quote\" \\ <b> & \u2028 \x00 ü 日\n"}, &sdk.TextContent{}}
	data := json.RawMessage(`{"content":null,"n":12345678901234567,"s":"<\u2028"}`)
	note := sdk.Meta{"about": map[string]any{"content": nil}}
	for name, r := range map[string]*sdk.CallToolResult{
		"two texts and data": {Content: texts, StructuredContent: data},
		"a refusal":          {Content: texts[:1], StructuredContent: data, IsError: true},
		"no text":            {Content: []sdk.Content{}, StructuredContent: data},
		"what the SDK added": {Meta: sdk.Meta{"server": "x"}, Content: texts, StructuredContent: data},
		"more of it":         {Meta: note, Content: texts, StructuredContent: data},
		"data of a struct":   {Content: texts, StructuredContent: struct{ A int }{1}},
		"no data":            {Content: texts},
		"a picture":          {Content: []sdk.Content{texts[0], &sdk.ImageContent{Data: []byte("x"), MIMEType: "image/png"}}, StructuredContent: data},
	} {
		want, err := r.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		got, err := answer{r}.MarshalJSON()
		if err != nil || !same(t, got, want) {
			t.Errorf("%s: %v\n%s\nwant\n%s", name, err, got, want)
		}
	}
}

func TestMessageIsWhatTheSDKEncodes(t *testing.T) {
	id := func(v any) jsonrpc.ID {
		made, err := jsonrpc.MakeID(v)
		if err != nil {
			t.Fatal(err)
		}
		return made
	}
	for _, m := range []jsonrpc.Message{
		&jsonrpc.Response{ID: id(float64(0)), Result: json.RawMessage(`{}`)},
		&jsonrpc.Response{ID: id(float64(9007199254740991)), Result: json.RawMessage(`{"a":["<",1]}`)},
		&jsonrpc.Response{ID: id("a \"b\" <c>\n"), Result: json.RawMessage(`{"a":1}`)},
		&jsonrpc.Response{ID: id("x"), Error: &jsonrpc.Error{Code: -32602, Message: "no"}},
		&jsonrpc.Request{ID: id("y"), Method: "ping"},
		&jsonrpc.Request{Method: "notifications/resources/list_changed", Params: json.RawMessage(`{}`)},
	} {
		want, err := jsonrpc.EncodeMessage(m)
		if err != nil {
			t.Fatal(err)
		}
		got, err := encodeMessage(m)
		if err != nil || !same(t, got, want) || bytes.ContainsRune(got, '\n') {
			t.Errorf("%v\n%s\nwant\n%s", err, got, want)
		}
	}
}

// The JSON among the texts is the data, and both say all that the snapshot does.
func TestTextRepeatsTheData(t *testing.T) {
	s := newScene(t)
	for i := range 250 {
		s.do(engine.Report{Agent: "ada", Update: event.Update{Note: fmt.Sprintf("<%d> & \"more\"", i)}})
	}
	c := s.connect("codex", usual2025, s.engine(nil), Options{})
	for tool, before := range map[string]string{"snapshot": "---\nJSON:\n", "subscribe": ""} {
		r := c.try(tool, nil)
		texts := textsOf(r)
		last, ok := strings.CutPrefix(texts[len(texts)-1], before)
		data, err := json.Marshal(r.StructuredContent)
		if err != nil || !ok || !same(t, []byte(last), data) {
			t.Errorf("%s: %v\n%s\nis not\n%s", tool, err, last, data)
		}
		if !strings.Contains(last, `<`) || strings.Contains(last, `\u003c`) || !strings.Contains(last, "\n  \"") {
			t.Errorf("%s is not for readers: %s", tool, last)
		}
	}
	var snap snapshotOut
	text := c.call("snapshot", nil, &snap)
	want := "subscribe with cursor -1    every event that you have not acknowledged"
	if snap.Truncated.Unacked == 0 || !strings.Contains(strings.Join(snap.More, "\n"), want) || !strings.Contains(text[0], want) {
		t.Errorf("%d left out, more %q\n%s", snap.Truncated.Unacked, snap.More, text[0])
	}
	if strings.Contains(text[0], kindEvent+"/SEQ") {
		t.Errorf("says that texts were cut:\n%s", text[0])
	}
}

// What was measured to bound an answer is what is answered.
func TestBoundedIsAnswered(t *testing.T) {
	s := newScene(t)
	e := s.engine(nil)
	for i := range 60 {
		text := fmt.Sprintf("%d %s", i, strings.Repeat("long\u200b ", 200))
		if _, err := e.Do(t.Context(), engine.Request{Command: engine.AddTask{From: "ada", To: "codex", Text: text}}); err != nil {
			t.Fatal(err)
		}
	}
	c := s.connect("codex", usual2025, s.engine(nil), Options{})
	var snap snapshotOut
	var story replayOut
	for tool, out := range map[string]any{"snapshot": &snap, "replay": &story} {
		texts := c.call(tool, args{}, out)
		again, err := encode(out)
		if err != nil || len(again) > maxAnswer {
			t.Errorf("%s: %v, %d bytes", tool, err, len(again))
		}
		data, err := json.Marshal(c.try(tool, nil).StructuredContent)
		if err != nil || !same(t, data, again) {
			t.Errorf("%s: %v\n%s\nis not\n%s", tool, err, data, again)
		}
		said := fmt.Sprintf("Pending tasks (%d):", len(snap.Tasks))
		if tool == "replay" {
			said = fmt.Sprintf(" %d tasks, ", story.Omitted.Tasks)
		}
		if !strings.Contains(texts[0], said) {
			t.Errorf("%s: the text does not say %q as the data does: %s", tool, said, texts[0])
		}
	}
	if n := int64(len(snap.Tasks)); n == 0 || n+snap.Truncated.Tasks != 60 {
		t.Errorf("snapshot has %d tasks, and left out %d", n, snap.Truncated.Tasks)
	}
	if n := int64(len(story.Tasks)); n == 0 || n+story.Omitted.Tasks != 60 {
		t.Errorf("replay has %d tasks, and left out %d", n, story.Omitted.Tasks)
	}
}

// Long lists are shortened without a word about long texts, and long texts with one.
func TestWhatIsCutIsSaid(t *testing.T) {
	for _, long := range []bool{false, true} {
		s := newScene(t)
		e := s.engine(nil)
		for i := range 450 {
			paths := []string{fmt.Sprintf("%sfile%d", strings.Repeat("deep/", 20), i)}
			if _, err := e.Do(t.Context(), engine.Request{Command: engine.Own{Agent: "ada", Paths: paths}}); err != nil {
				t.Fatal(err)
			}
		}
		if long {
			s.do(engine.AddTask{From: "ada", To: "codex", Text: strings.Repeat("long ", 500)})
		}
		snap, err := s.connect("codex", usual2025, s.engine(nil), Options{}).server.boundedSnapshot(t.Context(), "codex")
		if err != nil {
			t.Fatal(err)
		}
		if said := strings.Contains(strings.Join(snap.More, "\n"), "long texts are cut"); said != long || snap.Truncated.Ownership == 0 {
			t.Errorf("long %t: %d claims left out, more %q", long, snap.Truncated.Ownership, snap.More)
		}
		if len(snap.data) > maxAnswer {
			t.Errorf("%d bytes", len(snap.data))
		}
	}
}
