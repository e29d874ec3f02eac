// Package store keeps the one truth of a project: an append-only log of JSON
// lines, .handoff/coordination.jsonl, and what lies beside it. It knows lines and
// their sequence numbers (the "seq" of each), and nothing of what they mean.
//
// # Promises
//
// What Update has answered is on disk and stays: the line is written in one
// call and synced before Update returns, or Tx.Sync where something is to follow
// under the lock; the name of a new file is synced before. After an error nothing
// was acknowledged, and the log is what it was; where that cannot be ensured the
// error is ErrUncertain. A number is used once:
// Append refuses a line whose seq does not rise above every number that can be
// read anywhere in the log, also on a line that is otherwise refused.
//
// No byte is lost. A line that cannot be read is reported where it lies, hides no
// other line, and goes byte for byte into the archive and the .corrupt file when
// the log is rewritten.
//
// # Writing
//
// Log.Update is the only way to change the log. It takes the lock, an flock on
// .handoff/coordination.lock, and calls a function with a Tx:
//
//	err := l.Update(ctx, func(tx *store.Tx) error {
//		at, err := tx.Read(ctx, seen, fold) // what came since, all of it
//		if err != nil {
//			return err
//		}
//		_, err = tx.Append([][]byte{line}) // numbered above at.Highest()
//		return err
//	})
//
// The lock excludes goroutines as it excludes processes. It is released by the
// system when its holder dies, and never stolen: the owner record in the file is
// for people, and tells a writer whether others had the lock since. The wait for it is bounded, and the refusal, a *LockedError, names
// the owner. It is given back before what was appended is synced, so that others
// append meanwhile. Of those who update again and again a few do so at a time, in
// turns. After taking the lock, the file at the path is compared with the one held,
// so that a lock file that was deleted or replaced lets no second writer in;
// should that happen to a writer that holds it already, Append notices the other
// one's lines and answers ErrChanged or ErrUncertain. Readers never take the lock.
//
// The methods of Log may be called from any goroutine. A Tx belongs to the
// goroutine of its Update and ends with it.
//
// # Reading
//
// Log.Read goes forward from a Position in batches and holds back a last line
// without its newline. Log.Last goes backward from the end. Log.Follow reads and
// then waits for more, through rewrites, replacement, truncation, deletion and
// re-creation of the log; notifications of the file system only make it sooner
// than its polling. An Index finds a number without reading what lies before it.
//
// A Position names a place by the file (device and inode), the offset, and a
// digest of the text just before it. Reading on from one that no longer fits is
// refused with ErrReplaced; then the reader starts over. A Checkpoint stores a
// state derived up to a position, with digests of pieces spread over the log. It
// is checked before it is used and may be deleted at any time.
//
// # What a crash leaves, and who mends it
//
//   - A line without its end. Readers do not see it. The next writer closes it
//     with a newline where it lies, so that it becomes a line of its own, bad or,
//     when only the newline was missing, good; Tx.Notes says so.
//   - A newline that was written to close such a line but not synced: the same.
//   - A line that is whole but was not acknowledged: it is found, as with every
//     log; callers use an idempotency key where that matters.
//   - A log or a directory whose entry was not synced: the log is empty; the next
//     writer syncs both.
//   - During Rewrite: the log as it was, perhaps a second name of it as an archive
//     too many, which grows with it until the next Rewrite, and a .tmp file, which
//     the next Rewrite or the fix of Check removes. After the rename: the new log.
//   - Beside a small file: a .tmp file. The file itself has its old or its new
//     content.
//   - A checkpoint that is incomplete: its checksum does not fit, and the log is
//     read instead.
//
// # Failures that are not crashes
//
// A short write (a full disk) and a failing sync are taken back by cutting the log
// to its old size, which is synced. Where somebody else has had the lock since, the
// line stays and is written and synced once more; when that fails, too, the error is
// ErrUncertain. A log that another program without our lock
// has changed since Tx.Read is not written to: ErrChanged. A log that went away
// while it was written to was not acknowledged: ErrChanged and ErrUncertain.
//
// # Trust
//
// The directory is 0700 and its files are 0600. Wider modes of our own files are
// narrowed by the next Update, which notes it. A symbolic link, a file of another
// kind or of another user is refused with a *UnsafeError and never followed, and
// a network file system is refused for writing, because its locks do not reach
// other hosts. Log.Check examines all this for doctor and leaves no trace.
//
// # Projects
//
// Discover finds the project of a working directory, so that all worktrees of a
// git repository share one log; Project.Rel turns a typed path into the one that
// is stored. Git is not run: its files are read.
package store
