// Package bridge gives events to sessions of agent programs as turns, one at a time for each session, and records every step before it
// is taken.
//
// The log is the queue. What a session has not been given yet is what stands behind its cursor, and the cursor moves with the event
// that queues a turn, in the same write. That event is on disk before the program is started, and another one tells that it is about
// to be. So a crash loses nothing and repeats nothing: a turn that is queued and not started is made by the next bridge, a turn that
// was started and of which nobody knows the end is shown as uncertain until a person decides.
//
// A bridge holds the lease of the project for as long as it runs, and the lease of a session for each turn. Sessions are driven side by
// side. Answers are reported, never stored.
package bridge
