package store_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/agentloadout/loadout/store"
	"github.com/agentloadout/loadout/store/storetest"
)

func TestAppend(t *testing.T) {
	ctx := testContext(t)
	l := store.Open(newDir(t), store.Options{})
	first := write(t, l, 2)
	if err := l.Resume(first); err != nil {
		t.Fatal(err)
	}
	second := write(t, l, 3)
	wantSeqs(t, l, 0, 1, 2, 3, 4)
	if lines, pos := read(t, l, first); pos != second || !slices.Equal(seqsOf(lines), []int64{2, 3, 4}) {
		t.Fatalf("reading on from %+v: %v up to %+v, want up to %+v", first, lines, pos, second)
	}
	if _, pos := read(t, l, store.Position{}); pos != second {
		t.Fatalf("Append returned %+v, reading ends at %+v", second, pos)
	}
	for path, want := range map[string]fs.FileMode{l.Dir(): 0o700, l.Path(): 0o600, filepath.Join(l.Dir(), store.LockName): 0o600} {
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v %v, want mode %v", path, info.Mode(), err, want)
		}
	}
	err := l.Update(ctx, func(tx *store.Tx) error {
		_, err := tx.Append([][]byte{[]byte(event(9))})
		return err
	})
	if err == nil || !strings.Contains(err.Error(), "not read") {
		t.Fatalf("append without read: %v", err)
	}
}

