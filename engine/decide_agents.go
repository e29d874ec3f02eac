package engine

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/state"
	"github.com/agentloadout/loadout/engine/suggest"
	"github.com/agentloadout/loadout/engine/words"
)

// decideRegister gives a session a name that no other live session has.
func decideRegister(v View, c Register) ([]event.Event, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	if _, ok := v.registered(c); ok {
		return nil, nil
	}
	name := c.Name
	switch {
	case name != "":
		if err := v.mayBear(name, c.Session, c.Resume); err != nil {
			return nil, err
		}
	default:
		if name = v.resumed(c); name == "" {
			name = v.mint(c.Base)
		}
	}
	return draft1(registerEvent(c, name))
}

func (c Register) check() error {
	if c.Name == "" && c.Base == "" {
		return &ValidationError{Field: "base", Reason: "is needed to make a name from"}
	}
	for field, name := range map[string]string{"name": c.Name, "base": c.Base} {
		if name != "" {
			if err := checkNewName(field, name); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkNewName refuses a name that a session cannot have: beyond what every name must be, one that would not pass through a
// command line in one piece, or that stands for somebody else.
func checkNewName(field, name string) error {
	if err := checkAgent(field, name); err != nil {
		return err
	}
	if strings.ContainsFunc(name, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(`,:"'*#`, r) }) {
		return &ValidationError{Field: field, Reason: "cannot have blanks, commas, colons, quotes, * or #"}
	}
	for _, taken := range []string{event.User, Me} {
		if event.SameName(name, taken) {
			return &ValidationError{Field: field, Reason: fmt.Sprintf("%q stands for somebody else", taken)}
		}
	}
	return nil
}

func registerEvent(c Register, name string) (event.Event, error) {
	return newEvent(name, event.Broadcast, name+" is here", event.Agent{
		Action: event.AgentRegistered, Name: name, Base: c.Base, Human: c.Human, Session: c.Session,
		PID: c.PID, Start: c.Start, Boot: c.Boot, Host: c.Host,
	})
}

// registered is the live agent that the same process was registered as before. Registering it again changes nothing.
func (v View) registered(c Register) (state.Agent, bool) {
	for _, a := range v.State.Agents() {
		same := a.Registered && c.isProcessOf(a) && (c.Session == "" || c.Session == a.Session) && v.liveness(a.Name).Live
		if same && (event.SameName(a.Name, c.Name) || c.Name == "" && event.SameName(a.Base, c.Base)) {
			return a, true
		}
	}
	return state.Agent{}, false
}

// resumed is the name that the same host session had before, else the one of the same process, which may go on with another session;
// "" if there is none.
func (v View) resumed(c Register) string {
	var same state.Agent
	for _, a := range v.State.Agents() {
		switch {
		case !event.SameName(a.Base, c.Base):
		case c.Session != "" && a.Session == c.Session:
			return a.Name
		case c.isProcessOf(a) && (same.Name == "" || a.Registered && !same.Registered):
			same = a
		}
	}
	return same.Name
}

// isProcessOf reports whether an agent is, or was, registered as the process of c.
func (c Register) isProcessOf(a state.Agent) bool {
	return c.PID > 0 && a.PID == c.PID && a.Start == c.Start && a.Boot == c.Boot && a.Host == c.Host
}

// mint makes a name from a base: base, base-2, base-3, … the first that nobody else bears or has left something under, that stands for
// no session which turns can be given to, and that nobody could take for a live one.
func (v View) mint(base string) string {
	for n := 1; ; n++ {
		name := base
		if n > 1 {
			name = fmt.Sprintf("%s-%d", base, n)
		}
		if v.mayBear(name, "", false) == nil {
			return name
		}
	}
}

// mayBear refuses a name that a live session has or that looks like one, and a name under which another session left claims or
// tasks.
func (v View) mayBear(name, session string, resume bool) error {
	for _, a := range v.State.Agents() {
		same := event.SameName(a.Name, name)
		if same && session != "" && a.Session == session {
			continue // the same session again
		}
		live := a.Registered && v.liveness(a.Name).Live
		switch {
		case live && same:
			return &ConflictError{
				Kind:    ConflictName,
				Message: fmt.Sprintf("a live session has the name %s%s", told(a.Name), sinceRegistered(v, a)),
				Hints: []string{
					fmt.Sprintf("loadout agent register --base %s    to get a name of your own", word(name)),
					fmt.Sprintf("loadout agent end %s --as %[1]s    to end that session", word(a.Name)),
				},
			}
		case live && event.Skeleton(a.Name) == event.Skeleton(name):
			return &ConflictError{
				Kind:    ConflictName,
				Message: fmt.Sprintf("%s looks like %s, which a live session is called", told(name), told(a.Name)),
				Hints:   []string{fmt.Sprintf("loadout agent register --base %s    to get a name that differs", word(a.Name))},
			}
		case same && !resume:
			if kept, ok := keptSession(v.State, a); ok {
				return &ConflictError{
					Kind:    ConflictName,
					Message: fmt.Sprintf("%s is the session %s of %s, which can be given turns", told(a.Name), told(kept.ID), told(kept.Provider)),
					Hints: []string{
						fmt.Sprintf("loadout agent register --base %s    to get a name of your own", word(name)),
						fmt.Sprintf("loadout coord agents forget %s    to make that session unknown", word(a.Name)),
					},
				}
			}
			if left := v.leftBehind(a); left != "" {
				return &ConflictError{
					Kind:    ConflictName,
					Message: fmt.Sprintf("another session left %s under the name %s", left, told(a.Name)),
					Hints: []string{
						fmt.Sprintf("loadout agent register --base %s    to get a name of your own", word(name)),
						`loadout coord own NEW-NAME PATH --reason "…"    to take over what it held`,
					},
				}
			}
		}
	}
	return nil
}

func sinceRegistered(v View, a state.Agent) string {
	if a.Since == nil {
		return ""
	}
	return " since " + words.Since(v.Now, *a.Since)
}

// leftBehind says what a name still stands for, "" for nothing: claims, tasks that it took, and tasks that wait for it if it was
// ever registered.
func (v View) leftBehind(a state.Agent) string {
	claims := 0
	for _, c := range v.State.ClaimsOf(a.Name) {
		if !c.Lapsed(v.Now) {
			claims++
		}
	}
	was := a.Registered || a.Ended != nil
	tasks := len(v.State.PendingIf(func(t *state.Task) bool {
		return event.SameName(t.TakenBy, a.Name) || was && event.SameName(t.To, a.Name)
	}))
	var left []string
	if claims > 0 {
		left = append(left, words.Plural(claims, "claim"))
	}
	if tasks > 0 {
		left = append(left, words.Plural(tasks, "open task"))
	}
	return strings.Join(left, " and ")
}

// decideEnd ends a session.
func decideEnd(v View, c EndAgent) ([]event.Event, error) {
	a, err := v.agent(c.Name)
	if err != nil {
		return nil, err
	}
	if !a.Registered {
		why := "it was never registered"
		if a.Ended != nil {
			why = "it ended at " + words.Since(v.Now, *a.Ended)
		}
		return nil, &ConflictError{Kind: ConflictName, Message: fmt.Sprintf("%s has no session to end: %s", told(a.Name), why)}
	}
	text := a.Name + " has left"
	if c.Reason != "" {
		text += ": " + c.Reason
	}
	return draft1(newEvent(a.Name, event.Broadcast, text, event.Agent{Action: event.AgentEnded, Name: a.Name, Reason: c.Reason}))
}

// decideForget removes a name that holds nothing.
func decideForget(v View, c ForgetAgent) ([]event.Event, error) {
	a, err := v.agent(c.Name)
	if err != nil {
		return nil, err
	}
	if a.Registered && v.liveness(a.Name).Live {
		return nil, &ConflictError{
			Kind:    ConflictName,
			Message: fmt.Sprintf("%s has a live session%s", told(a.Name), sinceRegistered(v, a)),
			Hints:   []string{fmt.Sprintf("loadout agent end %s --as %[1]s", word(a.Name))},
		}
	}
	if left := v.leftBehind(a); left != "" {
		return nil, &ConflictError{
			Kind:    ConflictName,
			Message: fmt.Sprintf("%s still has %s", told(a.Name), left),
			Hints: []string{
				fmt.Sprintf("loadout coord release %s %s    to release its claims", word(a.Name), v.pathWord(".")),
				"loadout coord status    to see its tasks",
			},
		}
	}
	return draft1(newEvent(event.User, event.Broadcast, a.Name+" is forgotten", event.Agent{Action: event.AgentForgotten, Name: a.Name}))
}

// decideRename gives an agent another name.
func decideRename(v View, c RenameAgent) ([]event.Event, error) {
	a, err := v.agent(c.Old)
	if err != nil {
		return nil, err
	}
	if err := checkNewName("name", c.New); err != nil {
		return nil, err
	}
	if event.SameName(a.Name, c.New) {
		return nil, &ValidationError{Field: "name", Reason: "is the one that it has"}
	}
	// A look-alike of its own old name is fine: nobody bears that any more.
	others := v
	others.Live = func(name string) Liveness {
		if event.SameName(name, a.Name) {
			return Liveness{}
		}
		return v.liveness(name)
	}
	if err := others.mayBear(c.New, "", false); err != nil {
		return nil, err
	}
	return draft1(newEvent(a.Name, event.Broadcast, fmt.Sprintf("%s is now called %s", a.Name, c.New),
		event.Agent{Action: event.AgentRenamed, Name: c.New, Previous: a.Name}))
}

// spelling is a name as the log spells it, so that one agent has one name wherever it is shown. Who is new is spelled as typed.
func (v View) spelling(name string) string {
	name = strings.TrimSpace(name)
	if event.SameName(name, event.User) {
		return event.User
	}
	if a, ok := v.State.Agent(name); ok {
		return a.Name
	}
	return name
}

// agent finds somebody who has taken part.
func (v View) agent(name string) (state.Agent, error) {
	if err := checkAgent("name", name); err != nil {
		return state.Agent{}, err
	}
	a, ok := v.State.Agent(name)
	if !ok {
		return state.Agent{}, &NotFoundError{
			Kind: "agent", Name: told(name), Suggestions: suggest.Closest(name, agentNames(v.State)),
			Hints: []string{"loadout agent list    to see everybody"},
		}
	}
	return a, nil
}

// checkLookalike refuses an event from or to a name that could be taken for a live session's and is not it.
func (v View) checkLookalike(ev *event.Event) error {
	if ev.Type == event.TypeAgent { // has a rule of its own
		return nil
	}
	for _, name := range []string{ev.From, ev.To} {
		if name == event.Broadcast {
			continue
		}
		for _, a := range v.State.Registered() {
			if event.SameName(a.Name, name) || event.Skeleton(a.Name) != event.Skeleton(name) || !v.liveness(a.Name).Live {
				continue
			}
			if other, known := v.State.Agent(name); known && other.Registered {
				continue // both are sessions of their own
			}
			return &ConflictError{
				Kind:    ConflictName,
				Message: fmt.Sprintf("%s looks like %s, which a live session is called", told(name), a.Name),
				Hints:   []string{fmt.Sprintf("the same with %s    if that one is meant", word(a.Name))},
			}
		}
	}
	return nil
}
