package store_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/agentloadout/loadout/store"
	"github.com/agentloadout/loadout/store/storetest"
)

func TestCheck(t *testing.T) {
	type want map[store.Code]int64 // with the number of lines
	for name, test := range map[string]struct {
		text    string
		prepare func(t *testing.T, l *store.Log)
		want    want
		fixed   want // what is left after all fixes
	}{
		"healthy":      {text(0, 1, 2), nil, nil, nil},
		"empty":        {"", nil, nil, nil},
		"bad lines":    {text(0) + "bad\n" + text(1) + "worse\n", nil, want{store.BadLines: 2}, want{store.BadLines: 2}},
		"copies":       {text(0, 1, 1, 2, 0), nil, want{store.RepeatedLines: 2}, want{store.RepeatedLines: 2}},
		"duplicates":   {text(0, 1) + `{"seq":1}` + "\n" + text(1), nil, want{store.DuplicateSeqs: 1, store.RepeatedLines: 1}, want{store.DuplicateSeqs: 1, store.RepeatedLines: 1}},
		"falling":      {text(5, 3, 6), nil, want{store.FallingSeqs: 1}, want{store.FallingSeqs: 1}},
		"no number":    {text(0) + "{}\n", nil, want{store.NoSeqs: 1}, want{store.NoSeqs: 1}},
		"torn":         {text(0) + `{"seq":1`, nil, want{store.TornTail: 1}, want{store.TornTail: 1}},
		"torn but all": {text(0) + event(1), nil, want{store.TornTail: 1}, want{store.TornTail: 1}},
		"open to others": {text(0), func(t *testing.T, l *store.Log) {
			for _, path := range []string{l.Dir(), l.Path()} {
				if err := os.Chmod(path, 0o755); err != nil {
					t.Fatal(err)
				}
			}
		}, want{store.OpenToOthers: 0}, nil},
		"leftovers": {text(0), func(t *testing.T, l *store.Log) {
			writeFile(t, l.Path()+".tmp", "")
			writeFile(t, filepath.Join(l.Dir(), "sessions.json.12.tmp"), "")
		}, want{store.LeftoverFile: 0}, nil},
		"other program": {text(0), func(t *testing.T, l *store.Log) {
			writeFile(t, filepath.Join(l.Dir(), store.LockName), `{"token":"7d","pid":1,"createdAt":"2026-01-01T00:00:00.000Z"}`)
			writeFile(t, filepath.Join(l.Dir(), store.LockName+".7d.recovery"), "")
		}, want{store.OtherProgram: 0}, want{store.OtherProgram: 0}},
		"damaged checkpoint": {text(0), func(t *testing.T, l *store.Log) {
			if err := l.SaveCheckpoint(checkpointOf(t, l)); err != nil {
				t.Fatal(err)
			}
			flip(t, checkpointPath(l), -1)
		}, want{store.BadCheckpoints: 0}, want{store.BadCheckpoints: 0}},
		"old checkpoint": {text(0), func(t *testing.T, l *store.Log) {
			if err := l.SaveCheckpoint(checkpointOf(t, l)); err != nil {
				t.Fatal(err)
			}
			keepInode(t, l.Path())
			remove(t, l.Path())
			writeFile(t, l.Path(), text(1, 2))
		}, nil, nil},
		"links": {text(0), func(t *testing.T, l *store.Log) {
			symlink(t, l.Path(), filepath.Join(l.Dir(), "link"))
		}, want{store.UnsafePath: 0}, want{}},
		"linked log": {text(0), func(t *testing.T, l *store.Log) {
			rename(t, l.Path(), l.Dir()+".log")
			symlink(t, l.Dir()+".log", l.Path())
		}, want{store.UnsafePath: 0}, want{store.UnsafePath: 0}},
	} {
		t.Run(name, func(t *testing.T) {
			l := logWith(t, test.text, store.Options{})
			if test.prepare != nil {
				test.prepare(t, l)
			}
			before, _ := os.ReadFile(l.Path())
			findings := check(t, l)
			compare(t, "findings", findings, test.want)
			if after, _ := os.ReadFile(l.Path()); string(after) != string(before) {
				t.Error("the log was changed")
			}
			for _, f := range findings {
				if f.Fix != nil {
					if err := f.Fix(testContext(t)); err != nil {
						t.Error(err)
					}
				}
			}
			compare(t, "after the fixes", check(t, l), test.fixed)
		})
	}
}

