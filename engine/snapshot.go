package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/state"
)

// Bounds of a snapshot: each list keeps its newest items.
const (
	MaxSnapshotTasks     = 50
	MaxSnapshotContracts = 50
	MaxSnapshotOwnership = 500
	MaxSnapshotDecisions = 10
	MaxSnapshotUnacked   = 100

	// MaxSnapshotBodies bounds the contract bodies of one snapshot together, in bytes; the newest come first.
	MaxSnapshotBodies = 128 << 10
)

// Snapshot is what one agent must know, bounded, and honest about what it leaves out.
type Snapshot struct {
	Agent     string             `json:"agent"`
	AsOf      int64              `json:"asOf"`   // the log was read up to this sequence number, -1 when it is empty
	ReadTo    int64              `json:"readTo"` // the agent has acknowledged up to here, -1 for nothing
	LogLines  int64              `json:"logLines"`
	HighSeq   int64              `json:"highSeq"` // same as AsOf
	Skipped   state.Skips        `json:"skipped"` // lines of the log that nobody can read
	Halted    *HaltedError       `json:"halted,omitempty"`
	Tasks     []OpenTask         `json:"pendingTasks"`    // open ones from, to or taken by the agent, or for everybody
	Contracts []SnapshotContract `json:"activeContracts"` // by sequence number
	Ownership []SnapshotClaim    `json:"ownership"`       // by sequence number
	Decisions []state.Decision   `json:"recentDecisions"`
	Unacked   []state.Ref        `json:"unackedForAgent"` // news for the agent above ReadTo
	Truncated Truncated          `json:"truncated"`
	More      []string           `json:"more,omitempty"` // commands that show what was left out
}

// Truncated counts what the bounds of a snapshot left out.
type Truncated struct {
	Tasks     int64 `json:"pendingTasks"`
	Contracts int64 `json:"activeContracts"`
	Ownership int64 `json:"ownership"`
	Decisions int64 `json:"recentDecisions"`
	Unacked   int64 `json:"unackedForAgent"`
	Bodies    int64 `json:"contractBodies"` // contracts that are listed without their body
}

// Total is how many items were left out.
func (t Truncated) Total() int64 {
	return t.Tasks + t.Contracts + t.Ownership + t.Decisions + t.Unacked + t.Bodies
}

// OpenTask is an open task or question, and what keeps it from going on.
type OpenTask struct {
	state.Task
	Blocked []string `json:"blocked,omitempty"` // those of Waiting that will never be done
	Stuck   string   `json:"stuck,omitempty"`   // why it does not go on unless somebody settles that
	Verb    []string `json:"verb,omitempty"`    // arguments of the command that does
}

// Command is Verb as somebody would type it, empty when there is none.
func (t *OpenTask) Command() string {
	if len(t.Verb) == 0 {
		return ""
	}
	typed := []string{"loadout"}
	for _, arg := range t.Verb {
		typed = append(typed, word(arg))
	}
	return strings.Join(typed, " ")
}

// OpenTasks says of open tasks what keeps them from going on.
func (v *View) OpenTasks(tasks []state.Task) []OpenTask {
	o := v.outlook()
	list := make([]OpenTask, len(tasks))
	for i := range tasks {
		list[i] = OpenTask{Task: tasks[i], Blocked: v.State.Blocked(&tasks[i])}
		list[i].Stuck, list[i].Verb = v.State.Stuck(&tasks[i], &o)
	}
	return list
}

// SnapshotContract is the latest revision of a contract as a snapshot shows it.
type SnapshotContract struct {
	Name        string         `json:"name"`
	Revision    int64          `json:"revision"`
	Body        string         `json:"body"`
	BodyOmitted bool           `json:"bodyOmitted,omitempty"` // the body was left out for its size
	Format      string         `json:"format,omitempty"`
	Publisher   string         `json:"publisher"`
	EventID     string         `json:"eventId"`
	Seq         int64          `json:"seq"`
	At          time.Time      `json:"at"`
	Readers     []state.Reader `json:"readers"`
	Yours       int64          `json:"yours"` // the revision that the agent has acknowledged, 0 for none
}

// SnapshotClaim is one claim as a snapshot shows it.
type SnapshotClaim struct {
	Agent     string     `json:"agent"`
	Paths     []string   `json:"paths"` // the one path, as a list
	Mode      event.Mode `json:"mode"`
	Seq       int64      `json:"seq"`
	Fence     int64      `json:"fence"`
	Reason    string     `json:"reason,omitempty"`
	Since     time.Time  `json:"since"`
	ExpiresAt *time.Time `json:"expiresAt,omitempty"`
	Lapsed    bool       `json:"lapsed,omitempty"` // its time has passed; the next write records that
	Stale     bool       `json:"stale,omitempty"`  // its holder's session has ended or died
}

