package store_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
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

// A sync that fails after somebody else has appended takes nothing of that back. The line is written once more, and uncertain
// when that fails, too.
func TestSyncFailsAfterOthersWrote(t *testing.T) {
	for name, again := range map[string]*storetest.Fault{
		"once":             nil,
		"again":            {Op: storetest.Sync, Times: 1, Err: errBroken},
		"and then a write": {Op: storetest.Write, Times: 1, Err: errBroken},
		"and then an open": {Op: storetest.Open, Times: 1, Err: errBroken},
	} {
		t.Run(name, func(t *testing.T) {
			l, fsys := syncing(t, errBroken, func(l *store.Log) { write(t, impatient(l), 1) })
			if again != nil {
				again.Name = store.LogName
				if again.Op != storetest.Sync {
					again.Skip = 1
				}
				fsys.Inject(*again)
			}
			_, _, err := tryWrite(t, l, 1)
			if again == nil && err != nil {
				t.Error(err)
			} else if again != nil {
				wantError(t, err, store.ErrUncertain)
				wantError(t, err, syscall.EIO)
			}
			wantSeqs(t, l, 0, 1, 2, 3)
			write(t, l, 1)
			wantSeqs(t, l, 0, 1, 2, 3, 4)
		})
	}
}

// Two writers whose syncs fail, in either order: the last line is taken back, the one before it is stored.
func TestTwoSyncsFail(t *testing.T) {
	for _, firstFirst := range []bool{true, false} {
		fsys := storetest.New()
		var (
			second    *store.Log
			done      = make(chan error, 1)
			appended  = make(chan struct{})
			firstDone = make(chan struct{})
		)
		fsys.Inject(storetest.Fault{Op: storetest.Sync, Name: store.LogName, Times: 1, Err: errBroken, Do: func() {
			close(appended)
			if firstFirst {
				<-firstDone
			}
		}})
		l, _ := syncing(t, errBroken, func(l *store.Log) {
			second = store.Open(l.Dir(), store.Options{FS: fsys})
			go func() {
				_, _, err := tryWrite(t, second, 1)
				done <- err
			}()
			<-appended
			if !firstFirst {
				err := <-done
				done <- err
			}
		})
		if _, _, err := tryWrite(t, l, 1); err != nil {
			t.Error(err)
		}
		close(firstDone)
		if err := <-done; !errors.Is(err, syscall.EIO) || errors.Is(err, store.ErrUncertain) {
			t.Errorf("the second one: %v", err)
		}
		wantSeqs(t, l, 0, 1, 2)
	}
}

