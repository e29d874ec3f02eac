package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"time"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/torture"
	"github.com/agentloadout/loadout/engine/words"
)

type compactCmd struct {
	MaxEvents int64         `placeholder:"N" default:"10000" help:"Keep at most the newest N events; default 10000."`
	MaxAge    ageFlag       `placeholder:"DAYS" default:"30" help:"Of those, keep what is at most so old: days, or 12h, 2w; default 30 days."`
	DryRun    bool          `help:"Only say what would happen."`
	LockWait  time.Duration `placeholder:"TIME" help:"How long to wait for the lock, default 10s."`
}

func (compactCmd) Help() string {
	return "What the state is built from always stays, whatever its age, and the log as it was before lies in an archive beside it.\n\n" +
		examples(
			"loadout coord compact --dry-run",
			"loadout coord compact --max-events 5000 --max-age 7",
		)
}

func (o *compactCmd) run(ctx context.Context, c *call) error {
	if o.MaxEvents < 1 {
		return &engine.ValidationError{Field: "max-events", Reason: "is a number from 1"}
	}
	e, err := c.open(o.LockWait)
	if err != nil {
		return err
	}
	r, err := e.Compact(ctx, engine.CompactOptions{MaxEvents: o.MaxEvents, MaxAge: time.Duration(o.MaxAge), DryRun: o.DryRun})
	if err != nil {
		return err
	}
	return c.answer(r, func() {
		switch {
		case r.Removed == 0:
			c.printf("Log has %s (%s) — under threshold, nothing to remove.\n", words.Plural(r.Before, "line"), words.Bytes(r.BytesBefore))
		case r.DryRun:
			c.printf("Would compact: %d → %d lines (removes %s)\n", r.Before, r.After, words.Plural(r.Removed, "event"))
		default:
			c.printf("Compacted: %d → %d lines (removed %s), %s → %s\n", r.Before, r.After, words.Plural(r.Removed, "event"), words.Bytes(r.BytesBefore), words.Bytes(r.BytesAfter))
			c.printf("  archive: .handoff/%s (all archives: %s)\n", r.Archive, words.Bytes(r.ArchiveBytes))
		}
		if r.Roots > 0 {
			c.printf("  %s kept because the state is built from them\n", words.Plural(r.Roots, "older event"))
		}
		if r.Bad > 0 {
			c.printf("  %s moved beside the archive\n", words.Plural(r.Bad, "unreadable line"))
		}
		for _, n := range r.Notes {
			c.note("note: %s", n)
		}
	})
}

type doctorCmd struct {
	Fix     bool `help:"Mend what can be mended, after an archive of the log."`
	Torture bool `help:"Prove on a scratch log that what was answered is never lost: writers, kills, and a count."`
	Seconds *int `placeholder:"N" help:"How long to torture; default 10."`
	Writers *int `placeholder:"N" help:"How many processes write at once; default 8."`
}

func (doctorCmd) Help() string {
	return "Exit 0 when all is well, 1 with findings, 0 after --fix mended them all.\n\n" +
		examples(
			"loadout doctor",
			"loadout doctor --fix",
			"loadout doctor --torture --seconds 30",
		)
}

func (o *doctorCmd) run(ctx context.Context, c *call) error {
	switch {
	case o.Torture:
		return o.torture(ctx, c)
	case o.Seconds != nil || o.Writers != nil:
		return &engine.UsageError{Message: "--seconds and --writers go with --torture"}
	}
	e, err := c.open(0)
	if err != nil {
		return err
	}
	_, faults := c.readSettings(e.Project())
	r, err := e.Doctor(ctx, engine.DoctorOptions{Fix: o.Fix, Settings: faults})
	if err != nil {
		return err
	}
	r.Findings = orEmpty(r.Findings)
	c.lost = func() string { return "" } // a finding says it, and more
	if err := c.answer(r, func() { c.printDoctor(&r, o.Fix) }); err != nil {
		return err
	}
	if !r.Healthy {
		return errSilent(exitUnexpected)
	}
	return nil
}

