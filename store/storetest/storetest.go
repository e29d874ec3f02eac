// Package storetest provides a file system for tests that fails on demand, as a
// full disk, a broken one or another process in between would make it.
package storetest

import (
	"io/fs"
	"path/filepath"
	"sync"

	"github.com/agentloadout/loadout/store"
)

// Op is a kind of operation that can fail.
type Op string

// The operations. Name of a Fault is the base name of the file, of the new name
// for a rename or a link, and of the directory for SyncDir.
const (
	Open     Op = "open"
	Read     Op = "read"
	Write    Op = "write"
	Sync     Op = "sync"
	Truncate Op = "truncate"
	Close    Op = "close"
	Lstat    Op = "lstat"
	ReadDir  Op = "readdir"
	Mkdir    Op = "mkdir"
	Chmod    Op = "chmod"
	Link     Op = "link"
	Rename   Op = "rename"
	Remove   Op = "remove"
	SyncDir  Op = "syncdir"
)

// Fault makes an operation misbehave.
type Fault struct {
	Op    Op
	Name  string // pattern of filepath.Match for the base name
	Skip  int    // let so many pass first
	Times int    // fail so many times; 0: from then on
	Bytes int    // Write: so many bytes reach the file nevertheless
	Err   error  // what the operation returns; nil: it is carried out
	Do    func() // runs before the operation: what another process does in between
}

// FS is the file system of the operating system with faults. It is safe for
// concurrent use.
type FS struct {
	under  store.FS
	mu     sync.Mutex
	faults []*Fault
	calls  map[Op]int
}

// New returns an FS without faults.
func New() *FS { return &FS{under: store.OS(), calls: map[Op]int{}} }

// Inject adds a fault.
func (f *FS) Inject(fault Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.faults = append(f.faults, &fault)
}

// Heal removes all faults.
func (f *FS) Heal() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.faults = nil
}

// Calls returns how often an operation was asked for.
func (f *FS) Calls(op Op) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls[op]
}

// check returns the fault that an operation meets, nil when it meets none.
func (f *FS) check(op Op, path string) *Fault {
	f.mu.Lock()
	f.calls[op]++
	var met *Fault
	for i, fault := range f.faults {
		if ok, _ := filepath.Match(fault.Name, filepath.Base(path)); !ok || fault.Op != op {
			continue
		}
		if fault.Skip > 0 {
			fault.Skip--
			continue
		}
		copied := *fault
		met = &copied
		if fault.Times > 0 {
			if fault.Times--; fault.Times == 0 {
				f.faults = append(f.faults[:i:i], f.faults[i+1:]...)
			}
		}
		break
	}
	f.mu.Unlock()
	if met != nil && met.Do != nil {
		met.Do()
	}
	return met
}

// err is check for an operation that is done or not.
func (f *FS) err(op Op, path string) error {
	if fault := f.check(op, path); fault != nil {
		return fault.Err
	}
	return nil
}

// OpenFile opens a file whose operations may fail.
func (f *FS) OpenFile(name string, flag int, perm fs.FileMode) (store.File, error) {
	if err := f.err(Open, name); err != nil {
		return nil, err
	}
	file, err := f.under.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return &openFile{File: file, fs: f, path: name}, nil
}

// Lstat describes a path.
func (f *FS) Lstat(name string) (fs.FileInfo, error) {
	if err := f.err(Lstat, name); err != nil {
		return nil, err
	}
	return f.under.Lstat(name)
}

// ReadDir lists a directory.
func (f *FS) ReadDir(name string) ([]fs.DirEntry, error) {
	if err := f.err(ReadDir, name); err != nil {
		return nil, err
	}
	return f.under.ReadDir(name)
}

// Mkdir creates a directory.
func (f *FS) Mkdir(name string, perm fs.FileMode) error {
	if err := f.err(Mkdir, name); err != nil {
		return err
	}
	return f.under.Mkdir(name, perm)
}

// Chmod changes a mode.
func (f *FS) Chmod(name string, perm fs.FileMode) error {
	if err := f.err(Chmod, name); err != nil {
		return err
	}
	return f.under.Chmod(name, perm)
}

// Link gives a file another name.
func (f *FS) Link(from, to string) error {
	if err := f.err(Link, to); err != nil {
		return err
	}
	return f.under.Link(from, to)
}

// Rename renames a file.
func (f *FS) Rename(from, to string) error {
	if err := f.err(Rename, to); err != nil {
		return err
	}
	return f.under.Rename(from, to)
}

// Remove removes a file.
func (f *FS) Remove(name string) error {
	if err := f.err(Remove, name); err != nil {
		return err
	}
	return f.under.Remove(name)
}

// SyncDir syncs a directory.
func (f *FS) SyncDir(name string) error {
	if err := f.err(SyncDir, name); err != nil {
		return err
	}
	return f.under.SyncDir(name)
}

type openFile struct {
	store.File
	fs   *FS
	path string
}

func (f *openFile) ReadAt(b []byte, offset int64) (int, error) {
	if err := f.fs.err(Read, f.path); err != nil {
		return 0, err
	}
	return f.File.ReadAt(b, offset)
}

func (f *openFile) Write(b []byte) (int, error) { return f.write(b, f.File.Write) }

func (f *openFile) WriteAt(b []byte, offset int64) (int, error) {
	return f.write(b, func(b []byte) (int, error) { return f.File.WriteAt(b, offset) })
}

func (f *openFile) write(b []byte, under func([]byte) (int, error)) (int, error) {
	fault := f.fs.check(Write, f.path)
	if fault == nil || fault.Err == nil {
		return under(b)
	}
	n, err := under(b[:min(fault.Bytes, len(b))])
	if err != nil {
		return n, err
	}
	return n, fault.Err
}

func (f *openFile) Sync() error {
	if err := f.fs.err(Sync, f.path); err != nil {
		return err
	}
	return f.File.Sync()
}

func (f *openFile) Truncate(size int64) error {
	if err := f.fs.err(Truncate, f.path); err != nil {
		return err
	}
	return f.File.Truncate(size)
}

func (f *openFile) Close() error {
	fault := f.fs.err(Close, f.path)
	if err := f.File.Close(); err != nil {
		return err
	}
	return fault
}
