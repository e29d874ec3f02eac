package engine

import (
	"context"
	"fmt"
	"strings"

	"github.com/aymanbagabas/go-udiff/lcs"
)

// ContractDiff is the line by line difference between two revisions of a contract.
type ContractDiff struct {
	Name          string       `json:"name"`
	FromRevision  int64        `json:"fromRevision"` // 0: before the first, empty
	ToRevision    int64        `json:"toRevision"`
	FromPublisher string       `json:"fromPublisher"`
	ToPublisher   string       `json:"toPublisher"`
	Added         []string     `json:"added"`   // every line that is new, changed ones included
	Removed       []string     `json:"removed"` // every line that is gone, changed ones included
	Changed       []LineChange `json:"changed"` // a removed line and the added one in its place
	Summary       string       `json:"summary"` // how long these lists are: a changed line counts in all three
	Hunks         []Hunk       `json:"hunks"`
}

// LineChange is a line that was replaced. Line is its number in the newer text, from 1.
type LineChange struct {
	Line int    `json:"line"`
	From string `json:"from"`
	To   string `json:"to"`
}

// Hunk is one region of change with up to three unchanged lines around it.
type Hunk struct {
	FromLine  int        `json:"fromLine"` // first line of the older text, from 1; the line before when the hunk has none of it
	FromCount int        `json:"fromCount"`
	ToLine    int        `json:"toLine"`
	ToCount   int        `json:"toCount"`
	Lines     []DiffLine `json:"lines"`
}

// DiffKind is what became of a line.
type DiffKind string

// The kinds of a DiffLine.
const (
	DiffSame    DiffKind = "same"
	DiffAdded   DiffKind = "added"
	DiffRemoved DiffKind = "removed"
)

// DiffLine is one line of a hunk, for unified rendering.
type DiffLine struct {
	Kind DiffKind `json:"kind"`
	From int      `json:"from,omitempty"` // line number in the older text, from 1; 0 for an added line
	To   int      `json:"to,omitempty"`   // line number in the newer text, from 1; 0 for a removed line
	Text string   `json:"text"`           // without the newline
}

// DiffRow is one row of a hunk, for side by side rendering: nil where a side has no line.
type DiffRow struct {
	From, To *DiffLine
}

// diffContext is how many unchanged lines a hunk shows around a change, as diff -u does.
const diffContext = 3

// Diff compares two revisions of a contract. to 0 is the latest; from 0 is the one before to, so that either may be given
// alone. The first revision compares with nothing.
func (e *Engine) Diff(ctx context.Context, name string, from, to int64) (ContractDiff, error) {
	v, err := e.View(ctx)
	if err != nil {
		return ContractDiff{}, err
	}
	c, ok := v.State.Contract(name)
	if !ok {
		return ContractDiff{}, noContract(v.State, name)
	}
	if to == 0 {
		to = c.Revision
	}
	if from == 0 {
		for _, r := range c.History {
			if r.Revision < to && r.Revision > from {
				from = r.Revision
			}
		}
	}
	newer, err := e.contractBody(ctx, c, to)
	if err != nil {
		return ContractDiff{}, err
	}
	older := ContractText{Name: c.Name}
	if from != 0 {
		if older, err = e.contractBody(ctx, c, from); err != nil {
			return ContractDiff{}, err
		}
	}
	return diffTexts(older, newer), nil
}

func diffTexts(older, newer ContractText) ContractDiff {
	d := ContractDiff{
		Name:         newer.Name,
		FromRevision: older.Revision, ToRevision: newer.Revision,
		FromPublisher: older.Publisher, ToPublisher: newer.Publisher,
		Added: []string{}, Removed: []string{}, Changed: []LineChange{},
		Hunks: hunks(splitLines(older.Body), splitLines(newer.Body)),
	}
	for _, h := range d.Hunks {
		for _, row := range h.Rows() {
			switch {
			case row.From != nil && row.To != nil && row.From.Kind == DiffRemoved:
				d.Removed = append(d.Removed, row.From.Text)
				d.Added = append(d.Added, row.To.Text)
				d.Changed = append(d.Changed, LineChange{Line: row.To.To, From: row.From.Text, To: row.To.Text})
			case row.To == nil:
				d.Removed = append(d.Removed, row.From.Text)
			case row.From == nil:
				d.Added = append(d.Added, row.To.Text)
			}
		}
	}
	d.Summary = "No differences"
	if len(d.Hunks) > 0 {
		d.Summary = fmt.Sprintf("%d added, %d removed, %d changed line(s)", len(d.Added), len(d.Removed), len(d.Changed))
	}
	return d
}

