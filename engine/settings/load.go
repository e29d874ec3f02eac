package settings

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/agentloadout/loadout/store"
)

// Problem is one fault of a settings file.
type Problem struct {
	File   string
	Line   int    // from 1; 0: the file as a whole
	Key    string // with dots, empty for the file as a whole
	Reason string
}

func (p Problem) String() string {
	place := p.File
	if p.Line > 0 {
		place = fmt.Sprintf("%s:%d", p.File, p.Line)
	}
	if p.Key == "" {
		return place + ": " + p.Reason
	}
	return fmt.Sprintf("%s: %s %s", place, p.Key, p.Reason)
}

// InvalidError lists everything that is wrong with the settings, in the order of the files.
type InvalidError struct{ Problems []Problem }

func (e *InvalidError) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

// Load reads the person's file and the one of the project whose .handoff is dir; either may be missing, or its path empty. The error is an
// *InvalidError; the settings are then those that are valid, with the defaults for the others, for callers that must go on.
func Load(userPath, dir string) (Settings, error) {
	s := Default()
	s.sources = map[string]string{}
	var problems []Problem
	read := func(path string, project bool, data []byte, err error) {
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			problems = append(problems, Problem{File: path, Reason: err.Error()})
		default:
			problems = append(problems, s.apply(path, project, data)...)
		}
	}
	if userPath != "" {
		data, err := readUser(userPath)
		read(userPath, false, data, err)
	}
	if dir != "" {
		data, err := store.Open(dir, store.Options{}).ReadFile(ProjectFile, maxBytes)
		read(filepath.Join(dir, ProjectFile), true, data, err)
	}
	if problems != nil {
		return s, &InvalidError{problems}
	}
	return s, nil
}

// readUser reads a file that may be a link, as people keep their configuration elsewhere.
func readUser(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if errors.Is(err, syscall.ENOTDIR) { // a home such as /dev/null
		return nil, fs.ErrNotExist
	}
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() { // opening a pipe would wait
		return nil, errors.New("it is not a regular file")
	}
	f, err := os.Open(path) //nolint:gosec // the person's own file
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, maxBytes+1))
	if err == nil && len(data) > maxBytes {
		err = fmt.Errorf("it is larger than %d bytes", maxBytes)
	}
	return data, err
}
