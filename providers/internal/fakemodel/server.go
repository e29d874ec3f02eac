// Package fakemodel is a model server for tests: it answers the Messages API of Anthropic and the Responses API of OpenAI on the
// loopback interface from a script, and records what it was sent, so that real agent programs run offline and tests see what of
// them reaches a model.
package fakemodel

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"time"
)

// maxBody bounds a request that is read, in bytes.
const maxBody = 32 << 20

// Reply is what one request is answered with. The zero value is an answer without content.
type Reply struct {
	When  string // only for requests whose prompt contains this
	Times int    // how many requests it answers: 0 is one, a negative number all that come

	Text  string
	Tools []Tool // that the model asks for
	Usage *Usage // nil: DefaultUsage

	Delay     time.Duration // before the first byte
	Status    int           // an HTTP error instead of an answer
	ErrorType string        // its type in the provider's words
	Message   string        // its text
	Header    http.Header
	Hang      Hang
	Malformed bool // a page of HTML with status 200
	Cut       bool // the connection breaks in the stream
	Failed    bool // the stream ends with an error event of Message
}

// Hang is how an answer never ends.
type Hang int

// The values of Hang.
const (
	NoHang     Hang = iota
	HangSilent      // not a byte
	HangStream      // after the start of the stream
)

// Tool is a call of a tool that the model asks for.
type Tool struct {
	Namespace string // OpenAI's, of a tool that belongs to one
	Name      string
	Input     any
}

// Usage is the number of tokens that an answer reports. Input excludes Cached.
type Usage struct{ Input, Cached, Output int64 }

// DefaultUsage is what an answer without a Usage reports.
func DefaultUsage() Usage { return Usage{Input: 11, Output: 7} }

// Request is a request for an answer of the model.
type Request struct {
	API    string // anthropic or openai
	Model  string
	Stream bool
	Auth   string   // the kind of credential: x-api-key, bearer or none; never its value
	Prompt string   // the last text of the person, without reminders that the program adds
	Turns  []string // all texts of the person, in order
	Tools  []string // names of the tools that are offered
	Schema []byte   // that the answer must follow
	Body   []byte   // as received
}

// Server is a running model server.
type Server struct {
	URL string

	http *httptest.Server
	stop chan struct{} // closed by Close, ends hanging answers

	mu       sync.Mutex
	replies  []Reply
	requests []Request
	arrived  chan struct{}
}

// New starts a server that answers with the replies in their order, and then with an echo of the prompt.
func New(replies ...Reply) *Server {
	s := &Server{replies: slices.Clone(replies), stop: make(chan struct{}), arrived: make(chan struct{})}
	s.http = httptest.NewServer(s)
	s.URL = s.http.URL
	return s
}

// Close ends the server and all answers in progress.
func (s *Server) Close() {
	close(s.stop)
	s.http.CloseClientConnections()
	s.http.Close()
}

// Requests are those for an answer of the model so far.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// awaitLimit is how long a program may take to ask, on a loaded machine too.
const awaitLimit = time.Minute