// splitLines cuts a text at its newlines; a last line without one counts, an empty text has none.
func splitLines(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(s, "\n"), "\n")
}

func hunks(from, to []string) []Hunk {
	lines := diffLines(from, to)
	out := []Hunk{}
	for i := 0; i < len(lines); {
		if lines[i].Kind == DiffSame {
			i++
			continue
		}
		// A hunk goes on while the next change is so near that the lines around both would touch.
		end, quiet := i, 0
		for j := i; j < len(lines) && quiet <= 2*diffContext; j++ {
			quiet++
			if lines[j].Kind != DiffSame {
				end, quiet = j+1, 0
			}
		}
		out = append(out, newHunk(lines[max(0, i-diffContext):min(len(lines), end+diffContext)], lines[:max(0, i-diffContext)]))
		i = min(len(lines), end+diffContext)
	}
	return out
}

// newHunk counts a hunk's lines on both sides; before is what comes before it.
func newHunk(lines, before []DiffLine) Hunk {
	h := Hunk{Lines: lines}
	for _, l := range before {
		h.FromLine = max(h.FromLine, l.From)
		h.ToLine = max(h.ToLine, l.To)
	}
	for _, l := range lines {
		if l.From > 0 {
			h.FromCount++
		}
		if l.To > 0 {
			h.ToCount++
		}
	}
	if h.FromCount > 0 {
		h.FromLine++
	}
	if h.ToCount > 0 {
		h.ToLine++
	}
	return h
}

// diffLines is both texts as one list: what stays, what goes, what comes.
func diffLines(from, to []string) []DiffLine {
	out := make([]DiffLine, 0, max(len(from), len(to)))
	f, t := 0, 0
	same := func(until int) {
		for ; f < until; f, t = f+1, t+1 {
			out = append(out, DiffLine{Kind: DiffSame, From: f + 1, To: t + 1, Text: to[t]})
		}
	}
	for _, d := range lcs.DiffLines(from, to) {
		same(d.Start)
		for ; f < d.End; f++ {
			out = append(out, DiffLine{Kind: DiffRemoved, From: f + 1, Text: from[f]})
		}
		for ; t < d.ReplEnd; t++ {
			out = append(out, DiffLine{Kind: DiffAdded, To: t + 1, Text: to[t]})
		}
	}
	same(len(from))
	return out
}

// Rows pairs removed with added lines for side by side rendering.
func (h Hunk) Rows() []DiffRow {
	var rows []DiffRow
	for i := 0; i < len(h.Lines); {
		if h.Lines[i].Kind == DiffSame {
			rows = append(rows, DiffRow{From: &h.Lines[i], To: &h.Lines[i]})
			i++
			continue
		}
		var gone, come []*DiffLine
		for ; i < len(h.Lines) && h.Lines[i].Kind != DiffSame; i++ {
			if h.Lines[i].Kind == DiffRemoved {
				gone = append(gone, &h.Lines[i])
			} else {
				come = append(come, &h.Lines[i])
			}
		}
		for k := range max(len(gone), len(come)) {
			var row DiffRow
			if k < len(gone) {
				row.From = gone[k]
			}
			if k < len(come) {
				row.To = come[k]
			}
			rows = append(rows, row)
		}
	}
	return rows
}

// Unified is the difference as unified diff text, empty when there is none.
func (d ContractDiff) Unified() string {
	if len(d.Hunks) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "--- %s rev%d\n+++ %s rev%d\n", d.Name, d.FromRevision, d.Name, d.ToRevision)
	for _, h := range d.Hunks {
		fmt.Fprintf(&b, "@@ -%d,%d +%d,%d @@\n", h.FromLine, h.FromCount, h.ToLine, h.ToCount)
		for _, l := range h.Lines {
			b.WriteByte(map[DiffKind]byte{DiffSame: ' ', DiffAdded: '+', DiffRemoved: '-'}[l.Kind])
			b.WriteString(l.Text)
			b.WriteByte('\n')
		}
	}
	return b.String()
}
