package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
)

// Slate is a small file whose beginning is written over again and again, without a
// rename and without a sync: for a few bytes of a fixed length that a crash may
// lose. Its methods may be called from any goroutine.
type Slate struct {
	log  *Log
	name string

	mu   sync.Mutex
	path string      // of file
	file File        // from the last Write, where an open file is in nobody's way; nil: none
	info fs.FileInfo // of file
}

// Slate returns the slate in the file name. It does no I/O.
func (l *Log) Slate(name string) *Slate { return &Slate{log: l, name: name} }

// Write writes data over the beginning, in the file that the last Read or Write has
// found. It makes the file if need be, and refuses a link, another kind of file or
// a foreign one.
func (s *Slate) Write(data []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.write(data); err != nil {
		return fmt.Errorf("overwrite %s: %w", s.name, err)
	}
	return nil
}

func (s *Slate) write(data []byte) (err error) {
	if s.file == nil {
		if s.path, err = s.log.prepareFile(s.name); err != nil {
			return err
		}
		if s.file, s.info, err = s.log.openSafe(s.path, os.O_RDWR|os.O_CREATE); err != nil {
			s.file = nil
			return err
		}
	}
	_, err = s.file.WriteAt(data, 0)
	if err == nil && keepOpen {
		return nil
	}
	return also(err, s.close())
}

// Read returns the file at the path, which has at most maxBytes.
func (s *Slate) Read(maxBytes int64) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	kept, err := s.kept()
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", s.name, err)
	}
	if !kept {
		return s.log.ReadFile(s.name, maxBytes)
	}
	data := make([]byte, maxBytes)
	n, err := s.file.ReadAt(data, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read %s: %w", s.name, err)
	}
	return data[:n], nil
}

// kept reports whether the file that is open is the one at the path.
func (s *Slate) kept() (bool, error) {
	if s.file == nil {
		return false, nil
	}
	if same, err := s.log.names(s.path, s.info); err == nil && same {
		return true, nil
	}
	return false, s.close()
}

func (s *Slate) close() error {
	f := s.file
	s.file, s.info = nil, nil
	return f.Close()
}