// Snapshot reads the state for one agent. It moves no cursor.
func (e *Engine) Snapshot(ctx context.Context, agent string) (Snapshot, error) {
	if err := event.CheckName(agent); err != nil {
		return Snapshot{}, invalid(err)
	}
	v, err := e.View(ctx)
	if err != nil {
		return Snapshot{}, err
	}
	s := snapshot(v, agent)
	s.LogLines = v.at.Lines
	if gone := e.lastCompaction().removed; s.ReadTo < gone {
		s.More = append(s.More, fmt.Sprintf("loadout coord status --at N    for the state at a number up to %d, where the log was compacted", gone))
	}
	return s, nil
}

func snapshot(v *View, agent string) Snapshot {
	s := Snapshot{
		Agent: agent, AsOf: v.State.Head(), HighSeq: v.State.Head(), ReadTo: readTo(v, agent),
		Skipped: v.State.Skips(), Halted: v.Halted,
	}
	t := &s.Truncated
	tasks, left := v.State.NewestPending(MaxSnapshotTasks, func(t *state.Task) bool { return isAbout(t, agent) })
	s.Tasks, t.Tasks = v.OpenTasks(tasks), left
	s.Decisions, t.Decisions = newest(v.State.Decisions(), MaxSnapshotDecisions)
	s.Unacked, t.Unacked = v.State.News(agent, s.ReadTo, MaxSnapshotUnacked)
	s.Unacked = orEmpty(s.Unacked)
	s.addContracts(v, agent)
	s.addOwnership(v)
	s.addMore()
	return s
}

// newest keeps the last limit items and says how many it left out.
func newest[T any](items []T, limit int) ([]T, int64) {
	over := max(0, len(items)-limit)
	return orEmpty(items[over:]), int64(over)
}

// isAbout reports whether an agent has to do with a task.
func isAbout(t *state.Task, agent string) bool {
	return isFor(t, agent) || event.SameName(t.From, agent) || event.SameName(t.TakenBy, agent)
}

func (s *Snapshot) addContracts(v *View, agent string) {
	contracts := v.State.Contracts()
	slices.SortFunc(contracts, func(a, b state.Contract) int { return cmp.Compare(a.Seq, b.Seq) })
	contracts, s.Truncated.Contracts = newest(contracts, MaxSnapshotContracts)
	s.Contracts = make([]SnapshotContract, len(contracts))
	room := MaxSnapshotBodies
	for i, c := range slices.Backward(contracts) {
		out := SnapshotContract{
			Name: c.Name, Revision: c.Revision, Body: c.Body, Format: c.Format, Publisher: c.Publisher,
			EventID: c.EventID, Seq: c.Seq, At: c.At, Readers: orEmpty(c.Readers),
		}
		for _, r := range c.Readers {
			if event.SameName(r.Agent, agent) {
				out.Yours = r.Revision
			}
		}
		if room -= len(c.Body); room < 0 {
			out.Body, out.BodyOmitted = "", true
			s.Truncated.Bodies++
		}
		s.Contracts[i] = out
	}
}

func (s *Snapshot) addOwnership(v *View) {
	claims := v.State.Claims()
	slices.SortFunc(claims, func(a, b state.Claim) int { return cmp.Or(cmp.Compare(a.Seq, b.Seq), cmp.Compare(a.Path, b.Path)) })
	claims, s.Truncated.Ownership = newest(claims, MaxSnapshotOwnership)
	s.Ownership = make([]SnapshotClaim, 0, len(claims))
	for _, c := range claims {
		s.Ownership = append(s.Ownership, SnapshotClaim{
			Agent: c.Agent, Paths: []string{c.Path}, Mode: c.Mode, Seq: c.Seq, Fence: c.Fence, Reason: c.Reason,
			Since: c.Since, ExpiresAt: c.ExpiresAt, Lapsed: c.Lapsed(v.Now), Stale: v.stale(c.Agent),
		})
	}
}

// stale is Stale of an agent by its name.
func (v *View) stale(agent string) bool {
	a, ok := v.State.Agent(agent)
	return ok && Stale(a, v.liveness(agent))
}

// addMore names the commands that show what the bounds left out.
func (s *Snapshot) addMore() {
	for _, m := range []struct {
		left    int64
		command string
	}{
		{s.Truncated.Unacked, fmt.Sprintf("loadout coord subscribe %s --cursor %d    every event that you have not acknowledged", word(s.Agent), s.ReadTo)},
		{s.Truncated.Tasks + s.Truncated.Ownership + s.Truncated.Decisions, "loadout coord status --all --json    all tasks, claims and decisions"},
		{s.Truncated.Contracts, "loadout coord contract --all    all contracts"},
		{s.Truncated.Bodies, "loadout coord contract NAME    the body of one contract"},
		{s.Skipped.Bad, "loadout doctor    the lines that cannot be read"},
	} {
		if m.left > 0 {
			s.More = append(s.More, m.command)
		}
	}
}
