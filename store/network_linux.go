package store

import "golang.org/x/sys/unix"

// networkName returns the name of the network file system that dir lies on, or
// "". The numbers are those of statfs(2).
func networkName(dir string) string {
	var st unix.Statfs_t
	if unix.Statfs(dir, &st) != nil {
		return ""
	}
	return networkType(uint32(st.Type)) //nolint:gosec // the magic numbers have 32 bits
}

func networkType(magic uint32) string {
	switch magic {
	case unix.NFS_SUPER_MAGIC:
		return "NFS"
	case unix.SMB_SUPER_MAGIC, unix.CIFS_SUPER_MAGIC, unix.SMB2_SUPER_MAGIC:
		return "SMB"
	case unix.AFS_SUPER_MAGIC:
		return "AFS"
	case unix.CODA_SUPER_MAGIC:
		return "Coda"
	case unix.CEPH_SUPER_MAGIC:
		return "Ceph"
	}
	return ""
}
