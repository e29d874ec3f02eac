package store

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	archiveSuffix = ".archive" // a log as it was before a rewrite
	corruptSuffix = ".corrupt" // the bad lines that the rewrite took out, byte for byte
	tmpSuffix     = ".tmp"
)

// Archive is a copy of the log as it was before a rewrite. Its name carries the
// time in milliseconds since 1970, made unique.
type Archive struct {
	Name    string
	Path    string
	Created time.Time
	Size    int64 // bytes
}

// archiveName returns the name of a file that belongs to the rewrite at stamp.
func archiveName(stamp int64, suffix string) string {
	return LogName + "." + strconv.FormatInt(stamp, 10) + suffix
}

// parseArchive returns the time of an archive's name.
func parseArchive(name string) (stamp int64, ok bool) {
	digits, ok := strings.CutSuffix(name, archiveSuffix)
	if ok {
		digits, ok = strings.CutPrefix(digits, LogName+".")
	}
	if !ok {
		return 0, false
	}
	stamp, err := strconv.ParseInt(digits, 10, 64)
	return stamp, err == nil && stamp >= 0
}

// Archives returns the archives of the log, oldest first.
func (l *Log) Archives() ([]Archive, error) {
	if _, err := l.checkDir(); err != nil {
		return nil, ignoreMissing(err)
	}
	entries, err := l.fs.ReadDir(l.dir)
	if err != nil {
		return nil, fmt.Errorf("list archives: %w", ignoreMissing(err))
	}
	var archives []Archive
	for _, entry := range entries {
		stamp, ok := parseArchive(entry.Name())
		if !ok {
			continue
		}
		info, err := entry.Info()
		if err != nil || safe("", info, 0) != nil {
			continue // gone in between, or planted
		}
		archives = append(archives, Archive{
			Name: entry.Name(), Path: filepath.Join(l.dir, entry.Name()),
			Created: time.UnixMilli(stamp).UTC(), Size: info.Size(),
		})
	}
	slices.SortFunc(archives, func(a, b Archive) int { return a.Created.Compare(b.Created) })
	return archives, nil
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// ReadArchive is Read for an archive, from its start.
func (l *Log) ReadArchive(ctx context.Context, a Archive, fn func(Batch) error) error {
	f, err := l.openArchive(a)
	if err != nil {
		return err
	}
	_, err = readFile(ctx, f, Position{}, &buffer{}, fn)
	return also(err, f.Close())
}

func (l *Log) openArchive(a Archive) (*source, error) {
	if _, ok := parseArchive(a.Name); !ok {
		return nil, fmt.Errorf("open archive: %q is not the name of one", a.Name)
	}
	f, err := l.openSource(filepath.Join(l.dir, a.Name), os.O_RDONLY)
	if err != nil {
		return nil, fmt.Errorf("open archive: %w", err)
	}
	return f, nil
}

// archive keeps the log as it is, byte for byte and durably, under a new name. The
// caller is about to put another file in the place of the log: where the file
// system can, the archive is this same file under a second name, so that others
// need not wait for a copy. Else it is a copy.
func (tx *Tx) archive(ctx context.Context) (Archive, error) {
	if err := tx.open(); err != nil {
		return Archive{}, err
	}
	if err := tx.closeTail(); err != nil { // a follower may have read it closed
		return Archive{}, err
	}
	if tx.file == nil {
		return Archive{}, fmt.Errorf("archive log: %w", ErrMissing)
	}
	stamp, err := free(tx.link)
	if err != nil {
		stamp, err = free(func(name string) error { return tx.copyTo(ctx, name) })
	}
	if err != nil {
		return Archive{}, fmt.Errorf("archive log: %w", err)
	}
	name := archiveName(stamp, archiveSuffix)
	a := Archive{Name: name, Path: filepath.Join(tx.log.dir, name), Created: time.UnixMilli(stamp).UTC(), Size: tx.file.info.Size()}
	if err := tx.log.fs.SyncDir(tx.log.dir); err != nil {
		return Archive{}, fmt.Errorf("archive log: %w", also(err, tx.log.fs.Remove(a.Path)))
	}
	return a, nil
}

// free makes an archive under the first name from now on that is not taken.
func free(create func(name string) error) (stamp int64, err error) {
	for stamp = time.Now().UnixMilli(); ; stamp++ {
		if err = create(archiveName(stamp, archiveSuffix)); !errors.Is(err, fs.ErrExist) {
			return stamp, err
		}
	}
}

// link gives the log, all of it on disk, a second name.
func (tx *Tx) link(name string) error {
	current, err := tx.log.names(tx.log.path, tx.file.info)
	if err == nil && !current {
		err = ErrChanged
	}
	if err == nil {
		err = tx.file.Sync()
	}
	if err == nil {
		err = tx.log.fs.Link(tx.log.path, filepath.Join(tx.log.dir, name))
	}
	return err
}

// copyTo copies the log into a new file.
func (tx *Tx) copyTo(ctx context.Context, name string) error {
	f, err := tx.log.createNew(name)
	if err != nil {
		return err
	}
	if err = closeSynced(f, copyRange(ctx, f, tx.file, 0, tx.file.info.Size())); err != nil {
		return also(err, tx.log.fs.Remove(filepath.Join(tx.log.dir, name)))
	}
	return nil
}

// createNew creates a file in the directory of the log that must not exist.
func (l *Log) createNew(name string) (File, error) {
	f, _, err := l.openSafe(filepath.Join(l.dir, name), os.O_RDWR|os.O_CREATE|os.O_EXCL)
	return f, err
}

// closeSynced closes a written file, synced unless writing it failed already.
func closeSynced(f File, err error) error {
	if err == nil {
		err = f.Sync()
	}
	return also(err, f.Close())
}

// copyRange appends n bytes of src from an offset to dst.
func copyRange(ctx context.Context, dst io.Writer, src File, from, n int64) error {
	b := make([]byte, min(n, batchBytes))
	for n > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		piece := b[:min(n, int64(len(b)))]
		if err := readFull(src, piece, from); err != nil {
			return err
		}
		if _, err := dst.Write(piece); err != nil {
			return err
		}
		from += int64(len(piece))
		n -= int64(len(piece))
	}
	return nil
}

