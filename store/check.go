package store

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Code names a kind of Finding; it does not change between versions.
type Code string

// The kinds of findings.
const (
	OpenToOthers   Code = "open-to-others"    // a path of ours that others may read or write
	UnsafePath     Code = "unsafe-path"       // a link, a foreign owner, another kind of file
	NotWritable    Code = "not-writable"      // nothing can be stored there
	NoSpace        Code = "no-space"          // the disk is full, or what a user may have of it
	NetworkDir     Code = "network-directory" // locks are not reliable there
	LogUnreadable  Code = "log-unreadable"    // reading stopped with an error
	TornTail       Code = "torn-tail"         // the last line has no newline
	BadLines       Code = "bad-lines"         // lines that are no JSON objects
	DuplicateSeqs  Code = "duplicate-seqs"    // numbers used by more than one line, which differ
	RepeatedLines  Code = "repeated-lines"    // copies of an earlier line
	FallingSeqs    Code = "falling-seqs"      // lines whose number is below an earlier one
	NoSeqs         Code = "no-seqs"           // lines without a sequence number
	LeftoverFile   Code = "leftover-file"     // a temporary file of a writer that died
	OtherProgram   Code = "other-program"     // signs of a program with another lock protocol
	BadCheckpoints Code = "bad-checkpoint"    // the checkpoint file is damaged
)

// Finding is one thing that Check found wrong.
type Finding struct {
	Code  Code                        `json:"code"`
	Path  string                      `json:"path"`
	Text  string                      `json:"text"`            // what is wrong, a sentence for people
	Line  int64                       `json:"line,omitempty"`  // the first line that is meant, 0: none
	Count int64                       `json:"count,omitempty"` // how many lines are meant
	Fix   func(context.Context) error `json:"-"`               // mends it; nil: nothing can be done by machine
}

// Check examines the directory and everything in it that the store knows, and
// changes nothing, but that it makes a file and removes it: only trying tells
// whether there is room. It reads the whole log. An error means that the examination
// could not be made, not that it found something. A project without a directory
// has no findings. files are further names in the directory that are regular
// files, if they are there.
func (l *Log) Check(ctx context.Context, files ...string) ([]Finding, error) {
	info, err := l.fs.Lstat(l.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("check %s: %w", l.dir, err)
	}
	c := &checker{log: l, files: append(files, LogName, LockName)}
	if !c.path(l.dir, info, fs.ModeDir) {
		return c.findings, nil
	}
	if err := refuseNetwork(l.dir, false); err != nil {
		c.add(Finding{Code: NetworkDir, Path: l.dir, Text: err.Error()})
	}
	c.room(l.dir)
	entries, err := l.fs.ReadDir(l.dir)
	if err != nil {
		return nil, fmt.Errorf("check %s: %w", l.dir, err)
	}
	for _, entry := range entries {
		if err := c.entry(entry); err != nil {
			return nil, fmt.Errorf("check %s: %w", l.dir, err)
		}
	}
	c.checkpoint()
	if err := c.lines(ctx); err != nil {
		return nil, fmt.Errorf("check %s: %w", l.path, err)
	}
	return c.findings, nil
}

type checker struct {
	log      *Log
	files    []string // names that must be regular files
	fault    string   // why the directory cannot be written, "" when it can
	findings []Finding
}

func (c *checker) add(f Finding) { c.findings = append(c.findings, f) }

// path examines owner, kind and mode and reports whether it is safe to open.
func (c *checker) path(path string, info fs.FileInfo, kind fs.FileMode) bool {
	if err := safe(path, info, kind); err != nil {
		f := Finding{Code: UnsafePath, Path: path, Text: err.Error()}
		// What has another kind than ours can be moved away without a loss; the
		// log itself a person has to look at.
		if name, relErr := filepath.Rel(c.log.dir, path); relErr == nil && info.Mode().Type() != kind && path != c.log.path && path != c.log.dir {
			f.Fix = func(context.Context) error {
				_, err := c.log.MoveAside(filepath.ToSlash(name))
				return err
			}
		}
		c.add(f)
		return false
	}
	if tooOpen(info) {
		c.add(Finding{
			Code: OpenToOthers, Path: path, Text: fmt.Sprintf("%s is open to others (mode %04o)", path, info.Mode().Perm()),
			Fix: func(context.Context) error {
				_, err := c.log.narrow(path, info)
				return err
			},
		})
	}
	return true
}

