package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/event"
)

const (
	roleFollower = "role-follower"
	appends      = 1000
	appendGap    = 4 * time.Millisecond // a burst would measure batching, not latency
)

// measureFollow times from just before an append to the event's arrival in another process.
func measureFollow(ctx context.Context, b *bench) ([]row, error) {
	engineLog, err := b.startLog("follow-engine")
	if err != nil {
		return nil, err
	}
	bareLog, err := b.startLog("follow-bare")
	if err != nil {
		return nil, err
	}
	ours, err := startFollower(ctx, engineLog, b.self, roleFollower)
	if err != nil {
		return nil, err
	}
	defer ours.stop()
	theirs, err := startFollower(ctx, bareLog, b.follow, engineLogName)
	if err != nil {
		return nil, err
	}
	defer theirs.stop()
	for seq := int64(1); seq <= appends; seq++ {
		for _, f := range []*followerProcess{ours, theirs} {
			if err := f.append(seq); err != nil {
				return nil, err
			}
			time.Sleep(appendGap)
		}
	}
	slices.Sort(ours.latencies)
	slices.Sort(theirs.latencies)
	const what, against = "append in one process to event in another's `Follow`, ", "bare fsnotify reader"
	middle := atMost(what+"median", against, median(ours.latencies), median(theirs.latencies), 0)
	middle.reach = "" // reported only
	return []row{
		middle,
		atMost(what+"p99", against, percentile(ours.latencies, 0.99), percentile(theirs.latencies, 0.99), 3),
	}, nil
}

const engineLogName = "coordination.jsonl"

// startLog makes a project whose log has one event, which tells a follower's process from a started one.
func (b *bench) startLog(name string) (*os.File, error) {
	project, err := b.project(name)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(project, ".handoff", engineLogName)
	return os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY|os.O_APPEND, 0o600)
}

// followerProcess is a follower in a process of its own and the log that it follows.
type followerProcess struct {
	log       *os.File
	cmd       *exec.Cmd
	out       *bufio.Reader
	latencies []time.Duration
}

// startFollower returns when the follower has reported the first event, whose latency does not count.
func startFollower(ctx context.Context, log *os.File, program string, args ...string) (*followerProcess, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Stderr = filepath.Dir(log.Name()), os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	f := &followerProcess{log: log, cmd: cmd, out: bufio.NewReader(out)}
	if err := f.append(0); err != nil {
		f.stop()
		return nil, err
	}
	f.latencies = nil
	return f, nil
}

// append writes one event with the time in it, and waits for what the follower says about it. The line goes to the file in
// one write without a lock: nobody else writes, and followers take none.
func (f *followerProcess) append(seq int64) error {
	sent := time.Now()
	e, err := event.New("bench", event.Broadcast, fmt.Sprintf("sent=%d", sent.UnixNano()), event.Status{})
	if err != nil {
		return err
	}
	e.Seq, e.ID, e.Timestamp = seq, fmt.Sprintf("%012x", seq), sent.UTC().Format(event.TimeFormat)
	if _, err := f.log.Write(append(e.AppendLine(nil), '\n')); err != nil {
		return err
	}
	line, err := f.out.ReadString('\n')
	if err != nil {
		return fmt.Errorf("follower ended: %w", err)
	}
	nanoseconds, err := strconv.ParseInt(strings.TrimSpace(line), 10, 64)
	f.latencies = append(f.latencies, time.Duration(nanoseconds))
	return err
}

// stop ends the process; it has no other end than a signal.
func (f *followerProcess) stop() {
	_ = f.cmd.Process.Kill()
	_ = f.cmd.Wait()
	_ = f.log.Close()
}

// follower is the role that follows the project around the working directory and prints the age of each event.
func follower(ctx context.Context, _ []string) error {
	e, err := openHere()
	if err != nil {
		return err
	}
	err = e.Follow(ctx, engine.Everything, func(d engine.Delivery) error {
		now := time.Now()
		for _, ev := range d.Events {
			digits, _ := strings.CutPrefix(ev.Description, "sent=")
			sent, err := strconv.ParseInt(digits, 10, 64)
			if err != nil {
				return err
			}
			fmt.Println(now.UnixNano() - sent)
		}
		return nil
	})
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}
