package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/agentloadout/loadout/engine/event"
)

// MaxMessage is the longest message that is read, in bytes. The largest that a tool takes is a contract of 100,000 characters, each
// of which may be an escape of six bytes, or of twelve outside of the basic plane.
const MaxMessage = 4 << 20

const (
	settleWait = 5 * time.Second // for answers, when the input has ended
	stopWait   = time.Second     // for messages that are being written, when the server is told to stop
)

// lines is the transport of one message a line. Unlike the one of the SDK it answers a line that is no message, or too long a one,
// with an error, and goes on.
type lines struct {
	in   io.Reader
	out  io.Writer
	note func(format string, args ...any)
}

// Connect implements sdk.Transport. Reading and writing go on beside: neither can be interrupted on standard streams.
func (l *lines) Connect(ctx context.Context) (sdk.Connection, error) {
	c := &lineConn{
		note: l.note, incoming: make(chan incoming), outgoing: make(chan outgoing), closed: make(chan struct{}), deaf: make(chan struct{}),
		asked: map[jsonrpc.ID]struct{}{},
	}
	go c.read(l.in)
	go c.write(l.out)
	context.AfterFunc(ctx, func() { time.AfterFunc(stopWait, c.giveUp) })
	return c, nil
}

// incoming is a line that was read: messages, or why there are no more.
type incoming struct {
	messages []jsonrpc.Message
	err      error
}

// outgoing is a line that is to be written, and where it is said what became of that.
type outgoing struct {
	line []byte
	done chan<- error
}

// lineConn is the connection that lines makes.
type lineConn struct {
	note     func(format string, args ...any)
	incoming chan incoming
	outgoing chan outgoing
	queue    []jsonrpc.Message // rest of a batch; only Read touches it

	pending sync.Mutex              // guards what follows
	asked   map[jsonrpc.ID]struct{} // requests without an answer yet
	idle    chan struct{}           // closed when there are none any more, once the input has ended; nil before

	closing   sync.Once
	closed    chan struct{}
	givingUp  sync.Once
	deaf      chan struct{} // closed when nobody is waited for any more who should read what is written
	truncated bool          // the line that is being read is too long
}

// SessionID implements sdk.Connection.
func (*lineConn) SessionID() string { return "" }

// Close implements sdk.Connection. It closes neither end: they are the process's own.
func (c *lineConn) Close() error {
	c.closing.Do(func() { close(c.closed) })
	return nil
}

// Read implements sdk.Connection.
func (c *lineConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	if len(c.queue) == 0 {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-c.closed:
			return nil, io.EOF
		case next := <-c.incoming:
			if next.err != nil {
				return nil, next.err
			}
			c.queue = next.messages
		}
	}
	first := c.queue[0]
	c.queue = c.queue[1:]
	return first, nil
}

// ask notes that requests have come in. One that lasts as long as the connection does not count.
func (c *lineConn) ask(messages []jsonrpc.Message) {
	c.pending.Lock()
	defer c.pending.Unlock()
	for _, m := range messages {
		if r, ok := m.(*jsonrpc.Request); ok && r.IsCall() && r.Method != "subscriptions/listen" {
			c.asked[r.ID] = struct{}{}
		}
	}
}

// answered notes that a request was answered.
func (c *lineConn) answered(id jsonrpc.ID) {
	c.pending.Lock()
	defer c.pending.Unlock()
	delete(c.asked, id)
	if len(c.asked) == 0 && c.idle != nil {
		close(c.idle)
		c.idle = nil
	}
}

// settle waits until everything that was asked is answered. The SDK drops what is not when the input ends.
func (c *lineConn) settle() {
	c.pending.Lock()
	if len(c.asked) == 0 {
		c.pending.Unlock()
		return
	}
	idle := make(chan struct{})
	c.idle = idle
	c.pending.Unlock()
	timer := time.NewTimer(settleWait)
	defer timer.Stop()
	select {
	case <-idle:
	case <-c.closed:
	case <-timer.C:
	}
}

// Write implements sdk.Connection.
func (c *lineConn) Write(ctx context.Context, m jsonrpc.Message) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	line, err := encodeMessage(m)
	if err != nil {
		return err
	}
	err = c.writeLine(line)
	if r, ok := m.(*jsonrpc.Response); ok {
		c.answered(r.ID)
	}
	return err
}

// encodeMessage is jsonrpc.EncodeMessage, but that takes apart a result once more to put it into its message.
func encodeMessage(m jsonrpc.Message) ([]byte, error) {
	r, ok := m.(*jsonrpc.Response)
	if !ok || r.Error != nil || len(r.Result) == 0 {
		return jsonrpc.EncodeMessage(m)
	}
	id, err := json.Marshal(r.ID.Raw())
	if err != nil {
		return nil, fmt.Errorf("encode answer: %w", err)
	}
	return slices.Concat([]byte(`{"jsonrpc":"2.0","id":`), id, []byte(`,"result":`), r.Result, []byte("}")), nil
}

