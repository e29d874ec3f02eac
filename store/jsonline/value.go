package jsonline

import (
	"bytes"
	"errors"
	"unicode/utf16"
	"unicode/utf8"
)

// MaxInt is the largest magnitude of an integer that every JSON reader holds
// exactly, 2^53-1.
const MaxInt = 1<<53 - 1

// Errors of the value decoders, for a value of another kind.
var (
	ErrNotString = errors.New("not a JSON string")
	ErrNotInt    = errors.New("not an integer of at most 2^53-1")
)

// String decodes the JSON string raw. It allocates only the result. Half a
// surrogate pair decodes to U+FFFD, as in encoding/json.
func String(raw []byte) (string, error) {
	body, escaped, err := stringBody(raw)
	if err != nil {
		return "", err
	}
	if !escaped {
		return string(body), nil
	}
	return string(appendUnescaped(make([]byte, 0, len(body)), body)), nil
}

// stringBody returns what stands between the quotes of raw.
func stringBody(raw []byte) (body []byte, escaped bool, err error) {
	if len(raw) < 2 || raw[0] != '"' {
		return nil, false, ErrNotString
	}
	end, escaped, reason := scanString(raw, 1)
	if reason != "" || end != len(raw) {
		return nil, false, ErrNotString
	}
	return raw[1 : end-1], escaped, nil
}

// Int decodes the JSON integer raw: no fraction, no exponent, at most MaxInt in
// magnitude.
func Int(raw []byte) (int64, error) {
	digits := raw
	negative := len(raw) > 0 && raw[0] == '-'
	if negative {
		digits = raw[1:]
	}
	if len(digits) == 0 || len(digits) > 1 && digits[0] == '0' {
		return 0, ErrNotInt
	}
	n, rest := leadingInt(digits)
	if n < 0 || rest != len(digits) {
		return 0, ErrNotInt
	}
	if negative {
		return -n, nil
	}
	return n, nil
}

// leadingInt returns the number that b starts with, or -1 when there is none or
// it is above MaxInt, and the offset past its digits.
func leadingInt(b []byte) (n int64, end int) {
	for end < len(b) && '0' <= b[end] && b[end] <= '9' {
		if n <= MaxInt {
			n = n*10 + int64(b[end]-'0')
		}
		end++
	}
	if end == 0 || n > MaxInt {
		return -1, end
	}
	return n, end
}

// LenientSeq returns the highest number that follows a "seq" key anywhere in a
// line that Parse refused, or -1. It takes the highest because a torn line may
// have had the next one glued to it, and a number must not be used twice;
// numbering with a gap does no harm.
func LenientSeq(line []byte) int64 {
	const key = `"seq"`
	highest := int64(-1)
	for {
		i := bytes.Index(line, []byte(key))
		if i < 0 {
			return highest
		}
		line = line[i+len(key):]
		if i = skipSpace(line, 0); i == len(line) || line[i] != ':' {
			continue
		}
		n, _ := leadingInt(line[skipSpace(line, i+1):])
		highest = max(highest, n)
	}
}

// appendUnescaped appends the text of body, the inside of a valid JSON string.
func appendUnescaped(dst, body []byte) []byte {
	for {
		i := bytes.IndexByte(body, '\\')
		if i < 0 {
			return append(dst, body...)
		}
		dst = append(dst, body[:i]...)
		c := body[i+1]
		body = body[i+2:]
		switch c {
		case 'b':
			dst = append(dst, '\b')
		case 'f':
			dst = append(dst, '\f')
		case 'n':
			dst = append(dst, '\n')
		case 'r':
			dst = append(dst, '\r')
		case 't':
			dst = append(dst, '\t')
		case 'u':
			r := hex4(body)
			body = body[4:]
			if utf16.IsSurrogate(r) {
				r, body = pair(r, body)
			}
			dst = utf8.AppendRune(dst, r)
		default: // the quote, the backslash and the slash stand for themselves
			dst = append(dst, c)
		}
	}
}

// pair joins the surrogate half with the one that rest starts with.
func pair(half rune, rest []byte) (r rune, after []byte) {
	if len(rest) >= 6 && rest[0] == '\\' && rest[1] == 'u' {
		if r = utf16.DecodeRune(half, hex4(rest[2:])); r != utf8.RuneError {
			return r, rest[6:]
		}
	}
	return utf8.RuneError, rest
}
