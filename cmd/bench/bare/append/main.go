// Command append is the least that a durable write can be: open, lock, append one line, fsync. It is what loadout's write
// verbs are measured against, and knows nothing of numbers, rules or projects.
//
// With -n above one it repeats that, prints "ready", waits for a line on stdin before it starts, and reports the longest
// single write in nanoseconds.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

func main() {
	dir := flag.String("dir", ".", "folder of the log and its lock")
	n := flag.Int("n", 1, "lines to append")
	size := flag.Int("size", 250, "bytes of a line")
	poll := flag.Bool("poll", false, "try the lock every 5 to 20 ms instead of blocking in flock")
	flag.Parse()
	if err := run(*dir, *n, *size, *poll); err != nil {
		fmt.Fprintln(os.Stderr, "append:", err)
		os.Exit(1)
	}
}

func run(dir string, n, size int, poll bool) error {
	line := []byte(strings.Repeat("x", size-1) + "\n")
	if n == 1 {
		return write(dir, line, poll)
	}
	fmt.Println("ready")
	if _, err := bufio.NewReader(os.Stdin).ReadString('\n'); err != nil {
		return fmt.Errorf("wait for the start: %w", err)
	}
	var longest time.Duration
	for range n {
		start := time.Now()
		if err := write(dir, line, poll); err != nil {
			return err
		}
		longest = max(longest, time.Since(start))
	}
	fmt.Println(longest.Nanoseconds())
	return nil
}

// write appends one line, durably and alone.
func write(dir string, line []byte, poll bool) error {
	lock := flock.New(filepath.Join(dir, "lock"))
	if err := acquire(lock, poll); err != nil {
		return fmt.Errorf("lock: %w", err)
	}
	defer lock.Close()
	f, err := os.OpenFile(filepath.Join(dir, "log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.Write(line); err != nil {
		return err
	}
	return f.Sync()
}

func acquire(lock *flock.Flock, poll bool) error {
	if !poll {
		return lock.Lock()
	}
	for {
		locked, err := lock.TryLock()
		if locked || err != nil {
			return err
		}
		time.Sleep(5*time.Millisecond + rand.N(15*time.Millisecond))
	}
}
