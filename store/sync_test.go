package store_test

import (
	"errors"
	"io/fs"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"github.com/agentloadout/loadout/store"
	"github.com/agentloadout/loadout/store/storetest"
)

// syncing returns a log of two lines and the file system on which the next sync of it calls meanwhile, and then fails with err.
func syncing(t *testing.T, err error, meanwhile func(l *store.Log)) (*store.Log, *storetest.FS) {
	t.Helper()
	fsys := storetest.New()
	l := logWith(t, text(0, 1), store.Options{FS: fsys})
	fsys.Inject(storetest.Fault{Op: storetest.Sync, Name: store.LogName, Times: 1, Err: err, Do: func() { meanwhile(l) }})
	return l, fsys
}

var errBroken = &fs.PathError{Op: "sync", Path: "log", Err: syscall.EIO}

// impatient opens a log for a writer that does not wait for the lock.
func impatient(l *store.Log) *store.Log { return store.Open(l.Dir(), store.Options{LockWait: -1}) }

// While one writer syncs what it has appended, others append.
func TestOthersWriteDuringASync(t *testing.T) {
	l, _ := syncing(t, nil, func(l *store.Log) { write(t, impatient(l), 1) })
	if pos := write(t, l, 1); pos.Highest() != 2 {
		t.Errorf("it has written %d", pos.Highest())
	}
	wantSeqs(t, l, 0, 1, 2, 3)
}

// A sync that fails after somebody else has appended takes nothing of that back, and says that its own line is uncertain.
func TestSyncFailsAfterOthersWrote(t *testing.T) {
	l, _ := syncing(t, errBroken, func(l *store.Log) { write(t, impatient(l), 1) })
	_, _, err := tryWrite(t, l, 1)
	wantError(t, err, store.ErrUncertain)
	wantError(t, err, syscall.EIO)
	wantSeqs(t, l, 0, 1, 2, 3)
	write(t, l, 1)
	wantSeqs(t, l, 0, 1, 2, 3, 4)
}

// What failed is taken back under the lock: whoever has that decides nothing meanwhile. If it does not become free, the line is
// uncertain.
func TestSyncFailsWhileOthersHoldTheLock(t *testing.T) {
	fsys := storetest.New()
	l := store.Open(newDir(t), store.Options{FS: fsys, LockWait: -1})
	write(t, l, 2)
	held, free := make(chan struct{}), make(chan struct{})
	done := make(chan error, 1)
	fsys.Inject(storetest.Fault{Op: storetest.Sync, Name: store.LogName, Times: 1, Err: errBroken, Do: func() {
		go func() {
			done <- store.Open(l.Dir(), store.Options{}).Update(testContext(t), func(*store.Tx) error {
				close(held)
				<-free
				return nil
			})
		}()
		select {
		case <-held:
		case err := <-done:
			done <- err
		}
	}})
	_, _, err := tryWrite(t, l, 1)
	wantError(t, err, store.ErrUncertain)
	wantError(t, err, syscall.EIO)
	close(free)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	wantSeqs(t, l, 0, 1, 2)
}

// Tx.Sync syncs under the lock, and once; what fails then leaves nothing behind.
func TestSyncUnderTheLock(t *testing.T) {
	for _, failure := range []error{nil, errBroken} {
		var locked *store.LockedError
		l, fsys := syncing(t, failure, func(l *store.Log) {
			if _, _, err := tryWrite(t, impatient(l), 1); !errors.As(err, &locked) {
				t.Errorf("somebody else writes: %v", err)
			}
		})
		ctx := testContext(t)
		before := fsys.Calls(storetest.Sync)
		err := l.Update(ctx, func(tx *store.Tx) error {
			if _, err := tx.Read(ctx, store.Position{}, ignore); err != nil {
				return err
			}
			if _, err := tx.Append([][]byte{[]byte(event(2))}); err != nil {
				return err
			}
			return tx.Sync()
		})
		if locked == nil {
			t.Error("nothing was synced")
		}
		if failure == nil {
			if err != nil || fsys.Calls(storetest.Sync) != before+1 {
				t.Errorf("error %v, %d syncs", err, fsys.Calls(storetest.Sync)-before)
			}
			wantSeqs(t, l, 0, 1, 2)
			continue
		}
		wantError(t, err, syscall.EIO)
		if errors.Is(err, store.ErrUncertain) {
			t.Errorf("it is uncertain: %v", err)
		}
		wantSeqs(t, l, 0, 1)
	}
}

