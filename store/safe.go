package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// checkDir refuses a directory of the log that is not a real one of ours. A
// missing one is fs.ErrNotExist.
func (l *Log) checkDir() (fs.FileInfo, error) {
	info, err := l.fs.Lstat(l.dir)
	if err != nil {
		return nil, err
	}
	return info, safe(l.dir, info, fs.ModeDir)
}

// safe refuses a path that is a link, of another kind than asked for, or foreign.
func safe(path string, info fs.FileInfo, kind fs.FileMode) error {
	switch {
	case info.Mode()&(fs.ModeSymlink|fs.ModeIrregular) != 0:
		return &UnsafeError{Path: path, Reason: "is a link"}
	case info.Mode().Type() != kind && kind == fs.ModeDir:
		return &UnsafeError{Path: path, Reason: "is not a directory"}
	case info.Mode().Type() != kind:
		return &UnsafeError{Path: path, Reason: "is not a regular file"}
	}
	if reason := foreign(info); reason != "" {
		return &UnsafeError{Path: path, Reason: reason}
	}
	return nil
}

// openSafe opens a regular file of ours; it follows no link and waits for no
// pipe.
func (l *Log) openSafe(path string, flag int) (File, fs.FileInfo, error) {
	if openNoFollow == 0 {
		if info, err := l.fs.Lstat(path); err == nil {
			if err := safe(path, info, 0); err != nil {
				return nil, nil, err
			}
		}
	}
	f, err := l.fs.OpenFile(path, flag|openNoFollow|openNonBlock, fileMode)
	if err != nil {
		if isLink(err) {
			return nil, nil, &UnsafeError{Path: path, Reason: "is a link"}
		}
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil {
		err = safe(path, info, 0)
	}
	if err != nil {
		return nil, nil, also(err, f.Close())
	}
	return f, info, nil
}

// MakeDir makes the directory of the log exist, for what lies beside the log.
func (l *Log) MakeDir() error {
	_, err := l.makeDir()
	return err
}

// makeDir makes the directory exist, durably, and refuses an unsafe one.
func (l *Log) makeDir() (fs.FileInfo, error) {
	info, err := l.checkDir()
	if errors.Is(err, fs.ErrNotExist) {
		if err = l.fs.Mkdir(l.dir, dirMode); err == nil {
			if l.options.Made != nil {
				l.options.Made()
			}
			err = l.fs.SyncDir(filepath.Dir(l.dir))
		}
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, fmt.Errorf("create %s: %w", l.dir, err)
		}
		info, err = l.checkDir()
	}
	if err != nil {
		return nil, err
	}
	return info, l.local()
}

// secureDir is makeDir, and closes the directory and what is in it to others. It
// returns what it changed, for people.
func (l *Log) secureDir() (notes []string, err error) {
	info, err := l.makeDir()
	if err != nil || !tooOpen(info) {
		return nil, err
	}
	return l.narrowAll(info)
}

// narrowAll closes the directory and its regular files to others.
func (l *Log) narrowAll(dir fs.FileInfo) (notes []string, err error) {
	note, err := l.narrow(l.dir, dir)
	if err != nil {
		return nil, err
	}
	notes = append(notes, note)
	entries, err := l.fs.ReadDir(l.dir)
	if err != nil {
		return notes, err
	}
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil || safe("", info, 0) != nil || !tooOpen(info) {
			continue // gone, not ours to change, or narrow already
		}
		note, err := l.narrow(filepath.Join(l.dir, entry.Name()), info)
		if err != nil {
			return notes, err
		}
		notes = append(notes, note)
	}
	return notes, nil
}

// narrow takes the rights of others from a path.
func (l *Log) narrow(path string, info fs.FileInfo) (note string, err error) {
	mode := info.Mode().Perm() & 0o700
	if err := l.fs.Chmod(path, mode); err != nil {
		return "", err
	}
	return fmt.Sprintf("%s was open to others (mode %04o) and is now %04o", path, info.Mode().Perm(), mode), nil
}

// names reports whether path still names the file that info describes.
func (l *Log) names(path string, info fs.FileInfo) (bool, error) {
	now, err := l.fs.Lstat(path)
	if err != nil {
		return false, ignoreMissing(err)
	}
	return os.SameFile(info, now), nil
}

// refuseNetwork refuses a directory on a network file system, where flock is
// emulated by locks that belong to a process, or is not seen by other hosts.
func refuseNetwork(dir string, allowed bool) error {
	if name := networkName(dir); name != "" && !allowed {
		return &UnsafeError{Path: dir, Reason: "is on a network file system (" + name + "), where locks are not reliable"}
	}
	return nil
}
