package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/state"
	"github.com/agentloadout/loadout/engine/words"
	"github.com/agentloadout/loadout/store"
)

// What compaction keeps by default.
const (
	DefaultMaxEvents = 10000
	DefaultMaxAge    = 30 * 24 * time.Hour
)

// maxSummaryAgents bounds the names that a summary lists.
const maxSummaryAgents = 200

// CompactOptions say what may go. What the state is built from always stays.
type CompactOptions struct {
	MaxEvents int64         // keep at most so many of the newest lines, at least 1
	MaxAge    time.Duration // of those, keep the ones at most so old; 0: none is young enough; negative: any age
	DryRun    bool          // only say what would happen
}

// CompactResult says what compaction did, or would do.
type CompactResult struct {
	Before       int64    `json:"before"`  // events before
	After        int64    `json:"after"`   // events after, the summary included
	Removed      int64    `json:"removed"` // events taken out of the log; the archive has them
	Compacted    bool     `json:"compacted"`
	DryRun       bool     `json:"dryRun,omitempty"`
	Roots        int64    `json:"roots"` // older events kept because the state is built from them
	Bad          int64    `json:"bad"`   // lines that are no JSON, moved beside the archive
	BytesBefore  int64    `json:"bytesBefore"`
	BytesAfter   int64    `json:"bytesAfter"` // about, for a dry run
	Archive      string   `json:"archive,omitempty"`
	Archives     int      `json:"archives"`
	ArchiveBytes int64    `json:"archiveBytes"` // of all archives together
	Notes        []string `json:"notes,omitempty"`
}

// Compact archives the log and removes old events that the state does not need. It looks for them without the lock. It
// proves that the state stays equal before it replaces anything; else it leaves the log as it was and says what would have
// differed.
func (e *Engine) Compact(ctx context.Context, o CompactOptions) (CompactResult, error) {
	if o.MaxEvents < 1 {
		return CompactResult{}, &ValidationError{Field: "max-events", Reason: "must be at least 1"}
	}
	r, err := e.compact(ctx, e.log, o)
	return r, e.inWords(err)
}

// Maintain compacts the log by the defaults when it is larger than Options.CompactAbove and has at least doubled since the last
// compaction. It does not wait for the lock. It is for moments in which nobody waits for an answer: after a verb has printed
// its own, or when a cockpit is idle. say is told what is about to take its time; the notes are for the person, nil when there was nothing
// to do. Whoever ends ctx puts it off.
func (e *Engine) Maintain(ctx context.Context, say func(string)) []string {
	e.mu.Lock()
	size, last := e.mem.at.Offset, e.mem.last
	e.mu.Unlock()
	if above := e.options.CompactAbove; above < 0 || size < above || size < 2*last.end {
		return nil
	}
	say(fmt.Sprintf("the log has grown to %s and is compacted now; what was asked for is done, and to interrupt this only puts it off", words.Bytes(size)))
	impatient := store.Open(e.project.Dir, store.Options{
		FS: e.options.FS, LockWait: -1, Command: e.options.Command, AllowNetwork: e.options.AllowNetwork,
	})
	r, err := e.compact(ctx, impatient, CompactOptions{MaxEvents: DefaultMaxEvents, MaxAge: DefaultMaxAge})
	var locked *LockedError
	var halted *HaltedError
	switch {
	case errors.As(err, &locked), errors.As(err, &halted), ctx.Err() != nil:
		return nil // another time
	case err != nil:
		return []string{"the log is large and could not be compacted: " + err.Error()}
	case !r.Compacted:
		return nil
	}
	return []string{fmt.Sprintf("the log was compacted from %d to %d events; %s has what was removed", r.Before, r.After, r.Archive)}
}

func (e *Engine) compact(ctx context.Context, log *store.Log, o CompactOptions) (CompactResult, error) {
	if err := e.refuseHalted(); err != nil && !o.DryRun {
		return CompactResult{}, err
	}
	v, err := e.View(ctx)
	if err != nil {
		return CompactResult{}, err
	}
	p := newPlan(v, o)
	if err := p.survey(ctx, e.log); err != nil {
		return CompactResult{}, fmt.Errorf("compact log: %w", err)
	}
	r := CompactResult{
		Before: p.before, After: p.before, Bad: p.bad, BytesBefore: v.at.Offset, BytesAfter: v.at.Offset, DryRun: o.DryRun,
	}
	if p.removed > 0 {
		r.Removed, r.Roots, r.After, r.BytesAfter = p.removed, p.roots, p.before-p.removed+1, p.bytes
		if !o.DryRun {
			if err := e.replace(ctx, log, p, &r); err != nil {
				return CompactResult{}, err
			}
		}
	}
	archives, err := e.log.Archives()
	if err != nil {
		return r, err
	}
	for _, a := range archives {
		r.Archives++
		r.ArchiveBytes += a.Size
	}
	return r, nil
}

// replace takes the lock and carries a plan out.
func (e *Engine) replace(ctx context.Context, log *store.Log, p *plan, r *CompactResult) error {
	err := log.Update(ctx, func(tx *store.Tx) error {
		defer func() { r.Notes = tx.Notes() }()
		if err := e.refuseHalted(); err != nil {
			return err
		}
		extra, head, err := p.prove(ctx, tx, e)
		if err != nil {
			return fmt.Errorf("compact log: %w", err)
		}
		r.Before, r.After = p.before, p.before-p.removed+int64(len(extra))
		archive, err := tx.Rewrite(ctx, p.keeps, extra)
		if err != nil {
			return fmt.Errorf("compact log: %w", err)
		}
		r.Compacted, r.Archive = true, archive.Name
		e.answered(head)
		return nil
	})
	if err != nil {
		return err
	}
	v, err := e.View(ctx) // folds what is left and keeps it as the new checkpoint
	if err != nil {
		return err
	}
	r.BytesAfter = v.at.Offset
	e.mu.Lock()
	checkpoint, err := e.mem.freeze()
	e.mem.saved = e.mem.at
	e.mu.Unlock()
	if err == nil {
		r.Notes = append(r.Notes, e.keep(&checkpoint, nil)...)
	}
	return nil
}

