// Package markdown draws CommonMark in a column of terminal cells. It knows what agents write to each other: paragraphs, headings, lists,
// quotes, code and emphasis; everything else stays as it was written. The parser is goldmark's; no other renderer is linked, because
// those initialise syntax highlighters in every headless verb.
package markdown

import (
	"fmt"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	source "github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/agentloadout/loadout/tui/text"
	"github.com/agentloadout/loadout/tui/theme"
)

// minText is the width that nesting leaves to a text, whatever its depth.
const minText = 12

// Render draws markdown that may be untrusted in lines of at most w cells. It may take milliseconds for a long text.
func Render(t *theme.Theme, markdown string, w int) []theme.Spans {
	src := []byte(strings.Join(text.Lines(markdown), "\n") + "\n")
	p := parser.NewParser(
		parser.WithBlockParsers(parser.DefaultBlockParsers()...),
		parser.WithInlineParsers(parser.DefaultInlineParsers()...),
		parser.WithParagraphTransformers(parser.DefaultParagraphTransformers()...),
	)
	r := renderer{theme: t, src: src, w: max(w, 1)}
	r.blocks(p.Parse(source.NewReader(src)), nil, nil)
	for len(r.lines) > 0 && len(r.lines[len(r.lines)-1]) == 0 {
		r.lines = r.lines[:len(r.lines)-1]
	}
	return r.lines
}

type renderer struct {
	theme *theme.Theme
	src   []byte
	w     int
	lines []theme.Spans
}

// blocks draws the children of a block. first leads the first line that they make, rest every other.
func (r *renderer) blocks(n ast.Node, first, rest theme.Spans) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		r.block(c, first, rest)
		first = rest
		if c.NextSibling() != nil && c.Kind() != ast.KindTextBlock && c.NextSibling().HasBlankPreviousLines() {
			r.lines = append(r.lines, rest)
		}
	}
}

func (r *renderer) block(n ast.Node, first, rest theme.Spans) {
	t := r.theme
	switch n := n.(type) {
	case *ast.Heading:
		r.wrap(restyle(r.inline(n, t.Strong), t.Strong), first, rest)
	case *ast.Blockquote:
		edge := theme.S(t.Vertical+" ", t.Dim)
		r.blocks(n, add(first, edge), add(rest, edge))
	case *ast.List:
		r.list(n, first, rest)
	case *ast.FencedCodeBlock:
		r.verbatim(n, t.Accent, add(first, theme.S("  ", t.Text)), add(rest, theme.S("  ", t.Text)))
	case *ast.CodeBlock:
		r.verbatim(n, t.Accent, add(first, theme.S("  ", t.Text)), add(rest, theme.S("  ", t.Text)))
	case *ast.HTMLBlock:
		r.verbatim(n, t.Dim, first, rest)
	case *ast.ThematicBreak:
		r.lines = append(r.lines, add(first, theme.S(strings.Repeat(t.Horizontal, r.room(first)), t.Dim)))
	default:
		if n.Type() == ast.TypeBlock && n.FirstChild() != nil && n.FirstChild().Type() == ast.TypeBlock {
			r.blocks(n, first, rest)
			return
		}
		r.wrap(r.inline(n, t.Text), first, rest)
	}
}

func (r *renderer) list(n *ast.List, first, rest theme.Spans) {
	number := n.Start
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		mark := r.theme.Dot + " "
		if n.IsOrdered() {
			mark = fmt.Sprintf("%d. ", number)
			number++
		}
		r.blocks(c, add(first, theme.S(mark, r.theme.Accent)), add(rest, theme.S(text.Blank(text.Width(mark)), r.theme.Text)))
		first = rest
		if !n.IsTight && c.NextSibling() != nil {
			r.lines = append(r.lines, rest)
		}
	}
}

// verbatim draws lines as they are; those that are too long go on below.
func (r *renderer) verbatim(n ast.Node, style theme.Style, first, rest theme.Spans) {
	lines := n.Lines()
	for i := range lines.Len() {
		segment := lines.At(i)
		for _, part := range text.Wrap(strings.TrimRight(string(segment.Value(r.src)), "\n"), r.room(rest)) {
			r.lines = append(r.lines, add(first, theme.S(part, style)))
			first = rest
		}
	}
}

