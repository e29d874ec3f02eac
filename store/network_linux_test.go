package store

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
)

func TestNetworkType(t *testing.T) {
	for magic, want := range map[uint32]string{
		0x6969: "NFS", 0xff534d42: "SMB", 0xfe534d42: "SMB", 0x517b: "SMB", 0x5346414f: "AFS", 0x73757245: "Coda", 0x00c36400: "Ceph",
		0xef53: "", 0x01021994: "", 0x9123683e: "", 0x58465342: "", 0x794c7630: "", // ext4, tmpfs, btrfs, xfs, overlayfs
	} {
		if got := networkType(magic); got != want {
			t.Errorf("%#x is %q, want %q", magic, got, want)
		}
	}
	if name := networkName(t.TempDir()); name != "" {
		t.Skipf("the temporary directory is on %s", name)
	}
}

// Where locks are not reliable nothing is written, but what is there is read.
func TestNetworkRefused(t *testing.T) {
	ctx := context.Background()
	l := Open(filepath.Join(t.TempDir(), DirName), Options{})
	far := &UnsafeError{Path: l.dir, Reason: "is on a network file system"}
	l.local = func() error { return far }
	if err := l.Update(ctx, func(*Tx) error { t.Error("called"); return nil }); !errors.Is(err, ErrUnsafe) {
		t.Errorf("Update: %v", err)
	}
	if err := l.WriteFile("x", nil); !errors.Is(err, ErrUnsafe) {
		t.Errorf("WriteFile: %v", err)
	}
	if _, err := l.Lease("x", ""); !errors.Is(err, ErrUnsafe) {
		t.Errorf("Lease: %v", err)
	}
	if _, err := l.Read(ctx, Position{}, func(Batch) error { return nil }); err != nil {
		t.Errorf("Read: %v", err)
	}
}
