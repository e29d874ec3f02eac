//go:build unix

package acp

import (
	"context"
	"fmt"
	"io"
	"log/slog" //nolint:depguard // the library logs by itself unless it is given a logger that does not
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	sdk "github.com/coder/acp-go-sdk"
	"go.uber.org/goleak"

	"github.com/agentloadout/loadout/providers/internal/misbehave"
)

// envAgent makes the test binary an agent that speaks the protocol and behaves as its value says.
const envAgent = "TEST_AGENT"

func TestMain(m *testing.M) {
	misbehave.As()
	if how := os.Getenv(envAgent); how != "" {
		serve(how)
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// agent is the stand-in. The embedded interface, which is nil, stands for the methods that no test calls.
type agent struct {
	sdk.Agent

	how       string
	conn      *sdk.AgentSideConnection
	cancelled chan struct{}
}

func serve(how string) {
	a := &agent{how: how, cancelled: make(chan struct{}, 1)}
	if how == "deaf" || how == "stubborn" {
		signal.Ignore(syscall.SIGINT)
	}
	if how == "chatty" {
		fmt.Println("Welcome to the agent!")
	}
	stdin, w := io.Pipe() // nothing is read before the logger is set
	a.conn = sdk.NewAgentSideConnection(a, os.Stdout, stdin)
	a.conn.SetLogger(slog.New(slog.DiscardHandler))
	go func() {
		_, _ = io.Copy(w, os.Stdin)
		w.Close()
	}()
	<-a.conn.Done()
	if how == "stays" || how == "stubborn" {
		time.Sleep(time.Minute)
	}
}

func (a *agent) Initialize(context.Context, sdk.InitializeRequest) (sdk.InitializeResponse, error) {
	hello := sdk.InitializeResponse{
		ProtocolVersion: sdk.ProtocolVersionNumber, AgentInfo: &sdk.Implementation{Name: "stand-in", Version: "1.2"},
		AgentCapabilities: sdk.AgentCapabilities{LoadSession: a.how != "forgetful"},
	}
	switch a.how {
	case "old":
		hello.ProtocolVersion = 0
	case "resumes":
		hello.AgentCapabilities.SessionCapabilities.Resume = &sdk.SessionResumeCapabilities{}
	}
	return hello, nil
}

func (a *agent) NewSession(context.Context, sdk.NewSessionRequest) (sdk.NewSessionResponse, error) {
	switch a.how {
	case "signed-out":
		return sdk.NewSessionResponse{}, sdk.NewAuthRequired(map[string]any{"details": "log in first"})
	case "nameless":
		return sdk.NewSessionResponse{}, nil
	case "odd-name":
		return sdk.NewSessionResponse{SessionId: "one\x1b[31m"}, nil
	}
	return sdk.NewSessionResponse{SessionId: "session-1"}, nil
}

// LoadSession replays more than the library can queue.
func (a *agent) LoadSession(ctx context.Context, r sdk.LoadSessionRequest) (sdk.LoadSessionResponse, error) {
	if r.SessionId != "session-1" {
		return sdk.LoadSessionResponse{}, &sdk.RequestError{Code: -32002, Message: "Resource not found", Data: map[string]any{"uri": string(r.SessionId)}}
	}
	for i := range 5000 {
		a.update(ctx, sdk.UpdateAgentMessageText("old "+strconv.Itoa(i)))
	}
	return sdk.LoadSessionResponse{}, nil
}

func (a *agent) ResumeSession(context.Context, sdk.ResumeSessionRequest) (sdk.ResumeSessionResponse, error) {
	return sdk.ResumeSessionResponse{}, nil
}

func (a *agent) SetSessionMode(_ context.Context, r sdk.SetSessionModeRequest) (sdk.SetSessionModeResponse, error) {
	if r.ModeId != "ask" {
		return sdk.SetSessionModeResponse{}, sdk.NewInvalidParams("no such mode")
	}
	return sdk.SetSessionModeResponse{}, nil
}

func (a *agent) Cancel(context.Context, sdk.CancelNotification) error {
	select {
	case a.cancelled <- struct{}{}:
	default:
	}
	return nil
}

func (a *agent) update(ctx context.Context, u sdk.SessionUpdate) {
	if err := a.conn.SessionUpdate(ctx, sdk.SessionNotification{SessionId: "session-1", Update: u}); err != nil {
		os.Exit(4)
	}
}

func (a *agent) Prompt(ctx context.Context, r sdk.PromptRequest) (sdk.PromptResponse, error) {
	end := sdk.PromptResponse{StopReason: sdk.StopReasonEndTurn, Usage: &sdk.Usage{InputTokens: 5, OutputTokens: 7, CachedReadTokens: sdk.Ptr(20)}}
	switch a.how {
	case "silent":
		return end, nil
	case "refusing":
		end.StopReason = sdk.StopReasonRefusal
		return end, nil
	case "odd":
		end.StopReason = "novel"
		return end, nil
	case "cut-off":
		end.StopReason = sdk.StopReasonMaxTokens
	case "failing":
		return end, sdk.NewInternalError(map[string]any{"details": "boom"})
	case "dies":
		fmt.Fprintln(os.Stderr, "out of memory")
		os.Exit(3)
	case "leaves":
		os.Exit(0)
	case "floods":
		for line := strings.Repeat("x", 1<<20); ; {
			fmt.Println(line)
		}
	case "long-line":
		fmt.Println(strings.Repeat("x", 9<<20))
	case "polite":
		a.update(ctx, sdk.UpdateAgentMessageText("One moment."))
		<-a.cancelled
		end.StopReason = sdk.StopReasonCancelled
		return end, nil
	case "deaf", "stubborn":
		a.update(ctx, sdk.UpdateAgentMessageText("One moment."))
		time.Sleep(time.Minute)
	case "acts":
		a.update(ctx, sdk.StartToolCall("1", "rm -r x", sdk.WithStartKind(sdk.ToolKindExecute), sdk.WithStartStatus(sdk.ToolCallStatusPending)))
		a.update(ctx, sdk.UpdateToolCall("1", sdk.WithUpdateStatus(sdk.ToolCallStatusCompleted)))
	case "asks":
		a.update(ctx, sdk.UpdateAgentMessageText("Let me see."))
		for i, kind := range []sdk.ToolKind{sdk.ToolKindRead, sdk.ToolKindEdit} {
			id := sdk.ToolCallId(strconv.Itoa(i))
			a.update(ctx, sdk.StartToolCall(id, "x.go", sdk.WithStartKind(kind)))
			answer, err := a.conn.RequestPermission(ctx, sdk.RequestPermissionRequest{
				SessionId: "session-1", ToolCall: sdk.ToolCallUpdate{ToolCallId: id, Kind: &kind, Title: sdk.Ptr("x.go")},
				Options: []sdk.PermissionOption{
					{Kind: sdk.PermissionOptionKindAllowAlways, OptionId: "always", Name: "Always"},
					{Kind: sdk.PermissionOptionKindAllowOnce, OptionId: "yes", Name: "Yes"},
					{Kind: sdk.PermissionOptionKindRejectOnce, OptionId: "no", Name: "No"},
				},
			})
			if err != nil || answer.Outcome.Selected == nil {
				os.Exit(4)
			}
			a.update(ctx, sdk.UpdateAgentMessageText(string(kind)+" "+string(answer.Outcome.Selected.OptionId)))
		}
		return end, nil
	case "curious":
		_, readErr := a.conn.ReadTextFile(ctx, sdk.ReadTextFileRequest{SessionId: "session-1", Path: "/etc/passwd"})
		_, runErr := a.conn.CreateTerminal(ctx, sdk.CreateTerminalRequest{SessionId: "session-1", Command: "id"})
		a.update(ctx, sdk.UpdateAgentMessageText(fmt.Sprintf("read %v, run %v", readErr != nil, runErr != nil)))
		return end, nil
	}
	a.update(ctx, sdk.UpdateAgentThoughtText("hm"))
	a.update(ctx, sdk.UpdateAgentMessageText("You said: "))
	a.update(ctx, sdk.UpdateAgentMessageText(r.Prompt[0].Text.Text))
	return end, nil
}
