package store

import (
	"github.com/agentloadout/loadout/store/jsonline"
)

// MaxLineBytes is the longest line that is written, without its newline. A
// longer line met in reading is reported bad and is never held in memory.
const MaxLineBytes = 1 << 20

// longLineBytes is what is kept of a line longer than MaxLineBytes.
const longLineBytes = 4 << 10

// Line is one line of a log that is not blank. In a callback, Raw and Object are
// valid until the callback returns.
type Line struct {
	Number int64            // physical line in its file, from 1; 0 when not known (Last)
	Offset int64            // byte offset of its first byte
	Raw    []byte           // without the newline; the first 4 KiB of a line that is too long
	Seq    int64            // its sequence number, -1 when none can be read; best effort on a bad line
	Prior  int64            // highest sequence number on the lines before it, -1 when none (not known: Last)
	Object *jsonline.Object // its top-level fields; nil when Err is set
	Err    error            // a *BadLineError, or nil
}

// Disordered reports whether the line repeats or falls behind a sequence number
// before it.
func (l *Line) Disordered() bool { return l.Seq >= 0 && l.Seq <= l.Prior }

// Batch is a run of consecutive lines and the position after them. Blank lines
// are counted but not listed.
type Batch struct {
	Lines []Line
	Pos   Position
}

// parse fills the line from its raw bytes.
func (l *Line) parse(o *jsonline.Object) {
	if err := o.Parse(l.Raw); err != nil {
		l.Err = &BadLineError{Number: l.Number, Length: int64(len(l.Raw)), Reason: err.Error()}
		l.Seq = jsonline.LenientSeq(l.Raw)
		return
	}
	l.Object = o
	l.Seq = seqOf(o)
}

// seqOf returns the sequence number of an object, or -1.
func seqOf(o *jsonline.Object) int64 {
	raw, ok := o.Get("seq")
	if !ok {
		return -1
	}
	n, err := jsonline.Int(raw)
	if err != nil || n < 0 {
		return -1
	}
	return n
}

// isBlank reports whether a line holds nothing but blanks.
func isBlank(raw []byte) bool {
	for _, c := range raw {
		if c != ' ' && c != '\t' && c != '\r' {
			return false
		}
	}
	return true
}

// end returns the offset past the line's newline.
func (l *Line) end() int64 {
	length := int64(len(l.Raw))
	if bad, ok := l.Err.(*BadLineError); ok { //nolint:errorlint // it is never wrapped
		length = bad.Length
	}
	return l.Offset + length + 1
}
