package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agentloadout/loadout/engine/event"
)

const (
	shown    = 100_000 // events of the log that most rows are measured on
	starts   = 7
	keys     = 300
	jumps    = 40
	burst    = 10_000
	batches  = 100
	idleTime = time.Minute
	busyLog  = "cockpit-busy"
)

// measureCockpit runs the cockpit on a terminal, on logs with a checkpoint.
func measureCockpit(ctx context.Context, b *bench) ([]row, error) {
	small, err := b.cockpitLog(ctx, "cockpit", shown)
	if err != nil {
		return nil, err
	}
	large, err := b.cockpitLog(ctx, "many", many)
	if err != nil {
		return nil, err
	}
	busy, err := b.cockpitLog(ctx, busyLog, shown)
	if err != nil {
		return nil, err
	}
	rows := []row{}
	for _, m := range []struct {
		project string
		run     func(context.Context, *bench, string) ([]row, error)
	}{{small, measureFirstFrame}, {small, measureKeys}, {large, measurePlaces}, {busy, measureBurst}} {
		found, err := m.run(ctx, b, m.project)
		if err != nil {
			return nil, err
		}
		rows = append(rows, found...)
	}
	return rows, nil
}

// cockpitLog makes a project with a log of n events and its checkpoint.
func (b *bench) cockpitLog(ctx context.Context, name string, n int64) (string, error) {
	project, err := b.project(name)
	if err != nil {
		return "", err
	}
	if name == busyLog { // what an earlier run stored is not what this one is to find
		if err := os.RemoveAll(filepath.Join(project, ".handoff")); err != nil {
			return "", err
		}
		if project, err = b.project(name); err != nil {
			return "", err
		}
	}
	if _, err := generate(project, n); err != nil {
		return "", err
	}
	_, err = takeTurns(2, process(ctx, project, b.loadout, "coord", "status"))
	return project, err
}

// newest is the selected row of the timeline with the last of n events. The header has its number before that.
func newest(n int) string { return fmt.Sprintf("▌#%d ", n-1) }

// measureFirstFrame times from the start of the process to the frame that shows the newest event.
func measureFirstFrame(ctx context.Context, b *bench, project string) ([]row, error) {
	var times []time.Duration
	for range starts {
		c, err := b.startCockpit(ctx, project)
		if err != nil {
			return nil, err
		}
		err = c.wait(newest(shown))
		times = append(times, time.Since(c.started))
		c.stop()
		if err != nil {
			return nil, err
		}
	}
	slices.Sort(times)
	return []row{below("cockpit: start to the frame with the newest of 100,000 events, median", median(times), 200*time.Millisecond)}, nil
}

