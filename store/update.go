package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Tx is the log under the lock. It is valid inside the function that Update
// calls, in one goroutine.
type Tx struct {
	log   *Log
	file  *source  // nil while the log is not open or does not exist
	end   Position // after the last line
	tail  []byte   // the bytes before end
	read  bool     // end is known
	over  bool     // fn has returned
	fresh unsynced // what is not known to be on disk
	notes []string
}

// unsynced is what an update has appended, or answers from, and not synced yet.
type unsynced struct {
	any  bool
	from int64  // where text starts
	text []byte // what was appended
}

var errOver = errors.New("use of a log transaction that has ended")

// Update calls fn while this goroutine is the only writer of the log on this
// machine. It creates the directory when it is missing and closes it to others.
// What fn has appended is synced before Update returns, but after the lock was
// given back: others append meanwhile, and one write to the disk is for all of
// them. An error of fn is returned as it is. Other errors are a *LockedError when
// the lock was not free in time, a *UnsafeError, ctx.Err() or those of the file
// system. Update must not be called inside fn.
func (l *Log) Update(ctx context.Context, fn func(*Tx) error) (err error) {
	notes, err := l.secureDir()
	if err != nil {
		return fmt.Errorf("prepare %s: %w", l.dir, err)
	}
	leave, err := l.lock(ctx)
	if err != nil {
		return err
	}
	defer leave()
	tx := &Tx{log: l, notes: notes}
	defer func() { err = also(err, tx.finish()) }()
	return fn(tx)
}

// finish gives the lock back and makes sure that what was appended is on disk.
func (tx *Tx) finish() error {
	tx.over = true
	err := tx.log.lockFile.release()
	if tx.fresh.any {
		err = also(err, tx.settle())
	}
	return also(err, tx.close())
}

// settle syncs what was appended. When that fails it takes the lock once more and
// takes back what nobody can have answered for; else it writes the same once more.
func (tx *Tx) settle() error {
	cause := tx.flush()
	if cause == nil {
		return nil
	}
	tx.read = false
	if tx.fresh.text == nil {
		return fmt.Errorf("sync log: %w", cause)
	}
	lock := tx.log.lockFile
	err := lock.acquire(context.Background(), tx.log.options.LockWait)
	if err == nil {
		if lock.noted() {
			return also(fmt.Errorf("append to log: %w", tx.takeBack(cause)), lock.release())
		}
		err = also(tx.writeAgain(), lock.release())
	}
	if err != nil {
		return fmt.Errorf("append to log: %w (%w: %w)", cause, ErrUncertain, err)
	}
	return nil
}

// flush syncs what was appended.
func (tx *Tx) flush() error {
	if err := tx.file.Sync(); err != nil {
		return err
	}
	tx.fresh = unsynced{}
	return nil
}

// writeAgain writes what was appended over itself, and syncs it: the system takes
// for written what a sync has failed for, and no later one says anything of it.
func (tx *Tx) writeAgain() error {
	f, err := tx.log.openSource(tx.log.path, os.O_RDWR)
	if err != nil {
		return err
	}
	from, text := tx.fresh.from, tx.fresh.text
	there := make([]byte, len(text))
	err = readFull(f, there, from)
	if err == nil && !(os.SameFile(f.info, tx.file.info) && bytes.Equal(there, text)) {
		err = ErrChanged
	}
	if err == nil {
		_, err = f.WriteAt(text, from)
	}
	return closeSynced(f, err)
}

// Sync makes what was appended in this update, or is depended on, durable now, for
// what is to be done after that and under the lock. On an error nothing is stored,
// unless the error is ErrUncertain.
func (tx *Tx) Sync() error {
	switch {
	case tx.over:
		return errOver
	case !tx.fresh.any:
		return nil
	}
	cause := tx.flush()
	if cause == nil {
		return nil
	}
	tx.read = false
	if tx.fresh.text == nil {
		return fmt.Errorf("sync log: %w", cause)
	}
	return fmt.Errorf("append to log: %w", tx.takeBack(cause))
}

// Sync makes what Read has returned durable: whoever has appended it may not have
// synced it yet. A missing log is none.
func (l *Log) Sync() error {
	f, err := l.openSource(l.path, os.O_RDWR)
	if err != nil {
		return ignoreMissing(err)
	}
	if err := closeSynced(f, nil); err != nil {
		return fmt.Errorf("sync log: %w", err)
	}
	return nil
}

// Depend says that what Read has returned is answered for, so that it must be on
// disk before Update returns: whoever has appended it may not have synced it yet.
func (tx *Tx) Depend() { tx.fresh.any = tx.file != nil }

// Notes returns what was repaired or narrowed so far, in sentences for people.
func (tx *Tx) Notes() []string { return tx.notes }