// inline is the text of a block in its styles. A hard line break is a newline.
func (r *renderer) inline(n ast.Node, style theme.Style) theme.Spans {
	var spans theme.Spans
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		switch c := c.(type) {
		case *ast.Text:
			s := string(util.UnescapePunctuations(c.Segment.Value(r.src)))
			switch {
			case c.HardLineBreak():
				s += "\n"
			case c.SoftLineBreak():
				s += " "
			}
			spans = append(spans, theme.S(s, style))
		case *ast.String:
			spans = append(spans, theme.S(string(c.Value), style))
		case *ast.CodeSpan:
			spans = append(spans, restyle(r.inline(c, style), r.theme.Accent)...)
		case *ast.Emphasis:
			spans = append(spans, r.inline(c, r.theme.Strong)...)
		case *ast.Link:
			label := r.inline(c, r.theme.Accent)
			spans = append(spans, label...)
			if to := string(c.Destination); to != plain(label) {
				spans = append(spans, theme.S(" ("+to+")", r.theme.Dim))
			}
		case *ast.AutoLink:
			spans = append(spans, theme.S(string(c.URL(r.src)), r.theme.Accent))
		case *ast.RawHTML:
			for i := range c.Segments.Len() {
				segment := c.Segments.At(i)
				spans = append(spans, theme.S(strings.ReplaceAll(string(segment.Value(r.src)), "\n", " "), r.theme.Dim))
			}
		default:
			spans = append(spans, r.inline(c, style)...)
		}
	}
	return spans
}

// wrap breaks styled text after blanks, or within words that are too long.
func (r *renderer) wrap(spans, first, rest theme.Spans) {
	line, used, lead := theme.Spans(nil), 0, first
	flush := func() {
		r.lines = append(r.lines, append(add(lead), line...))
		line, used, lead = nil, 0, rest
	}
	for _, word := range words(spans) {
		room := r.room(lead)
		if word.newline {
			flush()
			continue
		}
		if gap := min(used, 1); used > 0 && used+gap+word.width > room {
			flush()
			room = r.room(lead)
		}
		if used > 0 {
			line = append(line, theme.S(" ", line[len(line)-1].Style))
			used++
		}
		for _, span := range word.spans {
			for i, part := range text.Wrap(span.Text, room) {
				if i > 0 || used+text.Width(part) > room && used > 0 {
					flush()
				}
				line = append(line, theme.S(part, span.Style))
				used += text.Width(part)
			}
		}
	}
	if line != nil || lead == nil && first == nil && len(spans) == 0 {
		flush()
	}
}

// word is text without a blank, in one or more styles.
type word struct {
	spans   theme.Spans
	width   int
	newline bool
}

func words(spans theme.Spans) []word {
	var list []word
	var at word
	end := func() {
		if at.spans != nil {
			list = append(list, at)
			at = word{}
		}
	}
	for _, span := range spans {
		for s := span.Text; s != ""; {
			i := strings.IndexAny(s, " \n")
			if i < 0 {
				i = len(s)
			}
			if i > 0 {
				at.spans = append(at.spans, theme.S(s[:i], span.Style))
				at.width += text.Width(s[:i])
			}
			if i < len(s) {
				end()
				if s[i] == '\n' {
					list = append(list, word{newline: true})
				}
				i++
			}
			s = s[i:]
		}
	}
	end()
	return list
}

// room is the cells that lead leaves to a text.
func (r *renderer) room(lead theme.Spans) int { return max(r.w-lead.Width(), min(minText, r.w)) }

// add is a copy of spans with more behind it.
func add(spans theme.Spans, more ...theme.Span) theme.Spans {
	return append(spans[:len(spans):len(spans)], more...)
}

func restyle(spans theme.Spans, style theme.Style) theme.Spans {
	for i := range spans {
		spans[i].Style = style
	}
	return spans
}

func plain(spans theme.Spans) string {
	var b strings.Builder
	for _, s := range spans {
		b.WriteString(s.Text)
	}
	return b.String()
}
