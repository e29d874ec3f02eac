package store

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

// Windows knows neither flag; links are refused by looking before opening.
const (
	openNoFollow = 0
	openNonBlock = 0
)

// keepOpen says whether a file that is open can be renamed over and removed.
const keepOpen = false

// ownerOffset is where the owner record starts in a lock file: the lock covers
// the first byte, and Windows lets nobody else read or write a locked byte.
const ownerOffset = 1

// No lock file is kept open here, so none is locked again.
func tryLock(*os.File) (bool, error) { return false, errors.ErrUnsupported }
func unlock(*os.File) error          { return errors.ErrUnsupported }
func pause()                         {}

// syncDir has nothing to do: NTFS journals directory entries.
func syncDir(string) error { return nil }

// Windows guards files by access lists that a new file inherits from the user's
// folder; modes and numeric owners say nothing there.
func foreign(fs.FileInfo) string              { return "" }
func tooOpen(fs.FileInfo) bool                { return false }
func isLink(error) bool                       { return false }
func sameOwner(fs.FileInfo, fs.FileInfo) bool { return true }

// deviceOf knows no device: a drive is the whole of a path's volume.
func deviceOf(fs.FileInfo) (device uint64, ok bool) { return 0, false }

// identify returns the volume serial number and file index of an open file.
func identify(f File, _ fs.FileInfo) (device, inode uint64, err error) {
	var info windows.ByHandleFileInformation
	if err := windows.GetFileInformationByHandle(windows.Handle(f.Fd()), &info); err != nil {
		return 0, 0, err
	}
	return uint64(info.VolumeSerialNumber), uint64(info.FileIndexHigh)<<32 | uint64(info.FileIndexLow), nil
}

// errNotDirectory is the error for a path that goes through a file.
const errNotDirectory = windows.ERROR_DIRECTORY

// isFull reports whether err says that a file system, or what a user may have of
// it, is full.
func isFull(err error) bool {
	return errors.Is(err, windows.ERROR_DISK_FULL) || errors.Is(err, windows.ERROR_HANDLE_DISK_FULL) ||
		errors.Is(err, windows.ERROR_DISK_QUOTA_EXCEEDED)
}
