package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/agentloadout/loadout/engine/state"
	"github.com/agentloadout/loadout/engine/words"
	"github.com/agentloadout/loadout/store"
)

// DoctorOptions say whether doctor may mend.
type DoctorOptions struct {
	Fix      bool  // mend what can be mended, after an archive of the log when lines of it are touched
	Settings error // what is wrong with the settings files, as who has read them found; nil: nothing
}

// Finding is one thing that is not as it should be.
type Finding struct {
	Code    string `json:"code"` // short and stable, e.g. torn-tail
	Text    string `json:"text"` // in plain words, with what to do
	Fixable bool   `json:"fixable"`
	Fixed   bool   `json:"fixed"`
	Info    bool   `json:"info,omitempty"` // worth knowing, not a fault

	path string
	fix  func(context.Context) error // nil: mended together with others, or not at all
}

// Codes of findings beyond those of the store.
const (
	findingEvents     = "bad-events"      // lines that are JSON and no events
	findingCheckpoint = "checkpoint"      // it cannot be used
	findingDiverged   = "checkpoint-lies" // it holds another state than the log
	findingMessages   = "messages"        // messages.jsonl lags behind the log
	findingMailLines  = "bad-messages"    // lines of messages.jsonl that cannot be read
	findingHalted     = "halted"
	findingHaltRecord = "halt-record" // the kill switch and the log disagree
	findingLarge      = "large-log"
	findingArchives   = "large-archives"
	findingUnused     = "no-log"
	findingLost       = "lost-log"    // there was one, as what lies beside it tells
	findingFar        = "far-numbers" // lines with numbers that cannot be right
	findingPolicy     = "bad-policy"
	findingSessions   = "bad-sessions"
	findingSettings   = "bad-settings"
)

// largeArchives is the size from which on archives are mentioned, in bytes.
const largeArchives = 1 << 30

// DoctorReport is the state of a project's files.
type DoctorReport struct {
	Directory    string    `json:"directory"`
	Healthy      bool      `json:"healthy"` // nothing is wrong, or all that was is mended
	Lines        int64     `json:"lines"`
	Bytes        int64     `json:"bytes"`
	HighSeq      int64     `json:"highSeq"`
	Archives     int       `json:"archives"`
	ArchiveBytes int64     `json:"archiveBytes"`
	Archive      string    `json:"archive,omitempty"` // made before mending
	Findings     []Finding `json:"findings"`
}

// Doctor checks the log, the lock, the checkpoint, permissions and the file system. It changes nothing without Fix, but that it makes
// and removes a file to see whether there is room, and with Fix nothing that it has not archived.
func (e *Engine) Doctor(ctx context.Context, o DoctorOptions) (DoctorReport, error) {
	report, err := e.examine(ctx, o)
	if err != nil || !o.Fix || report.Healthy {
		return report, err
	}
	halted, err := e.Halted()
	if err != nil {
		return report, err
	}
	found := report.Findings
	if halted != nil { // it stops what is written, and not what makes room for the files with which it is lifted
		found = slices.DeleteFunc(slices.Clone(found), func(f Finding) bool { return f.Code != string(store.UnsafePath) || f.fix == nil })
		if len(found) == 0 {
			return report, halted
		}
	}
	archive, err := e.mend(ctx, found)
	if err != nil {
		return report, fmt.Errorf("mend: %w", err)
	}
	after, err := e.examine(ctx, o)
	if err != nil {
		return report, err
	}
	for _, f := range report.Findings {
		if !f.Info && !after.has(f.Code, f.path) {
			f.Fixed = true
			after.Findings = append(after.Findings, f)
		}
	}
	after.Archive = archive
	if halted != nil && !after.Healthy {
		return after, halted
	}
	return after, nil
}

// has reports whether there is a finding of a code about a path, "" for any.
func (r *DoctorReport) has(code, path string) bool {
	for _, f := range r.Findings {
		if f.Code == code && (path == "" || f.path == path) {
			return true
		}
	}
	return false
}

