package engine

import (
	"context"

	"github.com/agentloadout/loadout/engine/event"
)

// MaxReplay is how many of the newest events a timeline holds unless Query.Last says otherwise.
const MaxReplay = 2000

// Timeline is the story of the log.
type Timeline struct {
	Entries        []TimelineEntry `json:"entries"`
	Agents         []string        `json:"agents"`
	StartTime      string          `json:"startTime"`
	EndTime        string          `json:"endTime"`
	Duration       string          `json:"duration"`
	ContractCount  int64           `json:"contractCount"`
	OwnershipCount int64           `json:"ownershipCount"` // claims, not releases
	TotalEvents    int64           `json:"totalEvents"`    // shown events
	AsOf           int64           `json:"asOf"`
	Omitted        int64           `json:"omitted"` // older events left out, -1: some, not counted
	Skipped        int64           `json:"skipped"` // lines that cannot be read
}

// TimelineEntry is one event of a timeline.
type TimelineEntry struct {
	Seq          int64      `json:"seq"`
	Timestamp    string     `json:"timestamp"`
	Agent        string     `json:"agent"`
	To           string     `json:"to"`
	Type         event.Type `json:"type"`
	Emoji        string     `json:"emoji"`
	Headline     string     `json:"headline"`
	Detail       string     `json:"detail,omitempty"`
	RelativeTime string     `json:"relativeTime"`
}

// Timeline reads the story of the log: the newest MaxReplay events that q selects unless q says otherwise.
func (e *Engine) Timeline(ctx context.Context, q Query) (Timeline, error) { panic("later") }

// Headline is what an event says in one line.
func Headline(ev *event.Event) string { panic("later") }
