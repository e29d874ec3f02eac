package main

import (
	"time"

	"github.com/agentloadout/loadout/engine/words"
)

// moment is a stored moment for people: "14:03 (3m ago)" in an answer about now. In one about the past, how long it was before that past:
// "14:03 (3m before)".
func (c *call) moment(t time.Time) string {
	if c.past.IsZero() || t.IsZero() {
		return words.Since(c.now(), t)
	}
	return words.Stamp(c.now(), t) + " (" + words.Span(c.past.Sub(t)) + " before)"
}

// stored is moment of a time as a message holds it; another program may have written something else.
func (c *call) stored(timestamp string) string {
	t, err := time.Parse(time.RFC3339Nano, timestamp)
	if err != nil {
		return timestamp
	}
	return c.moment(t)
}

// limit says when a claim lapses, or that it has and nobody has written that down yet.
func (c *call) limit(at *time.Time) string {
	if at == nil {
		return ""
	}
	now := c.now()
	if !c.past.IsZero() {
		now = c.past
	}
	if !now.Before(*at) {
		return ", lapsed at " + c.moment(*at)
	}
	return ", lapses at " + words.Stamp(c.now(), *at) + " (" + words.Left(now, *at) + ")"
}
