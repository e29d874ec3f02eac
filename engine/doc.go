// Package engine is the one way to change and to watch the coordination state of a project.
//
// Everything that changes state is one call, Do, and its kin (Kill, Compact, HandoffSend): lock, kill switch, catch up with
// the log, expire, decide, redact, validate, append, sync, unlock. Everything that watches is the other, Follow. Reading (View,
// StateAt, Events, Snapshot, Diff) takes no lock. No surface decides a rule and no surface can skip redaction.
//
// An Engine is safe for concurrent use. Long-lived ones keep the folded state in memory and read only what is new; a
// one-shot verb starts from the checkpoint that lies beside the log.
package engine