func (tx *Tx) note(format string, args ...any) {
	tx.notes = append(tx.notes, fmt.Sprintf(format, args...))
}

// open opens the log, if there is one, and narrows it.
func (tx *Tx) open() (err error) {
	if tx.over {
		return errOver
	}
	if tx.file != nil {
		return nil
	}
	if tx.file, err = tx.log.takeKept(); err == nil && tx.file == nil {
		tx.file, err = tx.log.openSource(tx.log.path, os.O_RDWR|os.O_APPEND)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("open log: %w", err)
	}
	if tooOpen(tx.file.info) {
		note, err := tx.log.narrow(tx.log.path, tx.file.info)
		if err != nil {
			return err
		}
		tx.note("%s", note)
	}
	return nil
}

// kept is what an update leaves for the next one of the same Log.
type kept struct {
	file *source  // the log, open; nil for none
	end  Position // after its last line; zero when that is not known
	tail []byte   // the bytes before end
}

// takeKept returns the log as the last update has left it open, nil when it did
// not or when the path names another file by now.
func (l *Log) takeKept() (*source, error) {
	f := l.kept.file
	l.kept.file = nil
	if f == nil {
		return nil, nil //nolint:nilnil // none was kept
	}
	now, err := l.fs.Lstat(l.path)
	if err == nil && os.SameFile(f.info, now) {
		if err = safe(l.path, now, 0); err == nil {
			if now.Size() != f.info.Size() || !now.ModTime().Equal(f.info.ModTime()) {
				l.kept.end = Position{}
			}
			f.info = now
			return f, nil
		}
	}
	l.kept.end = Position{}
	return nil, also(ignoreMissing(err), f.Close())
}

// closeTail ends a last line that a crash left without a newline, where it lies.
// Under the lock nobody else is writing it. The newline is synced with the next
// append; should it be lost before, the next writer finds the same torn line.
func (tx *Tx) closeTail() error {
	if tx.file == nil {
		return nil
	}
	size := tx.file.info.Size()
	end, err := lastNewline(tx.file, size)
	if err != nil || end == size {
		return err
	}
	if _, err := tx.file.Write([]byte{'\n'}); err != nil {
		return fmt.Errorf("close torn last line: %w", err)
	}
	tx.note("the last line of %s was torn (%d bytes from byte %d) and was closed", tx.log.path, size-end, end)
	return tx.file.refresh()
}

// Read is Log.Read under the lock: what it returns is all there is. A torn last
// line is closed and read as a line.
func (tx *Tx) Read(ctx context.Context, from Position, fn func(Batch) error) (Position, error) {
	tx.read = false
	if err := tx.open(); err != nil {
		return from, err
	}
	if tx.file == nil {
		if from.Offset > 0 {
			return from, ErrMissing
		}
		tx.end, tx.tail, tx.read = Position{MaxSeq: -1, LastSeq: -1}, nil, true
		return tx.end, nil
	}
	known := tx.log.kept
	tx.log.kept = kept{} // its tail is that of this transaction now
	tail := known.tail
	if from.Offset == 0 || from != known.end { // else nothing has happened since
		var err error
		if tail, err = from.fits(tx.file, true); err != nil {
			return from, err
		}
	}
	s := newScanner(tx.file, from, tail)
	pos, err := s.run(ctx, &tx.log.scratch, fn)
	if err == nil && pos.Offset < s.end {
		if err = tx.closeTail(); err == nil {
			s.end = tx.file.info.Size()
			pos, err = s.run(ctx, &tx.log.scratch, fn)
		}
	}
	if err != nil {
		return pos, err
	}
	tx.end, tx.tail, tx.read = pos, s.tail, true
	return pos, nil
}

// Append stores lines, each one JSON object without a newline whose seq rises,
// after the end that Read has reached in this Tx, and returns the position after
// them. It writes them at once, after a new log's name was made durable; Sync, or
// else Update before it returns, syncs them. On an error of any of them nothing was
// acknowledged, and nothing was stored either unless the error is ErrUncertain.
func (tx *Tx) Append(lines [][]byte) (Position, error) {
	switch {
	case tx.over:
		return Position{}, errOver
	case !tx.read:
		return Position{}, errors.New("append to log: the end of the log was not read in this update")
	}
	text, end, err := tx.log.layOut(tx.end, lines)
	if err != nil {
		return tx.end, fmt.Errorf("append to log: %w", err)
	}
	if len(text) == 0 {
		return tx.end, nil
	}
	if err := tx.write(text, &end); err != nil {
		tx.read = false
		return tx.end, fmt.Errorf("append to log: %w", err)
	}
	tx.tail = appendTail(tx.tail, text)
	end.Tail = digest(tx.tail)
	tx.end = end
	return end, nil
}

