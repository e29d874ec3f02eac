package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"

	"github.com/agentloadout/loadout/engine/safetext"
	"github.com/agentloadout/loadout/engine/words"
)

// What is printed where:
//   - the answer goes to stdout, as text for people or with --json as JSON; everything else (progress, repairs, hints,
//     refusals) goes to stderr, so that a pipe gets the answer alone;
//   - text that anybody could have written is made safe before a person sees it, and JSON keeps it as it is, escaped;
//   - meaning never hangs on a colour.

// styled is text that is ready to print: safe, possibly with colours around it.
type styled string

// printer writes lines for people. Strings among the arguments of printf are made safe; a styled one is taken as it is.
type printer struct {
	w        io.Writer
	coloured bool
	err      error // the first failure to write
}

func (p *printer) printf(format string, args ...any) {
	if p.err != nil {
		return
	}
	for i, arg := range args {
		args[i] = clean(arg)
	}
	_, p.err = fmt.Fprintf(p.w, format, args...)
}

// block prints text of several lines, each behind indent, and ends it with a line break.
func (p *printer) block(indent, text string) {
	text = strings.TrimSuffix(safetext.Block(text), "\n")
	for line := range strings.SplitSeq(text, "\n") {
		p.printf("%s\n", styled(strings.TrimRight(indent+line, " ")))
	}
}

func (p *printer) bold(s string) styled  { return p.sgr("1", s) }
func (p *printer) dim(s string) styled   { return p.sgr("2", s) }
func (p *printer) red(s string) styled   { return p.sgr("31", s) }
func (p *printer) green(s string) styled { return p.sgr("32", s) }

func (p *printer) sgr(code, s string) styled {
	s = safetext.Line(s)
	if p.coloured {
		s = "\x1b[" + code + "m" + s + "\x1b[0m"
	}
	return styled(s)
}

// clean makes an argument safe to print. Named string types and errors count as strings.
func clean(arg any) any {
	switch v := arg.(type) {
	case styled:
		return string(v)
	case string:
		return safetext.Line(v)
	case error:
		return safetext.Line(v.Error())
	case fmt.Stringer:
		return safetext.Line(v.String())
	}
	if v := reflect.ValueOf(arg); v.Kind() == reflect.String {
		return safetext.Line(v.String())
	}
	return arg
}

// pad makes s safe and fills it up to width cells.
func pad(s string, width int) styled {
	s = safetext.Line(s)
	if n := width - displaywidth.String(s); n > 0 {
		s += strings.Repeat(" ", n)
	}
	return styled(s)
}

// clip makes s safe and shortens it to at most width cells, with an ellipsis where something is cut.
func clip(s string, width int) styled {
	return styled(displaywidth.TruncateString(safetext.Line(s), width, "…"))
}

// shellWords is args as somebody would type them.
func shellWords(args []string) string {
	typed := make([]string, len(args))
	for i, arg := range args {
		typed[i] = words.ShellWord(arg)
	}
	return strings.Join(typed, " ")
}

// writeJSON prints v as two-space indented JSON. Characters that could act on a terminal are escaped, which changes nothing for
// who decodes it.
func writeJSON(w io.Writer, v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("encode answer: %w", err)
	}
	_, err := w.Write(escapeUnsafe(b.Bytes()))
	return err
}

// writeJSONLine prints v as one line of JSON.
func writeJSONLine(w io.Writer, v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("encode answer: %w", err)
	}
	_, err := w.Write(escapeUnsafe(b.Bytes()))
	return err
}

// escapeUnsafe writes every unsafe character of a JSON text as \u escapes. Outside of ASCII they occur in strings only.
func escapeUnsafe(text []byte) []byte {
	var out []byte // nil until something must be escaped
	done := 0
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		if r >= 0x7f && safetext.Unsafe(r) {
			out = append(out, text[done:i]...)
			if hi, lo := utf16.EncodeRune(r); hi != utf8.RuneError {
				out = fmt.Appendf(out, `\u%04x\u%04x`, hi, lo)
			} else {
				out = fmt.Appendf(out, `\u%04x`, r)
			}
			done = i + size
		}
		i += size
	}
	if out == nil {
		return text
	}
	return append(out, text[done:]...)
}

// joined is several values that encode as one JSON object: the members of each, in order. Each must encode as an object.
type joined []any

// MarshalJSON implements json.Marshaler.
func (j joined) MarshalJSON() ([]byte, error) {
	out := []byte{'{'}
	for _, v := range j {
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(v); err != nil {
			return nil, err
		}
		members := bytes.TrimSpace(b.Bytes())
		if len(members) < 2 || members[0] != '{' {
			return nil, errors.New("not an object")
		}
		members = bytes.TrimSpace(members[1 : len(members)-1])
		if len(members) > 0 && len(out) > 1 {
			out = append(out, ',')
		}
		out = append(out, members...)
	}
	return append(out, '}'), nil
}
