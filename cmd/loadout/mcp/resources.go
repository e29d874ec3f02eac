package mcp

import (
	"context"
	"encoding/json"
	"net/url"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/state"
)

const (
	scheme   = "loadout://"
	jsonType = "application/json"
)

// Kinds of resources, the first part of their addresses.
const (
	kindSnapshot = "snapshot"
	kindContract = "contract"
	kindEvent    = "event"
)

func snapshotURI(agent string) string { return scheme + kindSnapshot + "/" + escape(agent) }
func contractURI(name string) string  { return scheme + kindContract + "/" + escape(name) }
func eventURI(seq int64) string       { return scheme + kindEvent + "/" + strconv.FormatInt(seq, 10) }

// escape leaves only what the expansion of a URI template leaves as it is.
func escape(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "+", "%20") }

// address is what a URI names.
type address struct{ kind, name string }

// parseURI reads the address of a resource; anything else is a *engine.NotFoundError.
func parseURI(uri string) (address, error) {
	kind, escaped, ok := strings.Cut(strings.TrimPrefix(uri, scheme), "/")
	name, err := url.PathUnescape(escaped)
	good := name != "" && utf8.ValidString(name) && !strings.ContainsFunc(name, unicode.IsControl)
	switch kind {
	case kindSnapshot:
		good = good && utf8.RuneCountInString(name) <= event.MaxName
	case kindContract:
		good = good && utf8.RuneCountInString(name) <= event.MaxContractName
	case kindEvent:
		_, good = seqOf(name)
	default:
		good = false
	}
	if !strings.HasPrefix(uri, scheme) || !ok || err != nil || strings.Contains(escaped, "/") || !good {
		return address{}, &engine.NotFoundError{Kind: "resource", Name: uri}
	}
	return address{kind, name}, nil
}

// seqOf reads a sequence number as eventURI writes it.
func seqOf(name string) (int64, bool) {
	seq, err := strconv.ParseInt(name, 10, 64)
	return seq, err == nil && 0 <= seq && seq <= event.MaxSeq && strconv.FormatInt(seq, 10) == name
}

// addResources offers what can be read. Contracts are listed as they come to be known.
func (s *Server) addResources() {
	for _, t := range []sdk.ResourceTemplate{
		{Name: kindSnapshot, Title: "Snapshot of an agent", URITemplate: scheme + kindSnapshot + "/{agent}", Description: "Everything that concerns one agent now, bounded. Subscribe to be told of changes."},
		{Name: kindContract, Title: "Contract", URITemplate: scheme + kindContract + "/{name}", Description: "The latest revision of a contract, and who builds on it. Subscribe to be told of revisions."},
		{Name: kindEvent, Title: "Event", URITemplate: scheme + kindEvent + "/{seq}", Description: "One event of the log, whole."},
	} {
		t.MIMEType = jsonType
		s.protocol.AddResourceTemplate(&t, s.read)
	}
	s.protocol.AddResource(&sdk.Resource{
		Name: "my snapshot", Title: "What you must know", URI: snapshotURI(engine.Me), MIMEType: jsonType,
		Description: "Everything that concerns your agent now, bounded. Subscribe to be told of changes.",
	}, s.read)
}

// addContract lists a contract.
func (s *Server) addContract(name string) {
	s.protocol.AddResource(&sdk.Resource{
		Name: "contract " + name, URI: contractURI(name), MIMEType: jsonType, Description: "The latest revision of a contract.",
	}, s.read)
}

// read answers a request for a resource.
func (s *Server) read(ctx context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	lost := s.lost(ctx)
	data, err := s.resource(ctx, r.Params.URI)
	if engine.ErrorCode(err) == "not_found" {
		return nil, sdk.ResourceNotFoundError(r.Params.URI)
	}
	if err != nil {
		return nil, err
	}
	object, err := encode(data)
	if err == nil && lost != "" {
		object, _, err = noted(object, lost)
	}
	if err != nil {
		return nil, err
	}
	text, err := indented(object)
	if err != nil {
		return nil, err
	}
	return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: r.Params.URI, MIMEType: jsonType, Text: text}}}, nil
}

// contractData is a contract as its resource shows it.
type contractData struct {
	engine.ContractText
	Readers []state.Reader `json:"readers"`
	Notice  string         `json:"notice"`
}

// eventData is an event as its resource shows it.
type eventData struct {
	Event  json.RawMessage `json:"event"`
	Notice string          `json:"notice"`
}

// resource is what an address stands for.
func (s *Server) resource(ctx context.Context, uri string) (any, error) {
	at, err := parseURI(uri)
	if err != nil {
		return nil, err
	}
	switch at.kind {
	case kindSnapshot:
		if event.SameName(at.name, engine.Me) {
			if at.name, err = s.readingAgent(ctx); err != nil {
				return nil, err
			}
		}
		return s.boundedSnapshot(ctx, at.name)
	case kindContract:
		v, err := s.engine.View(ctx)
		if err != nil {
			return nil, err
		}
		text, err := s.engine.ContractBody(ctx, at.name, 0)
		c, _ := v.State.Contract(at.name)
		return contractData{text, append([]state.Reader{}, c.Readers...), untrusted}, err
	}
	seq, _ := seqOf(at.name)
	found, err := s.engine.Events(ctx, engine.Query{After: seq - 1, Before: seq + 1, Max: 1})
	if err != nil {
		return nil, err
	}
	if len(found.Events) == 0 {
		return nil, &engine.NotFoundError{Kind: "event", Name: at.name}
	}
	return eventData{found.Events[0].AppendLine(nil), untrusted}, nil
}

// maxCompletions is how many values a completion offers, as the protocol bounds it.
const maxCompletions = 100

// complete offers names for the templates.
func (s *Server) complete(ctx context.Context, r *sdk.CompleteRequest) (*sdk.CompleteResult, error) {
	v, err := s.engine.View(ctx)
	if err != nil {
		return nil, err
	}
	var all []string
	switch r.Params.Argument.Name {
	case "agent":
		for _, a := range v.State.Agents() {
			all = append(all, a.Name)
		}
	case "name":
		for _, c := range v.State.Contracts() {
			all = append(all, c.Name)
		}
	}
	values := []string{}
	for _, name := range all {
		if strings.HasPrefix(name, r.Params.Argument.Value) {
			values = append(values, name)
		}
	}
	total := len(values)
	values = values[:min(total, maxCompletions)]
	return &sdk.CompleteResult{Completion: sdk.CompletionResultDetails{Values: values, Total: total, HasMore: total > len(values)}}, nil
}