// measureKeys times keys, and looks at the memory and at what the cockpit does while nothing happens.
func measureKeys(ctx context.Context, b *bench, project string) ([]row, error) {
	c, err := b.startCockpit(ctx, project)
	if err != nil {
		return nil, err
	}
	defer c.stop()
	if err := c.wait(newest(shown)); err != nil {
		return nil, err
	}
	var times []time.Duration
	for i := range keys {
		took, err := c.answer("kj"[i%2 : i%2+1])
		if err != nil {
			return nil, err
		}
		times = append(times, took)
	}
	slices.Sort(times)
	rows := []row{
		below("cockpit: key to bytes on the terminal, median", median(times), 12*time.Millisecond),
		below("cockpit: key to bytes on the terminal, p99", percentile(times, 0.99), 12*time.Millisecond),
	}
	memory, err := c.memory("cockpit: memory with 100,000 events")
	if err != nil {
		return nil, err
	}
	c.quiet(2 * time.Second)
	before, err := c.processor()
	if err != nil {
		return nil, err
	}
	select {
	case <-time.After(idleTime):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	after, err := c.processor()
	if err != nil {
		return nil, err
	}
	share := 100 * float64(after-before) / float64(idleTime)
	idle := row{
		what: "cockpit: processor while nothing happens, " + idleTime.String(), against: "–",
		ours: number(share) + " %", theirs: "–", reach: "≤ 0.3 %", met: share <= 0.3,
	}
	return append(rows, memory, idle), nil
}

func (c *cockpit) memory(what string) (row, error) {
	const limit = 150 << 20
	bytes, err := c.resident()
	return row{
		what: what, against: "–", ours: number(float64(bytes)/(1<<20)) + " MiB", theirs: "–", reach: "≤ 150 MiB", met: bytes <= limit,
	}, err
}

// measurePlaces goes to places of a long log by their numbers, and to both ends.
func measurePlaces(ctx context.Context, b *bench, project string) ([]row, error) {
	c, err := b.startCockpit(ctx, project)
	if err != nil {
		return nil, err
	}
	defer c.stop()
	if err := c.wait(newest(many)); err != nil {
		return nil, err
	}
	if err := c.press("z"); err != nil {
		return nil, err
	}
	random := rand.New(rand.NewPCG(3, 4))
	var times []time.Duration
	for range jumps {
		seq := random.Int64N(many)
		c.quiet(50 * time.Millisecond)
		c.mark()
		if err := c.press(fmt.Sprintf("/\x15#%d\r", seq)); err != nil {
			return nil, err
		}
		sent := time.Now()
		if err := c.wait(fmt.Sprintf("#%d of #%d", seq, many-1)); err != nil {
			return nil, err
		}
		times = append(times, time.Since(sent))
		if err := c.press("\x1b"); err != nil { // clears the filter
			return nil, err
		}
	}
	slices.Sort(times)
	memory, err := c.memory("cockpit: memory with 1,000,000 events, after going to 40 places")
	return []row{
		below("cockpit: to any place of a timeline of 1,000,000 events, p95", percentile(times, 0.95), 200*time.Millisecond), memory,
	}, err
}

// measureBurst stores many events within a second while somebody types on the command line.
func measureBurst(ctx context.Context, b *bench, project string) ([]row, error) {
	c, err := b.startCockpit(ctx, project)
	if err != nil {
		return nil, err
	}
	defer c.stop()
	if err := c.wait(newest(shown)); err != nil {
		return nil, err
	}
	if err := c.press(":"); err != nil {
		return nil, err
	}
	c.quiet(100 * time.Millisecond)
	c.mark()
	stored, painted := make(chan error, 1), c.frames()
	go func() { stored <- appendBurst(project) }()
	var times []time.Duration
	typed := ":"
	for done := false; !done; {
		typed += "z"
		c.mark()
		sent := time.Now()
		if err := c.press("z"); err != nil {
			return nil, err
		}
		if err := c.wait(typed); err != nil {
			return nil, err
		}
		times = append(times, time.Since(sent))
		select {
		case err := <-stored:
			if err != nil {
				return nil, err
			}
			done = true
		case <-time.After(25 * time.Millisecond):
		}
	}
	painted = c.frames() - painted
	for _, key := range []string{"\x15", "\x1b", "k"} { // leave the command line, and the end of the timeline, so that it is painted again
		if err := c.press(key); err != nil {
			return nil, err
		}
		c.quiet(200 * time.Millisecond)
	}
	c.mark()
	if err := c.press("G"); err != nil {
		return nil, err
	}
	if err := c.wait(newest(shown + burst)); err != nil {
		return nil, err
	}
	slices.Sort(times)
	const most = 62 // sixty frames a second, and one at either end
	return []row{
		below("cockpit: key to its letter on the screen while 10,000 events are stored in a second and none is lost, p99",
			percentile(times, 0.99), 50*time.Millisecond),
		{
			what: "cockpit: frames painted in that second", against: "–", ours: strconv.Itoa(painted), theirs: "–",
			reach: "≤ " + strconv.Itoa(most), met: painted <= most,
		},
	}, nil
}

// appendBurst stores burst events in a second. The lines go to the file without a lock: nobody else writes.
func appendBurst(project string) error {
	log, err := os.OpenFile(filepath.Join(project, ".handoff", engineLogName), os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer log.Close() //nolint:errcheck // the writes were checked
	start := time.Now()
	var lines []byte
	for i := range burst {
		e, err := event.New("codex", event.Broadcast, "one of many "+strings.Repeat("x", 60), event.Status{})
		if err != nil {
			return err
		}
		seq := int64(shown + i)
		e.Seq, e.ID, e.Timestamp = seq, fmt.Sprintf("%012x", seq), time.Now().UTC().Format(event.TimeFormat)
		lines = append(e.AppendLine(lines), '\n')
		if (i+1)%(burst/batches) == 0 {
			if _, err := log.Write(lines); err != nil {
				return err
			}
			lines = lines[:0]
			time.Sleep(time.Until(start.Add(time.Duration(i+1) * time.Second / burst)))
		}
	}
	return nil
}