func (c *call) printDoctor(r *engine.DoctorReport, fix bool) {
	c.printf("%s\n", c.bold(r.Directory))
	c.printf("  %s, %s, %s, %s (%s)\n", words.Plural(r.Lines, "line"), words.Bytes(r.Bytes), upTo(r.HighSeq),
		words.Plural(r.Archives, "archive"), words.Bytes(r.ArchiveBytes))
	mendable := false
	for _, f := range r.Findings {
		mark := c.red("found")
		switch {
		case f.Fixed:
			mark = c.green("mended")
		case f.Info:
			mark = "note"
		case f.Fixable:
			mendable = true
		}
		c.printf("  %s  %s (%s)\n", mark, f.Text, f.Code)
	}
	if r.Archive != "" {
		c.printf("  the log as it was before: %s\n", r.Archive)
	}
	switch {
	case r.Healthy:
		c.printf("All is well.\n")
	case mendable && !fix:
		c.printf("Mend with: loadout doctor --fix\n")
	}
}

// upTo says how far a log goes.
func upTo(seq int64) string {
	if seq < 0 {
		return "no events"
	}
	return fmt.Sprintf("up to seq %d", seq)
}

func (o *doctorCmd) torture(ctx context.Context, c *call) error {
	if o.Fix {
		return &engine.UsageError{Message: "--fix and --torture exclude each other"}
	}
	seconds, writers := 10, 8
	if o.Seconds != nil {
		seconds = *o.Seconds
	}
	if o.Writers != nil {
		writers = *o.Writers
	}
	if seconds < 1 || seconds > 3600 || writers < 1 || writers > 64 {
		return &engine.UsageError{Message: "--seconds is 1 to 3600, --writers is 1 to 64"}
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	options := torture.Options{
		Duration: time.Duration(seconds) * time.Second,
		Writers:  writers,
		Exec: func(ctx context.Context, dir string, writer, from int) *exec.Cmd {
			cmd := exec.CommandContext(ctx, self, "torture-writer", dir, strconv.Itoa(writer), strconv.Itoa(from)) //nolint:gosec // this program itself
			cmd.Args[0] = "loadout"
			return cmd
		},
	}
	said := c.now()
	report, err := torture.Run(ctx, options, func(r torture.Report) {
		if now := c.now(); now.Sub(said) >= time.Second {
			said = now
			c.note("%s: %d acknowledged, %s", words.Span(r.Duration), r.Acknowledged, words.Plural(r.Kills, "writer")+" killed")
		}
	})
	if err != nil {
		return err
	}
	if err := c.answer(report, func() { c.printTorture(&report) }); err != nil {
		return err
	}
	if !report.Passed {
		return errSilent(exitUnexpected)
	}
	return nil
}

func (c *call) printTorture(r *torture.Report) {
	c.printf("%s, %s killed in the middle of their work, %s\n", words.Plural(r.Writers, "writer"), words.Plural(r.Kills, "time"), words.Span(r.Duration))
	c.printf("  acknowledged  %d\n  found         %d\n  lost          %d\n", r.Acknowledged, r.Found, r.Lost)
	c.printf("  stored but not acknowledged  %d\n", r.Unanswered)
	c.printf("  numbers used twice  %d, left out  %d\n", r.Twice, r.Gaps)
	c.printf("  torn lines closed  %d\n  slowest write  %s\n", r.Torn, r.Slowest.Round(time.Millisecond))
	if r.Passed {
		c.printf("%s\n", c.green("PASSED: everything that was acknowledged was found."))
		return
	}
	c.printf("%s\n", c.red("FAILED. The log is kept: "+r.Directory))
}

// tortureWriterCmd is one writer of a torture run. Its words are the engine's.
type tortureWriterCmd struct {
	Dir    string `arg:""`
	Writer int    `arg:""`
	From   int    `arg:""`
}

func (o *tortureWriterCmd) run(ctx context.Context, c *call) error {
	return torture.Write(ctx, o.Dir, o.Writer, o.From, c.stdout)
}
