package store

import (
	"path/filepath"
	"strings"

	"golang.org/x/sys/windows"
)

// networkName returns the name of the network file system that dir lies on, or
// "".
func networkName(dir string) string {
	volume := filepath.VolumeName(dir)
	if strings.HasPrefix(volume, `\\`) {
		return "share"
	}
	root, err := windows.UTF16PtrFromString(volume + `\`)
	if err == nil && windows.GetDriveType(root) == windows.DRIVE_REMOTE {
		return "drive"
	}
	return ""
}
