package event

import (
	"strconv"
	"unicode/utf8"

	"github.com/agentloadout/loadout/store/jsonline"
)

// AppendLine appends the event as one line, without its newline, in the key order of the format: id, seq, type, from, to,
// description, context, timestamp, resolves, payload, key, by. What is empty is left out. The payload is appended as it is:
// Normalize makes it one line.
func (e *Event) AppendLine(dst []byte) []byte {
	dst = appendString(append(dst, `{"id":`...), e.ID)
	dst = strconv.AppendInt(append(dst, `,"seq":`...), e.Seq, 10)
	dst = appendString(append(dst, `,"type":`...), string(e.Type))
	dst = appendString(append(dst, `,"from":`...), e.From)
	dst = appendString(append(dst, `,"to":`...), e.To)
	dst = appendString(append(dst, `,"description":`...), e.Description)
	if e.Context != "" {
		dst = appendString(append(dst, `,"context":`...), e.Context)
	}
	dst = appendString(append(dst, `,"timestamp":`...), e.Timestamp)
	if e.Resolves != "" {
		dst = appendString(append(dst, `,"resolves":`...), e.Resolves)
	}
	if len(e.Payload) > 0 {
		dst = append(append(dst, `,"payload":`...), e.Payload...)
	}
	if e.Key != "" {
		dst = appendString(append(dst, `,"key":`...), e.Key)
	}
	if e.By != "" {
		dst = appendString(append(dst, `,"by":`...), e.By)
	}
	return append(dst, '}')
}

// MarshalJSON is the event as its line in the log.
func (e Event) MarshalJSON() ([]byte, error) { return e.AppendLine(nil), nil }

// UnmarshalJSON reads what MarshalJSON wrote, with the checks of Decode.
func (e *Event) UnmarshalJSON(data []byte) error {
	var o jsonline.Object
	if err := o.Parse(data); err != nil {
		return err
	}
	decoded, err := Decode(&o, data)
	if err != nil {
		return err
	}
	*e = decoded
	return nil
}

// appendString appends s as a JSON string, escaped as ECMAScript's JSON.stringify does and no further. What is not UTF-8
// becomes U+FFFD.
func appendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && size == 1 {
				dst = append(append(dst, s[start:i]...), "\uFFFD"...)
				start = i + 1
			}
			i += size
			continue
		}
		if c >= ' ' && c != '"' && c != '\\' {
			i++
			continue
		}
		dst = appendEscaped(append(dst, s[start:i]...), c)
		i++
		start = i
	}
	return append(append(dst, s[start:]...), '"')
}

func appendEscaped(dst []byte, c byte) []byte {
	const hex = "0123456789abcdef"
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\b':
		return append(dst, `\b`...)
	case '\t':
		return append(dst, `\t`...)
	case '\n':
		return append(dst, `\n`...)
	case '\f':
		return append(dst, `\f`...)
	case '\r':
		return append(dst, `\r`...)
	}
	return append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
}