// What somebody has answered from, or has moved, while it was synced is not taken back, however the sync ends.
func TestSyncFailsAfterOthersHadTheLock(t *testing.T) {
	for name, test := range map[string]struct {
		meanwhile func(ctx context.Context, tx *store.Tx) error
		uncertain bool
	}{
		"answered": {meanwhile: func(ctx context.Context, tx *store.Tx) error {
			pos, err := tx.Read(ctx, store.Position{}, ignore)
			if err == nil && pos.Highest() != 2 {
				err = fmt.Errorf("it sees %d", pos.Highest())
			}
			tx.Depend()
			return err
		}},
		"compacted": {uncertain: true, meanwhile: func(ctx context.Context, tx *store.Tx) error {
			_, err := tx.Rewrite(ctx, func(store.Line) bool { return true }, nil)
			return err
		}},
		"overwritten": {uncertain: true, meanwhile: func(_ context.Context, _ *store.Tx) error { return nil }},
	} {
		t.Run(name, func(t *testing.T) {
			ctx := testContext(t)
			want := []int64{0, 1, 2}
			l, _ := syncing(t, errBroken, func(l *store.Log) {
				other := store.Open(l.Dir(), store.Options{Command: "other"})
				if err := other.Update(ctx, func(tx *store.Tx) error { return test.meanwhile(ctx, tx) }); err != nil {
					t.Error(err)
				}
				if name == "overwritten" { // by an older copy that has grown by something else
					want = []int64{5, 6, 7, 8}
					writeFile(t, l.Path(), text(want...))
				}
			})
			_, _, err := tryWrite(t, l, 1)
			if errors.Is(err, store.ErrUncertain) != test.uncertain || !test.uncertain && err != nil {
				t.Errorf("error %v", err)
			}
			wantSeqs(t, l, want...)
			archives, err := l.Archives()
			if err != nil {
				t.Fatal(err)
			}
			for _, a := range archives {
				if got := readFile(t, a.Path); got != text(0, 1, 2) {
					t.Errorf("the archive holds %q", got)
				}
			}
		})
	}
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

// The name of a log, and that of its directory, are on disk before there is a line in it: who goes on after somebody was killed
// cannot tell that they are not.
func TestNameIsSyncedBeforeTheFirstLine(t *testing.T) {
	fsys := storetest.New()
	l := store.Open(newDir(t), store.Options{FS: fsys})
	synced := map[string]bool{}
	if err := l.MakeDir(); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{store.DirName, filepath.Base(filepath.Dir(l.Dir()))} {
		fsys.Inject(storetest.Fault{Op: storetest.SyncDir, Name: dir, Times: 1, Do: func() {
			synced[dir] = true
			if got := readFile(t, l.Path()); got != "" {
				t.Errorf("%s is synced after %q was written", dir, got)
			}
		}})
	}
	write(t, l, 1)
	if len(synced) != 2 {
		t.Errorf("synced %v", synced)
	}
}

// forgetful is a file system that loses what a failing sync was for, as the system does: what is in the log is not on disk, and
// no later sync says so.
type forgetful struct {
	store.FS
	mu          sync.Mutex
	dirty, disk map[int64]byte // of the log, by offset
	fail        func()         // the next sync fails after it was called
}

func (f *forgetful) OpenFile(name string, flag int, perm fs.FileMode) (store.File, error) {
	file, err := f.FS.OpenFile(name, flag, perm)
	if err != nil || filepath.Base(name) != store.LogName {
		return file, err
	}
	return forgetfulFile{file, f}, nil
}

type forgetfulFile struct {
	store.File
	fs *forgetful
}

func (f forgetfulFile) Write(b []byte) (int, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	f.fs.wrote(b, info.Size())
	return f.File.Write(b)
}

func (f forgetfulFile) WriteAt(b []byte, offset int64) (int, error) {
	f.fs.wrote(b, offset)
	return f.File.WriteAt(b, offset)
}

func (f *forgetful) wrote(b []byte, offset int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, c := range b {
		f.dirty[offset+int64(i)] = c
	}
}

func (f forgetfulFile) Sync() error {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	fail := f.fs.fail
	f.fs.fail = nil
	if fail == nil {
		maps.Copy(f.fs.disk, f.fs.dirty)
	}
	clear(f.fs.dirty)
	if fail != nil {
		f.fs.mu.Unlock()
		fail()
		f.fs.mu.Lock()
		return errBroken
	}
	return nil
}

// A sync that fails once and then succeeds answers for nothing that the failing one has dropped.
func TestFailedSyncIsNotMadeUpForByALaterOne(t *testing.T) {
	for name, meanwhile := range map[string]func(l *store.Log){
		"nothing": func(*store.Log) {},
		"a write": func(l *store.Log) { write(t, l, 1) },
	} {
		t.Run(name, func(t *testing.T) {
			disk := &forgetful{FS: store.OS(), dirty: map[int64]byte{}, disk: map[int64]byte{}}
			dir := newDir(t)
			l, other := store.Open(dir, store.Options{FS: disk}), store.Open(dir, store.Options{FS: disk, Command: "other"})
			write(t, l, 1)
			disk.fail = func() { meanwhile(other) }
			_, _, err := tryWrite(t, l, 1)
			if errors.Is(err, store.ErrUncertain) {
				t.Error(err)
			}
			write(t, other, 1)
			if err := l.Sync(); err != nil {
				t.Fatal(err)
			}
			for i, c := range []byte(readFile(t, l.Path())) {
				if disk.disk[int64(i)] != c {
					t.Fatalf("byte %d is not on disk", i)
				}
			}
		})
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