// examine looks at everything and changes nothing.
func (e *Engine) examine(ctx context.Context, o DoctorOptions) (DoctorReport, error) {
	r := DoctorReport{Directory: e.project.Dir, HighSeq: -1, Findings: []Finding{}}
	found, err := e.log.Check(ctx, MessagesName, beatsName, KillSwitchName)
	if err != nil {
		return r, err
	}
	unsafe := false // the log cannot be read; what is wrong with another file hides nothing
	for _, f := range found {
		if filepath.Base(f.Path) == KillSwitchName {
			f.Fix = nil // resume makes room
		}
		r.Findings = append(r.Findings, fromStore(f))
		unsafe = unsafe || (f.Code == store.UnsafePath || f.Code == store.LogUnreadable) && (f.Path == e.log.Path() || f.Path == e.log.Dir())
	}
	if !unsafe {
		if err := e.examineEvents(ctx, &r); err != nil {
			return r, err
		}
		if err := e.examineArchives(&r); err != nil {
			return r, err
		}
		e.examineOthers(&r)
	} else if halted, err := e.Halted(); err == nil && halted != nil {
		r.add(Finding{Code: findingHalted, Info: true, Text: halted.Error()})
	}
	if !r.has(string(store.UnsafePath), e.log.Dir()) {
		e.examineSettings(&r, o.Settings)
	}
	r.Healthy = true
	for _, f := range r.Findings {
		r.Healthy = r.Healthy && f.Info
	}
	return r, nil
}

// fromStore is a finding of the store. Numbers that fall are how some programs compact; they cost nothing here.
func fromStore(f store.Finding) Finding {
	out := Finding{Code: string(f.Code), Text: f.Text, path: f.Path, fix: f.Fix, Fixable: f.Fix != nil}
	switch f.Code {
	case store.TornTail, store.BadLines, store.NoSeqs, store.RepeatedLines, store.BadCheckpoints:
		out.Fixable = true // by moving lines out, all of them at once, and by folding what is left
	case store.FallingSeqs, store.DuplicateSeqs:
		out.Info = true
	case store.OpenToOthers, store.UnsafePath, store.NotWritable, store.NoSpace, store.NetworkDir, store.LogUnreadable, store.LeftoverFile,
		store.OtherProgram:
	}
	return out
}

// examineEvents folds the log afresh and compares all that is derived from it.
func (e *Engine) examineEvents(ctx context.Context, r *DoctorReport) error {
	answered := e.readHead()
	fresh := emptyMemory()
	var (
		far  far
		loss recorded
	)
	if _, err := e.log.Read(ctx, place{}, func(b store.Batch) error {
		_ = far.look(b)
		loss.look(b)
		return fresh.take(b)
	}); err != nil {
		return fmt.Errorf("fold log: %w", err)
	}
	r.Lines, r.Bytes, r.HighSeq = fresh.at.Lines, fresh.at.Offset, fresh.at.Highest()
	if err := e.examineLoss(ctx, r, answered); err != nil {
		return err
	}
	if err := e.examineRecorded(ctx, r, loss); err != nil {
		return err
	}
	if far.count > 0 {
		r.add(Finding{Code: findingFar, Fixable: true, Text: fmt.Sprintf(
			"%s of %s with a sequence number that cannot be right, the first is line %d with seq %d: they leave too few numbers to those who write",
			words.Plural(int(far.count), "line"), e.log.Path(), far.line, far.seq)})
	}
	if bad := fresh.state.Skips(); bad.Bad > 0 {
		text := fmt.Sprintf("lines of %s that change nothing because they are no valid events: %d", e.log.Path(), bad.Bad)
		if n := len(bad.Recent); n > 0 {
			text += fmt.Sprintf("; the last is line %d: %s", bad.Recent[n-1].Line, bad.Recent[n-1].Reason)
		}
		r.add(Finding{Code: findingEvents, Fixable: true, Text: text})
	}
	if err := e.examineCheckpoint(ctx, r, &fresh); err != nil {
		return err
	}
	e.examineHalt(r, fresh.state)
	e.examineMessages(r, fresh.state)
	return nil
}

// take is fold as a callback.
func (m *memory) take(b store.Batch) error {
	m.fold(b)
	return nil
}

func (r *DoctorReport) add(f Finding) { r.Findings = append(r.Findings, f) }

// examineCheckpoint compares the checkpoint, brought up to date, with a fresh fold.
func (e *Engine) examineCheckpoint(ctx context.Context, r *DoctorReport, fresh *memory) error {
	m, err := e.checkpointed(ctx)
	if err == nil && m.at.Offset > fresh.at.Offset {
		_, err = e.log.Read(ctx, fresh.at, fresh.take)
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, store.ErrNoCheckpoint):
	case errors.Is(err, store.ErrUnsafe) && r.has(string(store.UnsafePath), ""):
	case errors.Is(err, store.ErrDamaged) && r.has(string(store.BadCheckpoints), ""):
	case err != nil:
		r.add(Finding{Code: findingCheckpoint, Fixable: true, Text: "the checkpoint is not used, so that every command reads the whole log: " + err.Error()})
	case m.at.Offset != fresh.at.Offset: // somebody writes faster than this reads
	default:
		if same, difference := state.Equal(fresh.state, m.state); !same {
			r.add(Finding{Code: findingDiverged, Fixable: true, Text: "the checkpoint holds another state than the log: " + difference})
		}
	}
	return nil
}

