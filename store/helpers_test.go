package store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/agentloadout/loadout/store"
)

func TestMain(m *testing.M) {
	if role := os.Getenv(roleVar); role != "" {
		os.Exit(runChild(role))
	}
	goleak.VerifyTestMain(m)
}

// deadline bounds what a test waits for; it is only reached by a failure.
const deadline = 30 * time.Second

func testContext(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), deadline)
	t.Cleanup(cancel)
	return ctx
}

// newDir returns the path of a .handoff directory that does not exist yet.
func newDir(t testing.TB) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, store.DirName)
}

// logWith returns a log whose file has the given text, written without the store.
func logWith(t testing.TB, text string, o store.Options) *store.Log {
	t.Helper()
	l := store.Open(newDir(t), o)
	if err := os.Mkdir(l.Dir(), 0o700); err != nil {
		t.Fatal(err)
	}
	writeFile(t, l.Path(), text)
	return l
}

func writeFile(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func readFile(t testing.TB, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// appendRaw writes to a file as another program would, without the lock.
func appendRaw(t testing.TB, path, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err == nil {
		_, err = f.WriteString(text)
	}
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// event returns a small valid line.
func event(seq int64) string {
	return fmt.Sprintf(`{"id":"e%d","seq":%d,"type":"update"}`, seq, seq)
}

// text returns the log text of small valid lines.
func text(seqs ...int64) string {
	var b bytes.Buffer
	for _, seq := range seqs {
		b.WriteString(event(seq) + "\n")
	}
	return b.String()
}

func ignore(store.Batch) error { return nil }

// write appends n events through the store and returns the position after them.
func write(t testing.TB, l *store.Log, n int) (pos store.Position) {
	t.Helper()
	pos, _, err := tryWrite(t, l, n)
	if err != nil {
		t.Fatal(err)
	}
	return pos
}

func tryWrite(t testing.TB, l *store.Log, n int) (pos store.Position, notes []string, err error) {
	t.Helper()
	ctx := testContext(t)
	err = l.Update(ctx, func(tx *store.Tx) error {
		end, err := tx.Read(ctx, store.Position{}, ignore)
		if err == nil {
			var lines [][]byte
			for i := range n {
				lines = append(lines, []byte(event(end.Highest()+1+int64(i))))
			}
			pos, err = tx.Append(lines)
		}
		notes = tx.Notes()
		return err
	})
	return pos, notes, err
}

// copied is a Line that outlives its callback.
type copied struct {
	Number, Offset, Seq, Prior int64
	Raw, Bad                   string
}

func keep(b store.Batch) (lines []copied) {
	for _, line := range b.Lines {
		c := copied{Number: line.Number, Offset: line.Offset, Seq: line.Seq, Prior: line.Prior, Raw: string(line.Raw)}
		if line.Err != nil {
			c.Bad = line.Err.Error()
		}
		lines = append(lines, c)
	}
	return lines
}

func seqsOf(lines []copied) (seqs []int64) {
	for _, line := range lines {
		seqs = append(seqs, line.Seq)
	}
	return seqs
}

// read returns all lines after a position.
func read(t testing.TB, l *store.Log, from store.Position) (lines []copied, pos store.Position) {
	t.Helper()
	pos, err := l.Read(testContext(t), from, func(b store.Batch) error {
		lines = append(lines, keep(b)...)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return lines, pos
}

// wantSeqs checks the sequence numbers of the whole log.
func wantSeqs(t testing.TB, l *store.Log, want ...int64) {
	t.Helper()
	lines, _ := read(t, l, store.Position{})
	if got := seqsOf(lines); !slices.Equal(got, want) {
		t.Fatalf("log has the numbers %v, want %v\n%s", got, want, readFile(t, l.Path()))
	}
}

func wantError(t testing.TB, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("error is %v, want %v", err, want)
	}
}

func upTo(n int64) (seqs []int64) {
	for i := range n {
		seqs = append(seqs, i)
	}
	return seqs
}

func asError[E error](err error, target *E) bool { return errors.As(err, target) }

func mkdir(t testing.TB, path string) {
	t.Helper()
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
}

func symlink(t testing.TB, target, path string) {
	t.Helper()
	if err := os.Symlink(target, path); err != nil {
		t.Fatal(err)
	}
}

func chmod(t testing.TB, path string, mode fs.FileMode) {
	t.Helper()
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

// chown gives a path to somebody else, which only root can.
func chown(t testing.TB, path string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can give a file away")
	}
	if err := os.Lchown(path, 12345, -1); err != nil {
		t.Fatal(err)
	}
}
