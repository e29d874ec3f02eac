package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/agentloadout/loadout/engine"
)

// wire is a connection on which a test writes lines itself.
type wire struct {
	t    testing.TB
	in   *io.PipeWriter
	out  *bufio.Scanner
	done chan error
}

func (s *scene) wire() *wire {
	s.t.Helper()
	server, err := New(s.engine(nil), Options{Dir: s.dir})
	if err != nil {
		s.t.Fatal(err)
	}
	toServer, in := io.Pipe()
	out, fromServer := io.Pipe()
	w := &wire{t: s.t, in: in, out: bufio.NewScanner(out), done: make(chan error, 1)}
	w.out.Buffer(nil, MaxMessage)
	late := time.AfterFunc(patience, func() { _, _ = out.Close(), toServer.Close() }) // nobody waits for ever, to read or to write
	s.t.Cleanup(func() { late.Stop() })
	go func() {
		err := server.Serve(s.t.Context(), toServer, fromServer)
		_ = fromServer.Close()
		w.done <- err
	}()
	return w
}

func (w *wire) send(line string) {
	w.t.Helper()
	if _, err := io.WriteString(w.in, line); err != nil {
		w.t.Fatal(err)
	}
}

// answer is the next message that is no notification.
func (w *wire) answer() (m struct {
	ID     json.RawMessage
	Result json.RawMessage
	Error  struct {
		Code    int
		Message string
	}
},
) {
	w.t.Helper()
	for w.out.Scan() {
		if err := json.Unmarshal(w.out.Bytes(), &m); err != nil {
			w.t.Fatalf("%q is no message: %v", w.out.Text(), err)
		}
		if m.ID != nil || m.Error.Code != 0 {
			return m
		}
	}
	w.t.Fatalf("the server has ended: %v", w.out.Err())
	return m
}

const hello = `{"jsonrpc":"2.0","id":"a","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"codex","version":"1"}}}`

