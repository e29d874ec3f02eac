package connect

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// block is a marked part of a text file.
type block struct {
	begin, end string // lines, without their ends
	body       string // lines between them
	top        bool   // behind the first line instead of at the end of the file
}

// span finds the block. A beginning without an end, or two of them, are refused: what is in between is somebody's.
func (b block) span(text []byte) (from, to int, found bool, err error) {
	from, to = lineOf(text, b.begin), lineOf(text, b.end)
	switch {
	case from < 0 && to < 0:
		return 0, 0, false, nil
	case from < 0 || to < from || lineOf(text[to+1:], b.begin) >= 0 || lineOf(text[to+1:], b.end) >= 0:
		return 0, 0, false, fmt.Errorf("the lines %q and %q do not match", b.begin, b.end)
	}
	to += len(b.end)
	if bytes.HasPrefix(text[to:], []byte("\r")) {
		to++
	}
	if bytes.HasPrefix(text[to:], []byte("\n")) {
		to++
	}
	return from, to, true, nil
}

// lineOf is where a line begins, -1 when there is none.
func lineOf(text []byte, line string) int {
	at := 0
	for l := range bytes.Lines(text) {
		if string(bytes.TrimRight(l, "\r\n")) == line {
			return at
		}
		at += len(l)
	}
	return -1
}

// put writes the block, in the place of an older one.
func (b block) put(text []byte) ([]byte, error) {
	if !utf8.Valid(text) || bytes.IndexByte(text, 0) >= 0 {
		return nil, errors.New("is not a text in UTF-8")
	}
	newline := "\n"
	if bytes.Contains(text, []byte("\r\n")) {
		newline = "\r\n"
	}
	lines := strings.ReplaceAll(b.begin+"\n"+strings.TrimSuffix(b.body, "\n")+"\n"+b.end+"\n", "\n", newline)
	from, to, found, err := b.span(text)
	switch {
	case err != nil:
		return nil, err
	case found:
		return splice(text, from, to, lines), nil
	case b.top:
		at := bytes.IndexByte(text, '\n') + 1
		if at == 0 {
			at, lines = len(text), newline+lines
		}
		return splice(text, at, at, lines), nil
	}
	if n := len(bytes.TrimPrefix(text, bom)); n > 0 {
		if !bytes.HasSuffix(text, []byte("\n")) {
			lines = newline + lines
		}
		lines = newline + lines
	}
	return append(append([]byte{}, text...), lines...), nil
}

// cut takes the block out, with the empty line before it.
func (b block) cut(text []byte) ([]byte, error) {
	from, to, found, err := b.span(text)
	if err != nil || !found {
		return text, err
	}
	if !b.top {
		for _, empty := range []string{"\r\n\r\n", "\n\n"} {
			if bytes.HasSuffix(text[:from], []byte(empty)) {
				from -= len(empty) / 2
				break
			}
		}
	}
	return splice(text, from, to, ""), nil
}

// unmark takes the marks out and leaves what is between them.
func (b block) unmark(text []byte) []byte {
	var kept []byte
	for line := range bytes.Lines(text) {
		if mark := string(bytes.TrimRight(line, "\r\n")); mark != b.begin && mark != b.end {
			kept = append(kept, line...)
		}
	}
	return kept
}

func markdown(body string) block {
	return block{begin: "<!-- loadout begins -->", end: "<!-- loadout ends -->", body: body}
}

func script(body string, top bool) block {
	return block{begin: "# loadout begins", end: "# loadout ends", body: body, top: top}
}
