package store

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"
)

// watch turns notifications about the directory of the log into hints to look
// sooner. It watches the directory, not the log, because a rename gives the log
// another inode. Polling finds everything without it.
type watch struct {
	dir     string
	watcher *fsnotify.Watcher // nil: there is none
	watched fs.FileInfo       // the directory that is watched; nil: none
	problem string            // why there are no notifications
}

func newWatch(dir string, off bool) *watch {
	w := &watch{dir: dir}
	if off {
		return w
	}
	var err error
	if w.watcher, err = fsnotify.NewWatcher(); err != nil {
		w.watcher, w.problem = nil, err.Error()
	}
	return w
}

func (w *watch) close() {
	if w.watcher != nil {
		_ = w.watcher.Close()
	}
}

// mode returns Live when there are notifications, else Polling.
func (w *watch) mode() Mode {
	if w.watched != nil {
		return Live
	}
	return Polling
}

// arm makes sure that the directory at the path is the one watched: it may have
// been created or replaced. A failure, such as the limit of watches, is tried
// again at the next poll.
func (w *watch) arm() {
	if w.watcher == nil {
		return
	}
	info, err := os.Lstat(w.dir)
	if err != nil {
		w.watched = nil
		return
	}
	if w.watched != nil && os.SameFile(w.watched, info) {
		return
	}
	_ = w.watcher.Remove(w.dir) // of a directory that is gone
	if err := w.watcher.Add(w.dir); err != nil {
		w.watched, w.problem = nil, err.Error()
		return
	}
	w.watched, w.problem = info, ""
}

// wait blocks until there is a reason to look at the log. thorough means that not
// only its size may have changed but which file it is.
func (w *watch) wait(ctx context.Context, poll <-chan time.Time) (thorough bool, err error) {
	var events <-chan fsnotify.Event
	var errs <-chan error
	if w.watcher != nil {
		events, errs = w.watcher.Events, w.watcher.Errors
	}
	for look := false; !look; {
		select {
		case <-ctx.Done():
			return false, ctx.Err()
		case <-poll:
			return true, nil
		case event, ok := <-events:
			if !ok {
				w.lose()
				return true, nil
			}
			look, thorough = w.judge(event)
		case err, ok := <-errs:
			if !ok {
				w.lose()
			} else { // an overflow, usually: some notifications are lost
				w.problem = err.Error()
			}
			return true, nil
		}
	}
	for { // what else is there already is seen by the same look
		select {
		case event, ok := <-events:
			if !ok {
				w.lose()
				return true, nil
			}
			_, more := w.judge(event)
			thorough = thorough || more
		default:
			return thorough, nil
		}
	}
}

// lose goes on without notifications, after the watcher has ended by itself.
func (w *watch) lose() {
	w.close()
	w.watcher, w.watched, w.problem = nil, nil, "the watcher ended"
}

// judge reports whether a notification is about the log, and whether another file
// may be at its path.
func (w *watch) judge(event fsnotify.Event) (look, thorough bool) {
	const moved = fsnotify.Create | fsnotify.Remove | fsnotify.Rename
	switch {
	case filepath.Base(event.Name) == LogName:
		return event.Op&^fsnotify.Chmod != 0, event.Op&moved != 0
	case event.Name == w.dir && event.Op&(fsnotify.Remove|fsnotify.Rename) != 0:
		w.watched = nil // a new directory may get the same inode number
		return true, true
	}
	return false, false
}
