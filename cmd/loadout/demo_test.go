package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
)

// TestTheDemonstration tells all of its story, with the names that its agents were given.
func TestTheDemonstration(t *testing.T) {
	out, err := program(t.Context(), t, t.TempDir(), "demo", "--plain", "--json").Output()
	if err != nil {
		t.Fatal(err)
	}
	var told demoAnswer
	if err := json.Unmarshal(out, &told); err != nil {
		t.Fatal(err)
	}
	var registered []string
	discussed := false
	for _, st := range told.Steps {
		switch line := strings.Join(st.Args, " "); {
		case strings.HasPrefix(line, "agent register"):
			name, _, _ := strings.Cut(st.Output, "\n")
			registered = append(registered, name)
		case strings.HasPrefix(line, "coord discuss start"):
			discussed = true
		}
	}
	if !slices.Equal(registered, []string{demoBackend, demoFrontend}) || !discussed {
		t.Errorf("registered %q, discussed: %t, in %d steps", registered, discussed, len(told.Steps))
	}
}

// TestNobodyReadsTheDemonstration to its end: its project is removed all the same.
func TestNobodyReadsTheDemonstration(t *testing.T) {
	scratch := t.TempDir()
	demo := program(t.Context(), t, t.TempDir(), "demo", "--plain")
	demo.Env = append(demo.Env, "TMPDIR="+scratch, "TMP="+scratch)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	demo.Stdout = w
	if err := errors.Join(demo.Start(), w.Close()); err != nil {
		t.Fatal(err)
	}
	first, err := bufio.NewReader(r).ReadString('\n')
	if err := errors.Join(err, r.Close()); err != nil {
		t.Fatalf("%q, %v", first, err)
	}
	err = demo.Wait()
	left, readErr := os.ReadDir(scratch)
	if readErr != nil || len(left) != 0 {
		t.Errorf("ended with %v and left %v (%v)", err, left, readErr)
	}
}
