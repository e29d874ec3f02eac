package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/store"
)

// farSeq is where sequence numbers begin that nobody can have counted up to. A line that carries one was damaged or planted; it
// must not use up the numbers of all who write after it.
const farSeq = 1 << 52

// FarNumberError says that there are no sequence numbers left, because of a line that cannot be right.
type FarNumberError struct {
	Path      string
	Line, Seq int64
}

func (e *FarNumberError) Error() string {
	return fmt.Sprintf("line %d of %s has the sequence number %d, after which there is none left; it cannot be right", e.Line, e.Path, e.Seq)
}

// Hint is what the caller can do next.
func (e *FarNumberError) Hint() []string {
	return []string{"loadout doctor --fix    archives the log and moves such lines out of it"}
}

// errNumbersSpent ends a draft that finds no number for its event.
var errNumbersSpent = errors.New("sequence numbers have reached their limit")

// Spent reports whether a log that has reached seq has no number left for who writes: every write is refused until doctor has mended it.
func Spent(seq int64) bool { return seq >= event.MaxSeq }

// explainSpent names the line that is to blame for errNumbersSpent; other errors stay as they are.
func (e *Engine) explainSpent(ctx context.Context, err error) error {
	if !errors.Is(err, errNumbersSpent) {
		return err
	}
	var far far
	if _, readErr := e.log.Read(ctx, place{}, far.look); readErr != nil || far.count == 0 {
		return err
	}
	return &FarNumberError{Path: e.log.Path(), Line: far.line, Seq: far.seq}
}

// far counts lines with numbers that cannot be right.
type far struct {
	count     int64
	line, seq int64 // the first of them
}

func (f *far) look(b store.Batch) error {
	for i := range b.Lines {
		if l := &b.Lines[i]; l.Seq >= farSeq {
			if f.count++; f.count == 1 {
				f.line, f.seq = l.Number, l.Seq
			}
		}
	}
	return nil
}

// headName is a small private file with the highest number that was answered. It tells that an older copy lies where the log was.
const headName = "cache/head"

// headWidth is the number of digits in it, so that each number covers the one before.
const headWidth = 19

// writeHead notes that the log has reached seq. Best effort: without it only a loss of the log as a whole is noticed.
func (e *Engine) writeHead(seq int64) {
	if seq >= 0 && seq < farSeq {
		_ = e.head.Write(fmt.Appendf(nil, "%0*d\n", headWidth, seq))
	}
}

// readHead is the highest number that is known to have been answered, -1 when nothing tells.
func (e *Engine) readHead() int64 {
	data, err := e.head.Read(headWidth + 1)
	if err != nil {
		return -1
	}
	seq, err := strconv.ParseInt(strings.TrimSpace(string(data)), 10, 64)
	if err != nil || seq < 0 || seq >= farSeq {
		return -1
	}
	return seq
}

// loss is what is known of events that were answered and are in the log no more.
type loss struct {
	store.Remembered       // how far the log had come; Seq is -1 when nothing is missed
	end              int64 // where what is there now ends, -1: there is no log
}

// lost compares the log with what is known of it: answered is what readHead told before the log was read. Numbers and fences must
// go on above what is lost, or those who remember an old one would be taken for those who hold the new one. The caller holds e.mu.
func (e *Engine) lost(ctx context.Context, answered int64) (loss, error) {
	l := loss{store.Remembered{Seq: answered, From: headName}, e.mem.at.Highest()}
	if e.known > l.Seq {
		l.Remembered = store.Remembered{Seq: e.known, From: "this process"}
	}
	if e.mem.at.Offset == 0 && l.Seq < 0 {
		var err error
		if l.Remembered, err = e.log.Remembered(ctx, farSeq); err != nil {
			return loss{Remembered: store.Remembered{Seq: -1}}, err
		}
	}
	if l.Seq <= l.end {
		l.Seq = -1
	}
	return l, nil
}

// String says what is lost.
func (l loss) String() string {
	if l.end < 0 {
		return fmt.Sprintf("the log is gone: it had reached seq %d, as %s tells", l.Seq, l.From)
	}
	return fmt.Sprintf("the log is an older copy, which ends at seq %d: it had reached %d, as %s tells", l.end, l.Seq, l.From)
}

// note is String for a reader, "" when nothing is missed.
func (l loss) note() string {
	if l.Seq < 0 {
		return ""
	}
	return l.String() + "; loadout doctor says what is left of it"
}

// remember keeps the highest number of a log, for when it is gone. The caller holds e.mu.
func (e *Engine) remember(seq int64) {
	if seq < farSeq {
		e.known = max(e.known, seq)
	}
}