// entry examines one file or folder in the directory.
func (c *checker) entry(entry fs.DirEntry) error {
	if strings.HasSuffix(entry.Name(), asideSuffix) {
		return nil // whatever it is, it is out of the way
	}
	path := filepath.Join(c.log.dir, entry.Name())
	info, err := entry.Info()
	if errors.Is(err, fs.ErrNotExist) {
		return nil // gone in between
	}
	if err != nil {
		return err
	}
	mustBeFile := slices.Contains(c.files, entry.Name())
	if entry.Name() == cacheName || info.IsDir() && !mustBeFile {
		if c.path(path, info, fs.ModeDir) && entry.Name() == cacheName {
			c.room(path)
			c.cached()
		}
		return nil
	}
	if !c.path(path, info, 0) {
		return nil
	}
	if mustBeFile {
		err := c.log.probe(path)
		if c.writable(path, err); err != nil {
			return nil //nolint:nilerr // it is a finding
		}
	}
	switch name := entry.Name(); {
	case strings.HasSuffix(name, tmpSuffix):
		c.add(Finding{
			Code: LeftoverFile, Path: path, Text: path + " is the temporary file of a write that did not end",
			Fix: func(ctx context.Context) error { // under the lock no rewrite is using it
				return c.log.Update(ctx, func(*Tx) error { return ignoreMissing(c.log.fs.Remove(path)) })
			},
		})
	case name == LockName:
		return c.lock(path)
	case strings.HasPrefix(name, LockName+".") && strings.HasSuffix(name, ".recovery"):
		c.add(Finding{Code: OtherProgram, Path: path, Text: path + " is of a program with another lock protocol; the two must not write at once"})
	}
	return nil
}

// room finds out whether a file can be made and synced in a directory.
func (c *checker) room(dir string) { c.writable(dir, c.log.tryFile(dir)) }

