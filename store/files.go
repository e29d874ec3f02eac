package store

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// resolve returns the path of a file in the directory of the log. A name may have
// folders, separated by slashes; it must not lead out.
func (l *Log) resolve(name string) (string, error) {
	local := filepath.FromSlash(name)
	if !filepath.IsLocal(local) || filepath.Clean(local) == "." {
		return "", &UnsafeError{Path: name, Reason: "is not a file name inside " + l.dir}
	}
	return filepath.Join(l.dir, local), nil
}

// WriteFile replaces the file name by data, durably: after a crash it holds the
// old or the new content. It refuses to replace a link, another kind of file or a
// foreign one.
func (l *Log) WriteFile(name string, data []byte) error {
	return l.replaceFile(name, data, true)
}

func (l *Log) replaceFile(name string, data []byte, durable bool) error {
	path, err := l.prepareFile(name)
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	tmp := path + "." + randomHex() + tmpSuffix
	f, _, err := l.openSafe(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL)
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	_, err = f.Write(data)
	if durable {
		err = closeSynced(f, err)
	} else {
		err = also(err, f.Close())
	}
	if err == nil {
		err = l.fs.Rename(tmp, path)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", name, also(err, ignoreMissing(l.fs.Remove(tmp))))
	}
	if !durable {
		return nil
	}
	return l.syncParent(path)
}

// prepareFile makes the folders of a file exist and refuses an unsafe target.
func (l *Log) prepareFile(name string) (path string, err error) {
	if path, err = l.resolve(name); err != nil {
		return "", err
	}
	if _, err = l.makeDir(); err != nil {
		return "", err
	}
	if err = l.makeFolder(filepath.Dir(path)); err != nil {
		return "", err
	}
	info, err := l.fs.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return path, nil
	}
	if err == nil {
		err = safe(path, info, 0)
	}
	return path, err
}

// makeFolder makes a folder below the directory of the log exist.
func (l *Log) makeFolder(path string) error {
	if path == l.dir {
		return nil
	}
	if err := l.makeFolder(filepath.Dir(path)); err != nil {
		return err
	}
	info, err := l.fs.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err = l.fs.Mkdir(path, dirMode); err == nil {
			return l.fs.SyncDir(filepath.Dir(path))
		}
		if errors.Is(err, fs.ErrExist) {
			info, err = l.fs.Lstat(path)
		}
	}
	if err != nil {
		return err
	}
	return safe(path, info, fs.ModeDir)
}

// ReadFile returns the content of the file name, which must be a regular one of
// ours of at most maxBytes. The error wraps fs.ErrNotExist when there is none.
func (l *Log) ReadFile(name string, maxBytes int64) ([]byte, error) {
	path, err := l.resolve(name)
	if err == nil {
		_, err = l.checkDir()
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	f, info, err := l.openSafe(path, os.O_RDONLY)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	b := bytes.NewBuffer(make([]byte, 0, min(info.Size(), maxBytes)+bytes.MinRead)) // room to find the end in
	if _, err = io.Copy(b, io.NewSectionReader(f, 0, maxBytes+1)); err == nil && int64(b.Len()) > maxBytes {
		err = fmt.Errorf("%w: more than %d bytes", ErrTooLarge, maxBytes)
	}
	if err = also(err, f.Close()); err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return b.Bytes(), nil
}

// Create makes the file name exist with data, durably. The error is ErrExists,
// and the file is left as it is, when it exists already. Once the name is there
// it stays there, even when writing the data fails: presence may be all that
// matters.
func (l *Log) Create(name string, data []byte) error {
	path, err := l.prepareFile(name)
	if err != nil {
		return fmt.Errorf("create %s: %w", name, err)
	}
	f, _, err := l.openSafe(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("create %s: %w", name, ErrExists)
	}
	if err == nil {
		_, err = f.Write(data)
		err = also(closeSynced(f, err), l.syncParent(path))
	}
	if err != nil {
		return fmt.Errorf("create %s: %w", name, err)
	}
	return nil
}

// Remove removes the file name, durably. A file that is not there is no error.
func (l *Log) Remove(name string) error {
	path, err := l.resolve(name)
	if err == nil {
		_, err = l.checkDir()
	}
	if err == nil {
		err = l.fs.Remove(path)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("remove %s: %w", name, err)
	}
	return l.syncParent(path)
}

func (l *Log) syncParent(path string) error {
	if err := l.fs.SyncDir(filepath.Dir(path)); err != nil {
		return fmt.Errorf("sync %s: %w", filepath.Dir(path), err)
	}
	return nil
}

// randomHex makes temporary names unique among processes.
func randomHex() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}
