// Package claude drives Claude Code, the program claude, one process a turn: `claude -p` with the prompt on stdin and one JSON
// object a line on stdout.
package claude

import (
	"context"
	"os"

	"github.com/agentloadout/loadout/engine/turn"
	"github.com/agentloadout/loadout/providers/internal/process"
	"github.com/agentloadout/loadout/providers/internal/program"
)

// Name of the provider.
const Name = "claude-code"

var claude = program.Program{
	Provider: Name, Binary: "claude",
	Install: "npm install -g @anthropic-ai/claude-code",
	SignIn:  "run claude and type /login, or set ANTHROPIC_API_KEY",
}

// retries is how often the program may repeat a request that failed. Its own default of ten takes minutes, also for a wrong key.
const retries = "2"

// Provider drives Claude Code.
type Provider struct{}

// New returns the provider.
func New() Provider { return Provider{} }

// Name is claude-code.
func (Provider) Name() string { return Name }

// Scripted is false: a model answers.
func (Provider) Scripted() bool { return false }

// Detect asks the program for its version and its login.
func (Provider) Detect(ctx context.Context, command []string) (turn.Program, error) {
	path, _, err := claude.Find(command)
	if err != nil {
		return turn.Program{}, err
	}
	if len(command) > 0 {
		return program.Unasked(path), nil
	}
	found := turn.Program{Path: path}
	version, _, err := claude.Ask(ctx, process.Command{Path: path, Args: []string{"--version"}})
	if err != nil {
		return found, err
	}
	found.Version = program.OneLine(version)
	login, _, err := claude.Ask(ctx, process.Command{Path: path, Args: []string{"auth", "status"}})
	if err != nil {
		return found, err
	}
	var status struct {
		LoggedIn   bool   `json:"loggedIn"`
		AuthMethod string `json:"authMethod"`
	}
	if !fits([]byte(login), &status) {
		return found, nil // an older version, which does not tell
	}
	found.SignedIn = status.LoggedIn
	if !found.SignedIn {
		return found, claude.Failure(turn.NotSignedIn, turn.Nothing, "", nil)
	}
	found.Account = program.OneLine(status.AuthMethod)
	return found, nil
}

// CheckSession refuses what is no UUID.
func (Provider) CheckSession(id string) error { return claude.CheckSession(id) }

// Do runs one turn.
func (Provider) Do(ctx context.Context, t turn.Turn, progress func(turn.Progress)) (turn.Reply, error) {
	if err := claude.Check(t); err != nil {
		return turn.Reply{Session: t.Session}, err
	}
	flags, err := permissionFlags(t.Permissions)
	if err != nil {
		return turn.Reply{Session: t.Session}, err
	}
	path, args, err := claude.Find(t.Permissions.Command)
	if err != nil {
		return turn.Reply{Session: t.Session}, err
	}
	args = append(args[:len(args):len(args)], "-p", "--output-format", "stream-json", "--verbose", "--include-partial-messages")
	session := t.Session
	if session == "" {
		session = program.NewUUID()
		args = append(args, "--session-id", session)
	} else {
		args = append(args, "--resume", session)
	}
	if t.Schema != nil {
		args = append(args, "--json-schema", string(t.Schema))
	}
	args = append(args, flags...)
	if program.InsideHook() {
		args = append(args, "--settings", `{"disableAllHooks":true}`)
	}

	s := newStream(t, session, progress)
	lines, err := process.Run(ctx, process.Command{
		Path: path, Args: args, Dir: t.Dir, Env: environ(t.Env), Mark: t.Mark, Deadline: program.Deadline(t),
	}, program.Inert(t.Prompt), s.line)
	if err != nil {
		return turn.Reply{Session: t.Session}, claude.NotStarted(ctx, t.Permissions.Command, err)
	}
	return s.finish(lines)
}

// environ bounds the retries of the program, unless a person or the caller has set them.
func environ(further []string) []string {
	const key = "CLAUDE_CODE_MAX_RETRIES"
	if _, set := os.LookupEnv(key); set {
		return further
	}
	return append([]string{key + "=" + retries}, further...)
}