// tryFile makes a file as large as the longest line, of bytes that no file system
// can make smaller, and removes it.
func (l *Log) tryFile(dir string) error {
	data := make([]byte, MaxLineBytes)
	_, _ = rand.Read(data) // never fails
	path := filepath.Join(dir, "try."+randomHex()+tmpSuffix)
	f, _, err := l.openSafe(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return also(closeSynced(f, err), l.fs.Remove(path))
}

// probe opens a file for appending and changes nothing.
func (l *Log) probe(path string) error {
	f, _, err := l.openSafe(path, os.O_WRONLY|os.O_APPEND)
	if err != nil {
		return err
	}
	return f.Close()
}

// writable reports that a path cannot be written, and why. What keeps all of them from it is told once, of the directory.
func (c *checker) writable(path string, err error) {
	if ignoreMissing(err) == nil || reasonOf(err).Error() == c.fault {
		return
	}
	why := reasonOf(err)
	if path == c.log.dir {
		c.fault = why.Error()
	}
	if isFull(err) {
		c.add(Finding{Code: NoSpace, Path: path, Text: fmt.Sprintf(
			"%s has no room for %d bytes more: %v; free some space on its file system, or nothing can be stored", path, MaxLineBytes, why)})
		return
	}
	c.add(Finding{Code: NotWritable, Path: path, Text: fmt.Sprintf(
		"%s cannot be written: %v; nothing can be stored until its mode, its attributes and the mount of its file system allow that", path, why)})
}

// reasonOf is an error of the file system without the path.
func reasonOf(err error) error {
	if pathErr := (*fs.PathError)(nil); errors.As(err, &pathErr) {
		return pathErr.Err
	}
	return err
}

// cached examines the kind of the checkpoint.
func (c *checker) cached() {
	path := filepath.Join(c.log.dir, filepath.FromSlash(checkpointName))
	if info, err := c.log.fs.Lstat(path); err == nil {
		c.path(path, info, 0)
	}
}

// lock looks for the content that another program writes into the lock file.
func (c *checker) lock(path string) error {
	f, _, err := c.log.openSafe(path, os.O_RDONLY)
	if err != nil {
		return ignoreMissing(err)
	}
	text := make([]byte, ownerBytes)
	n, _ := f.ReadAt(text, ownerOffset)
	if text = text[:n]; bytes.Contains(text, []byte(`"token"`)) && bytes.Contains(text, []byte(`"createdAt"`)) {
		c.add(Finding{Code: OtherProgram, Path: path, Text: path + " was written by a program with another lock protocol; the two must not write at once"})
	}
	return f.Close()
}

// checkpoint looks for a damaged one. One that is merely old is no finding: the
// next reader renews it.
func (c *checker) checkpoint() {
	if _, err := c.log.LoadCheckpoint(""); errors.Is(err, ErrDamaged) {
		path := filepath.Join(c.log.dir, filepath.FromSlash(checkpointName))
		c.add(Finding{
			Code: BadCheckpoints, Path: path, Text: path + " is damaged and is not used",
		})
	}
}

// lines reads the whole log.
func (c *checker) lines(ctx context.Context) error {
	bad := Finding{Code: BadLines, Text: "cannot be read"}
	missing := Finding{Code: NoSeqs, Text: "have no sequence number"}
	twice := Finding{Code: DuplicateSeqs, Text: "repeat a sequence number"}
	falling := Finding{Code: FallingSeqs, Text: "have a sequence number below an earlier one"}
	seen := seqSet{}
	count := func(f *Finding, line *Line) {
		if f.Count++; f.Line == 0 {
			f.Line = line.Number
		}
	}
	end, err := c.log.Read(ctx, Position{}, func(b Batch) error {
		for i := range b.Lines {
			line := &b.Lines[i]
			switch {
			case line.Err != nil:
				count(&bad, line)
			case line.Seq < 0:
				count(&missing, line)
			case seen.has(line.Seq):
				count(&twice, line)
			case line.Disordered():
				count(&falling, line)
			}
			seen.add(line.Seq)
		}
		return nil
	})
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, ErrUnsafe):
		return nil // reported with its path already
	case err != nil:
		c.add(Finding{Code: LogUnreadable, Path: c.log.path, Text: err.Error(), Line: end.Lines})
	}
	copies := Finding{Code: RepeatedLines, Text: "are copies of an earlier line"}
	if err == nil && twice.Count > 0 {
		if copies, err = c.copies(ctx, copies); err != nil {
			return err
		}
		twice.Count -= copies.Count
	}
	for _, f := range []Finding{bad, missing, twice, copies, falling} {
		if f.Count > 0 {
			f.Path = c.log.path
			f.Text = fmt.Sprintf("lines of %s that %s: %d, the first is line %d", c.log.path, f.Text, f.Count, f.Line)
			c.add(f)
		}
	}
	return c.tail(end)
}

// copies counts the lines that are copies.
func (c *checker) copies(ctx context.Context, f Finding) (Finding, error) {
	copies, err := Repeated(ctx, c.log.Read)
	for number := range copies {
		if f.Count++; f.Line == 0 || number < f.Line {
			f.Line = number
		}
	}
	return f, err
}

// tail looks for an unterminated last line after end.
func (c *checker) tail(end Position) error {
	info, err := c.log.fs.Lstat(c.log.path)
	if err != nil || info.Size() <= end.Offset {
		return ignoreMissing(err)
	}
	f, _, err := c.log.openSafe(c.log.path, os.O_RDONLY)
	if err != nil {
		return ignoreMissing(err)
	}
	newline, err := lastNewline(f, info.Size())
	if err == nil && newline < info.Size() {
		c.add(Finding{
			Code: TornTail, Path: c.log.path, Line: end.Lines + 1, Count: 1,
			Text: fmt.Sprintf("the last line of %s is torn (%d bytes); the next write closes it", c.log.path, info.Size()-newline),
		})
	}
	return also(err, f.Close())
}

// seqSet is a set of sequence numbers, which mostly lie close together.
type seqSet map[int64]uint64

func (s seqSet) has(n int64) bool { return n >= 0 && s[n>>6]&(1<<(n&63)) != 0 }

func (s seqSet) add(n int64) {
	if n >= 0 {
		s[n>>6] |= 1 << (n & 63)
	}
}
