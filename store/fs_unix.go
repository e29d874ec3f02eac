//go:build unix

package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// Flags that make an open refuse a symbolic link and never wait for the other
// end of a pipe.
const (
	openNoFollow = syscall.O_NOFOLLOW
	openNonBlock = syscall.O_NONBLOCK
)

// keepOpen says whether a file that is open can be renamed over and removed.
const keepOpen = true

// ownerOffset is where the owner record starts in a lock file.
const ownerOffset = 0

// tryLock takes the lock on an open file unless somebody else has it. It is the
// lock that flock.Flock takes, which closes its file with every unlock.
func tryLock(f *os.File) (locked bool, err error) {
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}

// unlock gives back what tryLock took.
func unlock(f *os.File) error { return unix.Flock(int(f.Fd()), unix.LOCK_UN) }

// pause waits for about as long as a write has the lock. A timer of the runtime
// would wake up a second thread.
func pause() { _, _ = unix.Select(0, nil, nil, nil, &unix.Timeval{Usec: 30}) }

// syncDir makes the entries of a directory durable. A file system that cannot
// sync a directory has nothing to sync.
func syncDir(name string) error {
	d, err := os.Open(name) //nolint:gosec // the paths are those of the project
	if err != nil {
		return err
	}
	err = d.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) {
		err = nil
	}
	return errors.Join(err, d.Close())
}

// isFull reports whether err says that a file system, or what a user may have of
// it, is full.
func isFull(err error) bool { return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) }

// euid is the user that this process acts as.
var euid = os.Geteuid()

// foreign says whose the file is when it is not ours, else "".
func foreign(info fs.FileInfo) string {
	st, ok := info.Sys().(*syscall.Stat_t)
	if ok && int(st.Uid) != euid {
		return fmt.Sprintf("belongs to user %d, not to user %d", st.Uid, euid)
	}
	return ""
}

// tooOpen reports whether others than the owner have any right on the file.
func tooOpen(info fs.FileInfo) bool { return info.Mode().Perm()&0o077 != 0 }

// isLink reports whether err is the refusal of openNoFollow.
func isLink(err error) bool { return errors.Is(err, syscall.ELOOP) || errors.Is(err, syscall.EMLINK) }

// identify returns the device and inode of an open file.
func identify(_ File, info fs.FileInfo) (device, inode uint64, err error) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0, errors.ErrUnsupported
	}
	return uint64(st.Dev), uint64(st.Ino), nil //nolint:gosec,unconvert // the types differ between systems
}

// deviceOf returns the device that a path lies on; ok is false where that is not
// known.
func deviceOf(info fs.FileInfo) (device uint64, ok bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return uint64(st.Dev), true //nolint:gosec,unconvert // the types differ between systems
}

// sameOwner reports whether two files belong to one user.
func sameOwner(a, b fs.FileInfo) bool {
	x, okX := a.Sys().(*syscall.Stat_t)
	y, okY := b.Sys().(*syscall.Stat_t)
	return okX && okY && x.Uid == y.Uid
}

// errNotDirectory is the error for a path that goes through a file.
const errNotDirectory = syscall.ENOTDIR
