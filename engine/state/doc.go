// Package state folds events into what holds now: claims, contracts, tasks, decisions, agents, who has read what.
//
// Apply is the only fold. Commands, followers, time travel and the checkpoint all use it, so they cannot disagree. The fold
// is pure: no clock, no disk, no randomness; the same events in the same order give the same State. A State is not safe for
// concurrent use; Clone makes an independent copy.
package state