// giveUp ends waiting for a client that does not read.
func (c *lineConn) giveUp() { c.givingUp.Do(func() { close(c.deaf) }) }

// writeLine returns when a line is written, or when the client is given up.
func (c *lineConn) writeLine(line []byte) error {
	done := make(chan error, 1)
	select {
	case c.outgoing <- outgoing{append(line, '\n'), done}:
	case <-c.closed:
		return io.ErrClosedPipe
	case <-c.deaf:
		return io.ErrClosedPipe
	}
	select {
	case err := <-done:
		return err
	case <-c.deaf:
		return io.ErrClosedPipe
	}
}

// write writes what comes until the connection is closed or the client is given up.
func (c *lineConn) write(out io.Writer) {
	for {
		select {
		case <-c.closed:
			return
		case <-c.deaf:
			return
		case next := <-c.outgoing:
			_, err := out.Write(next.line)
			next.done <- err
		}
	}
}

// read hands on what comes in until it ends.
func (c *lineConn) read(in io.Reader) {
	r := bufio.NewReaderSize(in, 64<<10)
	for {
		line, err := c.line(r)
		next := incoming{err: err}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			next.messages = c.decode(line)
		}
		if len(next.messages) > 0 {
			c.ask(next.messages)
			select {
			case c.incoming <- incoming{messages: next.messages}:
			case <-c.closed:
				return
			}
		}
		if err == nil {
			continue
		}
		c.settle()
		c.giveUp()
		select {
		case c.incoming <- incoming{err: err}:
		case <-c.closed:
		}
		return
	}
}

// line reads one line, nothing when it is longer than MaxMessage.
func (c *lineConn) line(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		if len(line)+len(part) > MaxMessage {
			c.truncated, line = true, nil
		}
		if !c.truncated {
			line = append(line, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if c.truncated {
			c.truncated, line = false, nil
			c.refuse(nil, jsonrpc.CodeInvalidRequest, "the message is longer than 4 MiB")
		}
		return line, err
	}
}

// decode is the messages of a line. What is none is answered here.
func (c *lineConn) decode(line []byte) []jsonrpc.Message {
	if !json.Valid(line) {
		c.refuse(nil, jsonrpc.CodeParseError, "the line is not valid JSON")
		return nil
	}
	parts := []json.RawMessage{line}
	if line[0] == '[' { // a batch, which clients of 2025-03-26 may send; each of its messages is answered by itself
		if err := json.Unmarshal(line, &parts); err != nil || len(parts) == 0 {
			c.refuse(nil, jsonrpc.CodeInvalidRequest, "the batch is empty")
			return nil
		}
	}
	var messages []jsonrpc.Message
	for _, part := range parts {
		id, err := idOf(part)
		var m jsonrpc.Message
		if err == nil {
			m, err = jsonrpc.DecodeMessage(part)
		}
		if err != nil {
			c.refuse(id, jsonrpc.CodeInvalidRequest, "the line is no JSON-RPC 2.0 message: "+err.Error())
			continue
		}
		messages = append(messages, m)
	}
	return messages
}

// idOf is the id of what may not be a message otherwise, nil for none. A number that is no whole one, or too large a one, is an error: the
// SDK would answer another id.
func idOf(part json.RawMessage) (json.RawMessage, error) {
	var request struct {
		ID json.RawMessage `json:"id"`
	}
	if json.Unmarshal(part, &request) != nil || len(request.ID) == 0 {
		return nil, nil //nolint:nilerr // the decoder says what is wrong
	}
	switch request.ID[0] {
	case '"':
		return request.ID, nil
	case 'n', '{', '[', 't', 'f':
		return nil, nil
	}
	if n, err := strconv.ParseInt(string(request.ID), 10, 64); err != nil || n > event.MaxSeq || n < -event.MaxSeq {
		return request.ID, errors.New("its id is no text and no whole number that JSON can tell apart")
	}
	return request.ID, nil
}

// refuse answers what cannot be given to the SDK, whose encoder has no null id.
func (c *lineConn) refuse(id json.RawMessage, code int, message string) {
	if id == nil {
		id = json.RawMessage("null")
	}
	c.note("refused a line: %s", message)
	answer := struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   jsonrpc.Error   `json:"error"`
	}{"2.0", id, jsonrpc.Error{Code: int64(code), Message: message}}
	line, err := json.Marshal(answer)
	if err == nil {
		err = c.writeLine(line)
	}
	if err != nil {
		c.note("answer a line: %v", err)
	}
}
