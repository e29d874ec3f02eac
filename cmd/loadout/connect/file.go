package connect

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/aymanbagabas/go-udiff"
	"github.com/gofrs/flock"
)

// maxFile bounds a configuration file that is read, in bytes.
const maxFile = 16 << 20

// Action is what becomes of a file.
type Action string

// The actions.
const (
	Create Action = "create"
	Edit   Action = "edit"
	Remove Action = "remove"
)

// Change is what becomes of one file, before it is carried out.
type Change struct {
	Path   string `json:"path"`
	Target string `json:"target,omitempty"` // where the path leads, when it is a link
	Action Action `json:"action"`
	Diff   string `json:"diff"`
	Backup string `json:"backup,omitempty"` // where a copy of what was there is kept, once it was carried out
	Moved  string `json:"moved,omitempty"`  // where the file is moved that was at Path, or was moved back from

	text  []byte // as it was read, nil when there was no file
	after []byte // nil for no file
	mode  fs.FileMode
	kept  *record // of an earlier connect
}

// file is a configuration file as it was read.
type file struct {
	path, target string // target is path with links resolved
	text         []byte // nil when there is none
	mode         fs.FileMode
}

// read reads a file, which need not be there. An error says what is wrong with it, without its path.
func read(path string) (file, error) {
	f := file{path: path, target: path, mode: 0o644}
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return f, hasPlace(filepath.Dir(path))
	}
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		if f.target, err = filepath.EvalSymlinks(path); errors.Is(err, fs.ErrNotExist) {
			return f, errNowhere
		}
	}
	if err == nil {
		info, err = os.Stat(f.target)
	}
	if err != nil {
		return f, unreadable(err)
	}
	if !info.Mode().IsRegular() {
		return f, errors.New("is not a regular file")
	}
	open, err := os.Open(f.target)
	if err != nil {
		return f, unreadable(err)
	}
	defer open.Close()
	f.text, err = io.ReadAll(io.LimitReader(open, maxFile+1))
	if err != nil {
		return f, unreadable(err)
	}
	if len(f.text) > maxFile {
		return f, fmt.Errorf("is larger than %d bytes", maxFile)
	}
	if f.text == nil {
		f.text = []byte{}
	}
	f.mode = info.Mode().Perm()
	return f, nil
}

var errNowhere = errors.New("is a link that leads nowhere")

// hasPlace refuses a folder that is not there and cannot be made, since a link that leads nowhere is in its place.
func hasPlace(dir string) error {
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(dir); err == nil {
			if _, err := os.Stat(dir); err != nil {
				return fmt.Errorf("cannot be made: %s %w", dir, errNowhere)
			}
			return nil
		} else if !errors.Is(err, fs.ErrNotExist) || filepath.Dir(dir) == dir {
			return unreadable(err)
		}
	}
}

// unreadable says why the system cannot read a file, without its path.
func unreadable(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		err = at.Err
	}
	return fmt.Errorf("cannot be read: %w", err)
}

// change is the way from the file to another text, nil when they are the same.
func (f *file) change(after []byte) *Change {
	c := Change{Path: f.path, Action: Edit, text: f.text, after: after, mode: f.mode}
	switch {
	case f.text == nil && after == nil, f.text != nil && after != nil && bytes.Equal(f.text, after):
		return nil
	case f.text == nil:
		c.Action = Create
	case after == nil:
		c.Action = Remove
	}
	if f.target != f.path {
		c.Target = f.target
	}
	c.Diff = udiff.Unified(f.path, f.path, string(f.text), string(after))
	return &c
}

// record is what is kept of a file that was written, so that it can be as it was.
type record struct {
	Path    string   `json:"path"`
	Existed bool     `json:"existed"`
	After   string   `json:"after"`             // digest of what was written
	Folders []string `json:"folders,omitempty"` // that were made for it, the outermost first
	Before  []byte   `json:"-"`
}

func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// keeper keeps records in a private folder of the person.
type keeper struct{ dir string }

// lockWait is how long another process is waited for that writes.
const lockWait = 10 * time.Second

// lock lets one process write at a time.
func (k keeper) lock() (unlock func() error, err error) {
	if err := os.MkdirAll(k.dir, 0o700); err != nil {
		return nil, fmt.Errorf("keep a copy: %w", err)
	}
	lock := flock.New(filepath.Join(k.dir, "lock"))
	ctx, cancel := context.WithTimeout(context.Background(), lockWait)
	defer cancel()
	if ok, err := lock.TryLockContext(ctx, lockWait/500); err != nil || !ok {
		return nil, fmt.Errorf("wait for another connect: %w", err)
	}
	return lock.Unlock, nil
}

func (k keeper) name(target string) string { return filepath.Join(k.dir, digest([]byte(target))[:24]) }

// load finds the record of a file, nil when there is none that can be used.
func (k keeper) load(target string) *record {
	var r record
	data, err := os.ReadFile(k.name(target) + ".json")
	if err != nil || json.Unmarshal(data, &r) != nil || r.Path != target {
		return nil
	}
	if r.Before, err = os.ReadFile(k.name(target) + ".before"); err != nil && r.Existed {
		return nil
	}
	return &r
}

// save keeps a record and returns where the copy of the file is.
func (k keeper) save(r *record) (backup string, err error) {
	if r.Existed {
		backup = k.name(r.Path) + ".before"
		if err := replaceFile(backup, r.Before, 0o600); err != nil {
			return "", fmt.Errorf("keep a copy: %w", err)
		}
	}
	data, err := json.Marshal(r)
	if err == nil {
		err = replaceFile(k.name(r.Path)+".json", data, 0o600)
	}
	if err != nil {
		return "", fmt.Errorf("keep a copy: %w", err)
	}
	return backup, nil
}

func (k keeper) drop(target string) {
	_, _ = os.Remove(k.name(target)+".json"), os.Remove(k.name(target)+".before") // a leftover harms nobody
}

// replaceFile writes a file whole or not at all.
func replaceFile(path string, text []byte, mode fs.FileMode) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), ".loadout-*")
	if err != nil {
		return err
	}
	_, err = tmp.Write(text)
	err = errors.Join(err, tmp.Chmod(mode), tmp.Sync(), tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(tmp.Name()))
	}
	return nil
}

// missing lists the folders that must be made for a folder to be there, the outermost first.
func missing(dir string) []string {
	var list []string
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Stat(at); err == nil || filepath.Dir(at) == at {
			return list
		}
		list = append([]string{at}, list...)
	}
}
