package store

// Resume reports whether Read can go on from pos: nil, ErrMissing or ErrReplaced.
func (l *Log) Resume(pos Position) error {
	f, err := l.openLog(pos)
	if err != nil || f == nil {
		return err
	}
	_, err = pos.fits(f, true)
	return also(err, f.Close())
}

// Recode returns the index as a checkpoint would give it back, and its size there.
func (x *Index) Recode() (decoded Index, size int, err error) {
	encoded := x.appendTo(nil)
	err = decoded.decode(x.file, encoded)
	return decoded, len(encoded), err
}

// Decode makes the index what a checkpoint has kept of one.
func (x *Index) Decode(b []byte) error { return x.decode(FileID{}, b) }
