package engine

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/state"
	"github.com/agentloadout/loadout/engine/suggest"
	"github.com/agentloadout/loadout/engine/words"
)

// Bounds of the time limit of a claim. A shorter one would be over before its owner has read the answer.
const (
	MinTTL = time.Second
	MaxTTL = 366 * 24 * time.Hour
)

// decideOwn claims paths, all or none.
func decideOwn(v View, c Own) ([]event.Event, error) {
	ev, err := ownEvent(c)
	if err != nil {
		return nil, err
	}
	if c.TTL != 0 && c.TTL < MinTTL || c.TTL > MaxTTL {
		return nil, &ValidationError{Field: "ttl", Reason: "is not a time from 1s to 366 days"}
	}
	body := event.Ownership{Paths: claimedPaths(c.Paths), Mode: c.mode(), Reason: c.Reason}
	if c.Fence != nil {
		for _, path := range body.Paths {
			if err := v.checkFence(c.Agent, path, *c.Fence); err != nil {
				return nil, err
			}
		}
	}
	blocking := v.blocking(c.Agent, body.Paths, body.Mode)
	if c.Force { // also where nothing is in the way: the next time something may be
		again := []string{"the same without --force: nobody is in the way"}
		if len(blocking) > 0 {
			again = v.claimHints(c, blocking)
		}
		if err := v.checkForce(c.Reason, blocking, again); err != nil {
			return nil, err
		}
	}
	if len(blocking) > 0 {
		if body.Cause, err = v.mayDisplace(c, blocking); err != nil {
			return nil, err
		}
		body.Displaced = displaced(blocking)
	}
	if c.TTL > 0 {
		body.ExpiresAt = event.FormatTime(v.Now.Add(c.TTL))
	}
	return draft1(newEvent(c.Agent, ev.To, ev.Description, body))
}

// ownEvent is the event of a claim without what depends on the state.
func ownEvent(c Own) (event.Event, error) {
	if err := checkPaths(c.Paths); err != nil {
		return event.Event{}, err
	}
	paths := claimedPaths(c.Paths)
	return newEvent(c.Agent, event.Broadcast, said("%s claims: %s", c.Agent, strings.Join(paths, ", ")),
		event.Ownership{Paths: paths, Mode: c.mode(), Reason: c.Reason})
}

func (c Own) mode() event.Mode {
	if c.Shared {
		return event.Shared
	}
	return event.Exclusive
}

// checkPaths refuses a list of paths that cannot be claimed or released.
func checkPaths(paths []string) error {
	if len(paths) == 0 {
		return &ValidationError{Field: "paths", Reason: "is empty"}
	}
	if len(paths) > event.MaxPaths {
		return &ValidationError{Field: "paths", Reason: fmt.Sprintf("has %d entries, more than %d", len(paths), event.MaxPaths)}
	}
	for _, p := range paths {
		clean, err := event.CleanPath(p)
		if err == nil && clean == "." && !strings.Contains(p, ".") { // all of the project is not meant by a blank
			return &ValidationError{Field: "paths", Reason: "has one that is blank", Hints: []string{"the path . is the whole project"}}
		}
		if err != nil {
			var bad *event.InvalidError
			if errors.As(err, &bad) {
				return &ValidationError{Field: "paths", Reason: "has one that " + bad.Reason}
			}
			return err
		}
	}
	return nil
}

// claimedPaths is the paths in stored form, each once. They have passed checkPaths.
func claimedPaths(paths []string) []string {
	var list []string
	for _, p := range paths {
		if clean, err := event.CleanPath(p); err == nil && !slices.Contains(list, clean) {
			list = append(list, clean)
		}
	}
	return list
}

// current lists the claims that overlap path and have not lapsed.
func (v View) current(path string) []state.Claim {
	return slices.DeleteFunc(v.State.Overlapping(path, v.FoldCase), func(c state.Claim) bool { return c.Lapsed(v.Now) })
}

