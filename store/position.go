package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
)

// tailBytes is how much of a file before a position proves that it is the same.
const tailBytes = 1 << 10

// FileID tells one file from another: device and inode, and because file systems
// give the number of a removed file to the next one, a digest of the first line.
type FileID struct {
	Device uint64 `json:"dev"`
	Inode  uint64 `json:"ino"`
	First  string `json:"first"` // digest of the first line, of its first 4 KiB when it is longer
}

// Position is a place in a log just past a newline. The zero Position is the
// start of any log. It may be stored as JSON and used by another process.
type Position struct {
	File    FileID `json:"file"`
	Offset  int64  `json:"offset"`  // bytes before it
	Lines   int64  `json:"lines"`   // physical lines before it
	MaxSeq  int64  `json:"maxSeq"`  // highest sequence number on those lines, -1 when none; see Highest
	Tail    string `json:"tail"`    // digest of the last 1 KiB before it
	LastSeq int64  `json:"lastSeq"` // sequence number of the last line before it, -1 when none
	Last    string `json:"last"`    // digest of that line: finds the place again after compaction
}

// Highest returns the highest sequence number before p, -1 when there is none. It
// is MaxSeq but for the zero Position.
func (p Position) Highest() int64 {
	if p.Offset == 0 {
		return -1
	}
	return p.MaxSeq
}

// digest identifies a text: the first half of its SHA-256, in hexadecimal.
func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:16])
}

// digestLine identifies a line by at most what is kept of a very long one.
func digestLine(raw []byte) string { return digest(raw[:min(len(raw), longLineBytes)]) }

// source is an open file with what was known of it when it was looked at last.
type source struct {
	File
	info          fs.FileInfo
	device, inode uint64
}

// newSource describes f, whose Stat was info.
func newSource(f File, info fs.FileInfo) (*source, error) {
	device, inode, err := identify(f, info)
	if err != nil {
		return nil, fmt.Errorf("identify file: %w", err)
	}
	return &source{File: f, info: info, device: device, inode: inode}, nil
}

// refresh looks at the file again.
func (f *source) refresh() (err error) {
	info, err := f.Stat()
	if err == nil {
		f.info = info
	}
	return err
}

// fits checks that what lies before p in f is what p was taken after, and returns
// the last bytes before it. sameFile demands the same device and inode; without
// it the first line has to be the same too. The error is ErrReplaced when it does
// not fit. The cost does not grow with the file.
func (p Position) fits(f *source, sameFile bool) (tail []byte, err error) {
	if p.Offset == 0 {
		return nil, nil
	}
	if f.info.Size() < p.Offset {
		return nil, fmt.Errorf("%w: it is shorter", ErrReplaced)
	}
	if sameFile && (f.device != p.File.Device || f.inode != p.File.Inode) {
		return nil, fmt.Errorf("%w: it is another file", ErrReplaced)
	}
	if !sameFile {
		first, err := firstLine(f)
		if err != nil {
			return nil, err
		}
		if digest(first) != p.File.First {
			return nil, fmt.Errorf("%w: its first line differs", ErrReplaced)
		}
	}
	n := min(p.Offset, tailBytes)
	tail = make([]byte, n, tailBytes)
	if err := readFull(f, tail, p.Offset-n); err != nil {
		return nil, err
	}
	if digest(tail) != p.Tail {
		return nil, fmt.Errorf("%w: its text before the position differs", ErrReplaced)
	}
	return tail, nil
}

// firstLine returns the first line of f, at most its first 4 KiB.
func firstLine(f File) ([]byte, error) {
	b := make([]byte, longLineBytes)
	n, err := f.ReadAt(b, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read first line: %w", err)
	}
	if i := bytes.IndexByte(b[:n], '\n'); i >= 0 {
		n = i
	}
	return b[:n], nil
}

// readFull fills b from offset. A file that ends before is a replaced one.
func readFull(f File, b []byte, offset int64) error {
	n, err := f.ReadAt(b, offset)
	if n == len(b) {
		return nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: it became shorter", ErrReplaced)
	}
	return fmt.Errorf("read log: %w", err)
}