// Whatever comes in, it is answered with an error and the connection goes on.
func TestBadLines(t *testing.T) {
	s := newScene(t)
	w := s.wire()
	w.send(hello + "\n")
	w.answer()
	w.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n\n \r\n")
	for _, tt := range []struct {
		line string
		code int
		id   string
	}{
		{"garbage", -32700, "null"},
		{`{"jsonrpc":"2.0","id":1,`, -32700, "null"},
		{"\x00\xff\xfe", -32700, "null"},
		{`{"jsonrpc":"1.0","id":7,"method":"ping"}`, -32600, "7"},
		{`{"id":"x"}`, -32600, `"x"`},
		{`3`, -32600, "null"},
		{`[]`, -32600, "null"},
		{`[{"nothing":1}]`, -32600, "null"},
		{`{"jsonrpc":"2.0","id":8,"method":"no/such/method"}`, -32601, "8"},
		{`{"jsonrpc":"2.0","id":9,"method":"tools/call","params":[1]}`, 0, "9"},
		{`{"jsonrpc":"2.0","id":10,"method":"tools/call"}`, 0, "10"},
		{`{"jsonrpc":"2.0","id":11,"method":"resources/read","params":{"uri":7}}`, 0, "11"},
		{`{"jsonrpc":"2.0","id":12,"method":"initialize","params":{}}`, 0, "12"},
		{`{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, -32600, "1.5"},
		{`{"jsonrpc":"2.0","id":123456789012345678901234567890,"method":"ping"}`, -32600, "123456789012345678901234567890"},
		{`{"jsonrpc":"2.0","id":13,"method":"ping","params":"` + strings.Repeat("x", MaxMessage) + `"}`, -32600, "null"},
	} {
		w.send(tt.line + "\n")
		m := w.answer()
		if string(m.ID) != tt.id || m.Error.Message == "" || tt.code != 0 && m.Error.Code != tt.code {
			t.Errorf("%.60q: answered id %s, %+v", tt.line, m.ID, m.Error)
		}
	}
	w.send(`[{"jsonrpc":"2.0","id":20,"method":"ping"}]` + "\n") // as clients of 2025-03-26 may
	if m := w.answer(); string(m.ID) != "20" || m.Error.Code != 0 {
		t.Errorf("batch: %+v", m)
	}
	// The largest contract fits, however it is escaped.
	body := strings.Repeat(`\u0041`, 100000)
	w.send(`{"jsonrpc":"2.0","id":21,"method":"tools/call","params":{"name":"publish_contract","arguments":{"name":"big","body":"` + body + `"}}}` + "\n")
	if m := w.answer(); string(m.ID) != "21" || !strings.Contains(string(m.Result), "Published contract 'big' rev1") {
		t.Errorf("largest contract: %+v %.300s", m.Error, m.Result)
	}
	_ = w.in.Close()
	if err := receive(t, w.done); err != nil {
		t.Error(err)
	}
}

// A last line without its end counts, and what was asked before the input ended is answered.
func TestInputEnds(t *testing.T) {
	s := newScene(t)
	w := s.wire()
	w.send(hello + "\n" + `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"publish_update","arguments":{"note":"x"}}}`)
	_ = w.in.Close()
	answered := map[string]bool{}
	for w.out.Scan() {
		var m struct{ ID json.RawMessage }
		if err := json.Unmarshal(w.out.Bytes(), &m); err != nil {
			t.Fatal(err)
		}
		answered[string(m.ID)] = true
	}
	if err := receive(t, w.done); err != nil || !answered[`"a"`] || !answered["1"] {
		t.Errorf("answered %v, %v", answered, err)
	}
	if a, _ := s.state().Agent("codex"); a.Registered || a.Ended == nil {
		t.Errorf("agent %+v", a)
	}
}

// A server that is told to stop ends its session although its client is still there.
func TestStopped(t *testing.T) {
	s := newScene(t)
	ctx, cancel := context.WithCancel(t.Context())
	server, err := New(s.engine(nil), Options{Dir: s.dir})
	if err != nil {
		t.Fatal(err)
	}
	toServer, in := io.Pipe()
	out, fromServer := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- server.Serve(ctx, toServer, fromServer) }()
	go func() { _, _ = io.WriteString(in, hello+"\n") }()
	defer time.AfterFunc(patience, func() { _ = out.Close() }).Stop()
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := receive(t, done); err != nil {
		t.Errorf("stopped with %v", err)
	}
	if a, _ := s.state().Agent("codex"); a.Registered {
		t.Errorf("agent %+v", a)
	}
	_ = in.Close()
}

// A client that reads nothing keeps no server from ending, neither when its input ends nor when it is told to stop.
func TestNobodyReads(t *testing.T) {
	for name, end := range map[string]func(in io.Closer, stop func()){
		"input ends": func(in io.Closer, _ func()) { _ = in.Close() },
		"stopped":    func(_ io.Closer, stop func()) { stop() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, stop := context.WithCancel(t.Context())
				defer stop()
				toServer, in := io.Pipe()
				unread, fromServer := io.Pipe()
				l := &lines{in: toServer, out: fromServer, note: t.Logf}
				conn, err := l.Connect(ctx)
				if err != nil {
					t.Fatal(err)
				}
				go func() { _, _ = io.WriteString(in, `{"jsonrpc":"2.0","id":1,"method":"ping"}`+"\n") }()
				m, err := conn.Read(ctx)
				if err != nil {
					t.Fatal(err)
				}
				said := make(chan error)
				for range 2 { // one is being written, one waits for that
					go func() { said <- conn.Write(context.WithoutCancel(ctx), &jsonrpc.Response{ID: m.(*jsonrpc.Request).ID}) }()
				}
				synctest.Wait()
				end(in, stop)
				for range 2 {
					if err := <-said; !errors.Is(err, io.ErrClosedPipe) {
						t.Errorf("wrote with %v", err)
					}
				}
				_ = unread.Close()
				_ = in.Close()
				_ = conn.Close()
			})
		})
	}
}

// What waits in the queue of a server that is told to stop is not carried out any more.
func TestQueueEndsWithTheServer(t *testing.T) {
	s := newScene(t)
	server, err := New(s.engine(nil), Options{Dir: s.dir})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	toServer, in := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- server.Serve(ctx, toServer, io.Discard) }()
	carriedOut := false
	handler := server.refuseAtEnd(func(context.Context, string, sdk.Request) (sdk.Result, error) {
		carriedOut = true
		return nil, nil
	})
	cancel()
	if err := receive(t, done); err != nil {
		t.Error(err)
	}
	if _, err := handler(t.Context(), "tools/list", nil); !errors.Is(err, errEnding) || carriedOut {
		t.Errorf("carried out: %v, %v", carriedOut, err)
	}
	_ = in.Close()
}

func TestAdviceCoversRefusals(t *testing.T) {
	for _, err := range []error{&engine.HaltedError{}, &engine.LockedError{}, &engine.ConflictError{Kind: engine.ConflictOwnership}} {
		if len(advice(err)) == 0 {
			t.Errorf("no advice for %T", err)
		}
	}
}
