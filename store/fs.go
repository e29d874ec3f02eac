package store

import (
	"io"
	"io/fs"
	"os"
)

// FS is the file system that a Log lives on. Tests put one in between that fails
// on demand. Errors are those of package os. Locks and notifications do not go
// through it: they belong to the operating system.
type FS interface {
	OpenFile(name string, flag int, perm fs.FileMode) (File, error)
	Lstat(name string) (fs.FileInfo, error)
	ReadDir(name string) ([]fs.DirEntry, error)
	Mkdir(name string, perm fs.FileMode) error
	Chmod(name string, perm fs.FileMode) error
	Link(from, to string) error // to becomes another name of the file; it must not exist
	Rename(from, to string) error
	Remove(name string) error
	SyncDir(name string) error // makes creations, renames and removals in name durable
}

// File is an open file; *os.File is one.
type File interface {
	io.ReaderAt
	io.Writer
	io.WriterAt
	io.Closer
	Stat() (fs.FileInfo, error)
	Sync() error
	Truncate(size int64) error
	Fd() uintptr
}

// OS returns the FS of the operating system.
func OS() FS { return osFS{} }

type osFS struct{}

func (osFS) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
	f, err := os.OpenFile(name, flag, perm) //nolint:gosec // the paths are those of the project
	if err != nil {
		return nil, err
	}
	return osFile{f}, nil
}

type osFile struct{ *os.File }

func (osFS) Lstat(name string) (fs.FileInfo, error)     { return os.Lstat(name) }
func (osFS) ReadDir(name string) ([]fs.DirEntry, error) { return os.ReadDir(name) }
func (osFS) Mkdir(name string, perm fs.FileMode) error  { return os.Mkdir(name, perm) }
func (osFS) Chmod(name string, perm fs.FileMode) error  { return os.Chmod(name, perm) }
func (osFS) Link(from, to string) error                 { return os.Link(from, to) }
func (osFS) Rename(from, to string) error               { return os.Rename(from, to) }
func (osFS) Remove(name string) error                   { return os.Remove(name) }
func (osFS) SyncDir(name string) error                  { return syncDir(name) }