// Rewrite replaces the log by the lines that keep accepts, followed by extra,
// whose seq must rise above all there were. What was there before is in the
// archive that it returns, byte for byte; bad lines are not offered to keep and
// go, byte for byte too, into a .corrupt file beside the archive.
//
// The order is archive, new file, sync, rename, sync of the directory. Whatever
// fails before the rename leaves the log as it was and nothing beside it; a crash
// leaves the log as it was and perhaps a .tmp file, which the next rewrite
// replaces. The error is ErrSequence when the highest number would fall.
func (tx *Tx) Rewrite(ctx context.Context, keep func(Line) bool, extra [][]byte) (Archive, error) {
	return tx.RewriteBelow(ctx, math.MaxInt64, keep, extra)
}

// RewriteBelow is Rewrite for a log with sequence numbers that cannot be right:
// lines with a number from limit on go where the bad lines go, and the highest
// number that there was is that of the others.
func (tx *Tx) RewriteBelow(ctx context.Context, limit int64, keep func(Line) bool, extra [][]byte) (_ Archive, err error) {
	if err := tx.Sync(); err != nil {
		return Archive{}, err
	}
	a, err := tx.archive(ctx)
	if err != nil {
		return Archive{}, err
	}
	r := rewrite{
		tx: tx, tmp: filepath.Join(tx.log.dir, LogName+tmpSuffix),
		corrupt: strings.TrimSuffix(a.Path, archiveSuffix) + corruptSuffix,
		limit:   limit, highest: -1, maxSeq: -1,
	}
	if err = r.prepare(ctx, keep, extra); err == nil {
		err = r.replace()
	}
	if err != nil {
		return Archive{}, fmt.Errorf("rewrite log: %w", also(err, r.abort(a)))
	}
	tx.log.removeMarks()
	if err := tx.log.fs.SyncDir(tx.log.dir); err != nil {
		return a, fmt.Errorf("rewrite log: %w", err)
	}
	return a, nil
}

