package redact

// charset is a set of ASCII characters, made of the classes below.
type charset uint32

const (
	digit charset = 1 << iota
	lowAF
	lowGZ
	upAF
	upGZ
	under
	dash
	dot
	slash
	plus
	equal
	tilde
	percent
	colon
	atSign
	dollar
	blank // space and tab

	lower  = lowAF | lowGZ
	upper  = upAF | upGZ
	letter = lower | upper
	alnum  = letter | digit
	word   = alnum | under
	wordy  = word | dash
	hex    = digit | lowAF
	anyHex = digit | lowAF | upAF
	lowNum = lower | digit
	upNum  = upper | digit
	b64    = alnum | plus | slash | equal
	url64  = wordy | equal
	path   = b64 | wordy | dot | percent
)

var classes = func() (t [256]charset) {
	fill := func(from, to byte, c charset) {
		for b := from; b <= to; b++ {
			t[b] = c
		}
	}
	fill('0', '9', digit)
	fill('a', 'f', lowAF)
	fill('g', 'z', lowGZ)
	fill('A', 'F', upAF)
	fill('G', 'Z', upGZ)
	const signs = "_-./+=~%:@$ "
	for i := range len(signs) {
		t[signs[i]] = under << i
	}
	t['\t'] = blank
	return t
}()

func (c charset) has(b byte) bool { return classes[b]&c != 0 }

// run returns the end of the run of characters of the set that starts at i.
func (c charset) run(s string, i int) int {
	for i < len(s) && c.has(s[i]) {
		i++
	}
	return i
}

// back returns the start of the run of characters of the set that ends at i,
// looking at no more than limit characters.
func (c charset) back(s string, i, limit int) int {
	stop := max(0, i-limit)
	for i > stop && c.has(s[i-1]) {
		i--
	}
	return i
}

// all reports whether s consists of characters of the set.
func (c charset) all(s string) bool { return c.run(s, 0) == len(s) }

// in returns the union of the classes of the characters of s; 0 stands for
// those outside every class, and other reports whether there is one.
func in(s string) (c charset, other bool) {
	for i := range len(s) {
		k := classes[s[i]]
		c |= k
		other = other || k == 0
	}
	return c, other
}

// wordStart reports whether a token may start at i: no letter or digit comes
// before, other than as part of an escape (\n, \x22, %3D, \u0022).
func wordStart(s string, i int) bool {
	if i == 0 || !alnum.has(s[i-1]) {
		return true
	}
	if i >= 2 && s[i-2] == '\\' {
		switch s[i-1] {
		case 'n', 'r', 't', 'b', 'f':
			return true
		}
	}
	if i >= 3 && anyHex.has(s[i-1]) && anyHex.has(s[i-2]) {
		switch s[i-3] {
		case '%':
			return true
		case 'x':
			return i >= 4 && s[i-4] == '\\'
		}
		return i >= 6 && s[i-6] == '\\' && s[i-5] == 'u'
	}
	return false
}

// wordEnd reports whether no letter, digit or underscore follows at i.
func wordEnd(s string, i int) bool { return i >= len(s) || !word.has(s[i]) }

// isBlank reports whether b ends a word: a blank, a line break or another
// control character.
func isBlank(b byte) bool { return b <= ' ' || b == 0x7f }

// skip returns the place of the first byte at or after i that is no space or tab.
func skip(s string, i int) int { return blank.run(s, i) }

// lineEnd returns the end of the line that i is on.
func lineEnd(s string, i int) int {
	for i < len(s) && s[i] != '\n' && s[i] != '\r' {
		i++
	}
	return i
}
