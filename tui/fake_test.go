package tui

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/state"
)

var start = time.Date(2026, 9, 3, 10, 0, 0, 0, time.UTC)

// fakeEngine keeps its log in memory. It obeys no rule: what it refuses is set by the test.
type fakeEngine struct {
	mu      sync.Mutex
	events  []event.Event
	now     time.Time
	live    map[string]engine.Liveness
	halted  *engine.HaltedError
	refuse  error  // the next write is refused with it
	note    string // comes with every receipt
	viewErr error
	calls   []engine.Request
	news    chan struct{} // a token for every change, for FollowFrom
	root    string
	linked  string // the worktree, when it is a linked one
	drift   engine.DriftReport
	holder  *engine.LockedError // who runs a bridge
}

func newFake() *fakeEngine {
	return &fakeEngine{now: start, live: map[string]engine.Liveness{}, news: make(chan struct{}, 1), root: "/home/dev/shop"}
}

func (f *fakeEngine) clock() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.now
}

// add stores an event one minute after the last.
func (f *fakeEngine) add(tb testing.TB, from, to, description string, body event.Body, edit ...func(*event.Event)) event.Event {
	tb.Helper()
	e, err := event.New(from, to, description, body)
	if err != nil {
		tb.Fatal(err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.now = f.now.Add(time.Minute)
	e.Seq = int64(len(f.events))
	e.ID = fmt.Sprintf("id%06d", e.Seq)
	e.Timestamp = f.now.Format(event.TimeFormat)
	for _, fn := range edit {
		fn(&e)
	}
	f.events = append(f.events, e)
	select {
	case f.news <- struct{}{}:
	default:
	}
	return e
}

func (f *fakeEngine) own(tb testing.TB, agent string, mode event.Mode, reason string, paths ...string) {
	tb.Helper()
	f.add(tb, agent, event.Broadcast, agent+" claims: "+strings.Join(paths, ", "), event.Ownership{Paths: paths, Mode: mode, Reason: reason})
}

func (f *fakeEngine) fold(n int) *state.State {
	s := state.New()
	for i := range f.events[:n] {
		_ = s.Apply(&f.events[i]) // what breaks a rule changes nothing, as in the engine
	}
	return s
}

func (f *fakeEngine) Project() engine.Project {
	return engine.Project{Root: f.root, Dir: f.root + "/.handoff", Worktree: f.linked, Linked: f.linked != ""}
}

func (f *fakeEngine) View(context.Context) (*engine.View, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.viewErr != nil {
		return nil, f.viewErr
	}
	live := f.live
	return &engine.View{
		State: f.fold(len(f.events)), Now: f.now, Halted: f.halted,
		Live: func(agent string) engine.Liveness { return live[agent] },
	}, nil
}

func (f *fakeEngine) BridgeHolder(context.Context) (*engine.LockedError, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.holder, nil
}

func (f *fakeEngine) Drift(context.Context) (engine.DriftReport, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.drift, nil
}

func (f *fakeEngine) FollowFrom(ctx context.Context, v *engine.View, fn func(engine.Delivery) error) error {
	at := int(v.State.Count())
	for {
		f.mu.Lock()
		d := engine.Delivery{Mode: engine.ModeLive, Halted: f.halted, CaughtUp: true}
		d.Events = append(d.Events, f.events[at:]...)
		at = len(f.events)
		d.Head = int64(at) - 1
		f.mu.Unlock()
		if err := fn(d); err != nil {
			return err
		}
		select {
		case <-f.news:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (f *fakeEngine) Events(_ context.Context, q engine.Query) (engine.EventsResult, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	r := engine.EventsResult{AsOf: int64(len(f.events)) - 1}
	end := len(f.events)
	if q.Before > 0 {
		end = min(end, int(q.Before))
	}
	from := min(max(int(q.After)+1, 0), end)
	if q.Last > 0 {
		from = max(end-q.Last, 0)
	}
	from = max(from, int(q.After)+1)
	if q.Max > 0 {
		end = min(end, from+q.Max)
	}
	r.Events = f.events[min(from, end):end:end]
	r.Omitted = int64(from)
	return r, nil
}

func (f *fakeEngine) StateAt(_ context.Context, seq int64) (*state.State, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if seq >= int64(len(f.events)) {
		return nil, &engine.NotFoundError{Kind: "event", Name: fmt.Sprintf("#%d", seq)}
	}
	return f.fold(int(seq) + 1), nil
}

func (f *fakeEngine) ContractBody(_ context.Context, name string, revision int64) (engine.ContractText, error) {
	for _, e := range f.events {
		if c, ok := body(e).(event.Contract); ok && c.Name == name && c.Revision == revision {
			return engine.ContractText{Name: name, Revision: revision, Body: c.Body, Publisher: e.From, Seq: e.Seq}, nil
		}
	}
	return engine.ContractText{}, &engine.NotFoundError{Kind: "contract", Name: name}
}

// body is an event's body; some are pointers.
func body(e event.Event) event.Body {
	b, err := e.Body()
	if err != nil {
		panic(err)
	}
	return b
}

func (f *fakeEngine) Diff(_ context.Context, name string, from, to int64) (engine.ContractDiff, error) {
	older, _ := f.ContractBody(context.Background(), name, from)
	newer, err := f.ContractBody(context.Background(), name, to)
	h := engine.Hunk{FromLine: 1, ToLine: 1}
	for i, l := range strings.Split(strings.TrimSuffix(older.Body, "\n"), "\n") {
		h.Lines = append(h.Lines, engine.DiffLine{Kind: engine.DiffRemoved, From: i + 1, Text: l})
		h.FromCount++
	}
	for i, l := range strings.Split(strings.TrimSuffix(newer.Body, "\n"), "\n") {
		h.Lines = append(h.Lines, engine.DiffLine{Kind: engine.DiffAdded, To: i + 1, Text: l})
		h.ToCount++
	}
	return engine.ContractDiff{
		Name: name, FromRevision: from, ToRevision: to, Hunks: []engine.Hunk{h},
		Summary: fmt.Sprintf("%d added, %d removed", h.ToCount, h.FromCount),
	}, err
}

// Do stores what the cockpit's forms send.
func (f *fakeEngine) Do(ctx context.Context, r engine.Request) (engine.Receipt, error) {
	f.mu.Lock()
	f.calls = append(f.calls, r)
	refuse := f.refuse
	f.refuse = nil
	f.mu.Unlock()
	if refuse != nil {
		return engine.Receipt{}, refuse
	}
	if err := ctx.Err(); err != nil {
		return engine.Receipt{}, err
	}
	by := func(e *event.Event) { e.By = r.By }
	tb := failer{}
	var e event.Event
	switch c := r.Command.(type) {
	case engine.Own:
		mode := event.Exclusive
		if c.Shared {
			mode = event.Shared
		}
		e = f.add(tb, c.Agent, event.Broadcast, c.Agent+" claims: "+strings.Join(c.Paths, ", "),
			event.Ownership{Paths: c.Paths, Mode: mode, Reason: c.Reason}, by)
	case engine.ReleasePaths:
		e = f.add(tb, c.Agent, event.Broadcast, c.Agent+" releases: "+strings.Join(c.Paths, ", "),
			event.Ownership{Paths: c.Paths, Mode: event.Release}, by)
	case engine.Ack:
		e = f.add(tb, c.Agent, event.Broadcast, fmt.Sprintf("Acknowledged through seq %d", c.Seq), event.Ack{EventSeq: c.Seq, Note: c.Note}, by)
	case engine.Finish:
		e = f.add(tb, c.From, event.Broadcast, "Completed", event.Done{Evidence: c.Evidence}, by, func(e *event.Event) { e.Resolves = c.ID })
	case engine.Cancel:
		e = f.add(tb, c.From, event.Broadcast, "Cancelled", event.Cancel{}, by, func(e *event.Event) { e.Resolves = c.ID })
	case engine.Ask:
		e = f.add(tb, c.From, c.To, c.Text, event.Question{}, by)
	default:
		return engine.Receipt{}, fmt.Errorf("the fake does not know %T", c)
	}
	return f.receipt(e), nil
}

func (f *fakeEngine) Kill(_ context.Context, by, reason string) (engine.Receipt, error) {
	f.mu.Lock()
	f.halted = &engine.HaltedError{By: by, Reason: reason, At: f.now.Add(time.Minute)}
	f.mu.Unlock()
	return f.receipt(f.add(failer{}, by, event.Broadcast, "halted: "+reason, event.Halt{Action: event.HaltSet, Reason: reason})), nil
}

func (f *fakeEngine) Resume(_ context.Context, by string) (engine.Receipt, error) {
	f.mu.Lock()
	was := f.halted
	f.halted = nil
	f.mu.Unlock()
	if was == nil {
		r := f.receipt(event.Event{})
		r.Duplicate = true
		return r, nil
	}
	return f.receipt(f.add(failer{}, by, event.Broadcast, "resumed", event.Halt{Action: event.HaltLifted})), nil
}

func (f *fakeEngine) receipt(e event.Event) engine.Receipt {
	r := engine.Receipt{Events: []event.Event{e}, Head: e.Seq}
	if f.note != "" {
		r.Notes = []string{f.note}
	}
	return r
}

// failer is a testing.TB for calls that come from commands.
type failer struct{ testing.TB }

func (failer) Helper()           {}
func (failer) Fatal(args ...any) { panic(fmt.Sprint(args...)) }

// story is a project with something of everything, hostile text included.
func story(tb testing.TB) *fakeEngine {
	tb.Helper()
	f := newFake()
	f.add(tb, event.Loadout, event.Broadcast, "claude-code registered", event.Agent{Action: event.AgentRegistered, Name: "claude-code", Base: "claude-code", Human: "dana", PID: 4711, Host: "box"})
	f.add(tb, event.Loadout, event.Broadcast, "codex registered", event.Agent{Action: event.AgentRegistered, Name: "codex", Base: "codex", PID: 4712, Host: "box"})
	f.own(tb, "claude-code", event.Exclusive, "the checkout endpoint", "src/api", "src/db/schema.sql")
	f.own(tb, "codex", event.Exclusive, "cart and checkout pages", "src/web")
	f.own(tb, "claude-code", event.Shared, "", "docs")
	f.own(tb, "codex", event.Shared, "", "docs")
	f.add(tb, "gemini", event.Broadcast, "gemini claims: src/api-tests", event.Ownership{
		Paths: []string{"src/api-tests"}, Mode: event.Exclusive, ExpiresAt: start.Add(time.Hour).Format(event.TimeFormat),
	})
	f.add(tb, "claude-code", event.Broadcast, "Contract 'checkout-api' rev1", event.Contract{Name: "checkout-api", Revision: 1, Body: "POST /api/checkout -> 201 { id: string }\n", Format: "http"})
	f.add(tb, "codex", event.Broadcast, "builds on checkout-api, user-schema", event.Update{Consumes: []string{"checkout-api", "user-schema"}})
	f.add(tb, "codex", event.Broadcast, "Acknowledged through seq 7", event.Ack{EventSeq: 7})
	f.add(tb, "codex", event.Broadcast, "Contract 'user-schema' rev1", event.Contract{Name: "user-schema", Revision: 1, Body: "table users (id uuid, name text)\n", Format: "sql"})
	f.add(tb, "claude-code", event.Broadcast, "Contract 'checkout-api' rev2", event.Contract{Name: "checkout-api", Revision: 2, Body: "POST /api/checkout -> 201 { id: string, total: number }\nGET /api/checkout/:id -> 200\n", Format: "http"})
	f.add(tb, "claude-code", "codex", "Build the cart page on checkout-api", event.Task{})
	f.add(tb, "codex", "claude-code", "Cents or decimal amounts?", event.Question{})
	f.add(tb, "claude-code", event.User, "Which currency do we start with?", event.Question{})
	f.add(tb, "codex", event.Broadcast, "Form validated, 12 tests pass", event.Update{Note: "Form validated, 12 tests pass", Files: []string{"src/web/form.tsx", "src/web/cart.tsx"}, Next: "styling"})
	f.add(tb, "claude-code", event.Broadcast, "Use cents everywhere", event.Decision{Title: "Use cents everywhere", Rationale: "No rounding, and the payment provider wants them."})
	f.add(tb, "gémini\u202e", event.Broadcast, "日本語の説明 👩‍👩‍👧 ⚠️ e\u0301\u0301 שלום \x1b[31mred\x1b[0m \x1b]0;owned\x07 done", event.Status{})
	f.live["claude-code"] = engine.Liveness{Known: true, Live: true, LastBeat: f.now}
	f.live["codex"] = engine.Liveness{Known: true, Live: true, LastBeat: f.now}
	return f
}

// worldly is a story whose paths, names, contracts and notes are in scripts of every kind: wide, combining, joined and from right to left.
func worldly(tb testing.TB) *fakeEngine {
	tb.Helper()
	f := story(tb)
	f.own(tb, "エージェント", event.Exclusive, "カート 👩‍👩‍👧 e\u0301lan", "docs/カート-e\u0301👍🏽")
	f.own(tb, "שרון", event.Shared, "👩‍💻 שלום עולם", "src/api/שלום")
	f.add(tb, "エージェント", event.Broadcast, "Contract '注文-e\u0301👍' rev1", event.Contract{
		Name: "注文-e\u0301👍", Revision: 1, Body: "POST /注文 -> 201 { 合計: number }\nשלום 👩‍👩‍👧 e\u0301\u0301 ⚠️\n", Format: "http",
	})
	f.add(tb, "שרון", event.Broadcast, "שלום: ノート 👩‍💻 e\u0301", event.Update{Note: "שלום: ノート 👩‍💻 e\u0301", Files: []string{"src/api/שלום/e\u0301.md"}})
	f.add(tb, "エージェント", event.User, "価格はセント 💴 ですか？", event.Question{})
	return f
}
