package store

import (
	"path/filepath"
	"time"
)

// CheckpointTime returns when the checkpoint was written last, by whichever
// process; ok is false when there is none. Whether it is usable it does not say.
func (l *Log) CheckpointTime() (at time.Time, ok bool) {
	info, err := l.fs.Lstat(filepath.Join(l.dir, filepath.FromSlash(checkpointName)))
	if err != nil {
		return time.Time{}, false
	}
	return info.ModTime(), true
}
