package store

import (
	"fmt"
	"os"
)

// WriteCache is WriteFile without a sync: for what may be lost in a crash.
func (l *Log) WriteCache(name string, data []byte) error { return l.replaceFile(name, data, false) }

// AppendFile adds text, which ends in a newline, to the end of the file name,
// durably and in one write. A last line that somebody left without a newline is
// closed first. It creates the file, and refuses a link, another kind of file or
// a foreign one. What excludes other writers is up to the caller.
func (l *Log) AppendFile(name string, text []byte) error {
	path, err := l.prepareFile(name)
	if err != nil {
		return fmt.Errorf("append to %s: %w", name, err)
	}
	f, info, err := l.openSafe(path, os.O_RDWR|os.O_APPEND|os.O_CREATE)
	if err != nil {
		return fmt.Errorf("append to %s: %w", name, err)
	}
	size := info.Size()
	end, err := lastNewline(f, size)
	if err == nil && end < size {
		text = append([]byte{'\n'}, text...)
	}
	if err == nil {
		_, err = f.Write(text)
	}
	err = closeSynced(f, err)
	if err == nil && size == 0 {
		err = l.syncParent(path)
	}
	if err != nil {
		return fmt.Errorf("append to %s: %w", name, err)
	}
	return nil
}
