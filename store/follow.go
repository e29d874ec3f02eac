package store

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Mode says how Follow learns of news.
type Mode int

// The modes of Follow.
const (
	Live       Mode = iota // by notifications of the file system, and by polling
	Polling                // by polling only
	Missing                // there is no log; it is waited for
	Unreadable             // the log cannot be read; it is tried again
)

func (m Mode) String() string {
	switch m {
	case Live:
		return "live"
	case Polling:
		return "polling"
	case Missing:
		return "missing"
	case Unreadable:
		return "unreadable"
	}
	return fmt.Sprintf("mode %d", int(m))
}

// Event is one delivery of Follow: news, a change of mode, or both.
type Event struct {
	Batch        // the new lines; none when only something else changed
	Mode  Mode   // how news is learnt of now
	End   bool   // nothing more was there when the batch was read
	Reset bool   // what came before is not in this log: start from nothing, the batch starts at the first line
	Note  string // what happened, for a status line; usually ""
}

// Follow calls fn with every line after from, and then with every new one, until
// ctx is done or fn fails; it returns that error. Lines come in the order of the
// log, each once, many appends in few events. It never takes the lock.
//
// An event with End comes as soon as all that is there was delivered, also when
// that is nothing. Afterwards news comes at most one poll after the append, and
// at once where the file system notifies.
//
// When the log was rewritten, the lines that the rewrite took out before they
// were delivered come from the archive or from the old file, and reading goes on
// after them in the new one. When anything else replaced the log or cut it, the
// place is found again by the last line; when that line is gone, Reset says to
// start again. A log that is missing, deleted or unreadable is waited for.
func (l *Log) Follow(ctx context.Context, from Position, fn func(Event) error) error {
	f := &follower{log: l, pos: from, fn: fn, watch: newWatch(l.dir, l.options.NoNotify)}
	defer f.watch.close()
	defer f.drop()
	poll := time.NewTicker(l.options.Poll)
	defer poll.Stop()
	for thorough := true; ; {
		if thorough {
			f.watch.arm()
		}
		err := f.look(ctx, thorough)
		if err == nil {
			thorough, err = f.watch.wait(ctx, poll.C)
		}
		if err != nil {
			return err
		}
	}
}

// follower is the state of one Follow. It keeps the log open, so that the inode
// number of a removed one is not given to the next.
type follower struct {
	log   *Log
	fn    func(Event) error
	watch *watch
	pos   Position // after the last line delivered
	file  *source  // nil while there is none
	size  int64    // of the file when it was read last
	mtime time.Time

	scratch buffer
	mode    Mode
	ended   bool   // the last event had End and nothing changed since
	reset   bool   // the next event has Reset
	note    string // of the next event
	fault   error  // of fn; ends Follow
}

// look delivers what is new. Only errors of fn and ctx come back.
func (f *follower) look(ctx context.Context, thorough bool) error {
	err := f.catchUp(ctx, thorough)
	switch {
	case f.fault != nil:
		return f.fault
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, ErrMissing):
		if f.mode != Missing && f.pos.Offset > 0 {
			f.note = "log was deleted"
		}
		f.enter(Missing)
	case err != nil:
		f.drop() // what it was is found out when it can be read again
		if f.mode != Unreadable {
			f.note = err.Error()
		}
		f.enter(Unreadable)
	default:
		f.enter(f.watch.mode())
	}
	if f.ended && f.note == "" && !f.reset {
		return nil
	}
	return f.deliver(Event{Batch: Batch{Pos: f.pos}, End: err == nil})
}

// enter changes the mode, which is worth an event.
func (f *follower) enter(m Mode) {
	if f.mode != m {
		if m == Polling && f.watch.problem != "" {
			f.note = "no notifications: " + f.watch.problem
		}
		f.mode, f.ended = m, false
	}
}

// deliver hands out one event with what is pending.
func (f *follower) deliver(e Event) error {
	e.Mode, e.Reset, e.Note = f.mode, f.reset, f.note
	if err := f.fn(e); err != nil {
		f.fault = err
		return err
	}
	f.pos, f.reset, f.note, f.ended = e.Pos, false, "", e.End || f.mode >= Missing
	return nil
}

// catchUp reads to the end of the log, whichever file that is by now.
func (f *follower) catchUp(ctx context.Context, thorough bool) error {
	for {
		if f.file == nil {
			if err := f.open(ctx); err != nil {
				return err
			}
		}
		if err := f.drain(ctx); err != nil || !thorough {
			return err
		}
		same, err := f.log.names(f.log.path, f.file.info)
		if err != nil || same {
			return err
		}
		// What was appended to the old file before it was replaced comes first.
		if err := f.drain(ctx); err != nil {
			return err
		}
		f.drop()
	}
}

func (f *follower) drop() {
	if f.file != nil {
		_ = f.file.Close() // it was only read
		f.file = nil
	}
}

// open opens the log and finds the place in it.
func (f *follower) open(ctx context.Context) error {
	file, err := f.log.openLog(Position{})
	if err != nil {
		return err
	}
	if file == nil {
		return ErrMissing
	}
	f.file, f.size, f.mtime = file, -1, time.Time{}
	f.enter(f.watch.mode())
	if _, err = f.pos.fits(file, true); errors.Is(err, ErrReplaced) {
		return f.relocate(ctx, "log was replaced")
	}
	return err
}

// drain delivers what the open file has grown by.
func (f *follower) drain(ctx context.Context) error {
	err := f.file.refresh()
	info := f.file.info
	if err != nil || info.Size() == f.size && info.ModTime().Equal(f.mtime) {
		return err
	}
	tail, err := f.pos.fits(f.file, true)
	if errors.Is(err, ErrReplaced) {
		note := "log was overwritten"
		if info.Size() < f.pos.Offset {
			note = "log was cut"
		}
		if err = f.relocate(ctx, note); err == nil {
			tail, err = f.pos.fits(f.file, true)
		}
	}
	if err == nil {
		err = f.read(ctx, f.file, f.pos, tail)
	}
	if err == nil {
		f.size, f.mtime = info.Size(), info.ModTime()
	}
	return err
}

// read delivers the rest of a file after pos.
func (f *follower) read(ctx context.Context, file *source, pos Position, tail []byte) error {
	s := newScanner(file, pos, tail)
	current := file == f.file
	end, err := s.run(ctx, &f.scratch, func(b Batch) error {
		if len(b.Lines) == 0 {
			return nil
		}
		return f.deliver(Event{Batch: b, End: current && b.Pos.Offset == s.end})
	})
	if err == nil && end.Offset > f.pos.Offset {
		f.pos = end // past blank lines
	}
	return err
}