// What is answered from lines of others is synced first, as they may not have done so yet.
func TestDepend(t *testing.T) {
	l, fsys := syncing(t, errBroken, func(*store.Log) {})
	ctx := testContext(t)
	depend := func() error {
		return l.Update(ctx, func(tx *store.Tx) error {
			_, err := tx.Read(ctx, store.Position{}, ignore)
			tx.Depend()
			return err
		})
	}
	wantError(t, depend(), syscall.EIO)
	wantSeqs(t, l, 0, 1)
	if err := depend(); err != nil {
		t.Error(err)
	}
	fsys.Inject(storetest.Fault{Op: storetest.Sync, Name: store.LogName, Times: 1, Err: errBroken})
	wantError(t, l.Sync(), syscall.EIO)
	if err := l.Sync(); err != nil {
		t.Error(err)
	}
	for _, missing := range []error{store.Open(newDir(t), store.Options{}).Sync(), store.Open(newDir(t), store.Options{}).Update(ctx, func(tx *store.Tx) error {
		_, err := tx.Read(ctx, store.Position{}, ignore)
		tx.Depend()
		return err
	})} {
		if missing != nil {
			t.Errorf("a missing log cannot be synced: %v", missing)
		}
	}
}

// The first lines of a log are on disk, and so is its name, before anybody else can answer for them.
func TestFirstLinesAreSyncedUnderTheLock(t *testing.T) {
	fsys := storetest.New()
	l := store.Open(newDir(t), store.Options{FS: fsys})
	var locked *store.LockedError
	fsys.Inject(storetest.Fault{Op: storetest.SyncDir, Name: store.DirName, Times: 1, Do: func() {
		if _, _, err := tryWrite(t, impatient(l), 1); !errors.As(err, &locked) {
			t.Errorf("somebody else writes: %v", err)
		}
	}})
	write(t, l, 1)
	if locked == nil {
		t.Error("the directory was not synced")
	}
}

// tracked is a file system that knows how much of the log is on disk.
type tracked struct {
	store.FS
	mu     sync.Mutex
	synced int64
}

func (f *tracked) OpenFile(name string, flag int, perm fs.FileMode) (store.File, error) {
	file, err := f.FS.OpenFile(name, flag, perm)
	if err != nil || filepath.Base(name) != store.LogName {
		return file, err
	}
	return trackedFile{file, f}, nil
}

type trackedFile struct {
	store.File
	disk *tracked
}

func (f trackedFile) Sync() error {
	info, err := f.Stat() // what is written while a sync goes on may be left out
	if err == nil {
		err = f.File.Sync()
	}
	if err == nil {
		f.disk.mu.Lock()
		defer f.disk.mu.Unlock()
		f.disk.synced = max(f.disk.synced, info.Size())
	}
	return err
}

// Of many writers each is answered only after a sync that began when its line was written.
func TestAnsweredIsSynced(t *testing.T) {
	const writers, each = 8, 50
	disk := &tracked{FS: store.OS()}
	dir := newDir(t)
	var wg sync.WaitGroup
	for range writers {
		l := store.Open(dir, store.Options{FS: disk})
		wg.Go(func() {
			for range each {
				pos, _, err := tryWrite(t, l, 1)
				if err != nil {
					t.Error(err)
					return
				}
				disk.mu.Lock()
				synced := disk.synced
				disk.mu.Unlock()
				if synced < pos.Offset {
					t.Errorf("answered up to %d, synced up to %d", pos.Offset, synced)
				}
			}
		})
	}
	wg.Wait()
	wantSeqs(t, store.Open(dir, store.Options{}), upTo(writers*each)...)
}
