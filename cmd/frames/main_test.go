package main

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Two runs draw the same, well-formed pictures, and the documentation has every one of them.
func TestPictures(t *testing.T) {
	first, second := t.TempDir(), t.TempDir()
	for _, dir := range []string{first, second} {
		if err := run(context.Background(), dir); err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range pictures() {
		got, err := os.ReadFile(filepath.Join(first, p.name+".svg"))
		if err != nil {
			t.Fatal(err)
		}
		if again, err := os.ReadFile(filepath.Join(second, p.name+".svg")); err != nil || !bytes.Equal(got, again) {
			t.Errorf("%s.svg is another one each time (%v)", p.name, err)
		}
		if _, err := os.Stat(filepath.Join("..", "..", "docs", "pictures", p.name+".svg")); err != nil {
			t.Errorf("make pictures was not run: %v", err)
		}
		for d := xml.NewDecoder(bytes.NewReader(got)); ; {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s.svg: %v", p.name, err)
			}
		}
		if !strings.Contains(string(got), "claude-code") {
			t.Errorf("%s.svg shows no agent", p.name)
		}
	}
}

func TestPieces(t *testing.T) {
	got := pieces("a\x1b[1;38;2;255;0;16mb<\x1b[mc\x1b[7;48;2;1;2;3m…")
	want := []piece{
		{style{}, 0, "a"},
		{style{fg: "#ff0010", bold: true}, 1, "b<"},
		{style{}, 3, "c"},
		{style{bg: "#010203", reverse: true}, 4, "…"},
	}
	if len(got) != len(want) {
		t.Fatalf("%d pieces: %+v", len(got), got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("piece %d is %+v, want %+v", i, got[i], want[i])
		}
	}
}
