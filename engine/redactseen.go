package engine

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/agentloadout/loadout/engine/redact"
	"github.com/agentloadout/loadout/engine/safetext"
)

// Redact takes the secrets out of a text, also those that only come together when what shows nothing is left out: a screen does
// that, so a secret with an escape sequence in the middle is one. The text then loses all that shows nothing.
func Redact(text string) string {
	text = redact.Text(text)
	if seen := visible(text); seen != text {
		if clean := redact.Text(seen); clean != seen {
			return clean
		}
	}
	return text
}

// redactJSON is Redact for a JSON value.
func redactJSON(raw []byte) ([]byte, error) {
	out, err := redact.JSON(raw)
	if err != nil {
		return nil, err
	}
	seen, err := visibleJSON(out)
	if err != nil || bytes.Equal(seen, out) {
		return out, err
	}
	clean, err := redact.JSON(seen)
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(clean, seen) {
		return clean, nil
	}
	return out, nil
}

// visible is what a person sees of a text: no escape sequences, and none of the characters that take no room.
func visible(text string) string {
	if strings.IndexFunc(text, unseen) < 0 {
		return text
	}
	return strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) {
			return -1
		}
		return r
	}, safetext.Block(text))
}

// unseen reports whether a character may be one that is not seen. Those of plain ASCII all are.
func unseen(r rune) bool { return r < ' ' || r >= 0x7f }

// visibleJSON is a JSON value with all its strings visible only.
func visibleJSON(raw []byte) ([]byte, error) {
	if !bytes.Contains(raw, []byte(`\u`)) && bytes.IndexFunc(raw, unseen) < 0 {
		return raw, nil
	}
	in := json.NewDecoder(bytes.NewReader(raw))
	in.UseNumber()
	var out bytes.Buffer
	if err := copyVisible(&out, in); err != nil {
		return nil, fmt.Errorf("redact JSON: %w", err)
	}
	return out.Bytes(), nil
}

// copyVisible copies a JSON value token by token, so that keys keep their order.
func copyVisible(out *bytes.Buffer, in *json.Decoder) error {
	var open []json.Delim // the objects and arrays around
	var parts []int       // keys and values so far in each of them
	for {
		token, err := in.Token()
		if err == io.EOF { //nolint:errorlint // Token returns it as it is
			return nil
		}
		if err != nil {
			return err
		}
		if d, ok := token.(json.Delim); ok && (d == '}' || d == ']') {
			open, parts = open[:len(open)-1], parts[:len(parts)-1]
			out.WriteString(d.String())
			continue
		}
		if n := len(open); n > 0 {
			switch k := parts[n-1]; {
			case open[n-1] == '{' && k%2 == 1:
				out.WriteByte(':')
			case k > 0:
				out.WriteByte(',')
			}
			parts[n-1]++
		}
		switch t := token.(type) {
		case json.Delim:
			open, parts = append(open, t), append(parts, 0)
			out.WriteString(t.String())
		case string:
			err = writeJSON(out, visible(t))
		default: // a number, true, false or null
			err = writeJSON(out, t)
		}
		if err != nil {
			return err
		}
	}
}

func writeJSON(out *bytes.Buffer, v any) error {
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	out.Truncate(out.Len() - 1) // the newline
	return nil
}