// layOut joins the lines to one text and returns the position after it, but for
// the digest of the tail.
func (l *Log) layOut(end Position, lines [][]byte) (text []byte, after Position, err error) {
	size := 0
	for _, line := range lines {
		size += len(line) + 1
	}
	text = make([]byte, 0, size)
	o := l.scratch.object(0)
	for i, line := range lines {
		if len(line) > MaxLineBytes {
			return nil, end, fmt.Errorf("%w: %d bytes, more than %d", ErrLine, len(line), MaxLineBytes)
		}
		if bytes.IndexByte(line, '\n') >= 0 {
			return nil, end, fmt.Errorf("%w: it holds a newline", ErrLine)
		}
		if err := o.Parse(line); err != nil {
			return nil, end, fmt.Errorf("%w: %w", ErrLine, err)
		}
		seq := seqOf(o)
		if seq <= end.MaxSeq {
			return nil, end, fmt.Errorf("%w: its seq %d is not above %d", ErrLine, seq, end.MaxSeq)
		}
		if end.Offset == 0 && i == 0 {
			end.File.First = digestLine(line)
		}
		if i == len(lines)-1 {
			end.Last = digestLine(line)
		}
		end.MaxSeq, end.LastSeq = seq, seq
		end.Lines++
		text = append(append(text, line...), '\n')
	}
	end.Offset += int64(len(text))
	return text, end, nil
}

// write appends text and completes the identity of the file in end.
func (tx *Tx) write(text []byte, end *Position) error {
	if err := tx.create(); err != nil {
		return err
	}
	if err := tx.unchanged(); err != nil {
		return err
	}
	size := tx.file.info.Size()
	end.File.Device, end.File.Inode = tx.file.device, tx.file.inode
	if size == 0 { // else whoever goes on after a crash could not tell that the name of the file may be lost
		if err := tx.log.syncName(); err != nil {
			return err
		}
	}
	if tx.fresh.text == nil {
		tx.fresh.from, tx.fresh.text = size, text
	} else {
		tx.fresh.text = append(tx.fresh.text, text...)
	}
	tx.fresh.any = true
	if _, err := tx.file.Write(text); err != nil {
		return tx.takeBack(err)
	}
	if err := tx.arrived(size + int64(len(text))); err != nil {
		return fmt.Errorf("%w: %w", ErrUncertain, err)
	}
	return nil
}

// syncName makes the name of the log durable, and that of its directory.
func (l *Log) syncName() error {
	if err := l.fs.SyncDir(filepath.Dir(l.dir)); err != nil && !errors.Is(err, fs.ErrPermission) {
		return err
	}
	return l.fs.SyncDir(l.dir)
}

// create makes the log exist.
func (tx *Tx) create() (err error) {
	if tx.file != nil {
		return nil
	}
	tx.file, err = tx.log.openSource(tx.log.path, os.O_RDWR|os.O_APPEND|os.O_CREATE|os.O_EXCL)
	if errors.Is(err, fs.ErrExist) {
		return ErrChanged
	}
	return err
}

// unchanged checks before a write that nobody else wrote since Read.
func (tx *Tx) unchanged() error {
	if err := tx.file.refresh(); err != nil {
		return err
	}
	if tx.file.info.Size() != tx.end.Offset {
		return ErrChanged
	}
	return nil
}

// arrived checks after a write that a reader finds it, in the file that is at the
// path now, and that nobody else wrote meanwhile: that could only be somebody
// without the lock, or with another one after ours was taken away.
func (tx *Tx) arrived(size int64) error {
	now, err := tx.log.fs.Lstat(tx.log.path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && (!os.SameFile(tx.file.info, now) || now.Size() != size) {
		return ErrChanged
	}
	if err == nil {
		tx.file.info = now
	}
	return err
}

// takeBack cuts off what a failed append or sync has left, provided that nothing
// else follows it, so that nothing half-stored is found later.
func (tx *Tx) takeBack(cause error) error {
	size, written := tx.fresh.from, int64(len(tx.fresh.text))
	tx.fresh = unsynced{}
	err := tx.file.refresh()
	now := tx.file.info.Size()
	if err == nil && (now < size || now > size+written) {
		err = ErrChanged
	}
	if err == nil && now > size {
		if err = tx.file.Truncate(size); err == nil {
			err = tx.file.Sync()
		}
	}
	if err != nil {
		return fmt.Errorf("%w (%w: %w)", cause, ErrUncertain, err)
	}
	return cause
}

// close ends the use of the log. Where an open file is in nobody's way, it is
// kept for the next update.
func (tx *Tx) close() error {
	f := tx.file
	tx.file = nil
	tx.log.kept.end = Position{}
	if f == nil {
		return nil
	}
	if !keepOpen {
		return f.Close()
	}
	tx.log.kept.file = f
	if tx.read {
		tx.log.kept.end, tx.log.kept.tail = tx.end, tx.tail
	}
	return nil
}
