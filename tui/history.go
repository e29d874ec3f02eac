package tui

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/agentloadout/loadout/engine/redact"
	"github.com/agentloadout/loadout/engine/safetext"
)

// Bounds of the history of the command line: lines that are kept, and bytes of the file from which on it is cut to them.
const (
	maxHistory      = 500
	maxHistoryBytes = 128 << 10
	historyName     = "history"
)

// history is the lines that were run, here and in earlier cockpits of the same person.
type history struct {
	lines []string
	at    int    // len(lines) for the line that is typed
	path  string // of the file, empty where there is no place for one
	read  bool
}

// load reads the file once.
func (h *history) load() tea.Cmd {
	if h.path == "" || h.read {
		return nil
	}
	h.read = true
	path := h.path
	return func() tea.Msg {
		lines, err := readHistory(path)
		if err != nil {
			return nil // a cockpit without its history is one all the same
		}
		return historyMsg{lines}
	}
}

// older puts the lines of earlier cockpits before those of this one.
func (h *history) older(lines []string) {
	h.at += len(lines)
	h.lines = append(slices.Clip(lines), h.lines...)
}

// add remembers a line. One that begins with a blank is left out, as shells do.
func (h *history) add(typed string) tea.Cmd {
	line := strings.TrimSpace(typed)
	if strings.HasPrefix(typed, " ") || len(h.lines) > 0 && h.lines[len(h.lines)-1] == line {
		return nil
	}
	h.lines = append(h.lines[max(len(h.lines)+1-maxHistory, 0):], line)
	if h.path == "" {
		return nil
	}
	path := h.path
	return func() tea.Msg {
		if err := writeHistory(path, redact.Text(line)); err != nil {
			return historyFailedMsg{err}
		}
		return nil
	}
}

// walk goes d lines on and returns the one that is there, empty for the one that is typed.
func (h *history) walk(d int) string {
	h.at = max(min(h.at+d, len(h.lines)), 0)
	if h.at == len(h.lines) {
		return ""
	}
	return h.lines[h.at]
}

func readHistory(path string) ([]string, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > 2*maxHistoryBytes {
		return nil, errors.New("it is no file of ours")
	}
	data, err := os.ReadFile(path) //nolint:gosec // in the person's own state folder
	if err != nil {
		return nil, err
	}
	var lines []string
	for line := range strings.Lines(string(data)) {
		if line = safetext.Line(strings.TrimSuffix(line, "\n")); line != "" {
			lines = append(lines, line)
		}
	}
	return lines[max(len(lines)-maxHistory, 0):], nil
}

// writeHistory adds a line to the file, and cuts the file when it has grown. Other cockpits may do the same at the same time: a line is one
// write at the end, and the cut loses at most what came while it was made.
func writeHistory(path, line string) (err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return errors.New("it is not a regular file")
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600) //nolint:gosec // in the person's own state folder
	if err != nil {
		return err
	}
	_, err = io.WriteString(f, line+"\n")
	info, statErr := f.Stat()
	if err = errors.Join(err, statErr, f.Close()); err != nil || info.Size() <= maxHistoryBytes {
		return err
	}
	lines, err := readHistory(path)
	if err != nil {
		return err
	}
	text := strings.Join(lines, "\n") + "\n"
	for len(text) > maxHistoryBytes/2 { // so that the next line does not cut again
		_, text, _ = strings.Cut(text, "\n")
	}
	short, err := os.CreateTemp(filepath.Dir(path), historyName+"-*") // mode 0600
	if err != nil {
		return err
	}
	_, err = io.WriteString(short, text)
	if err = errors.Join(err, short.Close()); err == nil {
		err = os.Rename(short.Name(), path)
	}
	if err != nil {
		err = errors.Join(err, os.Remove(short.Name()))
	}
	return err
}