// blocking lists the claims that keep agent from claiming paths: overlapping ones of others, unless both are shared.
func (v View) blocking(agent string, paths []string, mode event.Mode) []Conflict {
	var list []Conflict
	for _, path := range paths {
		for _, claim := range v.current(path) {
			if event.SameName(claim.Agent, agent) || mode == event.Shared && claim.Mode == event.Shared {
				continue
			}
			list = append(list, v.conflict(path, mode, agent, claim))
		}
	}
	return list
}

// conflict describes a claim that stands in the way, with what is known about its holder.
func (v View) conflict(path string, mode event.Mode, agent string, claim state.Claim) Conflict {
	c := Conflict{Requested: path, RequestedMode: mode, RequestedBy: agent, Claim: claim}
	holder, known := v.State.Agent(claim.Agent)
	if !known {
		return c
	}
	c.Session, c.Human = holder.Session, holder.Human
	live := v.liveness(claim.Agent)
	if !live.LastBeat.IsZero() {
		c.LastBeat = &live.LastBeat
	}
	c.Stale = Stale(holder, live)
	return c
}

func (v View) liveness(agent string) Liveness {
	if v.Live == nil {
		return Liveness{}
	}
	return v.Live(agent)
}

// mayDisplace decides whether a claim may end the claims in its way: a person's by force, which checkForce allowed, or anybody's with a reason when all
// their holders' sessions have ended.
func (v View) mayDisplace(c Own, blocking []Conflict) (event.Cause, error) {
	if c.Force {
		return event.CauseForced, nil
	}
	abandoned := !slices.ContainsFunc(blocking, func(b Conflict) bool { return !b.Stale })
	if abandoned && strings.TrimSpace(c.Reason) != "" {
		return event.CauseTakeover, nil
	}
	return "", v.refuseClaim(c, blocking)
}

// checkForce refuses force to agents, with the hints, and without a reason.
func (v View) checkForce(reason string, against []Conflict, hints []string) error {
	if !v.Person {
		headline := "force ends somebody else's claim and is for a person; an agent asks the holder, or waits"
		return &ConflictError{
			Kind:      ConflictIdentity,
			Message:   strings.Join(append([]string{headline}, v.tell(against)...), "\n"),
			Conflicts: against,
			Hints:     hints,
		}
	}
	if strings.TrimSpace(reason) == "" {
		return &ValidationError{Field: "reason", Reason: "is needed with force: it is what the displaced holder will read"}
	}
	return nil
}

// displaced lists each claim once.
func displaced(blocking []Conflict) []event.Displaced {
	var list []event.Displaced
	for _, b := range blocking {
		d := event.Displaced{Agent: b.Claim.Agent, Path: b.Claim.Path, Mode: b.Claim.Mode, Fence: b.Claim.Fence}
		if !slices.Contains(list, d) {
			list = append(list, d)
		}
	}
	return list
}

// isSame reports whether two paths are the same one on this file system.
func (v View) isSame(a, b string) bool {
	return state.Within(a, b, v.FoldCase) && state.Within(b, a, v.FoldCase)
}

