package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/creack/pty"
)

// frameMark begins every frame: the terminal is to show what follows at once.
const frameMark = "\x1b[?2026h"

// cockpit is the product's cockpit on a terminal of its own, of 200×60 cells.
type cockpit struct {
	cmd     *exec.Cmd
	tty     *os.File
	started time.Time

	mu      sync.Mutex
	painted int           // frames
	output  []byte        // since mark
	arrived time.Time     // of the first bytes since mark
	changed chan struct{} // holds a token after more has arrived
}

// startCockpit starts it in a project, with the focus in the timeline.
func (b *bench) startCockpit(ctx context.Context, project string) (*cockpit, error) {
	cmd := exec.CommandContext(ctx, b.loadout, "tui", "--pane", "timeline")
	cmd.Dir = project
	cmd.Env = append(os.Environ(), "TERM=xterm-256color", "HOME="+b.dir, "XDG_CONFIG_HOME="+b.dir, "XDG_STATE_HOME="+b.dir)
	c := &cockpit{cmd: cmd, changed: make(chan struct{}, 1), started: time.Now()}
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: 200, Rows: 60})
	if err != nil {
		return nil, err
	}
	c.tty = tty
	go c.read()
	return c, nil
}

func (c *cockpit) read() {
	buffer := make([]byte, 1<<16)
	for {
		n, err := c.tty.Read(buffer)
		now := time.Now()
		if n > 0 {
			c.mu.Lock()
			if len(c.output) == 0 {
				c.arrived = now
			}
			c.output = append(c.output, buffer[:n]...)
			c.painted += bytes.Count(buffer[:n], []byte(frameMark))
			c.mu.Unlock()
			select {
			case c.changed <- struct{}{}:
			default:
			}
		}
		if err != nil {
			return
		}
	}
}

// mark forgets what has arrived.
func (c *cockpit) mark() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.output = c.output[:0]
}

// seen is what has arrived since the mark, without escape sequences.
func (c *cockpit) seen() (text string, first time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return stripped(c.output), c.arrived
}

// stripped leaves out the escape sequences that move and colour.
func stripped(output []byte) string {
	var text strings.Builder
	for i := 0; i < len(output); i++ {
		if output[i] != '\x1b' {
			text.WriteByte(output[i])
			continue
		}
		for i++; i < len(output) && (output[i] == '[' || output[i] < '@'); i++ {
		}
	}
	return text.String()
}

// wait returns when what has arrived since the mark contains a text.
func (c *cockpit) wait(want string) error {
	deadline := time.After(time.Minute)
	for {
		if text, _ := c.seen(); strings.Contains(text, want) {
			return nil
		}
		select {
		case <-c.changed:
		case <-deadline:
			text, _ := c.seen()
			return fmt.Errorf("the cockpit never showed %q; last: %q", want, text[max(0, len(text)-400):])
		}
	}
}

// quiet returns when nothing has arrived for a while.
func (c *cockpit) quiet(pause time.Duration) {
	for {
		select {
		case <-c.changed:
		case <-time.After(pause):
			return
		}
	}
}

func (c *cockpit) press(keys string) error {
	_, err := c.tty.WriteString(keys)
	return err
}

// answer is the time from a key to the first byte that it brings.
func (c *cockpit) answer(key string) (time.Duration, error) {
	c.quiet(20 * time.Millisecond)
	c.mark()
	sent := time.Now()
	if err := c.press(key); err != nil {
		return 0, err
	}
	for {
		select {
		case <-c.changed:
		case <-time.After(20 * time.Second):
			return 0, fmt.Errorf("no answer to %q", key)
		}
		if text, first := c.seen(); text != "" {
			return first.Sub(sent), nil
		}
	}
}

// frames counts the frames that have arrived.
func (c *cockpit) frames() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.painted
}

// resident is the memory in bytes that the process has, as the system counts it.
func (c *cockpit) resident() (int64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", c.cmd.Process.Pid))
	if err != nil {
		return 0, fmt.Errorf("memory is measured on Linux only: %w", err)
	}
	for line := range strings.Lines(string(status)) {
		if kib, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			n, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(kib), "kB")), 10, 64)
			return n << 10, err
		}
	}
	return 0, errors.New("no VmRSS")
}

// processor is the time in processors that the process has used.
func (c *cockpit) processor() (time.Duration, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", c.cmd.Process.Pid))
	if err != nil {
		return 0, fmt.Errorf("time in processors is measured on Linux only: %w", err)
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	const tick = 10 * time.Millisecond // of user and system time, in every Linux
	ticks := 0
	for _, field := range fields[11:13] {
		n, err := strconv.Atoi(field)
		if err != nil {
			return 0, err
		}
		ticks += n
	}
	return time.Duration(ticks) * tick, nil
}

// stop ends the cockpit as a person does.
func (c *cockpit) stop() {
	_ = c.press("\x03")
	done := make(chan struct{})
	go func() { _ = c.cmd.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(5 * time.Second):
		_ = c.cmd.Process.Kill()
		<-done
	}
	_ = c.tty.Close()
}
