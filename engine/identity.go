package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/state"
	"github.com/agentloadout/loadout/engine/turn"
	"github.com/agentloadout/loadout/engine/words"
)

// Me stands for the calling agent wherever one is named.
const Me = "me"

// UnknownProgram is the base of a session whose program is not known.
const UnknownProgram = "agent"

// Environment variables that say who calls.
const (
	EnvAgent         = "LOADOUT_AGENT"
	EnvClaudeSession = "CLAUDE_CODE_SESSION_ID"
	EnvCodexSession  = "CODEX_THREAD_ID"
)

// The names that agent programs go by, of those that are mentioned twice.
const (
	claudeCode = "claude-code"
	codex      = "codex"
)

// sessionVariables are the variables in which programs tell their session to what runs in their shells. Codex comes first: its sandbox
// hides the processes above, so that nothing but the variable is left there.
var sessionVariables = []struct{ name, base string }{{EnvCodexSession, codex}, {EnvClaudeSession, claudeCode}}

// Host tells about the processes of the machine.
type Host interface {
	Name() string
	Find(pid int) (Process, error)
	Alive(p Process) bool
	Ancestors() []Process       // nearest first; the calling process is not among them
	SessionLeader() int         // pid, 0 when there is none
	Arguments(pid int) []string // the words that a process was started with; nil where that cannot be known
	WorkingDir(pid int) string  // "" where that cannot be known
}

// Identify says who a call acts as. explicit is the agent that an argument or --agent names. When it is empty or Me, it is found
// out, see Caller; when nothing tells, an empty explicit is a person, user, and Me is a *UsageError. as is the value of --as: it
// wins, and permits to act as an agent whose live session belongs to another process tree, which is a *ConflictError of kind identity
// otherwise.
func (e *Engine) Identify(ctx context.Context, explicit, as string) (string, error) {
	explicit, as = strings.TrimSpace(explicit), strings.TrimSpace(as)
	if as != "" && !event.SameName(as, Me) {
		if explicit != "" && !event.SameName(explicit, Me) && !event.SameName(explicit, as) {
			return "", &UsageError{Message: fmt.Sprintf("%s and --as %s name two agents", explicit, as)}
		}
		return as, nil
	}
	v, err := e.View(ctx)
	if err != nil {
		return "", err
	}
	name := explicit
	if name == "" || event.SameName(name, Me) {
		if name = e.Caller(v, ""); name == "" {
			if explicit == "" && as == "" {
				return event.User, nil
			}
			return "", errNobody()
		}
	}
	name = v.spelling(name)
	return name, e.mayActAs(v, name)
}

// Caller finds out which agent calls: the one that LOADOUT_AGENT names, the one of the host's session, the one of the nearest
// ancestor process that is registered. An agent program that nobody has introduced is not whoever started it, so the search ends
// there. session is the host's id of the session where the host has said it; empty: as the environment says. "" means that nothing
// tells.
func (e *Engine) Caller(v *View, session string) string {
	if name := strings.TrimSpace(e.options.Env(EnvAgent)); name != "" && !event.SameName(name, Me) {
		return name
	}
	agents, ancestors := v.State.Agents(), e.options.Host.Ancestors()
	if session == "" {
		session = e.hostSession(ancestors)
	}
	if session != "" {
		for _, a := range agents {
			if a.Registered && a.Session == session {
				return a.Name
			}
		}
	}
	for _, p := range ancestors {
		var newest *state.Agent
		for i, a := range agents {
			if a.Registered && e.isProcess(a, p) && (newest == nil || a.Since.After(*newest.Since)) {
				newest = &agents[i]
			}
		}
		switch {
		case newest != nil:
			return newest.Name
		case e.hostProgram(p) != "":
			return ""
		}
	}
	return ""
}

// hostSession is the session that the environment names. A program inherits the variable of another one that started it, so only that of
// the nearest program counts, where it is known.
func (e *Engine) hostSession(ancestors []Process) string {
	nearest := ""
	for _, p := range ancestors {
		if nearest = e.hostProgram(p); nearest != "" {
			break
		}
	}
	for _, v := range sessionVariables {
		if session := e.options.Env(v.name); session != "" && (nearest == "" || nearest == v.base) {
			return session
		}
	}
	return ""
}

// InTurn reports whether this process runs on behalf of an automatic turn: whoever makes the turn has introduced its agent.
func (e *Engine) InTurn() bool { return e.options.Env(turn.EnvMark) != "" }

func errNobody() error {
	return &UsageError{
		Message: "it is not known which agent calls: no " + EnvAgent + ", no registered session, no registered process above this one",
		Hints: []string{
			"name the agent instead of " + Me,
			"export " + EnvAgent + "=$(loadout agent register --base claude-code)",
		},
	}
}

// isProcess reports whether the agent was registered as the process p of this machine.
func (e *Engine) isProcess(a state.Agent, p Process) bool {
	return a.PID == p.PID && a.PID > 0 && a.Start == p.Start && a.Boot == p.Boot && a.Since != nil
}

// mayActAs refuses a name whose live session belongs to another process tree.
func (e *Engine) mayActAs(v *View, name string) error {
	a, ok := v.State.Agent(name)
	if !ok || !a.Registered || !v.Live(a.Name).Live {
		return nil
	}
	if e.InTurn() && event.SameName(name, e.options.Env(EnvAgent)) {
		return nil
	}
	ancestors := e.options.Host.Ancestors()
	if session := e.hostSession(ancestors); session != "" && session == a.Session {
		return nil
	}
	if a.Host == "" || a.Host == e.options.Host.Name() {
		if a.PID == 0 { // registered without a process: nothing tells its tree from another
			return nil
		}
		own, err := e.options.Host.Find(os.Getpid())
		if err == nil && e.isProcess(a, own) ||
			slices.ContainsFunc(ancestors, func(p Process) bool { return e.isProcess(a, p) }) {
			return nil
		}
	}
	who := fmt.Sprintf("process %d on %s", a.PID, a.Host)
	if a.Human != "" {
		who += ", for " + a.Human
	}
	return &ConflictError{
		Kind: ConflictIdentity,
		Message: fmt.Sprintf("%s is a live session of another process (%s, since %s), and this call comes from outside of it",
			a.Name, who, words.Stamp(v.Now, *a.Since)),
		Hints: []string{
			"loadout agent register --base " + word(agentBase(a)) + "    for a name of your own",
			"the same command with --as " + word(a.Name) + "    when you mean to act as it",
		},
	}
}

