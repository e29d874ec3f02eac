package main

import (
	"context"
	"fmt"

	"github.com/agentloadout/loadout/engine"
)

type diffCmd struct {
	Name       string `complete:"contract" arg:"" help:"The contract."`
	From       int64  `complete:"revision" placeholder:"N" help:"The older revision; default: the one before --to."`
	To         int64  `complete:"revision" placeholder:"N" help:"The newer revision; default: the latest."`
	SideBySide bool   `short:"y" help:"Both texts beside each other."`
	Width      int    `placeholder:"CELLS" help:"Width of the side by side view, default 120."`
	History    bool   `help:"List the revisions instead."`
}

func (diffCmd) Help() string {
	return examples(
		"loadout coord diff checkout-api",
		"loadout coord diff checkout-api --from 1 --to 3",
		"loadout coord diff checkout-api --side-by-side --width 160",
	)
}

func (o *diffCmd) run(ctx context.Context, c *call) error {
	if o.History {
		return (&contractCmd{Name: o.Name, History: true}).run(ctx, c)
	}
	if o.From < 0 || o.To < 0 {
		return &engine.ValidationError{Field: "revision", Reason: "starts at 1"}
	}
	if o.Width == 0 {
		o.Width = 120
	}
	if o.Width < 20 || o.Width > 1000 {
		return &engine.UsageError{Message: "--width is a number of cells from 20 to 1000"}
	}
	e, err := c.open(0)
	if err != nil {
		return err
	}
	d, err := e.Diff(ctx, o.Name, o.From, o.To)
	if err != nil {
		return err
	}
	return c.answer(d, func() {
		c.printf("%s %s → %s: %s\n", c.bold(d.Name), revisionBy(d.FromRevision, d.FromPublisher), revisionBy(d.ToRevision, d.ToPublisher), d.Summary)
		for _, h := range d.Hunks {
			c.printf("%s\n", c.dim(fmt.Sprintf("@@ -%d,%d +%d,%d @@", h.FromLine, h.FromCount, h.ToLine, h.ToCount)))
			if o.SideBySide {
				c.printSideBySide(h, o.Width)
			} else {
				c.printUnified(h)
			}
		}
	})
}

// revisionBy is one side of a comparison.
func revisionBy(revision int64, publisher string) string {
	if revision == 0 {
		return "nothing"
	}
	return fmt.Sprintf("rev%d (%s)", revision, publisher)
}

func (c *call) printUnified(h engine.Hunk) {
	for _, l := range h.Lines {
		switch l.Kind {
		case engine.DiffSame:
			c.printf(" %s\n", pad(l.Text, 0))
		case engine.DiffAdded:
			c.printf("%s\n", c.green("+"+l.Text))
		case engine.DiffRemoved:
			c.printf("%s\n", c.red("-"+l.Text))
		}
	}
}

// printSideBySide prints a hunk in two columns of line number, mark and text.
func (c *call) printSideBySide(h engine.Hunk, width int) {
	const gutter = 7 // "1234 - "
	half := (width - 3) / 2
	side := func(l *engine.DiffLine, number int, mark string) styled {
		if l == nil {
			return pad("", half)
		}
		text := pad(string(clip(l.Text, half-gutter)), half-gutter)
		line := fmt.Sprintf("%4d %s %s", number, mark, text)
		switch mark {
		case "-":
			return c.red(line)
		case "+":
			return c.green(line)
		}
		return styled(line)
	}
	for _, row := range h.Rows() {
		from, to := "-", "+"
		if row.From != nil && row.From.Kind == engine.DiffSame {
			from = " "
		}
		if row.To != nil && row.To.Kind == engine.DiffSame {
			to = " "
		}
		var fromLine, toLine int
		if row.From != nil {
			fromLine = row.From.From
		}
		if row.To != nil {
			toLine = row.To.To
		}
		c.printf("%s │ %s\n", side(row.From, fromLine, from), side(row.To, toLine, to))
	}
}