// checkpointed is the memory that the checkpoint holds, brought up to date.
func (e *Engine) checkpointed(ctx context.Context) (memory, error) {
	cp, err := e.log.LoadCheckpoint(checkpointVersion)
	if err != nil {
		return memory{}, err
	}
	m, err := thaw(cp)
	if err != nil {
		return memory{}, err
	}
	_, err = e.log.Read(ctx, m.at, m.take)
	return m, err
}

func (e *Engine) examineHalt(r *DoctorReport, s *state.State) {
	halted, err := e.Halted()
	record := s.Halt()
	switch {
	case err != nil:
	case halted != nil && record == nil:
		r.add(Finding{Code: findingHaltRecord, Info: true, Text: halted.Error() + "; the log has no record of that, the next resume adds it"})
	case halted != nil:
		r.add(Finding{Code: findingHalted, Info: true, Text: halted.Error()})
	case record != nil:
		r.add(Finding{Code: findingHaltRecord, Info: true, Text: fmt.Sprintf("the log says that %s halted everything, but the kill switch was removed by hand; loadout resume records that", record.By)})
	}
}

func (e *Engine) examineMessages(r *DoctorReport, s *state.State) {
	box, err := e.readMailbox()
	if err != nil {
		if !r.has(string(store.UnsafePath), filepath.Join(e.project.Dir, MessagesName)) {
			r.add(Finding{Code: findingMessages, Text: err.Error()})
		}
		return
	}
	if n := len(box.corrupt); n > 0 {
		r.add(Finding{Code: findingMailLines, Info: true, Text: fmt.Sprintf("lines of %s that cannot be read: %d; the first is line %d: it %s",
			MessagesName, n, box.corrupt[0].Line, box.corrupt[0].Reason)})
	}
	if behind(s, box) {
		r.add(Finding{Code: findingMessages, Fixable: true, Text: MessagesName + " and the log disagree about what was handed over"})
	}
}

func (e *Engine) examineArchives(r *DoctorReport) error {
	archives, err := e.log.Archives()
	if err != nil {
		return err
	}
	for _, a := range archives {
		r.Archives++
		r.ArchiveBytes += a.Size
	}
	if r.ArchiveBytes >= largeArchives {
		r.add(Finding{Code: findingArchives, Info: true, Text: fmt.Sprintf(
			"%s: %s in all; an old one can be removed by hand, and with it the view of the time before its compaction",
			words.Plural(r.Archives, "archive"), words.Bytes(r.ArchiveBytes))})
	}
	if above := e.options.CompactAbove; above > 0 && r.Bytes >= above {
		r.add(Finding{Code: findingLarge, Info: true, Text: fmt.Sprintf("the log has %s; loadout coord compact makes it smaller", words.Bytes(r.Bytes))})
	}
	return nil
}

// examineSettings looks at the files that people write. Nobody but them can mend what they meant.
func (e *Engine) examineSettings(r *DoctorReport, settings error) {
	_, policy := e.Policy()
	_, sessions := e.SessionRecords()
	for _, f := range []struct {
		code, name string
		err        error
	}{{findingPolicy, PolicyName, policy}, {findingSessions, SessionsName, sessions}, {findingSettings, "", settings}} {
		if f.err != nil && !errors.Is(f.err, store.ErrUnsafe) { // which has a finding of its own
			r.add(Finding{Code: f.code, Text: f.err.Error(), path: filepath.Join(e.project.Dir, f.name)})
		}
	}
}

// examineOthers looks for signs of a program that writes the same files under another lock.
func (e *Engine) examineOthers(r *DoctorReport) {
	for _, name := range []string{"messages.lock", "daemon.pid", "bridge.lock"} {
		data, err := e.log.ReadFile(name, 64<<10)
		if err != nil {
			continue
		}
		var owner struct {
			PID   int    `json:"pid"`
			Token string `json:"token"`
			Root  string `json:"projectRoot"`
		}
		if json.Unmarshal(data, &owner) != nil || owner.Token == "" && owner.Root == "" {
			continue
		}
		path := filepath.Join(e.project.Dir, name)
		_, err = e.options.Host.Find(owner.PID)
		r.add(Finding{
			Code: string(store.OtherProgram), path: path, Info: err != nil,
			Text: fmt.Sprintf("%s was written by a program with another lock protocol (process %d); the two must not write at once", path, owner.PID),
		})
	}
}
