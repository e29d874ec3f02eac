package store

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/agentloadout/loadout/store/jsonline"
)

// batchBytes is how much of a log is read at a time. A longer line grows the
// buffer up to MaxLineBytes.
const batchBytes = 256 << 10

// firstBytes is how much of it is read at first, and twice as much each time up
// to batchBytes: who looks for one line near a mark needs little.
const firstBytes = 32 << 10

// batchLines bounds the memory of a batch of very short lines.
const batchLines = 1024

// scanner cuts a file into batches. It reads at offsets, so it keeps no state in
// the descriptor, and it stops before an unterminated last line.
type scanner struct {
	file File
	pos  Position // after the lines that were handed out
	end  int64    // size up to which to read
	size int64    // how much was read last
	tail []byte   // the last bytes before pos, at most tailBytes
}

// newScanner reads f from pos, whose tail fits has returned, up to the size that
// f was seen to have.
func newScanner(f *source, pos Position, tail []byte) *scanner {
	if pos.Offset == 0 {
		pos = Position{File: FileID{Device: f.device, Inode: f.inode}, MaxSeq: -1, LastSeq: -1}
	}
	return &scanner{file: f, pos: pos, end: f.info.Size(), tail: tail}
}

// buffer is the memory of one batch, used again for a later one.
type buffer struct {
	bytes   []byte
	lines   []Line
	objects []*jsonline.Object
}

// grow makes room for n bytes.
func (b *buffer) grow(n int64) []byte {
	if int64(len(b.bytes)) < n {
		b.bytes = make([]byte, n)
	}
	return b.bytes[:n]
}

// object returns the i-th object; i grows by at most one from call to call.
func (b *buffer) object(i int) *jsonline.Object {
	if i == len(b.objects) {
		block := jsonline.Make(min(max(len(b.objects), 2), 64))
		for j := range block {
			b.objects = append(b.objects, &block[j])
		}
	}
	return b.objects[i]
}

// next returns the next batch in the memory of b. It returns io.EOF when no
// complete line is left.
func (s *scanner) next(b *buffer) (Batch, error) {
	s.size = min(max(2*s.size, firstBytes), batchBytes)
	for size := s.size; ; size *= 4 {
		size = min(size, MaxLineBytes+1)
		want := min(size, s.end-s.pos.Offset)
		if want <= 0 {
			return Batch{}, io.EOF
		}
		text := b.grow(want)
		n, err := s.file.ReadAt(text, s.pos.Offset)
		if err != nil && !errors.Is(err, io.EOF) {
			return Batch{}, fmt.Errorf("read log: %w", err)
		}
		if end := bytes.LastIndexByte(text[:n], '\n'); end >= 0 {
			return s.cut(b, text[:end+1]), nil
		}
		if n <= MaxLineBytes && int64(n) < size {
			return Batch{}, io.EOF // an unterminated last line
		}
		if n > MaxLineBytes {
			return s.long(b)
		}
	}
}

// atEnd reports whether nothing was left to read when the scanner started.
func (s *scanner) atEnd() bool { return s.pos.Offset >= s.end }

// cut makes a batch of text, which ends in a newline.
func (s *scanner) cut(b *buffer, text []byte) Batch {
	b.lines = b.lines[:0]
	s.noteFirst(text)
	rest := text
	for len(rest) > 0 && len(b.lines) < batchLines {
		i := bytes.IndexByte(rest, '\n')
		raw := rest[:i:i]
		rest = rest[i+1:]
		s.pos.Lines++
		if !isBlank(raw) {
			line := Line{Number: s.pos.Lines, Offset: s.pos.Offset, Raw: raw, Prior: s.pos.MaxSeq}
			line.parse(b.object(len(b.lines)))
			s.pos.MaxSeq = max(s.pos.MaxSeq, line.Seq)
			b.lines = append(b.lines, line)
		}
		s.pos.Offset += int64(i) + 1
	}
	return s.finish(b, text[:len(text)-len(rest)])
}

// long makes a batch of one line that is longer than MaxLineBytes. It reads on to
// the newline in pieces and keeps only the beginning, the sequence number if
// there is one, and the end for the tail.
func (s *scanner) long(b *buffer) (Batch, error) {
	const overlap = 64 // a "seq" key and its number, cut by the end of a piece
	var (
		head   []byte
		tail   []byte
		seq    = int64(-1)
		length int64
		text   = b.grow(batchBytes)
	)
	for done := false; !done; {
		from := max(length-overlap, 0)
		n, err := s.file.ReadAt(text[:min(batchBytes, s.end-s.pos.Offset-from)], s.pos.Offset+from)
		if err != nil && !errors.Is(err, io.EOF) {
			return Batch{}, fmt.Errorf("read log: %w", err)
		}
		piece := text[:n]
		if i := bytes.IndexByte(piece, '\n'); i >= 0 {
			piece, done = piece[:i], true
		} else if from+int64(n) >= s.end-s.pos.Offset || from+int64(n) <= length {
			return Batch{}, io.EOF // an unterminated last line
		}
		if int64(len(piece)) < length-from {
			return Batch{}, fmt.Errorf("%w: a line changed while it was read", ErrReplaced)
		}
		if head == nil {
			head = bytes.Clone(piece[:min(len(piece), longLineBytes)])
		}
		seq = max(seq, jsonline.LenientSeq(piece))
		tail = appendTail(tail, piece[length-from:])
		length = from + int64(len(piece))
	}
	s.noteFirst(head)
	s.pos.Lines++
	line := Line{
		Number: s.pos.Lines, Offset: s.pos.Offset, Raw: head, Seq: seq, Prior: s.pos.MaxSeq,
		Err: &BadLineError{
			Number: s.pos.Lines, Length: length,
			Reason: fmt.Sprintf("longer than %d bytes", MaxLineBytes),
		},
	}
	s.pos.MaxSeq = max(s.pos.MaxSeq, seq)
	s.pos.Offset += length + 1
	b.lines = append(b.lines[:0], line)
	return s.finish(b, append(tail, '\n')), nil
}

// noteFirst completes the identity of the file when text starts with its first
// line.
func (s *scanner) noteFirst(text []byte) {
	if s.pos.Offset > 0 {
		return
	}
	if i := bytes.IndexByte(text, '\n'); i >= 0 {
		text = text[:i]
	}
	s.pos.File.First = digestLine(text)
}

// finish moves the position past the batch whose text ends with text.
func (s *scanner) finish(b *buffer, text []byte) Batch {
	s.tail = appendTail(s.tail, text)
	s.pos.Tail = digest(s.tail)
	if n := len(b.lines); n > 0 {
		s.pos.LastSeq, s.pos.Last = b.lines[n-1].Seq, digestLine(b.lines[n-1].Raw)
	}
	return Batch{Lines: b.lines, Pos: s.pos}
}

// appendTail returns the last tailBytes of tail followed by text, in the memory
// of tail when that is large enough.
func appendTail(tail, text []byte) []byte {
	if len(text) >= tailBytes {
		return append(tail[:0], text[len(text)-tailBytes:]...)
	}
	if over := len(tail) + len(text) - tailBytes; over > 0 {
		tail = tail[:copy(tail, tail[over:])]
	}
	return append(tail, text...)
}
