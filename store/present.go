package store

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"
)

// asideSuffix ends the name of what MoveAside has put out of the way.
const asideSuffix = ".aside"

// Exists reports whether something is at name, of whatever kind and whoever's. It
// opens nothing, so it can tell a missing file from a lack of descriptors. The
// error is about the directory, or says that the name cannot be looked at.
func (l *Log) Exists(name string) (bool, error) {
	_, err := l.checkDir()
	if err == nil {
		return l.exists(name)
	}
	return ignoreAbsent(name, err)
}

// Exists is Log.Exists in the directory that the update has looked at.
func (tx *Tx) Exists(name string) (bool, error) { return tx.log.exists(name) }

func (l *Log) exists(name string) (bool, error) {
	path, err := l.resolve(name)
	if err == nil {
		_, err = l.fs.Lstat(path)
	}
	if err == nil {
		return true, nil
	}
	return ignoreAbsent(name, err)
}

// ignoreAbsent is what Exists returns after an error.
func ignoreAbsent(name string, err error) (bool, error) {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errNotDirectory) {
		return false, nil
	}
	return false, fmt.Errorf("look for %s: %w", name, err)
}

// MoveAside gives what is at name, of whatever kind, a name of its own beside it,
// so that nothing is lost and the name is free. It returns the new name, "" when
// there was nothing.
func (l *Log) MoveAside(name string) (aside string, err error) {
	there, err := l.Exists(name)
	if err != nil || !there {
		return "", err
	}
	path, err := l.resolve(name)
	if err != nil {
		return "", err
	}
	for stamp := time.Now().UnixMilli(); ; stamp++ {
		aside = fmt.Sprintf("%s.%d%s", name, stamp, asideSuffix)
		if taken, err := l.Exists(aside); err != nil {
			return "", err
		} else if taken {
			continue
		}
		if err := l.fs.Rename(path, path+strings.TrimPrefix(aside, name)); err != nil {
			return "", fmt.Errorf("move %s aside: %w", name, err)
		}
		return aside, l.syncParent(path)
	}
}