// rewrite is one Rewrite in progress.
type rewrite struct {
	tx           *Tx
	tmp, corrupt string // paths
	bad          File   // the .corrupt file, nil until there is a bad line
	out          *bufio.Writer
	limit        int64 // numbers from here on do not count
	highest      int64 // highest number that counts
	maxSeq       int64 // highest number kept
}

// prepare writes the new log beside the old one.
func (r *rewrite) prepare(ctx context.Context, keep func(Line) bool, extra [][]byte) error {
	if err := ignoreMissing(r.tx.log.fs.Remove(r.tmp)); err != nil {
		return err
	}
	f, err := r.tx.log.createNew(LogName + tmpSuffix)
	if err != nil {
		return err
	}
	r.out = bufio.NewWriterSize(f, batchBytes)
	_, err = r.tx.Read(ctx, Position{}, func(b Batch) error {
		for i := range b.Lines {
			if err := r.line(ctx, &b.Lines[i], keep); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		err = r.finish(extra)
	}
	err = closeSynced(f, err)
	if r.bad != nil {
		err = closeSynced(r.bad, err)
	}
	return err
}

// line puts one line where it belongs.
func (r *rewrite) line(ctx context.Context, line *Line, keep func(Line) bool) error {
	if line.Seq < r.limit {
		r.highest = max(r.highest, line.Seq)
	}
	if line.Err != nil || line.Seq >= r.limit {
		if r.bad == nil {
			var err error
			if r.bad, err = r.tx.log.createNew(filepath.Base(r.corrupt)); err != nil {
				return err
			}
		}
		return copyRange(ctx, r.bad, r.tx.file, line.Offset, line.end()-line.Offset)
	}
	if !keep(*line) {
		return nil
	}
	r.maxSeq = max(r.maxSeq, line.Seq)
	if _, err := r.out.Write(line.Raw); err != nil {
		return err
	}
	return r.out.WriteByte('\n')
}

// finish adds the extra lines, which continue the numbers of the old log.
func (r *rewrite) finish(extra [][]byte) error {
	text, after, err := r.tx.log.layOut(Position{MaxSeq: r.highest}, extra)
	if err != nil {
		return err
	}
	if len(extra) > 0 {
		r.maxSeq = after.MaxSeq
	}
	if r.maxSeq < r.highest {
		return fmt.Errorf("%w: from %d to %d", ErrSequence, r.highest, r.maxSeq)
	}
	if _, err := r.out.Write(text); err != nil {
		return err
	}
	return r.out.Flush()
}

// replace makes the new file the log, provided that the old one has not changed.
func (r *rewrite) replace() error {
	if err := r.tx.log.fs.SyncDir(r.tx.log.dir); err != nil { // the .corrupt file
		return err
	}
	if err := r.tx.unchanged(); err != nil {
		return err
	}
	// A log that another writer has opened must not be replaced under it.
	current, err := r.tx.log.names(r.tx.log.lockFile.path, r.tx.log.lockFile.info)
	if err == nil && !current {
		err = ErrChanged
	}
	if err != nil {
		return err
	}
	f := r.tx.file
	r.tx.file, r.tx.read = nil, false
	if err := f.Close(); err != nil { // Windows renames over no open file
		return err
	}
	return r.tx.log.fs.Rename(r.tmp, r.tx.log.path)
}

// abort removes what the rewrite has created.
func (r *rewrite) abort(a Archive) (err error) {
	for _, path := range []string{r.tmp, r.corrupt, a.Path} {
		err = also(err, ignoreMissing(r.tx.log.fs.Remove(path)))
	}
	return err
}
