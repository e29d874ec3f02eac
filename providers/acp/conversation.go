package acp

import (
	"context"
	"errors"
	"fmt"
	"strings"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/agentloadout/loadout/engine/turn"
	"github.com/agentloadout/loadout/providers/internal/process"
	"github.com/agentloadout/loadout/providers/internal/program"
)

// conversation is one turn with one agent.
type conversation struct {
	program  program.Program
	turn     turn.Turn
	progress func(turn.Progress)
	input    *lines

	steps chan func() error // what other goroutines want done by the one that runs the turn
	over  chan struct{}     // closed when nobody takes steps any more

	// Below belongs to the goroutine that runs the turn.
	reply    turn.Reply
	asked    bool // the prompt was sent, and what comes is about it
	answered bool // the agent has sent something for it
	text     strings.Builder
	paused   bool // a tool came after the last text
}

func newConversation(p program.Program, t turn.Turn, progress func(turn.Progress)) *conversation {
	if progress == nil {
		progress = func(turn.Progress) {}
	}
	return &conversation{
		program: p, turn: t, progress: progress, reply: turn.Reply{Session: t.Session, Total: t.Before},
		steps: make(chan func() error), over: make(chan struct{}),
	}
}

// step lets the goroutine that runs the turn do something, and returns when it did. It does not when the turn is over.
func (c *conversation) step(do func() error) {
	finished := make(chan struct{})
	wrapped := func() error {
		defer close(finished)
		return do()
	}
	select {
	case c.steps <- wrapped:
		<-finished
	case <-c.over:
	}
}

func (c *conversation) initialize(ctx context.Context, conn *sdk.ClientSideConnection) (sdk.InitializeResponse, error) {
	hello, err := conn.Initialize(ctx, sdk.InitializeRequest{
		ProtocolVersion: sdk.ProtocolVersionNumber,
		ClientInfo:      &sdk.Implementation{Name: "loadout", Version: "1"},
	})
	if err != nil {
		return hello, c.failure(err, turn.Nothing)
	}
	if hello.ProtocolVersion != sdk.ProtocolVersionNumber {
		return hello, c.program.Failure(turn.Rejected, turn.Nothing,
			fmt.Sprintf("it speaks version %v of the protocol, not %v", hello.ProtocolVersion, sdk.ProtocolVersionNumber), nil)
	}
	return hello, nil
}

// converse is a whole turn in the words of the protocol.
func (c *conversation) converse(ctx context.Context, conn *sdk.ClientSideConnection) error {
	hello, err := c.initialize(ctx, conn)
	if err != nil {
		return err
	}
	session, err := c.open(ctx, conn, hello.AgentCapabilities)
	if err != nil {
		return err
	}
	if mode := c.turn.Permissions.Mode; mode != "" {
		if _, err := conn.SetSessionMode(ctx, sdk.SetSessionModeRequest{SessionId: session, ModeId: sdk.SessionModeId(mode)}); err != nil {
			return c.program.Failure(turn.Rejected, turn.Nothing, "it refused the mode "+mode+": "+message(err), err)
		}
	}
	c.step(func() error {
		c.reply.Session, c.asked = string(session), true
		c.progress(turn.Started{Session: string(session)})
		return nil
	})
	answer, err := conn.Prompt(ctx, sdk.PromptRequest{
		SessionId: session, Prompt: []sdk.ContentBlock{sdk.TextBlock(program.Inert(c.turn.Prompt))},
	})
	if err != nil {
		return c.failure(err, turn.Maybe)
	}
	c.step(func() error { return c.close(answer) })
	return nil
}

// open starts a session or goes on in the one of the turn, without a replay where the agent can.
func (c *conversation) open(ctx context.Context, conn *sdk.ClientSideConnection, able sdk.AgentCapabilities) (sdk.SessionId, error) {
	id := sdk.SessionId(c.turn.Session)
	var err error
	switch {
	case id == "":
		var made sdk.NewSessionResponse
		if made, err = conn.NewSession(ctx, sdk.NewSessionRequest{Cwd: c.turn.Dir, McpServers: []sdk.McpServer{}}); err != nil {
			return "", c.failure(err, turn.Nothing)
		}
		if c.program.CheckSession(string(made.SessionId)) != nil {
			return "", c.program.Failure(turn.Nonsense, turn.Nothing, fmt.Sprintf("it opened a session without an id that can be used: %q", made.SessionId), nil)
		}
		return made.SessionId, nil
	case able.SessionCapabilities.Resume != nil:
		_, err = conn.ResumeSession(ctx, sdk.ResumeSessionRequest{SessionId: id, Cwd: c.turn.Dir})
	case able.LoadSession:
		_, err = conn.LoadSession(ctx, sdk.LoadSessionRequest{SessionId: id, Cwd: c.turn.Dir, McpServers: []sdk.McpServer{}})
	default:
		return "", c.program.Failure(turn.UnknownSession, turn.Nothing, "it cannot go on in a session of before", nil)
	}
	if failure := c.failure(err, turn.Nothing); err != nil {
		if failure.Kind == turn.Rejected {
			failure = c.program.Failure(turn.UnknownSession, turn.Nothing, failure.Message, err)
		}
		return "", failure
	}
	return id, nil
}

