package store

import "context"

// Repeated returns the physical numbers of the lines that are, byte for byte, a
// copy of an earlier line. read is Log.Read or Tx.Read; it is called once, and a
// second time when a sequence number occurs twice.
func Repeated(ctx context.Context, read func(context.Context, Position, func(Batch) error) (Position, error)) (map[int64]bool, error) {
	seen, twice := seqSet{}, map[int64]bool{}
	err := numbered(ctx, read, func(line *Line) {
		if seen.has(line.Seq) {
			twice[line.Seq] = true
		}
		seen.add(line.Seq)
	})
	if err != nil || len(twice) == 0 {
		return nil, err
	}
	texts, copies := map[string]bool{}, map[int64]bool{}
	err = numbered(ctx, read, func(line *Line) {
		if !twice[line.Seq] {
			return
		}
		text := digest(line.Raw)
		if texts[text] {
			copies[line.Number] = true
		}
		texts[text] = true
	})
	return copies, err
}

// numbered calls fn with every good line that has a sequence number.
func numbered(ctx context.Context, read func(context.Context, Position, func(Batch) error) (Position, error), fn func(*Line)) error {
	_, err := read(ctx, Position{}, func(b Batch) error {
		for i := range b.Lines {
			if line := &b.Lines[i]; line.Err == nil && line.Seq >= 0 {
				fn(line)
			}
		}
		return nil
	})
	return err
}
