package store_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/agentloadout/loadout/store"
	"github.com/agentloadout/loadout/store/jsonline"
)

// hostile are lines that must neither stop a reader nor hide their neighbours.
var hostile = map[string]struct {
	line   string
	seq    int64
	reason string // part of the error; "" for a good line
}{
	"nonsense":            {"nonsense", -1, "not a JSON object"},
	"array":               {`[{"seq":5}]`, 5, "not a JSON object"},
	"NUL bytes":           {"\x00\x00\x00\x00", -1, "not a JSON object"},
	"NUL in a string":     {"{\"seq\":5,\"x\":\"a\x00b\"}", 5, "control character"},
	"invalid UTF-8":       {"{\"seq\":5,\"x\":\"\xc3\x28\"}", 5, "invalid UTF-8"},
	"UTF-8 surrogate":     {"{\"seq\":5,\"x\":\"\xed\xa0\x80\"}", 5, "invalid UTF-8"},
	"duplicate key":       {`{"seq":5,"seq":6}`, 6, "duplicate key"},
	"hidden duplicate":    {`{"seq":5,"s\u0065q":6}`, 5, "duplicate key"},
	"deep":                {`{"seq":5,"x":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + `}`, 5, "nested too deep"},
	"half a line":         {`{"seq":5,"x":"`, 5, "unexpected end"},
	"two lines glued":     {`{"seq":5,"x":"a{"seq":6,"x":"b"}`, 6, "expected"},
	"trailing text":       {`{"seq":5} {"seq":6}`, 6, "text after"},
	"byte order mark":     {"\xef\xbb\xbf{\"seq\":5}", 5, "not a JSON object"},
	"escape sequences":    {"\x1b[2J\x1b]0;x\x07{\"seq\":5}", 5, "not a JSON object"},
	"10 MB":               {`{"seq":5,"x":"` + strings.Repeat("x", 10<<20) + `"}`, 5, "longer than"},
	"10 MB, seq last":     {`{"x":"` + strings.Repeat("x", 10<<20) + `","seq":5}`, 5, "longer than"},
	"one byte too long":   {`{"seq":5,"x":"` + strings.Repeat("x", store.MaxLineBytes-15) + `"}`, 5, "longer than"},
	"just not too long":   {`{"seq":5,"x":"` + strings.Repeat("x", store.MaxLineBytes-16) + `"}`, 5, ""},
	"carriage return":     {"{\"seq\":5}\r", 5, ""},
	"blanks around":       {" \t{ \"seq\" : 5 } \t", 5, ""},
	"unknown keys":        {`{"seq":5,"future":{"a":[1,2,{"seq":9}]}}`, 5, ""},
	"escape in key":       {`{"s\u0065q":5}`, 5, ""},
	"no seq":              {`{"id":"x"}`, -1, ""},
	"seq is text":         {`{"seq":"5"}`, -1, ""},
	"seq is not whole":    {`{"seq":5.5}`, -1, ""},
	"seq is too large":    {`{"seq":9007199254740992}`, -1, ""},
	"largest seq":         {`{"seq":9007199254740991}`, jsonline.MaxInt, ""},
	"seq below zero":      {`{"seq":-1}`, -1, ""},
	"seq inside a string": {`{"x":"\"seq\":9"}`, -1, ""},
}

func TestHostileLines(t *testing.T) {
	for name, test := range hostile {
		t.Run(name, func(t *testing.T) {
			l := logWith(t, text(0)+test.line+"\n"+text(1), store.Options{})
			lines, pos := read(t, l, store.Position{})
			if len(lines) != 3 || lines[0].Seq != 0 || lines[2].Seq != 1 {
				t.Fatalf("%d lines, the neighbours are %+v %+v", len(lines), lines[0], lines[len(lines)-1])
			}
			got := lines[1]
			if got.Seq != test.seq || got.Number != 2 || got.Offset != int64(len(text(0))) {
				t.Errorf("line is %+v", got)
			}
			if (got.Bad == "") != (test.reason == "") || !strings.Contains(got.Bad, test.reason) {
				t.Errorf("error is %q, want %q", got.Bad, test.reason)
			}
			if len(test.line) <= store.MaxLineBytes && got.Raw != test.line {
				t.Error("raw text differs")
			}
			if len(test.line) > store.MaxLineBytes && (len(got.Raw) != 4096 || !strings.HasPrefix(test.line, got.Raw)) {
				t.Errorf("%d bytes are kept of a long line", len(got.Raw))
			}
			if want := max(test.seq, 1); pos.MaxSeq != want || lines[2].Prior != max(test.seq, 0) {
				t.Errorf("highest number is %d, before the last line %d", pos.MaxSeq, lines[2].Prior)
			}
			if err := l.Resume(pos); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestManyBadLines(t *testing.T) {
	var b strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&b, "bad %d\n", i)
	}
	l := logWith(t, text(0)+b.String()+text(1), store.Options{})
	lines, _ := read(t, l, store.Position{})
	if len(lines) != 10_002 || lines[10_001].Seq != 1 || lines[10_001].Number != 10_002 {
		t.Fatalf("%d lines, the last is %+v", len(lines), lines[len(lines)-1])
	}
	write(t, l, 1)
}

func TestBlankLines(t *testing.T) {
	l := logWith(t, "\n"+text(0)+"\n \t\r\n\n"+text(1)+"\n\n", store.Options{})
	lines, pos := read(t, l, store.Position{})
	if !slices.Equal(seqsOf(lines), []int64{0, 1}) || lines[0].Number != 2 || lines[1].Number != 6 || pos.Lines != 8 {
		t.Fatalf("%+v up to %+v", lines, pos)
	}
	if more, end := read(t, l, pos); len(more) != 0 || end != pos {
		t.Fatalf("then %+v up to %+v", more, end)
	}
}

func TestDisorder(t *testing.T) {
	l := logWith(t, text(3, 3, 1, 4, 4, 2, 9), store.Options{})
	var disordered []int64
	pos, err := l.Read(testContext(t), store.Position{}, func(b store.Batch) error {
		for i := range b.Lines {
			if b.Lines[i].Disordered() {
				disordered = append(disordered, b.Lines[i].Number)
			}
		}
		return nil
	})
	if err != nil || !slices.Equal(disordered, []int64{2, 3, 5, 6}) || pos.MaxSeq != 9 {
		t.Fatalf("disordered lines %v, highest %d, error %v", disordered, pos.MaxSeq, err)
	}
}

// From every position that a reader has stopped at, it goes on as if it had not.
func TestReadFromEveryPosition(t *testing.T) {
	whole := text(upTo(9)...) + "bad\n\n" + strings.Repeat("x", store.MaxLineBytes+5) + "\n" + text(9, 10) + strings.Repeat("\n", 9) + text(11)
	l := logWith(t, "", store.Options{})
	positions := []store.Position{{}}
	for _, line := range strings.SplitAfter(whole, "\n") {
		appendRaw(t, l.Path(), line)
		_, pos := read(t, l, positions[len(positions)-1])
		positions = append(positions, pos)
	}
	all, end := read(t, l, store.Position{})
	for _, pos := range positions {
		text, err := json.Marshal(pos)
		if err != nil {
			t.Fatal(err)
		}
		var from store.Position
		if err := json.Unmarshal(text, &from); err != nil || from != pos {
			t.Fatalf("as JSON %+v is %+v, error %v", pos, from, err)
		}
		rest, got := read(t, l, from)
		if got != end {
			t.Fatalf("from line %d the end is %+v, want %+v", pos.Lines, got, end)
		}
		if want := all[len(all)-len(rest):]; !slices.Equal(rest, want) || len(rest) > 0 && rest[0].Number <= pos.Lines {
			t.Fatalf("from line %d: %+v, want %+v", pos.Lines, seqsOf(rest), seqsOf(want))
		}
	}
}

func TestReadReplaced(t *testing.T) {
	for name, change := range map[string]func(t *testing.T, path string){
		"new file": func(t *testing.T, path string) {
			remove(t, path)
			writeFile(t, path, text(0, 1, 2, 3, 4))
		},
		"shorter":   func(t *testing.T, path string) { writeFile(t, path, text(0)) },
		"empty":     func(t *testing.T, path string) { writeFile(t, path, "") },
		"rewritten": func(t *testing.T, path string) { writeFile(t, path, text(5, 6, 7, 8)) },
		"renamed": func(t *testing.T, path string) {
			writeFile(t, path+".new", text(0, 1, 2, 3))
			if err := os.Rename(path+".new", path); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := logWith(t, text(0, 1, 2), store.Options{})
			_, pos := read(t, l, store.Position{})
			keepInode(t, l.Path()) // else the next file may get the same number
			change(t, l.Path())
			wantError(t, l.Resume(pos), store.ErrReplaced)
			got, err := l.Read(testContext(t), pos, func(store.Batch) error {
				t.Error("lines of another file")
				return nil
			})
			wantError(t, err, store.ErrReplaced)
			if got != pos {
				t.Errorf("position moved to %+v", got)
			}
		})
	}
}

// The inode number of a removed file may be given to the next at once.
func TestReadReplacedSameInode(t *testing.T) {
	l := logWith(t, text(0, 1, 2), store.Options{})
	_, pos := read(t, l, store.Position{})
	writeFile(t, l.Path(), text(0, 1, 3, 4)) // truncates and writes in place
	wantError(t, l.Resume(pos), store.ErrReplaced)
}

func keepInode(t testing.TB, path string) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
}

func remove(t testing.TB, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}

func TestReadMissing(t *testing.T) {
	l := store.Open(newDir(t), store.Options{})
	if lines, pos := read(t, l, store.Position{}); len(lines) != 0 || pos.Highest() != -1 {
		t.Fatalf("%v up to %+v", lines, pos)
	}
	pos := write(t, l, 1)
	remove(t, l.Path())
	_, err := l.Read(testContext(t), pos, ignore)
	wantError(t, err, store.ErrMissing)
}

// A log of many batches is read ahead of the consumer.
func TestReadManyBatches(t *testing.T) {
	const n = 20_000
	dir, _ := writeLog(t, n)
	l := store.Open(dir, store.Options{})
	t.Run("all", func(t *testing.T) {
		var batches, lines int
		_, err := l.Read(testContext(t), store.Position{}, func(b store.Batch) error {
			batches++
			for _, line := range b.Lines {
				if line.Seq != int64(lines) || line.Number != int64(lines)+1 || !strings.Contains(string(line.Raw), fmt.Sprintf(`"seq":%d,`, lines)) {
					return fmt.Errorf("line %d is %+v", lines, line)
				}
				lines++
			}
			return nil
		})
		if err != nil || lines != n || batches < 10 {
			t.Fatalf("%d lines in %d batches, error %v", lines, batches, err)
		}
	})
	t.Run("stopped", func(t *testing.T) {
		stop := errors.New("stop")
		var accepted store.Position
		batches := 0
		pos, err := l.Read(testContext(t), store.Position{}, func(b store.Batch) error {
			if batches++; batches == 5 {
				return stop
			}
			accepted = b.Pos
			return nil
		})
		if err != stop || pos != accepted { //nolint:errorlint // as it is
			t.Fatalf("error %v at %+v, want %+v", err, pos, accepted)
		}
		if rest, _ := read(t, l, pos); rest[0].Number != pos.Lines+1 || rest[len(rest)-1].Number != n {
			t.Fatalf("the rest goes from line %d to %d", rest[0].Number, rest[len(rest)-1].Number)
		}
	})
	t.Run("cancelled", func(t *testing.T) {
		ctx, cancel := context.WithCancel(testContext(t))
		_, err := l.Read(ctx, store.Position{}, func(store.Batch) error {
			cancel()
			return nil
		})
		wantError(t, err, context.Canceled)
	})
}

func TestLast(t *testing.T) {
	long := strings.Repeat("x", store.MaxLineBytes+5)
	for name, test := range map[string]struct {
		text string
		n    int
		want []int64
	}{
		"none asked for":     {text(0, 1, 2), 0, nil},
		"empty":              {"", 3, nil},
		"fewer":              {text(0, 1), 3, []int64{0, 1}},
		"exactly":            {text(0, 1, 2), 3, []int64{0, 1, 2}},
		"more":               {text(upTo(5000)...), 3, []int64{4997, 4998, 4999}},
		"torn":               {text(0, 1, 2) + `{"seq":3`, 2, []int64{1, 2}},
		"only torn":          {`{"seq":3`, 2, nil},
		"blank lines":        {text(0, 1) + strings.Repeat("\n", 100) + text(2) + "\n", 2, []int64{1, 2}},
		"bad line":           {text(0) + "bad\n" + text(1), 2, []int64{-1, 1}},
		"a line too long":    {text(0) + long + "\n" + text(1), 3, []int64{0, -1, 1}},
		"a long torn line":   {text(0, 1) + long, 1, []int64{1}},
		"no newline at all":  {long, 1, nil},
		"one newline":        {"\n", 1, nil},
		"more blanks than n": {text(0) + strings.Repeat(" \n", 70_000), 1, []int64{0}},
	} {
		t.Run(name, func(t *testing.T) {
			l := logWith(t, test.text, store.Options{})
			lines, err := l.Last(testContext(t), test.n)
			if err != nil {
				t.Fatal(err)
			}
			var seqs []int64
			for _, line := range lines {
				seqs = append(seqs, line.Seq)
				if line.Err == nil {
					if raw, ok := line.Object.Get("seq"); !ok || string(raw) != fmt.Sprint(line.Seq) {
						t.Errorf("object of line %d has seq %s", line.Seq, raw)
					}
				}
				if line.Number != 0 || line.Prior != -1 {
					t.Errorf("line %+v", line)
				}
			}
			if !slices.Equal(seqs, test.want) {
				t.Fatalf("got %v, want %v", seqs, test.want)
			}
		})
	}
}

func TestLastMissing(t *testing.T) {
	l := store.Open(newDir(t), store.Options{})
	if lines, err := l.Last(testContext(t), 5); err != nil || len(lines) != 0 {
		t.Fatalf("%v %v", lines, err)
	}
}

func TestIndex(t *testing.T) {
	const n = 5000
	dir, _ := writeLog(t, n)
	l := store.Open(dir, store.Options{})
	var index store.Index
	pos, err := l.Read(testContext(t), store.Position{}, func(b store.Batch) error {
		index.Observe(b)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	decoded, size, err := index.Recode()
	if err != nil || size > 100 {
		t.Fatalf("%d bytes, error %v", size, err)
	}
	for _, seq := range []int64{0, 1, 511, 512, 513, 1024, 2500, n - 1, n, n + 100} {
		mark := decoded.Before(seq)
		if mark != index.Before(seq) {
			t.Fatalf("decoded %+v, want %+v", mark, index.Before(seq))
		}
		first, last := int64(-1), int64(-1)
		err := l.ReadFrom(testContext(t), mark, func(b store.Batch) error {
			if first < 0 {
				first = b.Lines[0].Seq
				if b.Lines[0].Number != first+1 || b.Lines[0].Prior != first-1 {
					return fmt.Errorf("line %+v", b.Lines[0])
				}
			}
			last = b.Lines[len(b.Lines)-1].Seq
			if b.Pos.Lines == pos.Lines && b.Pos != pos {
				return fmt.Errorf("end %+v, want %+v", b.Pos, pos)
			}
			return nil
		})
		if err != nil || last != n-1 || first > seq || seq < n && seq-first > 512 {
			t.Fatalf("reading from %d gives %d to %d, error %v", seq, first, last, err)
		}
	}
	remove(t, l.Path())
	writeFile(t, l.Path(), text(upTo(n)...))
	wantError(t, l.ReadFrom(testContext(t), index.Before(2000), ignore), store.ErrReplaced)
	if err := l.ReadFrom(testContext(t), store.Mark{}, ignore); err != nil {
		t.Fatal(err)
	}
}

func TestIndexDamaged(t *testing.T) {
	var index store.Index
	for _, encoded := range []string{"\x80", "\x00\x00"} {
		if err := index.Decode([]byte(encoded)); err == nil {
			t.Errorf("%q was accepted", encoded)
		}
	}
	if err := index.Decode(nil); err != nil || index.Before(5) != (store.Mark{}) {
		t.Errorf("an empty one: %v %v", index.Before(5), err)
	}
}

// Numbers that fall do not hide lines from the index.
func TestIndexDisorder(t *testing.T) {
	var seqs []int64
	for i := range int64(4000) {
		seqs = append(seqs, (i*7919)%4001) // a permutation
	}
	l := logWith(t, text(seqs...), store.Options{})
	var index store.Index
	if _, err := l.Read(testContext(t), store.Position{}, func(b store.Batch) error {
		index.Observe(b)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for seq := int64(0); seq < 4000; seq += 397 {
		want, got := 0, 0
		for _, s := range seqs {
			if s >= seq {
				want++
			}
		}
		err := l.ReadFrom(testContext(t), index.Before(seq), func(b store.Batch) error {
			for _, line := range b.Lines {
				if line.Seq >= seq {
					got++
				}
			}
			return nil
		})
		if err != nil || got != want {
			t.Fatalf("from %d: %d lines, want %d, error %v", seq, got, want, err)
		}
	}
}