// checkFence refuses a fence that no longer stands for the agent's holding of exactly this path.
func (v View) checkFence(agent, path string, fence int64) error {
	if fence < 0 {
		return &ValidationError{Field: "fence", Reason: "is negative"}
	}
	held := v.current(path)
	have := int64(-1)
	for _, claim := range held {
		if event.SameName(claim.Agent, agent) && v.isSame(claim.Path, path) {
			if claim.Fence == fence {
				return nil
			}
			have = claim.Fence
		}
	}
	refusal := &ConflictError{Kind: ConflictFence, Want: fence, Have: have}
	lines := []string{fmt.Sprintf("fence %d on %s does not hold: %s has no claim under that number now", fence, told(path), told(agent))}
	if at, lapsed := v.lapsedAt(agent, path); lapsed {
		lines = append(lines, "  it lapsed at "+words.Since(v.Now, at))
	}
	for _, claim := range held {
		if event.SameName(claim.Agent, agent) {
			lines = append(lines, fmt.Sprintf("  %s holds %s now, with fence %d", told(agent), told(claim.Path), claim.Fence))
			continue
		}
		refusal.Conflicts = append(refusal.Conflicts, v.conflict(path, event.Exclusive, agent, claim))
	}
	if len(held) == 0 {
		lines = append(lines, "  nobody holds it now")
	}
	refusal.Message = strings.Join(append(lines, v.tell(refusal.Conflicts)...), "\n")
	refusal.Hints = []string{fmt.Sprintf("git log -p -- %s    to see what others did there, before it is written again", v.pathWord(path))}
	again := Own{Agent: agent, Paths: []string{path}}
	switch {
	case len(refusal.Conflicts) > 0:
		refusal.Hints = append(refusal.Hints, v.claimHints(again, refusal.Conflicts)...)
	case have >= 0:
		refusal.Hints = append(refusal.Hints, fmt.Sprintf("the same with --fence %d    to go on with what it holds now", have))
	default:
		refusal.Hints = append(refusal.Hints, fmt.Sprintf("loadout coord own %s %s    to claim it anew", word(agent), v.pathWord(path)))
	}
	return refusal
}

// decideRelease ends the agent's claims on paths and on what lies below them, all or none. The event names each claim, so that
// whoever reads the log needs no rule about folders.
func decideRelease(v View, c ReleasePaths) ([]event.Event, error) {
	ev, err := releaseEvent(c)
	if err != nil {
		return nil, err
	}
	if c.Force {
		others := v.blocking(c.Agent, claimedPaths(c.Paths), event.Release)
		hints := askHints(c.Agent, others)
		if len(others) == 0 {
			hints = []string{"the same without --force: nobody else holds anything there"}
		}
		if err := v.checkForce(c.Reason, others, hints); err != nil {
			return nil, err
		}
	}
	var ending byHolder
	for _, path := range claimedPaths(c.Paths) {
		if c.Fence != nil {
			if err := v.checkFence(c.Agent, path, *c.Fence); err != nil {
				return nil, err
			}
		}
		released := 0
		for _, claim := range v.current(path) {
			mine := event.SameName(claim.Agent, c.Agent)
			if (mine || c.Force) && state.Within(claim.Path, path, v.FoldCase) {
				ending.add(v, claim)
				released++
			}
		}
		if released == 0 {
			return nil, v.refuseRelease(c, path)
		}
	}
	var events []event.Event
	for _, holder := range ending.holders {
		for paths := range slices.Chunk(ending.paths[holder], event.MaxPaths) {
			body := event.Ownership{Paths: paths, Mode: event.Release, Reason: c.Reason}
			if !event.SameName(holder, c.Agent) {
				body.Holder, body.Cause = holder, event.CauseForced
			}
			one, err := newEvent(c.Agent, ev.To, ev.Description, body)
			if err != nil {
				return nil, err
			}
			events = append(events, one)
		}
	}
	return events, nil
}

func releaseEvent(c ReleasePaths) (event.Event, error) {
	if err := checkPaths(c.Paths); err != nil {
		return event.Event{}, err
	}
	paths := claimedPaths(c.Paths)
	what := strings.Join(paths, ", ")
	if slices.Contains(paths, ".") {
		what = "everything"
	}
	return newEvent(c.Agent, event.Broadcast, said("%s releases: %s", c.Agent, what),
		event.Ownership{Paths: paths, Mode: event.Release, Reason: c.Reason})
}