func check(t *testing.T, l *store.Log) []store.Finding {
	t.Helper()
	findings, err := l.Check(testContext(t))
	if err != nil {
		t.Fatal(err)
	}
	return findings
}

func compare(t *testing.T, what string, findings []store.Finding, want map[store.Code]int64) {
	t.Helper()
	got := map[store.Code]bool{}
	for _, f := range findings {
		got[f.Code] = true
		if count, ok := want[f.Code]; !ok || f.Count != count {
			t.Errorf("%s: %+v", what, f)
		}
		if f.Text == "" || f.Path == "" || !strings.Contains(f.Text, f.Path) {
			t.Errorf("%s: text %q for %q", what, f.Text, f.Path)
		}
	}
	for code := range want {
		if !got[code] {
			t.Errorf("%s: %s is missing in %+v", what, code, findings)
		}
	}
}

// Whether there is room, only trying tells. What was tried is gone afterwards.
func TestCheckRoom(t *testing.T) {
	const try = "try.*.tmp"
	for name, test := range map[string]struct {
		fault storetest.Fault
		want  store.Code
		says  string
	}{
		"full":           {storetest.Fault{Op: storetest.Write, Name: try, Bytes: 100, Err: syscall.ENOSPC}, store.NoSpace, "free some space"},
		"full when told": {storetest.Fault{Op: storetest.Sync, Name: try, Err: syscall.ENOSPC}, store.NoSpace, "free some space"},
		"no entry left":  {storetest.Fault{Op: storetest.Open, Name: try, Err: syscall.ENOSPC}, store.NoSpace, "free some space"},
		"quota":          {storetest.Fault{Op: storetest.Close, Name: try, Err: syscall.EDQUOT}, store.NoSpace, "quota"},
		"read-only":      {storetest.Fault{Op: storetest.Open, Name: try, Err: syscall.EROFS}, store.NotWritable, "read-only"},
		"mode":           {storetest.Fault{Op: storetest.Open, Name: try, Err: syscall.EACCES}, store.NotWritable, "its mode"},
		"broken":         {storetest.Fault{Op: storetest.Sync, Name: try, Err: syscall.EIO}, store.NotWritable, "input/output error"},
	} {
		t.Run(name, func(t *testing.T) {
			disk := storetest.New()
			l := logWith(t, text(0), store.Options{FS: disk})
			disk.Inject(test.fault)
			findings := check(t, l)
			compare(t, "findings", findings, map[store.Code]int64{test.want: 0})
			if !strings.Contains(findings[0].Text, test.says) || findings[0].Fix != nil {
				t.Errorf("%+v", findings[0])
			}
			entries, err := os.ReadDir(l.Dir())
			if err != nil || len(entries) != 1 {
				t.Errorf("%v, %v", entries, err)
			}
		})
	}
}

func TestCheckWithoutDirectory(t *testing.T) {
	l := store.Open(newDir(t), store.Options{})
	if findings := check(t, l); len(findings) != 0 {
		t.Fatalf("%+v", findings)
	}
	writeFile(t, l.Dir(), "")
	if findings := check(t, l); len(findings) != 1 || findings[0].Code != store.UnsafePath {
		t.Fatalf("%+v", findings)
	}
}

func TestCheckCancelled(t *testing.T) {
	l := logWith(t, text(0), store.Options{})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := l.Check(ctx)
	wantError(t, err, context.Canceled)
}