func TestAppendTwiceInOneUpdate(t *testing.T) {
	ctx := testContext(t)
	l := store.Open(newDir(t), store.Options{})
	var pos store.Position
	err := l.Update(ctx, func(tx *store.Tx) (err error) {
		if _, err = tx.Read(ctx, store.Position{}, ignore); err != nil {
			return err
		}
		for seq := range int64(5) {
			if pos, err = tx.Append([][]byte{[]byte(event(seq))}); err != nil {
				return err
			}
		}
		_, err = tx.Append(nil)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, end := read(t, l, store.Position{}); end != pos {
		t.Fatalf("Append returned %+v, reading ends at %+v", pos, end)
	}
}

// A position stays good for the whole update, also after appends.
func TestReadAgainInOneUpdate(t *testing.T) {
	ctx := testContext(t)
	l := store.Open(newDir(t), store.Options{})
	from := write(t, l, 2)
	var pos store.Position
	err := l.Update(ctx, func(tx *store.Tx) (err error) {
		if _, err = tx.Read(ctx, from, ignore); err != nil {
			return err
		}
		if pos, err = tx.Append([][]byte{[]byte(event(2)), []byte(event(3))}); err != nil {
			return err
		}
		again, err := tx.Read(ctx, from, ignore)
		if err == nil && again != pos {
			t.Errorf("reading again ends at %+v, want %+v", again, pos)
		}
		if err == nil {
			pos, err = tx.Append([][]byte{[]byte(event(4))})
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, end := read(t, l, store.Position{}); end != pos {
		t.Errorf("the end is %+v, want %+v", end, pos)
	}
}

func TestAppendRefusesLine(t *testing.T) {
	long := `{"seq":7,"x":"` + strings.Repeat("x", store.MaxLineBytes) + `"}`
	for name, lines := range map[string][]string{
		"not JSON":        {`nonsense`},
		"no object":       {`[7]`},
		"newline":         {"{\"seq\":7,\n\"a\":1}"},
		"no seq":          {`{"id":"x"}`},
		"seq used":        {`{"seq":2}`},
		"seq below":       {`{"seq":0}`},
		"seq twice":       {`{"seq":7}`, `{"seq":7}`},
		"seq falls":       {`{"seq":8}`, `{"seq":7}`},
		"negative seq":    {`{"seq":-1}`},
		"seq not integer": {`{"seq":7.5}`},
		"duplicate key":   {`{"seq":7,"seq":8}`},
		"invalid UTF-8":   {"{\"seq\":7,\"a\":\"\xff\"}"},
		"too long":        {long},
		"good then bad":   {`{"seq":7}`, `{`},
		"empty":           {``},
	} {
		t.Run(name, func(t *testing.T) {
			ctx := testContext(t)
			l := logWith(t, text(0, 1, 2), store.Options{})
			err := l.Update(ctx, func(tx *store.Tx) error {
				if _, err := tx.Read(ctx, store.Position{}, ignore); err != nil {
					return err
				}
				var raw [][]byte
				for _, line := range lines {
					raw = append(raw, []byte(line))
				}
				_, err := tx.Append(raw)
				return err
			})
			wantError(t, err, store.ErrLine)
			if got := readFile(t, l.Path()); got != text(0, 1, 2) {
				t.Fatalf("the log was changed: %q", got)
			}
		})
	}
}

func TestTornTail(t *testing.T) {
	for name, test := range map[string]struct {
		tail string
		seqs []int64 // of the log after one more event
	}{
		"half a line":       {`{"id":"e2","seq":2,"ty`, []int64{0, 1, 2, 3}},
		"no number in it":   {`{"id":"e2","s`, []int64{0, 1, -1, 2}},
		"only the newline":  {event(2), []int64{0, 1, 2, 3}},
		"one byte":          {`{`, []int64{0, 1, -1, 2}},
		"zeros":             {strings.Repeat("\x00", 5000), []int64{0, 1, -1, 2}},
		"invalid UTF-8":     {"{\"seq\":2,\"x\":\"\xe2\x82", []int64{0, 1, 2, 3}},
		"blanks":            {"   ", []int64{0, 1, 2}},
		"longer than lines": {`{"seq":2,"x":"` + strings.Repeat("x", store.MaxLineBytes+10), []int64{0, 1, 2, 3}},
	} {
		t.Run(name, func(t *testing.T) {
			l := logWith(t, text(0, 1)+test.tail, store.Options{})
			if lines, pos := read(t, l, store.Position{}); len(lines) != 2 || pos.Offset != int64(len(text(0, 1))) {
				t.Fatalf("before the repair %d lines up to %d", len(lines), pos.Offset)
			}
			_, notes, err := tryWrite(t, l, 1)
			if err != nil {
				t.Fatal(err)
			}
			if len(notes) != 1 || !strings.Contains(notes[0], "torn") {
				t.Errorf("notes %q", notes)
			}
			wantSeqs(t, l, test.seqs...)
			if got := readFile(t, l.Path()); !strings.HasPrefix(got, text(0, 1)+test.tail+"\n{") {
				t.Error("bytes of the torn line were lost")
			}
			if _, notes, err := tryWrite(t, l, 1); err != nil || len(notes) != 0 {
				t.Errorf("second write: %q %v", notes, err)
			}
		})
	}
}

// A write that failed is not there, and the next one is whole.
func TestFailingWrite(t *testing.T) {
	full := &fs.PathError{Op: "write", Path: "log", Err: syscall.ENOSPC}
	broken := &fs.PathError{Op: "sync", Path: "log", Err: syscall.EIO}
	for name, test := range map[string]struct {
		faults    []storetest.Fault
		uncertain bool
	}{
		"full disk":            {faults: []storetest.Fault{{Op: storetest.Write, Err: full}}},
		"full disk after some": {faults: []storetest.Fault{{Op: storetest.Write, Bytes: 10, Err: full}}},
		"all but the newline":  {faults: []storetest.Fault{{Op: storetest.Write, Bytes: len(event(2)), Err: full}}},
		"failing sync":         {faults: []storetest.Fault{{Op: storetest.Sync, Times: 1, Err: broken}}},
		"sync stays broken":    {faults: []storetest.Fault{{Op: storetest.Sync, Err: broken}}, uncertain: true},
		"no way back": {faults: []storetest.Fault{
			{Op: storetest.Write, Bytes: 10, Err: full}, {Op: storetest.Truncate, Err: broken},
		}, uncertain: true},
	} {
		t.Run(name, func(t *testing.T) {
			fsys := storetest.New()
			l := logWith(t, text(0, 1), store.Options{FS: fsys})
			for _, fault := range test.faults {
				fault.Name = store.LogName
				fsys.Inject(fault)
			}
			_, _, err := tryWrite(t, l, 1)
			if err == nil || errors.Is(err, store.ErrUncertain) != test.uncertain {
				t.Fatalf("error %v", err)
			}
			if !errors.Is(err, syscall.ENOSPC) && !errors.Is(err, syscall.EIO) {
				t.Fatalf("the cause is not in %v", err)
			}
			if !test.uncertain && readFile(t, l.Path()) != text(0, 1) {
				t.Fatalf("something is left: %q", readFile(t, l.Path()))
			}
			fsys.Heal()
			write(t, l, 1)
			lines, _ := read(t, l, store.Position{})
			last := lines[len(lines)-1]
			if last.Bad != "" || last.Prior >= last.Seq {
				t.Fatalf("the next write is not whole: %+v", lines)
			}
		})
	}
}

func TestFailingDirectorySync(t *testing.T) {
	fsys := storetest.New()
	l := store.Open(newDir(t), store.Options{FS: fsys})
	fsys.Inject(storetest.Fault{Op: storetest.SyncDir, Name: store.DirName, Times: 1, Err: syscall.EIO})
	_, _, err := tryWrite(t, l, 1)
	wantError(t, err, syscall.EIO)
	if got := readFile(t, l.Path()); got != "" {
		t.Fatalf("something is left: %q", got)
	}
	before := fsys.Calls(storetest.SyncDir)
	write(t, l, 1)
	if fsys.Calls(storetest.SyncDir) == before {
		t.Fatal("the entry of the new log was not synced")
	}
	wantSeqs(t, l, 0)
}

// Another program writes, cuts or removes the log under our lock.
func TestChangedUnderLock(t *testing.T) {
	for name, change := range map[string]func(t *testing.T, path string){
		"appended": func(t *testing.T, path string) { appendRaw(t, path, text(3)) },
		"cut": func(t *testing.T, path string) {
			if err := os.Truncate(path, 5); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			ctx := testContext(t)
			l := logWith(t, text(0, 1, 2), store.Options{})
			var after string
			err := l.Update(ctx, func(tx *store.Tx) error {
				if _, err := tx.Read(ctx, store.Position{}, ignore); err != nil {
					return err
				}
				change(t, l.Path())
				after = readFile(t, l.Path())
				_, err := tx.Append([][]byte{[]byte(event(3))})
				return err
			})
			wantError(t, err, store.ErrChanged)
			if readFile(t, l.Path()) != after {
				t.Fatal("something was written")
			}
			write(t, l, 1)
		})
	}
}

// What is written into a file that is gone by then was not acknowledged.
func TestLogGoneWhileWriting(t *testing.T) {
	for name, change := range map[string]func(path string) error{
		"deleted":  os.Remove,
		"replaced": func(path string) error { return os.Rename(path, path+".old") },
	} {
		t.Run(name, func(t *testing.T) {
			fsys := storetest.New()
			l := logWith(t, text(0, 1), store.Options{FS: fsys})
			fsys.Inject(storetest.Fault{Op: storetest.Write, Name: store.LogName, Times: 1, Do: func() {
				if err := change(l.Path()); err != nil {
					t.Error(err)
				}
			}})
			_, _, err := tryWrite(t, l, 1)
			wantError(t, err, store.ErrChanged)
			wantError(t, err, store.ErrUncertain)
			write(t, l, 1)
		})
	}
}

func TestLogDeletedBetweenWrites(t *testing.T) {
	l := store.Open(newDir(t), store.Options{})
	pos := write(t, l, 3)
	if err := os.Remove(l.Path()); err != nil {
		t.Fatal(err)
	}
	wantError(t, l.Resume(pos), store.ErrMissing)
	ctx := testContext(t)
	err := l.Update(ctx, func(tx *store.Tx) error {
		_, err := tx.Read(ctx, pos, ignore)
		return err
	})
	wantError(t, err, store.ErrMissing)
	write(t, l, 1)
	wantSeqs(t, l, 0)
	wantError(t, l.Resume(pos), store.ErrReplaced)
}

func TestReadOnlyLog(t *testing.T) {
	for _, denied := range []error{syscall.EACCES, syscall.EROFS} {
		fsys := storetest.New()
		l := logWith(t, text(0, 1), store.Options{FS: fsys})
		fsys.Inject(storetest.Fault{Op: storetest.Open, Name: store.LogName, Times: 1, Err: denied})
		_, _, err := tryWrite(t, l, 1)
		wantError(t, err, denied)
		wantSeqs(t, l, 0, 1)
	}
}

func TestUpdateIsOver(t *testing.T) {
	ctx := testContext(t)
	l := store.Open(newDir(t), store.Options{})
	var kept *store.Tx
	if err := l.Update(ctx, func(tx *store.Tx) error {
		kept = tx
		_, err := tx.Read(ctx, store.Position{}, ignore)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := kept.Append([][]byte{[]byte(event(0))}); err == nil {
		t.Error("it appended without the lock")
	}
	if _, err := kept.Read(ctx, store.Position{}, ignore); err == nil {
		t.Error("it read without the lock")
	}
	if _, err := kept.Rewrite(ctx, nil, nil); err == nil {
		t.Error("it archived without the lock")
	}
}

// The lock is given back whatever the function does.
func TestUpdatePanics(t *testing.T) {
	l := store.Open(newDir(t), store.Options{})
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic was swallowed")
			}
		}()
		_ = l.Update(testContext(t), func(*store.Tx) error { panic("x") })
	}()
	write(t, l, 1)
}

func TestUpdateKeepsError(t *testing.T) {
	l := store.Open(newDir(t), store.Options{})
	refused := errors.New("refused")
	if err := l.Update(testContext(t), func(*store.Tx) error { return refused }); err != refused { //nolint:errorlint // as it is
		t.Fatalf("error %v", err)
	}
	if _, err := os.Stat(l.Path()); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("a refused update created a log: %v", err)
	}
}
