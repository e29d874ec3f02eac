package engine

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/state"
)

// refuseClaim says who holds what stands in the way, and what can be done about it.
func (v View) refuseClaim(c Own, blocking []Conflict) error {
	var lines []string
	stale := true
	for _, b := range blocking {
		lines = append(lines, v.describe(b)...)
		stale = stale && b.Stale
	}
	first := blocking[0]
	again := fmt.Sprintf("loadout coord own %s %s", word(c.Agent), wordList(c.Paths))
	if c.Shared {
		again += " --shared"
	}
	var hints []string
	if stale {
		hints = append(hints, again+` --reason "…"    to take over: the session of the holder has ended`)
	} else {
		hints = append(hints,
			again+" --wait 10m    to wait until it is released",
			fmt.Sprintf("loadout coord ask %s \"…\" --from %s    to ask for it", word(first.Claim.Agent), word(c.Agent)))
	}
	if first.RequestedMode == event.Exclusive && first.Claim.Mode == event.Shared {
		hints = append(hints, again+" --shared    to share it")
	}
	hints = append(hints, again+` --force --reason "…"    for a person: ends the other claim`)
	return &ConflictError{
		Kind:    ConflictOwnership,
		Message: strings.Join(append([]string{fmt.Sprintf("%s cannot have %s", c.Agent, strings.Join(claimedPaths(c.Paths), ", "))}, lines...), "\n"),
		Want:    -1, Have: first.Claim.Seq,
		Conflicts: blocking,
		Hints:     hints,
	}
}

// describe tells a conflict in a few lines: who, how, since when, why, from which session, and whether it lives.
func (v View) describe(c Conflict) []string {
	claim := c.Claim
	overlap := ""
	switch {
	case state.SamePath(claim.Path, c.Requested):
		overlap = claim.Path + ":"
	case state.Within(c.Requested, claim.Path, v.FoldCase):
		overlap = fmt.Sprintf("%s is inside of %s:", c.Requested, claim.Path)
	default:
		overlap = fmt.Sprintf("%s contains %s:", c.Requested, claim.Path)
	}
	lines := []string{fmt.Sprintf("  %s held by %s (%s) since %s, fence %d",
		overlap, claim.Agent, claim.Mode, sinceText(claim.Since, v.Now), claim.Fence)}
	if claim.Reason != "" {
		lines = append(lines, "    because: "+claim.Reason)
	}
	if claim.ExpiresAt != nil {
		lines = append(lines, "    "+until(*claim.ExpiresAt, v.Now))
	}
	if who := v.holderText(c); who != "" {
		lines = append(lines, "    "+who)
	}
	return lines
}

// holderText is what is known about the holder's session.
func (v View) holderText(c Conflict) string {
	var parts []string
	if c.Human != "" {
		parts = append(parts, "for "+c.Human)
	}
	if c.Session != "" {
		parts = append(parts, "session "+c.Session)
	}
	switch live := v.liveness(c.Claim.Agent); {
	case c.Stale:
		parts = append(parts, "its session has ended")
	case live.Known && live.Live && c.LastBeat != nil:
		parts = append(parts, "last heard of "+age(v.Now.Sub(*c.LastBeat))+" ago")
	case live.Known && live.Live:
		parts = append(parts, "its session lives")
	default:
		if holder, ok := v.State.Agent(c.Claim.Agent); ok && holder.LastAt != nil {
			parts = append(parts, "no session is registered under the name; its last event was "+age(v.Now.Sub(*holder.LastAt))+" ago")
		}
	}
	return strings.Join(parts, ", ")
}

// word is an argument as a shell takes it.
func word(s string) string {
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return !strings.ContainsRune("-_./@:=+,%", r) && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && r < 0x80
	}) {
		return s
	}
	return strconv.Quote(s)
}

func wordList(list []string) string {
	words := make([]string, len(list))
	for i, s := range list {
		words[i] = word(s)
	}
	return strings.Join(words, " ")
}
