// Command envelope is the plain way to read a log: one goroutine, a line at a time, encoding/json into a struct of the
// envelope. It is what loadout's first fold is measured against, and keeps only a count.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

type envelope struct {
	ID          string          `json:"id"`
	Seq         int64           `json:"seq"`
	Type        string          `json:"type"`
	From        string          `json:"from"`
	To          string          `json:"to"`
	Description string          `json:"description"`
	Context     string          `json:"context"`
	Timestamp   string          `json:"timestamp"`
	Resolves    string          `json:"resolves"`
	Payload     json.RawMessage `json:"payload"`
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: envelope LOG")
		os.Exit(2)
	}
	n, err := count(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, "envelope:", err)
		os.Exit(1)
	}
	fmt.Println(n)
}

func count(path string) (int, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	n := 0
	for r := bufio.NewReaderSize(f, 1<<20); ; n++ {
		line, err := r.ReadSlice('\n')
		if errors.Is(err, io.EOF) {
			return n, nil
		}
		if err != nil {
			return n, err
		}
		var e envelope
		if err := json.Unmarshal(line, &e); err != nil {
			return n, fmt.Errorf("line %d: %w", n+1, err)
		}
	}
}