// plan is a compaction in the making: what the log holds up to a place and which of its lines stay.
type plan struct {
	options CompactOptions
	view    *View
	isRoot  func(seq int64) bool
	gone    []uint64 // a bit for each line that goes, by its number

	kept    memory // the fold of the lines that stay
	before  int64  // events
	removed int64
	roots   int64
	bad     int64
	bytes   int64 // of the lines that stay
	since   int64 // sequence number from which on all lines stay

	first, last int64 // lowest and highest sequence number of the lines that go
	agents      []string
	types       map[event.Type]int64
}

func newPlan(v *View, o CompactOptions) *plan {
	return &plan{
		options: o, view: v, isRoot: v.State.Roots(), gone: make([]uint64, v.at.Lines/64+1),
		kept: emptyMemory(), first: -1, last: -1, types: map[event.Type]int64{},
	}
}

// survey reads the log up to the place of the view and decides about each line.
func (p *plan) survey(ctx context.Context, log *store.Log) error {
	_, err := log.Read(ctx, place{}, func(b store.Batch) error {
		stays := make([]store.Line, 0, len(b.Lines))
		for _, l := range b.Lines {
			switch {
			case l.Number > p.view.at.Lines: // newer than the view: it stays, and is met again under the lock
			case l.Err != nil:
				p.bad++
			case p.stays(&l):
				p.before++
				p.bytes += int64(len(l.Raw)) + 1
				stays = append(stays, l)
			default:
				p.before++
			}
		}
		b.Lines = stays
		p.kept.fold(b)
		return nil
	})
	return err
}

// stays decides about one line.
func (p *plan) stays(l *store.Line) bool {
	ev, err := borrowLine(l)
	if p.young(l, &ev) {
		return true
	}
	if err == nil && (p.isRoot(l.Seq) || !event.KnownType(ev.Type)) {
		p.roots++
		return true
	}
	p.gone[l.Number/64] |= 1 << (l.Number % 64)
	p.removed++
	p.since = max(p.since, l.Seq+1)
	if p.first < 0 || l.Seq < p.first {
		p.first = l.Seq
	}
	p.last = max(p.last, l.Seq)
	if err == nil {
		p.types[event.Type(strings.Clone(string(ev.Type)))]++
		if !slices.Contains(p.agents, ev.From) && len(p.agents) < maxSummaryAgents {
			p.agents = append(p.agents, strings.Clone(ev.From))
		}
	}
	return false
}

// young reports whether a line is among the newest. A line without a time that can be read is judged by its place alone.
func (p *plan) young(l *store.Line, ev *event.Event) bool {
	if l.Number <= p.view.at.Lines-p.options.MaxEvents {
		return false
	}
	at, ok := event.ParseTime(ev.Timestamp)
	return p.options.MaxAge < 0 || !ok || p.options.MaxAge > 0 && p.view.Now.Sub(at) <= p.options.MaxAge
}

// keeps is the plan as store.Tx.Rewrite asks for it. Lines that came after the survey stay.
func (p *plan) keeps(l store.Line) bool {
	return l.Number > p.view.at.Lines || p.gone[l.Number/64]&(1<<(l.Number%64)) == 0
}

// prove folds what came since the survey, makes the lines to add, the last of them the summary, which has the number head, and checks
// that what is left gives the state that there was.
func (p *plan) prove(ctx context.Context, tx *store.Tx, e *Engine) (extra [][]byte, head int64, err error) {
	now := e.now()
	full := memory{state: p.view.State, at: p.view.at}
	_, err = tx.Read(ctx, p.view.at, func(b store.Batch) error {
		for i := range b.Lines {
			if b.Lines[i].Err == nil {
				p.before++
			}
		}
		full.fold(b)
		p.kept.fold(b)
		return nil
	})
	if err != nil {
		return nil, -1, err
	}
	carried, err := full.state.Carry(p.kept.state, p.since)
	if err != nil {
		return nil, -1, err
	}
	slices.Sort(p.agents)
	summary, err := event.New(event.Loadout, event.Broadcast, fmt.Sprintf("Compacted %d events (seq %d–%d)", p.removed, p.first, p.last),
		event.Status{
			CompactedCount: p.removed, CompactedRange: &event.SeqRange{From: max(0, p.first), To: max(0, p.last)},
			Agents: p.agents, TypeCounts: p.types, CompactedAt: event.FormatTime(now), Carried: carried,
		})
	if err != nil {
		return nil, -1, err
	}
	summary.ID = fmt.Sprintf("compaction-%d", now.UnixMilli())
	records, head, err := e.afterLoss(full.at.Highest())
	if err != nil {
		return nil, -1, err
	}
	summary.Seq, summary.Timestamp = head, event.FormatTime(now)
	if err := summary.Normalize(); err != nil {
		return nil, -1, err
	}
	for _, ev := range append(records, summary) {
		for _, s := range []*state.State{full.state, p.kept.state} {
			if err := s.Apply(&ev); err != nil {
				return nil, -1, err
			}
		}
		extra = append(extra, ev.AppendLine(nil))
	}
	if same, difference := state.Equal(full.state, p.kept.state); !same {
		return nil, -1, fmt.Errorf("it was left as it was, because the state would have changed: %s", difference)
	}
	return extra, head, nil
}
