package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/event"
)

// effect is what a tool does to the log, for the annotations.
type effect int

const (
	reads   effect = iota // stores nothing
	adds                  // stores something each time
	settles               // stores something once: the second call changes nothing, or is refused
	ends                  // takes away what was there
)

// tool is one tool.
type tool struct {
	name, title, about string
	effect             effect
	echo               string // format of a last text that repeats the data; empty: there is none
	input              *jsonschema.Schema
	output             func() (*jsonschema.Schema, error)
	call               func(ctx context.Context, s *Server, arguments json.RawMessage) (*sdk.CallToolResult, error)
}

// tools of the protocol come first, in its order.
func toolset() []tool {
	return []tool{
		claimTask(), releaseOwnership(), publishContract(), publishUpdate(), subscribe(), ack(), snapshot(),
		requestTask(), finishTask(), cancelTask(), ask(), answerQuestion(), decide(), conflicts(), diff(), replay(),
	}
}

// handled completes a tool with what carries it out: do gets checked arguments and returns texts and data.
func handled[In, Out any](t tool, do func(ctx context.Context, s *Server, in In) ([]string, Out, error)) tool {
	t.output = outputOf[Out]
	t.call = func(ctx context.Context, s *Server, arguments json.RawMessage) (*sdk.CallToolResult, error) {
		var in In
		if err := parse(arguments, t.input, &in); err != nil {
			return refusal(err, "")
		}
		lost := s.lost(ctx) // before anything is written, after which it is told no more
		texts, out, err := do(ctx, s, in)
		if err != nil {
			return refusal(err, lost)
		}
		data, err := encode(out)
		if err != nil {
			return nil, err
		}
		if t.echo != "" {
			pretty, err := indented(data)
			if err != nil {
				return nil, err
			}
			texts = append(texts, fmt.Sprintf(t.echo, pretty))
		}
		return result(texts, data, lost)
	}
	return t
}

// add registers a tool.
func (s *Server) add(t tool) error {
	output, err := t.output()
	if err != nil {
		return err
	}
	destroys, closed := t.effect == ends, false
	s.protocol.AddTool(&sdk.Tool{
		Name: t.name, Title: t.title, Description: t.about, InputSchema: t.input, OutputSchema: output,
		Annotations: &sdk.ToolAnnotations{
			Title: t.title, ReadOnlyHint: t.effect == reads, IdempotentHint: t.effect == reads || t.effect == settles,
			DestructiveHint: &destroys, OpenWorldHint: &closed,
		},
	}, func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return t.call(ctx, s, r.Params.Arguments)
	})
	s.tools[t.name] = len(s.tools) + 1
	return nil
}

// inOrder lists the tools as toolset has them, those of the coordination protocol first. The SDK sorts them by name.
func (s *Server) inOrder(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		res, err := next(ctx, method, req)
		if list, ok := res.(*sdk.ListToolsResult); ok && err == nil {
			slices.SortFunc(list.Tools, func(a, b *sdk.Tool) int { return cmp.Compare(s.tools[a.Name], s.tools[b.Name]) })
		}
		return res, err
	}
}

// refuseUnknown answers a call of a tool that is not there as tools answer, so that the model sees it.
func (s *Server) refuseUnknown(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		if p, ok := req.GetParams().(*sdk.CallToolParamsRaw); ok && p != nil && method == "tools/call" && s.tools[p.Name] == 0 {
			return refusal(&engine.UsageError{Message: "Unknown tool: " + p.Name}, "")
		}
		return next(ctx, method, req)
	}
}

// stored is what every tool that writes answers.
type stored struct {
	Agent   string   `json:"agent"`
	Seq     int64    `json:"seq"`          // of the event, -1 when nothing had to be stored
	ID      string   `json:"id,omitempty"` // of the event
	HighSeq int64    `json:"highSeq"`      // the log ends here
	Unread  int64    `json:"unread"`       // events that the agent has not acknowledged
	Notes   []string `json:"notes,omitempty"`
}

// write stores a command of an agent.
func (s *Server) write(ctx context.Context, c engine.Command, agent string) (engine.Receipt, stored, error) {
	r, err := s.engine.Do(ctx, engine.Request{Command: c})
	if err != nil {
		return r, stored{}, err
	}
	about := stored{Agent: agent, Seq: r.Seq(), HighSeq: r.Head, Notes: r.Notes}
	if n := len(r.Events); n > 0 {
		about.ID = r.Events[n-1].ID
	}
	for i := range r.Expired {
		about.Notes = append(about.Notes, fmt.Sprintf("%s (seq %d)", r.Expired[i].Description, r.Expired[i].Seq))
	}
	if v, err := s.engine.View(ctx); err == nil { // beside an answer that is given in any case
		if a, ok := v.State.Agent(agent); ok {
			about.Unread = a.Unread.Count
		}
	}
	return r, about, nil
}

// said ends the text of a write with what came with it.
func (p *page) said(about stored) []string {
	for _, n := range about.Notes {
		p.linef("note: %s", n)
	}
	if about.Unread > 0 {
		p.linef("%d unread for %s: call snapshot or subscribe", about.Unread, about.Agent)
	}
	return []string{p.text()}
}

// paths turns typed paths into stored ones.
func (s *Server) paths(typed []string) ([]string, error) {
	list := make([]string, 0, len(typed))
	for _, t := range typed {
		p, err := s.engine.Project().Rel(s.options.Dir, t)
		if err != nil {
			return nil, &engine.ValidationError{Field: "paths", Reason: "has one that cannot be taken: " + err.Error()}
		}
		list = append(list, p)
	}
	return list, nil
}

// eventOf is the first event of a type that a receipt has.
func eventOf(r engine.Receipt, t event.Type) (event.Event, bool) {
	for i := range r.Events {
		if r.Events[i].Type == t {
			return r.Events[i], true
		}
	}
	return event.Event{}, false
}
