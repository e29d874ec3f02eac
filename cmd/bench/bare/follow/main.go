// Command follow is the least that watching a file can be: fsnotify on its folder, read what is new, cut it into lines. It is
// what the engine's Follow is measured against. Each line holds sent=NANOSECONDS; for each it prints how many nanoseconds ago
// that was.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/fsnotify/fsnotify"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: follow LOG")
		os.Exit(2)
	}
	if err := follow(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "follow:", err)
		os.Exit(1)
	}
}

func follow(path string) error {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return err
	}
	defer watcher.Close()
	if err := watcher.Add(filepath.Dir(path)); err != nil {
		return err
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	var pending []byte
	for {
		news, err := io.ReadAll(f)
		if err != nil {
			return err
		}
		pending = append(pending, news...)
		for {
			line, rest, whole := bytes.Cut(pending, []byte("\n"))
			if !whole {
				break
			}
			pending = rest
			if err := report(line); err != nil {
				return err
			}
		}
		select {
		case <-watcher.Events:
		case err := <-watcher.Errors:
			return errors.Join(errors.New("watch"), err)
		}
	}
}

// report prints the age of a line.
func report(line []byte) error {
	_, after, found := bytes.Cut(line, []byte("sent="))
	if !found {
		return fmt.Errorf("no time in %q", line)
	}
	digits := after[:len(after)-len(bytes.TrimLeft(after, "0123456789"))]
	sent, err := strconv.ParseInt(string(digits), 10, 64)
	if err != nil {
		return err
	}
	fmt.Println(time.Now().UnixNano() - sent)
	return nil
}
