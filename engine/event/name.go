package event

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// SameName reports whether two names stand for the same agent.
func SameName(a, b string) bool { return a == b || FoldName(a) == FoldName(b) }

// FoldName is the form in which names are compared: Unicode's compatibility form (NFKC), case folded letter by letter.
func FoldName(name string) string {
	upper := false
	for i := range len(name) {
		c := name[i]
		if c >= utf8.RuneSelf {
			// Folding can undo the normal form, so that is made twice.
			return norm.NFKC.String(strings.Map(FoldRune, norm.NFKC.String(name)))
		}
		upper = upper || 'A' <= c && c <= 'Z'
	}
	if !upper {
		return name
	}
	return strings.ToLower(name)
}

// FoldRune is one letter for all that differ only in case (Unicode's simple case folding): ß is not ss, but ς is σ.
func FoldRune(r rune) rune {
	if r < utf8.RuneSelf {
		return unicode.ToLower(r)
	}
	least := r
	for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
		least = min(least, other)
	}
	return unicode.ToLower(least)
}

// Skeleton is what a name looks like: two names with the same skeleton can be taken for each other. It drops accents, invisible
// characters and separators and puts Latin letters for those of other scripts that look like them. It serves to refuse
// look-alikes and never to find somebody.
func Skeleton(name string) string {
	name = strings.ReplaceAll(name, "I", "l") // before case folding makes it an i, which does not look like an l
	var b strings.Builder
	for _, r := range norm.NFKD.String(FoldName(name)) {
		if unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf, unicode.Cc, unicode.Pd, unicode.Pc, unicode.Zs) || r == '.' {
			continue
		}
		b.WriteRune(lookalike(r))
	}
	return b.String()
}

// lookalike is the Latin letter that a case-folded letter of another script, or a digit, is drawn like. The pairs are those of
// Unicode's confusables table (UTS 39) that common fonts do not tell apart.
func lookalike(r rune) rune {
	if 'a' <= r && r <= 'z' {
		return r
	}
	for _, pair := range [...]struct {
		latin  rune
		others string
	}{
		{'a', "\u0430\u0251\u03b1"},
		{'b', "\u0432\u044c"},
		{'c', "\u0441\u03f2"},
		{'d', "\u0501"},
		{'e', "\u0435\u03b5"},
		{'g', "\u0261"},
		{'h', "\u043d\u04bb"},
		{'i', "\u0456\u03b9\u0131"},
		{'j', "\u0458"},
		{'k', "\u043a\u03ba"},
		{'l', "1|\u04cf"},
		{'m', "\u043c"},
		{'n', "\u043f\u0578\u03b7"},
		{'o', "0\u043e\u03bf\u0585\u03c3"},
		{'p', "\u0440\u03c1"},
		{'q', "\u051b\u0563"},
		{'r', "\u0433"},
		{'s', "\u0455"},
		{'t', "\u0442\u03c4"},
		{'u', "\u03c5\u057d"},
		{'v', "\u03bd\u0475"},
		{'w', "\u051d\u0461\u03c9"},
		{'x', "\u0445\u03c7"},
		{'y', "\u0443\u04af\u04b1\u028f"},
		{'z', "\u1d22"},
	} {
		if strings.ContainsRune(pair.others, r) {
			return pair.latin
		}
	}
	return r
}
