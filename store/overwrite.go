package store

import (
	"fmt"
	"os"
)

// Overwrite writes data over the beginning of the file name, which it makes if need be, without a rename and without a
// sync: for a few bytes of a fixed length that a crash may lose.
func (l *Log) Overwrite(name string, data []byte) error {
	path, err := l.prepareFile(name)
	if err != nil {
		return fmt.Errorf("overwrite %s: %w", name, err)
	}
	f, _, err := l.openSafe(path, os.O_WRONLY|os.O_CREATE)
	if err != nil {
		return fmt.Errorf("overwrite %s: %w", name, err)
	}
	_, err = f.Write(data)
	if err = also(err, f.Close()); err != nil {
		return fmt.Errorf("overwrite %s: %w", name, err)
	}
	return nil
}