// close takes the end of the answer.
func (c *conversation) close(answer sdk.PromptResponse) error {
	if u := answer.Usage; u != nil {
		c.reply.Usage = turn.Usage{Input: int64(u.InputTokens), Output: int64(u.OutputTokens), Known: true}
		if u.CachedReadTokens != nil {
			c.reply.Usage.Cached = int64(*u.CachedReadTokens)
			c.reply.Usage.Input += c.reply.Usage.Cached
		}
		if u.CachedWriteTokens != nil {
			c.reply.Usage.Input += int64(*u.CachedWriteTokens)
		}
		if u.ThoughtTokens != nil {
			c.reply.Usage.Output += int64(*u.ThoughtTokens)
		}
	}
	switch answer.StopReason {
	case sdk.StopReasonEndTurn:
		return nil
	case sdk.StopReasonMaxTokens:
		c.reply.Truncated = true
		return nil
	case sdk.StopReasonCancelled:
		return c.program.Failure(turn.Cancelled, turn.Yes, "", nil)
	case sdk.StopReasonRefusal, sdk.StopReasonMaxTurnRequests:
		return c.program.Failure(turn.Rejected, turn.Yes, "it stopped: "+string(answer.StopReason), nil)
	}
	return c.program.Failure(turn.Nonsense, turn.Yes, "it stopped for a reason that the protocol does not know: "+string(answer.StopReason), nil)
}

// authRequired is the protocol's code of an error.
const authRequired = -32000

// failure is that of a request.
func (c *conversation) failure(err error, spent turn.Spent) *turn.Failure {
	if err == nil {
		return nil
	}
	if refused := (*sdk.RequestError)(nil); errors.As(err, &refused) && refused.Code == authRequired {
		return c.program.Failure(turn.NotSignedIn, turn.Nothing, message(err), err)
	}
	return c.program.Failure(turn.Rejected, spent, message(err), err)
}

// message is what an error of the protocol says, with the details that agents put into its data.
func message(err error) string {
	refused := (*sdk.RequestError)(nil)
	if !errors.As(err, &refused) {
		return err.Error()
	}
	text := refused.Message
	switch data := refused.Data.(type) {
	case string:
		text += ": " + data
	case map[string]any:
		for _, key := range []string{"details", "message", "error", "uri"} {
			if detail, ok := data[key].(string); ok {
				return text + ": " + detail
			}
		}
	}
	return text
}

// finish is the outcome of the turn.
func (c *conversation) finish(ctx, turnCtx context.Context, result process.Result, err error) (turn.Reply, error) {
	spent := turn.Nothing
	switch {
	case c.answered:
		spent = turn.Yes
	case c.asked:
		spent = turn.Maybe
	}
	ended := process.Lines{Result: result}
	failure := (*turn.Failure)(nil)
	switch {
	case ctx.Err() != nil:
		return c.reply, c.program.Failure(turn.Cancelled, spent, "", context.Cause(ctx))
	case turnCtx.Err() != nil:
		return c.reply, c.program.Failure(turn.Timeout, spent, "stopped after "+program.Deadline(c.turn).String(), nil)
	case c.input.err != nil:
		return c.reply, c.program.Failure(turn.Nonsense, spent, c.input.err.Error(), c.input.err)
	case err == nil:
	case !errors.As(err, &failure):
		return c.reply, c.program.Failure(turn.Crashed, spent, err.Error(), err)
	case !strings.Contains(failure.Message, "peer disconnected"): // in the library's words
		if c.answered {
			failure.Spent = turn.Yes
		}
		return c.reply, failure
	case result.End == process.Exited && result.Signal != "":
		return c.reply, c.program.Ended(ended, spent)
	default:
		return c.reply, c.program.NoAnswer(ended, spent, "it ended in the middle of the conversation")
	}
	if c.turn.Prompt != "" {
		text, cut := program.Cut(c.text.String())
		c.reply.Text, c.reply.Truncated = text, c.reply.Truncated || cut
		if strings.TrimSpace(text) == "" {
			return c.reply, c.program.Failure(turn.Nonsense, turn.Yes, "the answer is empty", nil)
		}
	}
	return c.reply, nil
}
