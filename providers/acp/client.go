package acp

import (
	"context"
	"slices"
	"strings"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/agentloadout/loadout/engine/turn"
	"github.com/agentloadout/loadout/providers/internal/program"
)

// kinds are the protocol's kinds of tools, by which they are allowed.
var kinds = []sdk.ToolKind{
	sdk.ToolKindRead, sdk.ToolKindEdit, sdk.ToolKindDelete, sdk.ToolKindMove, sdk.ToolKindSearch, sdk.ToolKindExecute, sdk.ToolKindThink,
	sdk.ToolKindFetch, sdk.ToolKindSwitchMode, sdk.ToolKindOther,
}

// Describe says what the permissions let a turn do.
func (p Provider) Describe(permissions turn.Permissions) (string, error) {
	refuse := func(text string) (string, error) {
		return "", p.program.Failure(turn.Rejected, turn.Nothing, text, nil)
	}
	for _, kind := range slices.Concat(permissions.Allow, permissions.Deny) {
		if !slices.Contains(kinds, sdk.ToolKind(kind)) {
			return refuse("“" + kind + "” is no kind of tool; there are read, edit, delete, move, search, execute, think, fetch, switch_mode and other")
		}
	}
	if permissions.Model != "" {
		return refuse("the protocol cannot choose a model: name it in the agent's command or settings")
	}
	if permissions.Forbid {
		if permissions.Mode != "" || len(permissions.Allow) > 0 {
			return refuse("everything is forbidden and something allowed")
		}
		return "whatever it asks leave for is refused, and a turn that acts without asking is stopped", nil
	}
	text := "what its own settings allow; whatever it asks leave for is refused"
	if len(permissions.Allow) > 0 {
		text += ", but for: " + strings.Join(permissions.Allow, ", ")
	}
	if permissions.Mode != "" {
		text += "; mode " + permissions.Mode
	}
	return text, nil
}

// RequestPermission allows what the turn allows, once, and refuses everything else.
func (c *conversation) RequestPermission(_ context.Context, r sdk.RequestPermissionRequest) (sdk.RequestPermissionResponse, error) {
	kind, title := sdk.ToolKindOther, "a tool"
	if r.ToolCall.Kind != nil {
		kind = *r.ToolCall.Kind
	}
	if r.ToolCall.Title != nil {
		title = program.OneLine(*r.ToolCall.Title)
	}
	p := c.turn.Permissions
	allowed := !p.Forbid && slices.Contains(p.Allow, string(kind)) && !slices.Contains(p.Deny, string(kind))
	if !allowed {
		c.step(func() error {
			c.reply.Denied = append(c.reply.Denied, string(kind)+" "+title)
			c.progress(turn.Notice{Text: "refused: " + string(kind) + " " + title})
			return nil
		})
	}
	want := sdk.PermissionOptionKindRejectOnce
	if allowed {
		want = sdk.PermissionOptionKindAllowOnce
	}
	for _, option := range r.Options {
		if option.Kind == want {
			return sdk.RequestPermissionResponse{Outcome: sdk.NewRequestPermissionOutcomeSelected(option.OptionId)}, nil
		}
	}
	return sdk.RequestPermissionResponse{Outcome: sdk.NewRequestPermissionOutcomeCancelled()}, nil // no such choice: the turn ends
}

// SessionUpdate takes a piece of the answer. What is replayed before the prompt was sent is left out.
func (c *conversation) SessionUpdate(_ context.Context, n sdk.SessionNotification) error {
	defer c.input.done()
	c.step(func() error {
		if !c.asked || string(n.SessionId) != c.reply.Session {
			return nil
		}
		u := n.Update
		switch {
		case u.AgentMessageChunk != nil:
			c.answered = true
			if text := u.AgentMessageChunk.Content.Text; text != nil {
				c.say(text.Text)
			}
		case u.AgentThoughtChunk != nil:
			c.answered = true
		case u.ToolCall != nil:
			return c.tool(u.ToolCall.Kind, u.ToolCall.Title, u.ToolCall.Status, true)
		case u.ToolCallUpdate != nil && u.ToolCallUpdate.Status != nil:
			return c.tool("", "", *u.ToolCallUpdate.Status, false)
		}
		return nil
	})
	return nil
}

// say takes a piece of text.
func (c *conversation) say(text string) {
	if text == "" {
		return
	}
	if c.paused && c.text.Len() > 0 {
		text = "\n\n" + text
	}
	c.paused = false
	if c.text.Len() <= turn.MaxAnswer {
		c.text.WriteString(text)
	}
	c.progress(turn.Text{Delta: text})
}

// tool takes the start of a tool's use, or what became of it.
func (c *conversation) tool(kind sdk.ToolKind, title string, status sdk.ToolCallStatus, start bool) error {
	c.answered, c.paused = true, true
	if c.turn.Permissions.Forbid && status == sdk.ToolCallStatusCompleted && kind != sdk.ToolKindThink {
		return c.program.Failure(turn.Forbidden, turn.Yes, strings.TrimSpace("it used a tool "+title), nil)
	}
	if start {
		c.progress(turn.Tool{Name: string(kind), Detail: program.OneLine(title)})
	}
	return nil
}

// The agent was told that there are no files and terminals of ours for it.

// ReadTextFile is refused.
func (*conversation) ReadTextFile(context.Context, sdk.ReadTextFileRequest) (sdk.ReadTextFileResponse, error) {
	return sdk.ReadTextFileResponse{}, sdk.NewMethodNotFound(sdk.ClientMethodFsReadTextFile)
}

// WriteTextFile is refused.
func (*conversation) WriteTextFile(context.Context, sdk.WriteTextFileRequest) (sdk.WriteTextFileResponse, error) {
	return sdk.WriteTextFileResponse{}, sdk.NewMethodNotFound(sdk.ClientMethodFsWriteTextFile)
}

// CreateTerminal is refused.
func (*conversation) CreateTerminal(context.Context, sdk.CreateTerminalRequest) (sdk.CreateTerminalResponse, error) {
	return sdk.CreateTerminalResponse{}, sdk.NewMethodNotFound(sdk.ClientMethodTerminalCreate)
}

// KillTerminal is refused.
func (*conversation) KillTerminal(context.Context, sdk.KillTerminalRequest) (sdk.KillTerminalResponse, error) {
	return sdk.KillTerminalResponse{}, sdk.NewMethodNotFound(sdk.ClientMethodTerminalKill)
}

// TerminalOutput is refused.
func (*conversation) TerminalOutput(context.Context, sdk.TerminalOutputRequest) (sdk.TerminalOutputResponse, error) {
	return sdk.TerminalOutputResponse{}, sdk.NewMethodNotFound(sdk.ClientMethodTerminalOutput)
}

// ReleaseTerminal is refused.
func (*conversation) ReleaseTerminal(context.Context, sdk.ReleaseTerminalRequest) (sdk.ReleaseTerminalResponse, error) {
	return sdk.ReleaseTerminalResponse{}, sdk.NewMethodNotFound(sdk.ClientMethodTerminalRelease)
}

// WaitForTerminalExit is refused.
func (*conversation) WaitForTerminalExit(context.Context, sdk.WaitForTerminalExitRequest) (sdk.WaitForTerminalExitResponse, error) {
	return sdk.WaitForTerminalExitResponse{}, sdk.NewMethodNotFound(sdk.ClientMethodTerminalWaitForExit)
}
