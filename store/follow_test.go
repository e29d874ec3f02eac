package store_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/agentloadout/loadout/store"
	"github.com/agentloadout/loadout/store/storetest"
)

// news is one event of Follow that outlives its callback.
type news struct {
	lines []copied
	pos   store.Position
	mode  store.Mode
	end   bool
	reset bool
	note  string
}

// following is a Follow that runs beside the test.
type following struct {
	t      *testing.T
	events chan news
	cancel context.CancelFunc
	done   chan error
	seen   []news
}

// poll is short, so that tests without notifications are quick.
const poll = 5 * time.Millisecond

func follow(t *testing.T, l *store.Log, from store.Position) *following {
	t.Helper()
	ctx, cancel := context.WithCancel(testContext(t))
	f := &following{t: t, events: make(chan news, 1000), cancel: cancel, done: make(chan error, 1)}
	go func() {
		f.done <- l.Follow(ctx, from, func(e store.Event) error {
			select {
			case f.events <- news{keep(e.Batch), e.Pos, e.Mode, e.End, e.Reset, e.Note}:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
	}()
	t.Cleanup(f.stop)
	return f
}

func (f *following) stop() {
	f.cancel()
	if err := <-f.done; !errors.Is(err, context.Canceled) {
		f.t.Errorf("Follow ended with %v", err)
	}
	f.done <- context.Canceled
}

// until collects events up to the first that ok accepts.
func (f *following) until(what string, ok func(news) bool) news {
	f.t.Helper()
	for {
		select {
		case e := <-f.events:
			f.seen = append(f.seen, e)
			if ok(e) {
				return e
			}
		case <-time.After(deadline):
			f.t.Fatalf("no event: %s; seen %+v", what, f.seen)
		}
	}
}

// wants waits for exactly these numbers and returns the events that had them.
func (f *following) wants(seqs ...int64) (got []news) {
	f.t.Helper()
	var have []int64
	f.until(fmt.Sprintf("numbers %v", seqs), func(e news) bool {
		got = append(got, e)
		have = append(have, seqsOf(e.lines)...)
		return len(have) >= len(seqs) && e.end
	})
	if !slices.Equal(have, seqs) {
		f.t.Fatalf("got the numbers %v, want %v", have, seqs)
	}
	return got
}

func notes(events []news) string {
	var list []string
	for _, e := range events {
		if e.note != "" {
			list = append(list, e.note)
		}
	}
	return strings.Join(list, "; ")
}

// eachMode runs a test with notifications and without.
func eachMode(t *testing.T, test func(t *testing.T, o store.Options)) {
	t.Helper()
	t.Run("notified", func(t *testing.T) { test(t, store.Options{Poll: time.Second}) })
	t.Run("polling", func(t *testing.T) { test(t, store.Options{Poll: poll, NoNotify: true}) })
}

func TestFollow(t *testing.T) {
	eachMode(t, func(t *testing.T, o store.Options) {
		l := store.Open(newDir(t), o)
		write(t, l, 3)
		f := follow(t, l, store.Position{})
		first := f.wants(0, 1, 2)
		if len(first) != 1 || !first[0].end || first[0].reset || first[0].note != "" {
			t.Errorf("first events %+v", first)
		}
		want := store.Live
		if o.NoNotify {
			want = store.Polling
		}
		if first[0].mode != want {
			t.Errorf("mode %v, want %v", first[0].mode, want)
		}
		for i := range int64(3) {
			pos := write(t, l, 1)
			if got := f.wants(3 + i); got[len(got)-1].pos != pos {
				t.Errorf("position %+v, want %+v", got[len(got)-1].pos, pos)
			}
		}
	})
}

func TestFollowFromPosition(t *testing.T) {
	l := store.Open(newDir(t), store.Options{})
	pos := write(t, l, 3)
	write(t, l, 2)
	follow(t, l, pos).wants(3, 4)
	_, end := read(t, l, store.Position{})
	f := follow(t, l, end)
	if e := f.until("end", func(e news) bool { return e.end }); len(e.lines) != 0 || e.pos != end {
		t.Fatalf("event %+v", e)
	}
}

func TestFollowStarts(t *testing.T) {
	eachMode(t, func(t *testing.T, o store.Options) {
		o.Poll = poll // nothing notifies about a directory that is not there
		l := store.Open(newDir(t), o)
		f := follow(t, l, store.Position{})
		if e := f.until("missing", func(news) bool { return true }); e.mode != store.Missing || e.end {
			t.Fatalf("event %+v", e)
		}
		write(t, l, 1)
		f.wants(0)
		write(t, l, 1)
		f.wants(1)
	})
}

// A line is not delivered before its newline is there, and not twice then.
func TestFollowHoldsBackTornLine(t *testing.T) {
	eachMode(t, func(t *testing.T, o store.Options) {
		l := logWith(t, text(0)+`{"id":"x",`, o)
		f := follow(t, l, store.Position{})
		f.wants(0)
		appendRaw(t, l.Path(), `"seq":1}`)
		appendRaw(t, l.Path(), "\n"+text(2)+`{"se`)
		f.wants(1, 2)
		write(t, l, 1)
		f.wants(-1, 3)
	})
}

func TestFollowManyAppendsInFewEvents(t *testing.T) {
	l := logWith(t, "", store.Options{NoNotify: true, Poll: 20 * time.Millisecond})
	f := follow(t, l, store.Position{})
	f.until("end", func(e news) bool { return e.end })
	for seq := range int64(1000) {
		appendRaw(t, l.Path(), text(seq))
	}
	if got := f.wants(upTo(1000)...); len(got) > 500 {
		t.Fatalf("%d events", len(got))
	}
}

func TestFollowCompaction(t *testing.T) {
	eachMode(t, func(t *testing.T, o store.Options) {
		l := store.Open(newDir(t), o)
		write(t, l, 5)
		f := follow(t, l, store.Position{})
		f.wants(upTo(5)...)
		for i := range int64(4) {
			if _, err := rewrite(t, l, 3, event(5+2*i)); err != nil {
				t.Fatal(err)
			}
			write(t, l, 1)
			got := f.wants(5+2*i, 6+2*i)
			if notes(got) != "log was compacted" || got[0].reset {
				t.Errorf("round %d: %+v", i, got)
			}
		}
	})
}

// A follower that was behind gets what a rewrite took out before it could read
// it, from wherever it still is.
func TestFollowBehindCompactions(t *testing.T) {
	l := store.Open(newDir(t), store.Options{})
	pos := write(t, l, 2)
	write(t, l, 3) // 2 3 4
	for _, from := range []int64{4, 7, 10} {
		if _, err := rewrite(t, l, from, event(from+1)); err != nil {
			t.Fatal(err)
		}
		write(t, l, 2)
	}
	got := follow(t, l, pos).wants(2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13)
	if !strings.Contains(notes(got), "compacted") {
		t.Errorf("notes %q", notes(got))
	}
	for _, e := range got {
		if e.reset {
			t.Errorf("reset in %+v", e)
		}
	}
}

// The last line that was read was itself taken out as a bad one.
func TestFollowCompactionOfLastLine(t *testing.T) {
	l := logWith(t, text(0, 1)+"bad\n", store.Options{NoNotify: true, Poll: poll})
	f := follow(t, l, store.Position{})
	f.wants(0, 1, -1)
	if _, err := rewrite(t, l, 1, event(2)); err != nil {
		t.Fatal(err)
	}
	if got := f.wants(2); notes(got) != "log was compacted" {
		t.Errorf("events %+v", got)
	}
}

func TestFollowReplaced(t *testing.T) {
	for name, test := range map[string]struct {
		change func(t *testing.T, path string)
		reset  bool
		note   string
		seqs   []int64
	}{
		"other text": {func(t *testing.T, path string) {
			writeFile(t, path+".new", text(7, 8))
			rename(t, path+".new", path)
		}, true, "replaced", []int64{7, 8}},
		"same text and more": {func(t *testing.T, path string) {
			writeFile(t, path+".new", text(0, 1, 2, 3))
			rename(t, path+".new", path)
		}, false, "replaced", []int64{3}},
		"cut": {func(t *testing.T, path string) {
			if err := os.Truncate(path, int64(len(text(0)))); err != nil {
				t.Error(err)
			}
		}, true, "cut", []int64{0}},
		"cut to nothing": {func(t *testing.T, path string) {
			if err := os.Truncate(path, 0); err != nil {
				t.Error(err)
			}
		}, true, "cut", nil},
		"overwritten": {func(t *testing.T, path string) {
			f, err := os.OpenFile(path, os.O_WRONLY, 0)
			if err == nil {
				_, err = f.WriteString(text(4, 5, 6, 7))
			}
			if err == nil {
				err = f.Close()
			}
			if err != nil {
				t.Error(err)
			}
		}, true, "overwritten", []int64{4, 5, 6, 7}},
		"deleted and created": {func(t *testing.T, path string) {
			remove(t, path)
			writeFile(t, path, text(5))
		}, true, "replaced", []int64{5}},
	} {
		t.Run(name, func(t *testing.T) {
			eachMode(t, func(t *testing.T, o store.Options) {
				l := logWith(t, text(0, 1, 2), o)
				f := follow(t, l, store.Position{})
				f.wants(0, 1, 2)
				test.change(t, l.Path())
				// A file may be seen while it is being changed, so that there can be more
				// than one reset; the state after the last one counts.
				var have []int64
				reset, note := false, ""
				f.until("the new text", func(e news) bool {
					if e.reset {
						have, reset = nil, true
					}
					note += e.note
					have = append(have, seqsOf(e.lines)...)
					return e.end && note != "" && slices.Equal(have, test.seqs)
				})
				if reset != test.reset || !strings.Contains(note, test.note) {
					t.Errorf("reset %v, note %q", reset, note)
				}
				appendRaw(t, l.Path(), text(100))
				f.wants(100)
			})
		})
	}
}

func rename(t testing.TB, from, to string) {
	t.Helper()
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
}

func TestFollowDeleted(t *testing.T) {
	eachMode(t, func(t *testing.T, o store.Options) {
		l := logWith(t, text(0, 1), o)
		f := follow(t, l, store.Position{})
		f.wants(0, 1)
		aside := filepath.Join(filepath.Dir(l.Dir()), "aside")
		rename(t, l.Path(), aside)
		if e := f.until("missing", func(e news) bool { return e.mode == store.Missing }); e.note != "log was deleted" || e.reset {
			t.Errorf("event %+v", e)
		}
		appendRaw(t, aside, text(2))
		rename(t, aside, l.Path()) // the same file comes back
		if got := f.wants(2); got[0].reset {
			t.Errorf("events %+v", got)
		}
		remove(t, l.Path())
		f.until("missing", func(e news) bool { return e.mode == store.Missing })
		write(t, l, 1)
		if got := f.wants(0); !got[0].reset {
			t.Errorf("events %+v", got)
		}
	})
}

func TestFollowDirectoryReplaced(t *testing.T) {
	eachMode(t, func(t *testing.T, o store.Options) {
		o.Poll = poll
		l := store.Open(newDir(t), o)
		write(t, l, 2)
		f := follow(t, l, store.Position{})
		f.wants(0, 1)
		for range 3 {
			if err := os.RemoveAll(l.Dir()); err != nil {
				t.Fatal(err)
			}
			f.until("missing", func(e news) bool { return e.mode == store.Missing })
			write(t, l, 1)
			if got := f.wants(0); !got[0].reset {
				t.Errorf("events %+v", got)
			}
			write(t, l, 1)
			f.wants(1)
		}
	})
}

func TestFollowUnreadable(t *testing.T) {
	fsys := storetest.New()
	l := logWith(t, text(0), store.Options{FS: fsys, NoNotify: true, Poll: poll})
	f := follow(t, l, store.Position{})
	f.wants(0)
	fsys.Inject(storetest.Fault{Op: storetest.Read, Name: store.LogName, Err: syscall.EIO})
	fsys.Inject(storetest.Fault{Op: storetest.Open, Name: store.LogName, Err: syscall.EACCES})
	appendRaw(t, l.Path(), text(1))
	e := f.until("unreadable", func(e news) bool { return e.mode == store.Unreadable })
	if e.note == "" || e.end || e.reset {
		t.Errorf("event %+v", e)
	}
	fsys.Heal()
	if got := f.wants(1); got[0].reset || got[len(got)-1].mode != store.Polling {
		t.Errorf("events %+v", got)
	}
}

func TestFollowUnsafe(t *testing.T) {
	l := logWith(t, text(0), store.Options{NoNotify: true, Poll: poll})
	f := follow(t, l, store.Position{})
	f.wants(0)
	other := filepath.Join(filepath.Dir(l.Dir()), "other")
	writeFile(t, other, text(7))
	remove(t, l.Path())
	symlink(t, other, l.Path())
	f.until("unreadable", func(e news) bool { return e.mode == store.Unreadable && strings.Contains(e.note, "link") })
	remove(t, l.Path())
	appendRaw(t, l.Path(), text(8))
	if got := f.wants(8); !slices.ContainsFunc(got, func(e news) bool { return e.reset }) {
		t.Errorf("events %+v", got)
	}
}

func TestFollowKeepsError(t *testing.T) {
	l := logWith(t, text(0), store.Options{})
	stop := errors.New("stop")
	if err := l.Follow(testContext(t), store.Position{}, func(store.Event) error { return stop }); err != stop { //nolint:errorlint // as it is
		t.Fatalf("error %v", err)
	}
}

// Whatever the writers, rewrites and the timing: each number comes once and in
// order.
func TestFollowUnderLoad(t *testing.T) {
	eachMode(t, func(t *testing.T, o store.Options) {
		const total = 300
		o.Poll = poll
		l := store.Open(newDir(t), o)
		write(t, l, 1)
		f := follow(t, l, store.Position{})
		f.wants(0) // what a rewrite takes out before a follower has begun, it does not miss
		failed := make(chan error, 1)
		go func() {
			other := store.Open(l.Dir(), o)
			for i := int64(1); i < total; i++ {
				_, _, err := tryWrite(t, other, 1)
				if err == nil && i%20 == 19 {
					_, err = rewrite(t, other, i-3)
				}
				if err != nil {
					failed <- err
					return
				}
			}
			failed <- nil
		}()
		have := []int64{0}
		f.until("all numbers", func(e news) bool {
			if e.reset {
				t.Errorf("reset in %+v", e)
			}
			have = append(have, seqsOf(e.lines)...)
			return len(have) >= total
		})
		if err := <-failed; err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(have, upTo(total)) {
			t.Fatalf("got %v", have)
		}
	})
}