func agentBase(a state.Agent) string {
	if a.Base != "" {
		return a.Base
	}
	return a.Name
}

// Registration completes a Register command with the session and the process that it stands for: pid, or, when that is nil,
// the nearest ancestor that is a known host program, the session leader if it is an ancestor, the parent. An empty Base is what
// that host program goes by.
func (e *Engine) Registration(r Register, pid *int) (Register, error) {
	host := e.options.Host
	ancestors := host.Ancestors()
	if r.Session == "" {
		r.Session = e.hostSession(ancestors)
	}
	var p Process
	if pid != nil {
		if *pid <= 0 {
			return r, &ValidationError{Field: "pid", Reason: "is not the number of a process"}
		}
		found, err := host.Find(*pid)
		if err != nil {
			missing := &NotFoundError{Kind: "process", Name: strconv.Itoa(*pid)}
			if !errors.Is(err, fs.ErrNotExist) { // which the refusal says itself
				missing.Reason = err.Error()
			}
			return r, missing
		}
		p = found
	} else {
		p = e.sessionProcess(ancestors)
	}
	if r.Base == "" && r.Name == "" {
		if r.Base = e.hostProgram(p); r.Base == "" {
			r.Base = UnknownProgram
		}
	}
	r.PID, r.Start, r.Boot, r.Host = p.PID, p.Start, p.Boot, host.Name()
	return r, nil
}

// sessionProcess is the ancestor whose life is most likely that of the session.
func (e *Engine) sessionProcess(ancestors []Process) Process {
	for _, p := range ancestors {
		if e.hostProgram(p) != "" {
			return p
		}
	}
	leader := e.options.Host.SessionLeader()
	for _, p := range ancestors {
		if p.PID == leader {
			return p
		}
	}
	if len(ancestors) > 0 {
		return ancestors[0]
	}
	return Process{}
}

// hostProgram is the name by which an agent program goes in the coordination log, "" when the process is none. A program that
// runs on an interpreter is known by its script.
func (e *Engine) hostProgram(p Process) string {
	programs := map[string]string{
		"claude": claudeCode, "claude-code": claudeCode, "codex": codex, "gemini": "gemini",
		"cursor-agent": "cursor", "cursor": "cursor", "opencode": "opencode", "aider": "aider", "goose": "goose",
		"amp": "amp", "crush": "crush", "qwen": "qwen",
	}
	if base, ok := programs[programName(p.Name)]; ok {
		return base
	}
	switch programName(p.Name) {
	case "node", "MainThread", "bun", "deno", "python", "python3":
	default:
		return ""
	}
	for i, word := range e.options.Host.Arguments(p.PID) {
		if i == 0 || strings.HasPrefix(word, "-") {
			continue
		}
		if base, ok := programs[programName(word)]; ok {
			return base
		}
		for _, mark := range []struct{ part, base string }{
			{"/@anthropic-ai/claude-code/", claudeCode}, {"/@openai/codex", codex}, {"/@google/gemini-cli/", "gemini"},
		} {
			if strings.Contains(word, mark.part) {
				return mark.base
			}
		}
		break // the script: what follows are its own words
	}
	return ""
}

// programName is the last part of a program's path without an ending.
func programName(p string) string {
	name := path.Base(strings.ReplaceAll(p, `\`, "/"))
	for _, ending := range []string{".exe", ".js", ".mjs", ".cjs", ".py"} {
		name = strings.TrimSuffix(name, ending)
	}
	return name
}

// byPerson reports whether a request comes from a person: one who is named as acting for an agent, or whoever types where no
// agent program is around. Only the rules that let a person do more ask.
func (e *Engine) byPerson(r Request) bool {
	if r.By != "" {
		return true
	}
	_, forces := forcedBy(r.Command)
	return forces && !e.UnderAgent()
}

// signed is a request with the person who forces something under an agent's name, so that it is on record who did.
func (e *Engine) signed(r Request) Request {
	if agent, forces := forcedBy(r.Command); forces && r.By == "" && !event.SameName(strings.TrimSpace(agent), event.User) && !e.UnderAgent() {
		r.By = event.User
	}
	return r
}

// forcedBy says under whose name a command uses force.
func forcedBy(c Command) (agent string, forces bool) {
	switch c := c.(type) {
	case Own:
		return c.Agent, c.Force
	case ReleasePaths:
		return c.Agent, c.Force
	case ClaimTask, Finish, Cancel, Publish, Consume, Decide, Report, AddTask, Ask, Answer, Next, Ack, Register, EndAgent, ForgetAgent, RenameAgent, Emit:
	}
	return "", false
}

// UnderAgent reports whether this process was started by an agent program.
func (e *Engine) UnderAgent() bool {
	for _, name := range []string{EnvAgent, EnvClaudeSession, EnvCodexSession, "CLAUDECODE"} {
		if e.options.Env(name) != "" {
			return true
		}
	}
	return slices.ContainsFunc(e.options.Host.Ancestors(), func(p Process) bool { return e.hostProgram(p) != "" })
}
