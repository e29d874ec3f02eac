// Package event holds the closed set of coordination events: their wire names, fields, limits and codec.
//
// One event is one line of .handoff/coordination.jsonl: an envelope (Event) whose payload depends on its Type and decodes to
// one of the Body structs. A type that this build does not know decodes to Unknown, is kept, and is shown; it is not damage.
//
// String limits count UTF-16 code units after trimming Unicode blanks, because other programs that write the same file
// count so. Wire names and limits are those of the coordination protocol, docs/protocol.md.
package event
