package sim

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/agentloadout/loadout/engine/turn"
)

// Modes that are no failure at once.
const (
	modeSlow = "slow" // takes three seconds
	modeHang = "hang" // until the deadline
)

// failures are the modes in which every turn fails at once.
var failures = map[string]turn.Failure{
	"crashed":    {Kind: turn.Crashed, Spent: turn.Maybe, Message: "broke off, as asked"},
	"forbidden":  {Kind: turn.Forbidden, Spent: turn.Yes, Message: "acted, as asked"},
	"nonsense":   {Kind: turn.Nonsense, Spent: turn.Yes, Message: "said nothing, as asked"},
	"overloaded": {Kind: turn.Overloaded, Spent: turn.Nothing, Message: "overloaded, as asked", RetryAfter: time.Second},
	"quota":      {Kind: turn.Quota, Spent: turn.Nothing, Message: "at its limit, as asked", RetryAfter: time.Minute},
	"signed-out": {Kind: turn.NotSignedIn, Spent: turn.Nothing, Message: "signed out, as asked"},
}

// modes lists all of them.
func modes() []string {
	return append(slices.Sorted(maps.Keys(failures)), modeHang, modeSlow)
}

func hint(kind turn.Kind) string {
	switch kind {
	case turn.Rejected:
		return "its modes are " + strings.Join(modes(), ", ") + ", or none"
	case turn.UnknownSession:
		return "its sessions are called " + prefix + "…; start one: loadout coord agents start " + Name
	case turn.Timeout:
		return "give it a longer deadline"
	default:
		return "it only does what its script says"
	}
}

// script is the built-in one: it answers at once, or misbehaves as its mode says. The answer depends on the turn alone.
func script(n int, t turn.Turn) Step {
	if failure, ok := failures[t.Permissions.Mode]; ok {
		failure.Hints = []string{"leave out the mode " + t.Permissions.Mode}
		return Step{Failure: &failure}
	}
	step := Step{
		Text:  fmt.Sprintf("Turn %d of this session: read %d lines.", n, strings.Count(strings.TrimSpace(t.Prompt), "\n")+1),
		Usage: turn.Usage{Input: int64(len(t.Prompt)) / 4, Output: 12, Known: true},
		Hang:  t.Permissions.Mode == modeHang,
	}
	if t.Schema != nil {
		step.Data = follow(t.Schema, step.Text)
	}
	if t.Permissions.Mode == modeSlow {
		step.Delay, step.Pace = time.Second, 200*time.Millisecond
	}
	return step
}
