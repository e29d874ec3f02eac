package store

import "golang.org/x/sys/unix"

// networkName returns the name of the network file system that dir lies on, or
// "".
func networkName(dir string) string {
	var st unix.Statfs_t
	if unix.Statfs(dir, &st) != nil {
		return ""
	}
	switch name := unix.ByteSliceToString(st.Fstypename[:]); name {
	case "nfs", "smbfs", "afpfs", "webdav", "ftp":
		return name
	}
	return ""
}