// refuseRelease says why an agent has nothing to release at path.
func (v View) refuseRelease(c ReleasePaths, path string) error {
	refusal := &ConflictError{Kind: ConflictRelease, Want: -1, Have: -1}
	for _, claim := range v.current(path) {
		if event.SameName(claim.Agent, c.Agent) {
			return &ConflictError{
				Kind:    ConflictRelease,
				Message: fmt.Sprintf("%s holds %s, not %s: a claim is released whole", told(c.Agent), told(claim.Path), told(path)),
				Want:    -1, Have: claim.Fence,
				Hints: []string{fmt.Sprintf("loadout coord release %s %s", word(c.Agent), v.pathWord(claim.Path))},
			}
		}
		refusal.Conflicts = append(refusal.Conflicts, v.conflict(path, event.Release, c.Agent, claim))
	}
	if len(refusal.Conflicts) == 0 {
		return v.nothingHeld(c.Agent, path)
	}
	headline := fmt.Sprintf("%s does not hold %s", told(c.Agent), told(path))
	if at, lapsed := v.lapsedAt(c.Agent, path); lapsed {
		headline += ": its claim lapsed at " + words.Since(v.Now, at)
	}
	holder := refusal.Conflicts[0].Claim
	refusal.Message = strings.Join(append([]string{headline}, v.tell(refusal.Conflicts)...), "\n")
	refusal.Hints = []string{
		fmt.Sprintf("loadout coord ask %s \"…\" --from %s    to ask for it", word(holder.Agent), word(c.Agent)),
		fmt.Sprintf("loadout coord release %s %s --force --reason \"…\"    for a person: ends the claim", event.User, v.pathWord(holder.Path)),
	}
	return refusal
}

// nothingHeld says that nobody holds path, and since when if the agent's own claim has lapsed.
func (v View) nothingHeld(agent, path string) error {
	missing := &NotFoundError{Kind: "claim", Name: told(path), Reason: "nobody holds it"}
	if at, lapsed := v.lapsedAt(agent, path); lapsed {
		missing.Reason = "it lapsed at " + words.Since(v.Now, at)
	}
	var mine []string
	for _, claim := range v.State.ClaimsOf(agent) {
		if !claim.Lapsed(v.Now) {
			mine = append(mine, claim.Path)
		}
	}
	missing.Suggestions = suggest.Closest(path, mine)
	missing.Hints = []string{"loadout coord status    to see who holds what"}
	return missing
}

// lapsedAt finds a claim of the agent at path whose time has passed and of which there is no record yet.
func (v View) lapsedAt(agent, path string) (at time.Time, lapsed bool) {
	for _, claim := range v.State.Overlapping(path, v.FoldCase) {
		if claim.Lapsed(v.Now) && event.SameName(claim.Agent, agent) {
			return *claim.ExpiresAt, true
		}
	}
	return time.Time{}, false
}

// byHolder gathers the paths of claims for each holder, under one name for each.
type byHolder struct {
	holders []string // in the order of their first claims
	paths   map[string][]string
}

func (b *byHolder) add(v View, claim state.Claim) {
	holder := v.spelling(claim.Agent)
	if b.paths == nil {
		b.paths = map[string][]string{}
	}
	if _, known := b.paths[holder]; !known {
		b.holders = append(b.holders, holder)
	}
	if !slices.Contains(b.paths[holder], claim.Path) {
		b.paths[holder] = append(b.paths[holder], claim.Path)
	}
}

// expire makes the record of every claim whose time has passed: drafts for the next writer to store before its own events.
func expire(v View) ([]event.Event, error) {
	var lapsed byHolder
	for _, claim := range v.State.Claims() {
		if claim.Lapsed(v.Now) {
			lapsed.add(v, claim)
		}
	}
	var events []event.Event
	for _, holder := range lapsed.holders {
		for paths := range slices.Chunk(lapsed.paths[holder], event.MaxPaths) {
			text := said("The time of %s is up: %s", holder, strings.Join(paths, ", "))
			ev, err := event.New(event.Loadout, event.Broadcast, text,
				event.Ownership{Paths: paths, Mode: event.Release, Holder: holder, Cause: event.CauseExpired})
			if err != nil {
				return nil, fmt.Errorf("record lapsed claims: %w", err)
			}
			events = append(events, ev)
		}
	}
	return events, nil
}