// Await waits until n requests for an answer have come, a minute at most.
func (s *Server) Await(ctx context.Context, n int) error {
	ctx, cancel := context.WithTimeout(ctx, awaitLimit)
	defer cancel()
	for {
		s.mu.Lock()
		count, arrived := len(s.requests), s.arrived
		s.mu.Unlock()
		if count >= n {
			return nil
		}
		select {
		case <-arrived:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// api is one of the two APIs.
type api interface {
	read(r *Request, body []byte) error
	fail(reply Reply) any                                     // the body of an HTTP error
	answer(id string, model string, reply Reply) (any, []sse) // in one piece, and as a stream
}

// sse is a server-sent event.
type sse struct {
	name string
	data any
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		http.Error(w, err.Error(), http.StatusRequestEntityTooLarge)
		return
	}
	var (
		to      api
		request = Request{Auth: credential(r), Body: body}
	)
	switch {
	case r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/messages"):
		to, request.API = anthropic{}, "anthropic"
	case r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/responses"):
		to, request.API = openai{}, "openai"
	default:
		other(w, r)
		return
	}
	if err := to.read(&request, body); err != nil {
		writeJSON(w, http.StatusBadRequest, to.fail(Reply{Status: http.StatusBadRequest, Message: err.Error()}))
		return
	}
	reply, n := s.take(request)
	s.write(w, r, to, request, reply, n)
}

// take records a request and chooses its reply.
func (s *Server) take(r Request) (Reply, int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r)
	close(s.arrived)
	s.arrived = make(chan struct{})
	n := len(s.requests)
	i := slices.IndexFunc(s.replies, func(reply Reply) bool { return strings.Contains(r.Prompt, reply.When) })
	if i < 0 {
		return Reply{Text: "echo: " + r.Prompt}, n
	}
	reply := s.replies[i]
	switch {
	case reply.Times > 1:
		s.replies[i].Times--
	case reply.Times >= 0:
		s.replies = slices.Delete(s.replies, i, i+1)
	}
	return reply, n
}

func (s *Server) write(w http.ResponseWriter, r *http.Request, to api, request Request, reply Reply, n int) {
	wait := func(d <-chan time.Time) bool {
		select {
		case <-d:
			return true
		case <-s.stop:
		case <-r.Context().Done():
		}
		return false
	}
	if reply.Delay > 0 && !wait(time.After(reply.Delay)) || reply.Hang == HangSilent && !wait(nil) {
		return
	}
	for key, values := range reply.Header {
		w.Header()[key] = values
	}
	if reply.Status != 0 {
		writeJSON(w, reply.Status, to.fail(reply))
		return
	}
	if reply.Malformed {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, "<html>no model here</html>") // the client may be gone
		return
	}
	whole, events := to.answer(name("fake", n), request.Model, reply)
	if !request.Stream {
		if reply.Failed {
			reply.Status = http.StatusInternalServerError
			writeJSON(w, reply.Status, to.fail(reply))
			return
		}
		writeJSON(w, http.StatusOK, whole)
		return
	}
	partial := reply.Hang == HangStream || reply.Cut
	if partial {
		events = events[:min(3, len(events))]
	}
	w.Header().Set("Content-Type", "text/event-stream")
	flush := http.NewResponseController(w)
	for _, e := range events {
		data, err := json.Marshal(e.data)
		if err != nil {
			panic(http.ErrAbortHandler) // a reply of the test that is no JSON; the connection breaks
		}
		_, _ = io.WriteString(w, "event: "+e.name+"\ndata: "+string(data)+"\n\n") // the client may be gone
		_ = flush.Flush()
	}
	if reply.Hang == HangStream {
		wait(nil)
	}
	if partial {
		panic(http.ErrAbortHandler) // the documented way to break a connection
	}
}

// other answers what programs ask for beside answers: whether the server is there, which models it has, an upgrade to WebSocket.
func other(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Header.Get("Upgrade") != "":
		writeJSON(w, http.StatusUpgradeRequired, map[string]any{"error": map[string]any{"message": "no WebSocket here"}})
	case strings.HasSuffix(r.URL.Path, "/models"):
		writeJSON(w, http.StatusOK, map[string]any{"object": "list", "data": []any{}, "models": []any{}, "has_more": false})
	case strings.HasSuffix(r.URL.Path, "/count_tokens"):
		writeJSON(w, http.StatusOK, map[string]any{"input_tokens": 1})
	case r.Method == http.MethodHead || r.URL.Path == "/":
		w.WriteHeader(http.StatusOK)
	default:
		writeJSON(w, http.StatusNotFound, map[string]any{"error": map[string]any{"type": "not_found_error", "message": "nothing here"}})
	}
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the client may be gone
}

func credential(r *http.Request) string {
	if r.Header.Get("X-Api-Key") != "" {
		return "x-api-key"
	}
	kind, _, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if kind == "" {
		return "none"
	}
	return strings.ToLower(kind)
}

// prompt is the last text that is no reminder of the program.
func prompt(texts []string) string {
	for _, text := range slices.Backward(texts) {
		if !strings.HasPrefix(text, "<system-reminder>") {
			return text
		}
	}
	return ""
}
