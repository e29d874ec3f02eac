package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// markLines is how many lines lie between two marks of an Index.
const markLines = 512

// Mark is the start of a line in a log. The zero Mark is the start of the log.
type Mark struct {
	File   FileID
	Offset int64 // of the first byte of the line
	Lines  int64 // physical lines before it
	MaxSeq int64 // highest sequence number on those lines, -1 when none
}

// Index finds the place of a sequence number in a log without reading all of it.
// It holds a mark every 512 lines. The zero value is ready for use; it is not
// safe for concurrent use. A checkpoint keeps it in about ten bytes a mark.
type Index struct {
	file  FileID
	marks []mark
}

type mark struct{ offset, lines, maxSeq int64 }

// Observe adds the marks of the next batch. A batch from another file than the
// one before drops the old marks.
func (x *Index) Observe(b Batch) {
	if x.file != b.Pos.File {
		x.file, x.marks = b.Pos.File, nil
	}
	var last int64
	if n := len(x.marks); n > 0 {
		last = x.marks[n-1].lines
	}
	for i := range b.Lines {
		line := &b.Lines[i]
		if before := line.Number - 1; before-last >= markLines {
			x.marks = append(x.marks, mark{offset: line.Offset, lines: before, maxSeq: line.Prior})
			last = before
		}
	}
}

// Before returns the last mark before which every line has a sequence number
// below seq, so that reading on from it meets every line from seq on.
func (x *Index) Before(seq int64) Mark {
	i, _ := slices.BinarySearchFunc(x.marks, seq, func(m mark, seq int64) int {
		if m.maxSeq < seq {
			return -1
		}
		return 1
	})
	if i == 0 {
		return Mark{}
	}
	m := x.marks[i-1]
	return Mark{File: x.file, Offset: m.offset, Lines: m.lines, MaxSeq: m.maxSeq}
}

// position returns the position of a mark, without the digests that fits needs.
func (m Mark) position() Position {
	return Position{File: m.File, Offset: m.Offset, Lines: m.Lines, MaxSeq: m.MaxSeq, LastSeq: -1}
}

// scanner starts at the mark after a check that f is its file and that a line
// starts there.
func (m Mark) scanner(f *source) (*scanner, error) {
	if m.Offset == 0 {
		return newScanner(f, Position{}, nil), nil
	}
	first, err := firstLine(f)
	if err != nil {
		return nil, err
	}
	if m.File != (FileID{Device: f.device, Inode: f.inode, First: digest(first)}) {
		return nil, fmt.Errorf("%w: it is another file", ErrReplaced)
	}
	tail := make([]byte, min(m.Offset, tailBytes))
	if err := readFull(f, tail, m.Offset-int64(len(tail))); err != nil {
		return nil, err
	}
	if tail[len(tail)-1] != '\n' {
		return nil, fmt.Errorf("%w: no line starts at the mark", ErrReplaced)
	}
	return newScanner(f, m.position(), tail), nil
}

// appendTo appends the compact form of the index: its marks as differences.
func (x *Index) appendTo(b []byte) []byte {
	var last mark
	for _, m := range x.marks {
		b = binary.AppendVarint(b, m.offset-last.offset)
		b = binary.AppendVarint(b, m.lines-last.lines)
		b = binary.AppendVarint(b, m.maxSeq-last.maxSeq)
		last = m
	}
	return b
}

// decode reads what appendTo wrote.
func (x *Index) decode(file FileID, b []byte) error {
	x.file, x.marks = file, nil
	var last mark
	for len(b) > 0 {
		for _, field := range []*int64{&last.offset, &last.lines, &last.maxSeq} {
			d, n := binary.Varint(b)
			if n <= 0 {
				return errors.New("decode index: incomplete")
			}
			*field += d
			b = b[n:]
		}
		x.marks = append(x.marks, last)
	}
	return nil
}
