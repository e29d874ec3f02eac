package engine

import (
	"fmt"
	"strings"

	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/safetext"
	"github.com/agentloadout/loadout/engine/state"
	"github.com/agentloadout/loadout/engine/words"
)

// maxTold is how many things a message tells in words; Conflicts has all that a refusal is about.
const maxTold = 8

// refuseClaim says who holds what stands in the way, and what can be done about it.
func (v View) refuseClaim(c Own, blocking []Conflict) *ConflictError {
	headline := fmt.Sprintf("%s cannot claim %s", told(c.Agent), toldList(claimedPaths(c.Paths)))
	return &ConflictError{
		Kind:      ConflictOwnership,
		Message:   strings.Join(append([]string{headline}, v.tell(blocking)...), "\n"),
		Conflicts: blocking,
		Want:      -1,
		Have:      blocking[0].Claim.Seq,
		Hints:     v.claimHints(c, blocking),
	}
}

// claimHints are the commands that help who was refused a claim.
func (v View) claimHints(c Own, blocking []Conflict) []string {
	again := fmt.Sprintf("loadout coord own %s %s", word(c.Agent), v.pathWords(c.Paths))
	if c.Shared {
		again += " --shared"
	}
	stale, shared := true, true
	for _, b := range blocking {
		stale, shared = stale && b.Stale, shared && b.Claim.Mode == event.Shared
	}
	var hints []string
	if stale {
		hints = []string{again + ` --reason "…"    to take over: the session of the holder does not run`}
	} else {
		hints = append([]string{again + " --wait 10m    to wait until it is free"}, askHints(c.Agent, blocking)...)
	}
	if shared && !c.Shared {
		hints = append(hints, again+" --shared    to share it")
	}
	return append(hints, again+` --force --reason "…"    for a person: ends the other claim`)
}

// askHints are the commands with which an agent asks those holders whose sessions are not over, each once.
func askHints(agent string, conflicts []Conflict) []string {
	var hints []string
	asked := map[string]bool{}
	for _, c := range conflicts {
		if holder := c.Claim.Agent; !c.Stale && !asked[event.FoldName(holder)] && len(asked) < maxTold {
			asked[event.FoldName(holder)] = true
			hints = append(hints, fmt.Sprintf("loadout coord ask %s \"…\" --from %s    to ask for it", word(holder), word(agent)))
		}
	}
	return hints
}

// tell puts conflicts into words.
func (v View) tell(conflicts []Conflict) []string {
	var lines []string
	for i, c := range conflicts {
		if i == maxTold {
			lines = append(lines, fmt.Sprintf("  and %d more", len(conflicts)-maxTold))
			break
		}
		lines = append(lines, v.describe(c)...)
	}
	return lines
}

// describe tells a conflict in a few lines: who, how, since when, why, from which session, and whether it lives.
func (v View) describe(c Conflict) []string {
	claim := c.Claim
	var overlap string
	switch inside, around := state.Within(c.Requested, claim.Path, v.FoldCase), state.Within(claim.Path, c.Requested, v.FoldCase); {
	case inside && around:
		overlap = told(claim.Path) + ":"
	case inside:
		overlap = fmt.Sprintf("%s is inside of %s:", told(c.Requested), told(claim.Path))
	default:
		overlap = fmt.Sprintf("%s contains %s:", told(c.Requested), told(claim.Path))
	}
	lines := []string{fmt.Sprintf("  %s held by %s (%s) since %s, fence %d",
		overlap, told(claim.Agent), claim.Mode, words.Since(v.Now, claim.Since), claim.Fence)}
	if claim.Reason != "" {
		lines = append(lines, "    because: "+told(claim.Reason))
	}
	if claim.ExpiresAt != nil {
		lines = append(lines, "    lapses at "+words.Stamp(v.Now, *claim.ExpiresAt)+" ("+words.Left(v.Now, *claim.ExpiresAt)+")")
	}
	return append(lines, "    "+v.holderText(c))
}

// holderText is what is known about the holder's session.
func (v View) holderText(c Conflict) string {
	var parts []string
	if c.Human != "" {
		parts = append(parts, "for "+told(c.Human))
	}
	if c.Session != "" {
		parts = append(parts, "session "+told(c.Session))
	}
	heard := "; no sign of life is on record"
	if c.LastBeat != nil {
		heard = "; last sign of life " + words.Since(v.Now, *c.LastBeat)
	}
	holder, _ := v.State.Agent(c.Claim.Agent)
	switch {
	case c.Stale && holder.Ended != nil:
		parts = append(parts, "the session ended "+words.Since(v.Now, *holder.Ended))
	case v.liveness(c.Claim.Agent).Idle:
		parts = append(parts, "its session is known, no program of it runs"+heard)
	case c.Stale:
		parts = append(parts, "the session has died"+heard)
	case v.liveness(c.Claim.Agent).Live:
		parts = append(parts, "the session lives"+heard)
	case holder.LastAt != nil:
		parts = append(parts, "no session is registered under the name; its last event was "+words.Since(v.Now, *holder.LastAt))
	default:
		parts = append(parts, "no session is registered under the name")
	}
	return strings.Join(parts, ", ")
}

// told is untrusted text inside a refusal: one line, without control characters, of a bearable length.
func told(s string) string { return event.Clip(safetext.Line(s), 200) }

// toldList is a list of untrusted texts inside a refusal.
func toldList(list []string) string {
	var b strings.Builder
	for i, s := range list {
		if i == maxTold {
			fmt.Fprintf(&b, " and %d more", len(list)-maxTold)
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(told(s))
	}
	return b.String()
}

func word(s string) string { return words.ShellWord(s) }
