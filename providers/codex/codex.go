// Package codex drives Codex, the program codex, one process a turn: `codex exec --json` with the prompt on stdin and one JSON object
// a line on stdout.
package codex

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/agentloadout/loadout/engine/turn"
	"github.com/agentloadout/loadout/providers/internal/process"
	"github.com/agentloadout/loadout/providers/internal/program"
)

// Name of the provider.
const Name = "codex"

var codex = program.Program{
	Provider: Name, Binary: "codex",
	Install: "npm install -g @openai/codex",
	SignIn:  "codex login, or set CODEX_API_KEY",
}

// Provider drives Codex.
type Provider struct{}

// New returns the provider.
func New() Provider { return Provider{} }

// Name is codex.
func (Provider) Name() string { return Name }

// Scripted is false: a model answers.
func (Provider) Scripted() bool { return false }

// Detect asks the program for its version and its login. A model provider of the person's own needs no login.
func (Provider) Detect(ctx context.Context, command []string) (turn.Program, error) {
	path, _, err := codex.Find(command)
	if err != nil {
		return turn.Program{}, err
	}
	if len(command) > 0 {
		return program.Unasked(path), nil
	}
	found := turn.Program{Path: path}
	version, _, err := codex.Ask(ctx, process.Command{Path: path, Args: []string{"--version"}})
	if err != nil {
		return found, err
	}
	found.Version = program.OneLine(version)
	if os.Getenv("CODEX_API_KEY") != "" {
		found.SignedIn, found.Account = true, "CODEX_API_KEY" // which `login status` does not look at
		return found, nil
	}
	out, lines, err := codex.Ask(ctx, process.Command{Path: path, Args: []string{"login", "status"}})
	if err != nil {
		return found, err
	}
	if found.SignedIn = lines.Code == 0; !found.SignedIn {
		if name := ownModelProvider(); name != "" {
			found.SignedIn, found.Account = true, program.OneLine("model provider "+name)
			return found, nil
		}
		return found, codex.Failure(turn.NotSignedIn, turn.Nothing, "", nil)
	}
	for line := range strings.Lines(out + lines.Stderr) {
		if !strings.HasPrefix(line, "WARNING") {
			// "API key configured - sk-…": the key is masked, and still nobody's business.
			account, _, _ := strings.Cut(line, " - ")
			found.Account = program.OneLine(account)
			break
		}
	}
	return found, nil
}

// ownModelProvider is the model provider that the person has set in the program's configuration, "" where that is the program's own one or
// one that needs its login. What `login status` says is not about it.
func ownModelProvider() string {
	dir := os.Getenv("CODEX_HOME")
	if dir == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return ""
		}
		dir = filepath.Join(home, ".codex")
	}
	var config struct {
		Provider  string `toml:"model_provider"`
		Providers map[string]struct {
			Login bool `toml:"requires_openai_auth"`
		} `toml:"model_providers"`
	}
	_, err := toml.DecodeFile(filepath.Join(dir, "config.toml"), &config)
	if err != nil || config.Provider == "openai" || config.Providers[config.Provider].Login {
		return ""
	}
	return config.Provider
}

// CheckSession refuses what is no UUID.
func (Provider) CheckSession(id string) error { return codex.CheckSession(id) }

// Do runs one turn.
func (Provider) Do(ctx context.Context, t turn.Turn, progress func(turn.Progress)) (turn.Reply, error) {
	reply := turn.Reply{Session: t.Session, Total: t.Before}
	if err := codex.Check(t); err != nil {
		return reply, err
	}
	flags, err := permissionFlags(t.Permissions)
	if err != nil {
		return reply, err
	}
	path, command, err := codex.Find(t.Permissions.Command)
	if err != nil {
		return reply, err
	}
	// All flags come before resume, which knows few of them.
	args := append(command[:len(command):len(command)], "exec", "--json", "--skip-git-repo-check",
		// Without this it waits for a network for ever, whatever its limits of retries.
		"-c", "features.unbounded_connection_retries=false")
	args = append(args, flags...)
	if t.Permissions.Forbid {
		servers, err := serverFlags(ctx, process.Command{Path: path, Args: command, Dir: t.Dir, Env: t.Env, Mark: t.Mark})
		if err != nil {
			return reply, err
		}
		args = append(args, servers...)
	}
	if program.InsideHook() {
		args = append(args, "-c", "features.hooks=false", "-c", "notify=[]")
	}
	if t.Schema != nil {
		file, remove, err := schemaFile(t.Schema)
		if err != nil {
			return reply, err
		}
		defer remove()
		args = append(args, "--output-schema", file)
	}
	if t.Session != "" {
		args = append(args, "resume", t.Session)
	}
	args = append(args, "-")

	s := newStream(t, progress)
	lines, err := process.Run(ctx, process.Command{
		Path: path, Args: args, Dir: t.Dir, Env: t.Env, Mark: t.Mark, Deadline: program.Deadline(t),
	}, strings.ToValidUTF8(t.Prompt, "\uFFFD"), s.line)
	if err != nil {
		return reply, codex.NotStarted(ctx, t.Permissions.Command, err)
	}
	return s.finish(lines)
}

// serverFlags takes away each MCP server that the program's settings name. They are merged, never replaced, so that each has to
// be named; c has the command that starts the program.
func serverFlags(ctx context.Context, c process.Command) ([]string, error) {
	c.Args = append(c.Args[:len(c.Args):len(c.Args)], "mcp", "list", "--json")
	out, lines, err := codex.Ask(ctx, c)
	if err != nil {
		return nil, err
	}
	var servers []struct {
		Name string `json:"name"`
	}
	if lines.Code != 0 || !fits([]byte(out), &servers) {
		return nil, codex.Failure(turn.Rejected, turn.Nothing, "it does not tell which MCP servers it has: "+program.LastLine(lines.Stderr), nil)
	}
	if len(servers) == 0 {
		return nil, nil
	}
	var off []string // in one flag, as a second one would replace the first
	for _, server := range servers {
		name, err := json.Marshal(server.Name) // a string of TOML too
		if err != nil {
			return nil, codex.Failure(turn.Nonsense, turn.Nothing, err.Error(), err)
		}
		off = append(off, string(name)+"={enabled=false}")
	}
	return []string{"-c", "mcp_servers={" + strings.Join(off, ",") + "}"}, nil
}

// schemaFile writes a schema where nobody else reads it.
func schemaFile(schema []byte) (path string, remove func(), err error) {
	dir, err := os.MkdirTemp("", "loadout-turn-")
	if err != nil {
		return "", nil, codex.Failure(turn.Rejected, turn.Nothing, "write schema: "+err.Error(), err)
	}
	remove = func() { _ = os.RemoveAll(dir) } // a leftover in the folder for temporary files
	path = filepath.Join(dir, "schema.json")
	if err := os.WriteFile(path, schema, 0o600); err != nil {
		remove()
		return "", nil, codex.Failure(turn.Rejected, turn.Nothing, "write schema: "+err.Error(), err)
	}
	return path, remove, nil
}
