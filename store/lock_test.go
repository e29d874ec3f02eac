package store_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agentloadout/loadout/store"
	"github.com/agentloadout/loadout/store/storetest"
)

// hold runs fn while another Log of the same directory has the lock.
func hold(t *testing.T, dir, command string, fn func()) {
	t.Helper()
	err := store.Open(dir, store.Options{Command: command}).Update(testContext(t), func(*store.Tx) error {
		fn()
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestLockTimeoutNamesHolder(t *testing.T) {
	dir := newDir(t)
	command := `loadout coord own "ä" <b>` + strings.Repeat("x", 500)
	hold(t, dir, command, func() {
		start := time.Now()
		l := store.Open(dir, store.Options{LockWait: 50 * time.Millisecond})
		_, _, err := tryWrite(t, l, 1)
		var locked *store.LockedError
		if !errors.As(err, &locked) {
			t.Fatalf("error %v", err)
		}
		host, _ := os.Hostname()
		if o := locked.Owner; o.PID != os.Getpid() || host != o.Host && !strings.HasPrefix(host, o.Host) || o.Command != command[:len(o.Command)] || len(o.Command) < 100 ||
			time.Since(o.Since) > time.Minute || o.Since.After(time.Now()) || o.Since.Nanosecond()%1e6 != 0 {
			t.Errorf("owner %+v", o)
		}
		if locked.Waited < 50*time.Millisecond || time.Since(start) > deadline || locked.Path != filepath.Join(dir, store.LockName) {
			t.Errorf("refusal %+v after %v", locked, time.Since(start))
		}
		for _, want := range []string{"loadout coord own", "process", "waited"} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%q is not in %q", want, err)
			}
		}
	})
}

func TestLockWithoutWaiting(t *testing.T) {
	dir := newDir(t)
	hold(t, dir, "", func() {
		_, _, err := tryWrite(t, store.Open(dir, store.Options{LockWait: -1}), 1)
		if locked := (*store.LockedError)(nil); !errors.As(err, &locked) {
			t.Fatalf("error %v", err)
		}
	})
	write(t, store.Open(dir, store.Options{LockWait: -1}), 1)
}

// The mutex in front of the lock keeps its bound too.
func TestUpdateInsideUpdate(t *testing.T) {
	ctx := testContext(t)
	l := store.Open(newDir(t), store.Options{LockWait: 20 * time.Millisecond})
	err := l.Update(ctx, func(*store.Tx) error {
		return l.Update(ctx, func(*store.Tx) error { return nil })
	})
	if locked := (*store.LockedError)(nil); !errors.As(err, &locked) || locked.Owner.PID != os.Getpid() {
		t.Fatalf("error %v", err)
	}
	write(t, l, 1)
}

func TestLockCancelled(t *testing.T) {
	for name, other := range map[string]bool{"another process": true, "another goroutine": false} {
		t.Run(name, func(t *testing.T) {
			l := store.Open(newDir(t), store.Options{})
			holder := l
			if other {
				holder = store.Open(l.Dir(), store.Options{})
			}
			err := holder.Update(testContext(t), func(*store.Tx) error {
				ctx, cancel := context.WithTimeout(testContext(t), 10*time.Millisecond)
				defer cancel()
				err := l.Update(ctx, func(*store.Tx) error { return nil })
				wantError(t, err, context.DeadlineExceeded)
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		})
	}
}

// Who has written before waits, gives up and notices another lock file like
// anybody else.
func TestLockAgain(t *testing.T) {
	dir := newDir(t)
	l := store.Open(dir, store.Options{LockWait: 50 * time.Millisecond})
	write(t, l, 1)
	for range 2 {
		hold(t, dir, "somebody", func() {
			_, _, err := tryWrite(t, l, 1)
			if locked := (*store.LockedError)(nil); !errors.As(err, &locked) || locked.Owner.Command != "somebody" {
				t.Fatalf("error %v", err)
			}
			ctx, cancel := context.WithCancel(testContext(t))
			cancel()
			wantError(t, l.Update(ctx, func(*store.Tx) error { return nil }), context.Canceled)
		})
		write(t, l, 1)
		remove(t, filepath.Join(dir, store.LockName)) // the one that the next round holds is another
	}
	wantSeqs(t, l, 0, 1, 2)
}

// A lock file that is removed while it is waited for is not the one that counts.
func TestLockFileReplacedWhileWaiting(t *testing.T) {
	for name, replace := range map[string]func(path string) error{
		"deleted":  os.Remove,
		"replaced": func(path string) error { return os.Rename(path, path+".old") },
	} {
		t.Run(name, func(t *testing.T) {
			dir := newDir(t)
			path := filepath.Join(dir, store.LockName)
			done := make(chan error, 1)
			hold(t, dir, "", func() {
				go func() {
					_, _, err := tryWrite(t, store.Open(dir, store.Options{}), 1)
					done <- err
				}()
				if err := replace(path); err != nil {
					t.Fatal(err)
				}
				if err := <-done; err != nil { // it holds a new file at the path
					t.Fatal(err)
				}
			})
			wantSeqs(t, store.Open(dir, store.Options{}), 0)
		})
	}
}

// Who writes without a pause lets others in, and gives back what it keeps.
func TestRunOfWrites(t *testing.T) {
	dir := newDir(t)
	busy, other := store.Open(dir, store.Options{}), store.Open(dir, store.Options{})
	stop, stopped := make(chan struct{}), make(chan struct{})
	began := make(chan struct{}, 1)
	go func() {
		defer close(stopped)
		for {
			write(t, busy, 1)
			select {
			case <-stop:
				return
			case began <- struct{}{}:
			default:
			}
		}
	}()
	select {
	case <-began:
	case <-stopped:
		t.Fatal("it has written nothing")
	}
	for range 5 {
		write(t, other, 1)
	}
	close(stop)
	<-stopped
	start := time.Now()
	write(t, other, 1)
	if waited := time.Since(start); waited > 5*time.Second {
		t.Errorf("a lock that nobody uses was kept for %v", waited)
	}
}

// A wait that was given up leaves nothing locked behind.
func TestGivenUpWait(t *testing.T) {
	dir := newDir(t)
	hold(t, dir, "", func() {
		impatient := store.Open(dir, store.Options{LockWait: 20 * time.Millisecond})
		for range 3 {
			_, _, err := tryWrite(t, impatient, 1)
			var locked *store.LockedError
			if !errors.As(err, &locked) {
				t.Fatalf("error %v", err)
			}
		}
	})
	for range 3 {
		write(t, store.Open(dir, store.Options{LockWait: 5 * time.Second}), 1)
	}
}

// A writer whose lock file was taken away does not acknowledge, because another
// one may write at the same time.
func TestLockFileReplacedWhileHeld(t *testing.T) {
	ctx := testContext(t)
	l := store.Open(newDir(t), store.Options{})
	write(t, l, 1)
	second := store.Open(l.Dir(), store.Options{})
	err := l.Update(ctx, func(tx *store.Tx) error {
		pos, err := tx.Read(ctx, store.Position{}, ignore)
		if err != nil {
			return err
		}
		remove(t, filepath.Join(l.Dir(), store.LockName))
		write(t, second, 1)
		_, err = tx.Append([][]byte{[]byte(event(pos.Highest() + 1))})
		return err
	})
	wantError(t, err, store.ErrChanged)
	wantSeqs(t, l, 0, 1)
	err = l.Update(ctx, func(tx *store.Tx) error {
		remove(t, filepath.Join(l.Dir(), store.LockName))
		_, err := tx.Rewrite(ctx, func(store.Line) bool { return true }, nil)
		return err
	})
	wantError(t, err, store.ErrChanged)
}

// What is written with another lock while a rewrite waits for the disk is not lost.
func TestOvertakenWhileRewriting(t *testing.T) {
	for name, f := range map[string]storetest.Fault{
		"archive": {Op: storetest.SyncDir, Name: store.DirName},
		"new log": {Op: storetest.Sync, Name: "*.tmp"},
		"names":   {Op: storetest.SyncDir, Name: store.DirName, Skip: 1},
	} {
		t.Run(name, func(t *testing.T) {
			fsys := storetest.New()
			l := logWith(t, text(0, 1), store.Options{FS: fsys})
			f.Times, f.Do = 1, func() {
				remove(t, filepath.Join(l.Dir(), store.LockName))
				write(t, store.Open(l.Dir(), store.Options{}), 1)
			}
			fsys.Inject(f)
			_, err := rewrite(t, l, 0)
			wantError(t, err, store.ErrChanged)
			wantSeqs(t, l, 0, 1, 2)
		})
	}
}

// Two writers that hold two locks at the same time: the one that was overtaken
// does not acknowledge.
func TestOvertakenWhileWriting(t *testing.T) {
	fsys := storetest.New()
	l := logWith(t, text(0), store.Options{FS: fsys})
	fsys.Inject(storetest.Fault{Op: storetest.Write, Name: store.LogName, Times: 1, Do: func() {
		remove(t, filepath.Join(l.Dir(), store.LockName))
		write(t, store.Open(l.Dir(), store.Options{}), 1)
	}})
	_, _, err := tryWrite(t, l, 1)
	wantError(t, err, store.ErrChanged)
	wantError(t, err, store.ErrUncertain)
}

// Goroutines with one Log, and several Logs in one process, exclude each other.
func TestGoroutinesExclude(t *testing.T) {
	const goroutines, each = 8, 20
	dir := newDir(t)
	shared := store.Open(dir, store.Options{})
	var wg sync.WaitGroup
	for i := range goroutines {
		l := shared
		if i%2 == 0 {
			l = store.Open(dir, store.Options{})
		}
		wg.Go(func() {
			for range each {
				if _, _, err := tryWrite(t, l, 1); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	wantSeqs(t, shared, upTo(goroutines*each)...)
}

func TestLease(t *testing.T) {
	l := store.Open(newDir(t), store.Options{})
	release, err := l.Lease("bridge.lock", "loadout bridge")
	if err != nil {
		t.Fatal(err)
	}
	for _, other := range []*store.Log{l, store.Open(l.Dir(), store.Options{})} {
		_, err := other.Lease("bridge.lock", "second")
		if locked := (*store.LockedError)(nil); !errors.As(err, &locked) || locked.Owner.Command != "loadout bridge" {
			t.Fatalf("error %v", err)
		}
	}
	write(t, l, 1) // another lock
	another, err := l.Lease("daemon.lock", "")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(release(), another()); err != nil {
		t.Fatal(err)
	}
	if release, err = l.Lease("bridge.lock", "third"); err != nil {
		t.Fatal(err)
	}
	if err := release(); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Lease("../bridge.lock", ""); !errors.Is(err, store.ErrUnsafe) {
		t.Fatalf("error %v", err)
	}
}

// What is locked again and again, or waited for in vain, leaves no file open.
func TestOpenFiles(t *testing.T) {
	const open = "/proc/self/fd"
	if _, err := os.Stat(open); err != nil {
		t.Skipf("skipped: this system does not list the files that a process has open: %v", err)
	}
	ofDir := func(dir string) (names []string) {
		list, err := os.ReadDir(open)
		if err != nil {
			t.Fatal(err)
		}
		for _, entry := range list {
			name, err := os.Readlink(filepath.Join(open, entry.Name()))
			if err == nil && strings.HasPrefix(name, dir) && !strings.HasPrefix(filepath.Base(name), "turn") { // a run of writes takes one
				names = append(names, filepath.Base(name))
			}
		}
		slices.Sort(names)
		return names
	}
	l := store.Open(newDir(t), store.Options{})
	later := make(chan error, 1)
	for range 20 {
		write(t, l, 1)
		release, err := l.Lease("bridge.lock", "")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := l.Lease("bridge.lock", ""); err == nil {
			t.Fatal("leased twice")
		}
		if err := release(); err != nil {
			t.Fatal(err)
		}
	}
	if names := ofDir(l.Dir()); !slices.Equal(names, []string{store.LogName, store.LockName}) {
		t.Errorf("open: %v", names)
	}
	hold(t, l.Dir(), "", func() {
		held := len(ofDir(l.Dir()))
		impatient := store.Open(l.Dir(), store.Options{LockWait: time.Millisecond})
		for range 20 {
			if _, _, err := tryWrite(t, impatient, 1); err == nil {
				t.Fatal("it has the lock of somebody else")
			}
		}
		if names := ofDir(l.Dir()); len(names) > held+1 {
			t.Errorf("open after waits in vain: %v", names)
		}
		impatient = store.Open(l.Dir(), store.Options{LockWait: deadline})
		ctx, cancel := context.WithTimeout(testContext(t), time.Millisecond)
		defer cancel()
		wantError(t, impatient.Update(ctx, func(*store.Tx) error { return nil }), context.DeadlineExceeded)
		go func() { later <- impatient.Update(testContext(t), func(*store.Tx) error { return nil }) }() // goes on where that one has stopped
	})
	if err := <-later; err != nil {
		t.Error(err)
	}
}

// What is put in the place of a lock file that a process has open is refused like any other, and holds nobody up once it is gone.
func TestPlantedLockFile(t *testing.T) {
	for name, plant := range map[string]func(path string) error{
		"folder": func(path string) error { return os.Mkdir(path, 0o700) },
		"link":   func(path string) error { return os.Symlink(path+".old", path) },
	} {
		t.Run(name, func(t *testing.T) {
			l := store.Open(newDir(t), store.Options{LockWait: 50 * time.Millisecond})
			path := filepath.Join(l.Dir(), store.LockName)
			write(t, l, 1)
			if err := os.Rename(path, path+".old"); err != nil {
				t.Fatal(err)
			}
			if err := plant(path); err != nil {
				t.Skipf("skipped: %s cannot be made: %v", name, err)
			}
			_, _, err := tryWrite(t, l, 1)
			if locked := (*store.LockedError)(nil); err == nil || errors.As(err, &locked) {
				t.Errorf("error %v", err)
			}
			remove(t, path)
			write(t, l, 1)
			wantSeqs(t, l, 0, 1)
		})
	}
}

// What stands in a lock file holds nobody up: only who has locked it does.
func TestContentOfALockFileMeansNothing(t *testing.T) {
	for name, text := range map[string]string{
		"empty": "", "not JSON": "\x00\xffgarbage", "half": `{"pid":1,"tok`,
		"a live process": fmt.Sprintf(`{"pid":%d,"token":"7d","createdAt":"2026-01-01T00:00:00.000Z"}`, os.Getpid()),
		"long":           strings.Repeat("x", 1<<20),
	} {
		t.Run(name, func(t *testing.T) {
			l := logWith(t, event(0)+"\n", store.Options{LockWait: -1})
			for _, lock := range []string{store.LockName, "bridge.lock"} {
				writeFile(t, filepath.Join(l.Dir(), lock), text)
			}
			write(t, l, 1)
			release, err := l.Lease("bridge.lock", "")
			if err != nil {
				t.Fatal(err)
			}
			if err := release(); err != nil {
				t.Fatal(err)
			}
			wantSeqs(t, l, 0, 1)
		})
	}
}

func TestOwnerRecordIsOneLine(t *testing.T) {
	l := store.Open(newDir(t), store.Options{Command: strings.Repeat("\x01", 200)})
	write(t, l, 1)
	record := readFile(t, filepath.Join(l.Dir(), store.LockName))
	if len(record) != 512 || strings.Count(record, "\n") != 1 || slices.Contains([]byte(record), 1) {
		t.Fatalf("%d bytes: %q", len(record), record)
	}
}