// lossWords begin the record of a loss, which only this program writes.
const lossWords = "Numbers go on above "

// lossRecord is the event with which the log goes on. For a log that is gone, time travel and queries take it for a compaction, which
// it is: what it names is in the archives, if anywhere.
func lossRecord(l loss) (event.Event, error) {
	var body event.Status
	if l.end < 0 {
		body = event.Status{CompactedCount: l.Seq + 1, CompactedRange: &event.SeqRange{From: 0, To: l.Seq}}
	}
	return event.New(event.Loadout, event.Broadcast, fmt.Sprintf(lossWords+"%d: %s", l.Seq, l), body)
}

// afterLoss begins what a rewrite of the log adds, under the lock: the record of a loss when more was answered than the log, which has
// reached highest, can tell of. next is the number that follows.
func (e *Engine) afterLoss(highest int64) (records []event.Event, next int64, err error) {
	l := loss{store.Remembered{Seq: e.readHead(), From: headName}, highest}
	e.mu.Lock()
	if e.known > l.Seq {
		l.Remembered = store.Remembered{Seq: e.known, From: "this process"}
	}
	e.mu.Unlock()
	if l.Seq <= highest {
		return nil, highest + 1, nil
	}
	record, err := lossRecord(l)
	if err != nil {
		return nil, -1, err
	}
	record.ID, record.Seq, record.Timestamp = event.NewID(), l.Seq+1, event.FormatTime(e.now())
	return []event.Event{record}, record.Seq + 1, record.Normalize()
}

// answered notes that the log has reached seq, for when it is gone.
func (e *Engine) answered(seq int64) {
	e.writeHead(seq)
	e.mu.Lock()
	e.remember(seq)
	e.mu.Unlock()
}

// examineLoss reports a log that is gone, or an older copy in its place.
func (e *Engine) examineLoss(ctx context.Context, r *DoctorReport, answered int64) error {
	e.mu.Lock()
	err := e.catchUp(ctx, e.log.Read)
	var lost loss
	if err == nil {
		lost, err = e.lost(ctx, answered)
	}
	e.mu.Unlock()
	switch {
	case err != nil:
		return err
	case lost.Seq < 0 && r.Lines == 0:
		r.add(Finding{Code: findingUnused, Info: true, Text: "there is no log yet: nothing was coordinated here"})
		return nil
	case lost.Seq < 0:
		return nil
	}
	left, archived, err := e.left(ctx)
	if err != nil {
		return err
	}
	if archived {
		left += fmt.Sprintf(": a copy of it named %s brings that back", store.LogName)
	}
	r.add(Finding{Code: findingLost, Text: lost.String() + "; the next write goes on above that; " + left})
	return nil
}

// left says what the archives have of a log that was lost.
func (e *Engine) left(ctx context.Context) (text string, archived bool, err error) {
	archives, err := e.log.Archives()
	if err != nil {
		return "", false, err
	}
	if len(archives) == 0 {
		return "there is no archive of it", false, nil
	}
	newest, highest := archives[len(archives)-1], int64(-1)
	err = e.log.ReadArchive(ctx, newest, func(b store.Batch) error {
		for i := range b.Lines {
			if b.Lines[i].Seq < farSeq {
				highest = max(highest, b.Lines[i].Seq)
			}
		}
		return nil
	})
	return fmt.Sprintf("the newest archive, %s, holds everything up to seq %d", newest.Name, highest), true, err
}

// recorded is the newest record of a loss in a log.
type recorded struct {
	line int64 // 0: none
	text string
}

func (r *recorded) look(b store.Batch) {
	for i := range b.Lines {
		l := &b.Lines[i]
		if !bytes.Contains(l.Raw, []byte(lossWords)) {
			continue
		}
		ev, err := decodeLine(l)
		if err == nil && ev.From == event.Loadout && ev.Type == event.TypeStatus && strings.HasPrefix(ev.Description, lossWords) {
			r.line, r.text = l.Number, ev.Description
		}
	}
}

// examineRecorded reports a loss after which the log has gone on.
func (e *Engine) examineRecorded(ctx context.Context, r *DoctorReport, found recorded) error {
	if found.line == 0 {
		return nil
	}
	left, _, err := e.left(ctx)
	if err != nil {
		return err
	}
	r.add(Finding{Code: findingLost, Info: true, Text: fmt.Sprintf(
		"events that were answered are in the log no more; line %d tells of it: %s; %s", found.line, told(found.text), left)})
	return nil
}
