package store_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/agentloadout/loadout/store"
)

// benchLine returns a line of the usual size, about 450 bytes.
func benchLine(seq int) []byte {
	return fmt.Appendf(nil, `{"id":"3f1c9a02","seq":%d,"type":"update","from":"claude-code","to":"*","description":"Implemented the checkout endpoint and its tests, next is the error path","timestamp":"2026-09-10T08:00:00.000Z","payload":{"note":"Implemented the checkout endpoint and its tests","files":["src/api/checkout.ts","src/api/checkout.test.ts"],"commands":[{"command":"npm test","exitCode":0,"summary":"12 passed"}],"blockers":[],"next":"error path of the endpoint"}}`, seq)
}

// writeLog writes a log of n usual lines without the store.
func writeLog(tb testing.TB, n int) (dir string, size int64) {
	tb.Helper()
	dir = filepath.Join(tb.TempDir(), store.DirName)
	if err := os.Mkdir(dir, 0o700); err != nil {
		tb.Fatal(err)
	}
	f, err := os.OpenFile(filepath.Join(dir, store.LogName), os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		tb.Fatal(err)
	}
	w := bufio.NewWriterSize(f, 1<<20)
	for i := range n {
		line := append(benchLine(i), '\n')
		size += int64(len(line))
		if _, err := w.Write(line); err != nil {
			tb.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		tb.Fatal(err)
	}
	if err := f.Close(); err != nil {
		tb.Fatal(err)
	}
	return dir, size
}

const benchLines = 100_000

// BenchmarkRead reads a log from the start, with a consumer that does nothing.
func BenchmarkRead(b *testing.B) {
	dir, size := writeLog(b, benchLines)
	l := store.Open(dir, store.Options{})
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		pos, err := l.Read(context.Background(), store.Position{}, func(store.Batch) error { return nil })
		if err != nil || pos.Lines != benchLines {
			b.Fatal(pos, err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchLines, "ns/line")
}

// BenchmarkReadEncodingJSON is what BenchmarkRead is compared with: one goroutine
// that decodes every line into an envelope.
func BenchmarkReadEncodingJSON(b *testing.B) {
	dir, size := writeLog(b, benchLines)
	b.SetBytes(size)
	for b.Loop() {
		f, err := os.Open(filepath.Join(dir, store.LogName))
		if err != nil {
			b.Fatal(err)
		}
		for lines := bufio.NewScanner(f); lines.Scan(); {
			var e struct {
				ID, Type, From, To, Description, Context, Timestamp, Resolves string
				Seq                                                           int64
				Payload                                                       json.RawMessage
			}
			if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
				b.Fatal(err)
			}
		}
		if err := f.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchLines, "ns/line")
}

// BenchmarkAppend is one durable write with the position known, as a long-lived
// process makes it.
func BenchmarkAppend(b *testing.B) {
	ctx := context.Background()
	l := store.Open(filepath.Join(b.TempDir(), store.DirName), store.Options{})
	pos, seq := store.Position{}, 0
	b.ReportAllocs()
	for b.Loop() {
		err := l.Update(ctx, func(tx *store.Tx) (err error) {
			if pos, err = tx.Read(ctx, pos, func(store.Batch) error { return nil }); err != nil {
				return err
			}
			pos, err = tx.Append([][]byte{benchLine(seq)})
			return err
		})
		if err != nil {
			b.Fatal(err)
		}
		seq++
	}
}

// BenchmarkAppendBare is what BenchmarkAppend is compared with: write and sync.
func BenchmarkAppendBare(b *testing.B) {
	f, err := os.OpenFile(filepath.Join(b.TempDir(), "log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		b.Fatal(err)
	}
	seq := 0
	for b.Loop() {
		if _, err := f.Write(append(benchLine(seq), '\n')); err != nil {
			b.Fatal(err)
		}
		if err := f.Sync(); err != nil {
			b.Fatal(err)
		}
		seq++
	}
	if err := f.Close(); err != nil {
		b.Fatal(err)
	}
}
