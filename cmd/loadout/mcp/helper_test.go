package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/state"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Versions of the protocol that clients speak: the newest, without a handshake, and the one of most hosts.
const (
	newest2026 = "2026-07-28"
	usual2025  = "2025-11-25"
)

// machine is a Host with made-up processes: this process is one of them.
type machine struct {
	self      int
	ancestors []engine.Process
	mu        *sync.Mutex
	dead      map[int]bool
}

func process(pid int, name string) engine.Process {
	return engine.Process{PID: pid, Start: fmt.Sprint(pid), Boot: "boot", Name: name}
}

func (m *machine) Name() string { return "machine" }

func (m *machine) Find(pid int) (engine.Process, error) {
	if pid == os.Getpid() {
		return process(m.self, "loadout"), nil
	}
	return engine.Process{}, errors.New("no such process")
}

func (m *machine) Alive(p engine.Process) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return !m.dead[p.PID]
}
func (m *machine) Ancestors() []engine.Process { return m.ancestors }
func (m *machine) SessionLeader() int          { return 0 }
func (m *machine) Arguments(int) []string      { return nil }
func (m *machine) WorkingDir(int) string       { return "" }

// scene is a project on one machine.
type scene struct {
	t    testing.TB
	dir  string
	mu   sync.Mutex
	dead map[int]bool
	pids int
}

func newScene(t testing.TB) *scene {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &scene{t: t, dir: dir, dead: map[int]bool{}, pids: 1000}
	if err := os.Mkdir(filepath.Join(dir, ".handoff"), 0o700); err != nil {
		t.Fatal(err)
	}
	return s
}

// engine opens an engine as another process would, below some others.
func (s *scene) engine(env map[string]string, above ...engine.Process) *engine.Engine {
	s.pids++
	return engine.Open(engine.Project{Root: s.dir, Dir: filepath.Join(s.dir, ".handoff")}, engine.Options{
		Host: &machine{self: s.pids, ancestors: above, mu: &s.mu, dead: s.dead},
		Env:  func(name string) string { return env[name] },
		// A loaded machine may take long for its turn at the lock; that is not what these tests are about.
		LockWait: time.Minute,
	})
}

// state is what the log says now.
func (s *scene) state() *state.State {
	s.t.Helper()
	v, err := s.engine(nil).View(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	return v.State
}

// do stores something as another process would.
func (s *scene) do(c engine.Command) engine.Receipt {
	s.t.Helper()
	r, err := s.engine(nil).Do(s.t.Context(), engine.Request{Command: c})
	if err != nil {
		s.t.Fatal(err)
	}
	return r
}

// client is a client connected to a server of its own.
type client struct {
	t testing.TB
	*sdk.ClientSession
	server  *Server
	ended   chan error
	updated chan string   // URIs of updated resources
	listed  chan struct{} // the list of resources changed
	notes   *notes
}

// notes is what a server said to people.
type notes struct {
	mu   sync.Mutex
	text strings.Builder
}

func (n *notes) add(format string, args ...any) {
	n.mu.Lock()
	defer n.mu.Unlock()
	fmt.Fprintf(&n.text, format+"\n", args...)
}

func (n *notes) String() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.text.String()
}

// connect starts a server and connects a client of that name, over pipes as between processes.
func (s *scene) connect(name, version string, e *engine.Engine, o Options) *client {
	s.t.Helper()
	c := &client{t: s.t, ended: make(chan error, 1), updated: make(chan string, 1000), listed: make(chan struct{}, 1000), notes: &notes{}}
	if o.Dir == "" {
		o.Dir = s.dir
	}
	o.Note = c.notes.add
	var err error
	if c.server, err = New(e, o); err != nil {
		s.t.Fatal(err)
	}
	toServer, fromClient := io.Pipe()
	toClient, fromServer := io.Pipe()
	go func() {
		err := c.server.Serve(s.t.Context(), toServer, fromServer)
		_, _ = toServer.Close(), fromServer.Close()
		c.ended <- err
	}()
	program := sdk.NewClient(&sdk.Implementation{Name: name, Version: "1"}, &sdk.ClientOptions{
		ResourceUpdatedHandler:     func(_ context.Context, r *sdk.ResourceUpdatedNotificationRequest) { c.updated <- r.Params.URI },
		ResourceListChangedHandler: func(context.Context, *sdk.ResourceListChangedRequest) { c.listed <- struct{}{} },
	})
	c.ClientSession, err = program.Connect(s.t.Context(), &sdk.IOTransport{Reader: toClient, Writer: fromClient}, &sdk.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(c.leave)
	return c
}

// leave closes the client's end and waits for the server's.
func (c *client) leave() {
	if c.ended == nil {
		return
	}
	_ = c.Close()
	if err := receive(c.t, c.ended); err != nil {
		c.t.Errorf("server ended with %v", err)
	}
	c.ended = nil
}

// patience bounds what a test waits for, on a loaded machine too; it is only reached by a failure.
const patience = time.Minute

// receive waits for what another goroutine has to say, but not for ever: who waits in vain fails, and does not hang.
func receive[T any](t testing.TB, from <-chan T) T {
	t.Helper()
	select {
	case v := <-from:
		return v
	case <-time.After(patience):
		t.Fatal("waited in vain")
		panic("unreachable")
	}
}

type args map[string]any

// call calls a tool and decodes its data into out; its texts are returned.
func (c *client) call(tool string, arguments args, out any) []string {
	c.t.Helper()
	r := c.try(tool, arguments)
	if r.IsError {
		c.t.Fatalf("%s %v: %s", tool, arguments, textsOf(r))
	}
	c.decode(r, out)
	return textsOf(r)
}

// refused calls a tool that must refuse with a code, and with these words.
func (c *client) refused(code, tool string, arguments args, words ...string) {
	c.t.Helper()
	r := c.try(tool, arguments)
	var data struct {
		Error struct{ Code, Message string }
	}
	c.decode(r, &data)
	text := strings.Join(textsOf(r), "\n")
	if !r.IsError || data.Error.Code != code || data.Error.Message == "" || !strings.HasPrefix(text, "Error: ") || !strings.Contains(text, "code: "+code) {
		c.t.Errorf("%s %v: want a refusal %s, got %+v\n%s", tool, arguments, code, data, text)
	}
	for _, w := range words {
		if !strings.Contains(text, w) {
			c.t.Errorf("%s %v: does not say %q:\n%s", tool, arguments, w, text)
		}
	}
}

func (c *client) try(tool string, arguments args) *sdk.CallToolResult {
	c.t.Helper()
	if arguments == nil {
		arguments = args{}
	}
	r, err := c.CallTool(c.t.Context(), &sdk.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		c.t.Fatalf("%s %v: %v", tool, arguments, err)
	}
	return r
}

func (c *client) decode(r *sdk.CallToolResult, out any) {
	c.t.Helper()
	data, err := json.Marshal(r.StructuredContent)
	if err == nil && out != nil {
		err = json.Unmarshal(data, out)
	}
	if err != nil {
		c.t.Fatalf("data %s: %v", data, err)
	}
}

func textsOf(r *sdk.CallToolResult) []string {
	var texts []string
	for _, content := range r.Content {
		if t, ok := content.(*sdk.TextContent); ok {
			texts = append(texts, t.Text)
		}
	}
	return texts
}
