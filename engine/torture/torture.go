// Package torture proves on a scratch log what the engine promises: nothing that was answered is lost, no number is used twice, and
// none is left out, whenever a writer is killed.
package torture

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/store"
)

// Options set up a torture run.
type Options struct {
	Duration time.Duration // default 10 s
	Writers  int           // processes that write at once, default 8
	Kills    int           // end after so many kills; 0: only when the time is up
	// Exec makes the command of one writer process: our own binary with a hidden verb that calls Write with these
	// values and its standard output.
	Exec func(ctx context.Context, dir string, writer, from int) *exec.Cmd
}

// Report is what a torture run found. It passed when Lost, Twice and Gaps are zero.
type Report struct {
	Directory    string        `json:"directory"` // the scratch project; removed when the run passed
	Duration     time.Duration `json:"durationNs"`
	Writers      int           `json:"writers"`
	Kills        int           `json:"kills"` // writers ended by SIGKILL in the middle of their work
	Acknowledged int64         `json:"acknowledged"`
	Found        int64         `json:"found"` // acknowledged events that are in the log as they were acknowledged
	Lost         int64         `json:"lost"`
	Unanswered   int64         `json:"unanswered"` // stored, but the writer died before it could say so
	Twice        int64         `json:"twice"`      // sequence numbers used more than once
	Gaps         int64         `json:"gaps"`       // sequence numbers left out
	Torn         int64         `json:"torn"`       // half-written lines that were closed and reported
	Slowest      time.Duration `json:"slowestNs"`  // longest time that a write waited for its answer
	Passed       bool          `json:"passed"`
}

const (
	defaultDuration = 10 * time.Second
	defaultWriters  = 8

	// A writer lives at most so long after its first receipt, so that there are many kills; one of early writers is
	// killed at any time after its start.
	maxLife  = 250 * time.Millisecond
	early    = 4
	maxStart = 30 * time.Second // a writer without a receipt by then hangs
)

// Write is one writer of a torture run: it stores numbered updates in the project at dir until it is killed or ctx ends
// and says each receipt on out, in one write of one line. from is the first number.
func Write(ctx context.Context, dir string, writer, from int, out io.Writer) error {
	e := engine.Open(engine.Project{Root: dir, Dir: handoff(dir)}, engine.Options{Command: fmt.Sprintf("torture writer %d", writer)})
	name := nameOf(writer)
	for i := from; ctx.Err() == nil; i++ {
		start := now()
		r, err := e.Do(ctx, engine.Request{Command: engine.Report{Agent: name, Update: event.Update{Note: noteOf(writer, i)}}})
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(out, "%d %d %s %d\n", i, r.Seq(), r.Events[0].ID, now().Sub(start).Microseconds()); err != nil {
			return err
		}
	}
	return nil
}

func handoff(dir string) string { return filepath.Join(dir, store.DirName) }

// now is the real time: a run measures how long answers take.
func now() time.Time { return time.Now() } //nolint:forbidigo // as it says

func nameOf(writer int) string    { return fmt.Sprintf("writer-%d", writer) }
func noteOf(writer, i int) string { return fmt.Sprintf("write %d of writer %d", i, writer) }

// Run lets writers append to a scratch log in a temporary directory, kills them at random, starts them again, and then
// checks that everything acknowledged is found, no number is used twice and none is left out. progress may be nil.
func Run(ctx context.Context, o Options, progress func(Report)) (Report, error) {
	if o.Exec == nil {
		return Report{}, &engine.UsageError{Message: "a torture run needs a way to start its writers"}
	}
	if o.Duration <= 0 {
		o.Duration = defaultDuration
	}
	if o.Writers <= 0 {
		o.Writers = defaultWriters
	}
	dir, err := os.MkdirTemp("", "loadout-torture-")
	if err != nil {
		return Report{}, fmt.Errorf("make scratch project: %w", err)
	}
	t := &run{
		options: o, progress: progress, acks: map[int64]ack{},
		report: Report{Directory: dir, Writers: o.Writers},
	}
	if err := t.keepWriting(ctx); err != nil {
		return t.report, errors.Join(err, os.RemoveAll(dir))
	}
	if err := t.check(ctx); err != nil {
		return t.report, err
	}
	if t.report.Passed {
		err = os.RemoveAll(dir)
	}
	return t.report, err
}

// ack is what a writer said about one sequence number.
type ack struct {
	writer, number int
	id             string
}

// run is a torture run in progress.
type run struct {
	options  Options
	progress func(Report)
	start    time.Time
	enough   context.CancelFunc // ends the run

	mu     sync.Mutex
	acks   map[int64]ack
	report Report
}

// keepWriting keeps the writers going until the time is up.
func (t *run) keepWriting(parent context.Context) error {
	t.start = now()
	ctx, cancel := context.WithTimeout(parent, t.options.Duration)
	defer cancel()
	t.enough = cancel
	faults := make(chan error, t.options.Writers)
	var wg sync.WaitGroup
	for w := range t.options.Writers {
		wg.Go(func() {
			for next := 0; ctx.Err() == nil; {
				var err error
				if next, err = t.life(ctx, w, next); err != nil {
					faults <- err
					cancel()
					return
				}
			}
		})
	}
	wg.Wait()
	close(faults)
	t.report.Duration = now().Sub(t.start)
	if err := <-faults; err != nil {
		return err
	}
	return parent.Err()
}

// life is one writer process from its start to its kill. It returns the number from which the next one goes on.
func (t *run) life(ctx context.Context, writer, from int) (next int, err error) {
	cmd := t.options.Exec(context.WithoutCancel(ctx), t.report.Directory, writer, from)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return from, fmt.Errorf("start writer: %w", err)
	}
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	if err := cmd.Start(); err != nil {
		return from, fmt.Errorf("start writer: %w", err)
	}
	first, ended, killed := make(chan struct{}), make(chan struct{}), make(chan bool, 1)
	spoke := sync.OnceFunc(func() { close(first) })
	go func() { killed <- killInTime(ctx, cmd, first, ended) }()
	next = from
	for lines := bufio.NewReader(out); ; {
		line, err := lines.ReadString('\n')
		if err == nil {
			next, err = t.heard(writer, line)
			if err != nil {
				complaint.WriteString(err.Error())
			}
			spoke()
		}
		if err != nil { // a line without its end was cut by the kill
			break
		}
	}
	close(ended)
	wasKilled := <-killed
	if err := cmd.Wait(); err == nil || !wasKilled || complaint.Len() > 0 {
		return next, fmt.Errorf("writer %d ended by itself: %s", writer, strings.TrimSpace(complaint.String()))
	}
	t.mu.Lock()
	if t.report.Kills++; t.report.Kills == t.options.Kills {
		t.enough()
	}
	t.mu.Unlock()
	return next + 1, nil // the number after may be stored without an answer
}

// killInTime kills a writer at random, most of them after the first receipt, and reports whether it did before the writer ended.
func killInTime(ctx context.Context, cmd *exec.Cmd, first, ended <-chan struct{}) bool {
	life := rand.N(maxLife)    //nolint:gosec // when to kill is no secret
	if rand.IntN(early) != 0 { //nolint:gosec // nor whom
		select {
		case <-first:
		case <-ctx.Done():
		case <-ended:
			return false
		case <-time.After(maxStart):
		}
	}
	select {
	case <-time.After(life):
	case <-ctx.Done():
	case <-ended:
		return false
	}
	return cmd.Process.Kill() == nil
}

// heard takes in one receipt and returns the number after it.
func (t *run) heard(writer int, line string) (next int, err error) {
	var (
		a      = ack{writer: writer}
		seq    int64
		micros int64
	)
	if _, err := fmt.Sscanf(line, "%d %d %s %d\n", &a.number, &seq, &a.id, &micros); err != nil {
		return 0, fmt.Errorf("receipt %q: %w", line, err)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if other, twice := t.acks[seq]; twice {
		return 0, fmt.Errorf("number %d was acknowledged to writers %d and %d", seq, other.writer, writer)
	}
	t.acks[seq] = a
	t.report.Acknowledged++
	t.report.Slowest = max(t.report.Slowest, time.Duration(micros)*time.Microsecond)
	if t.progress != nil {
		t.report.Duration = now().Sub(t.start)
		t.progress(t.report)
	}
	return a.number + 1, nil
}

// check reads the log and compares it with what was acknowledged.
func (t *run) check(ctx context.Context) error {
	r := &t.report
	seen := map[int64]bool{}
	head := int64(-1)
	_, err := store.Open(handoff(r.Directory), store.Options{}).Read(ctx, store.Position{}, func(b store.Batch) error {
		for i := range b.Lines {
			l := &b.Lines[i]
			head = max(head, l.Seq)
			if l.Seq >= 0 && seen[l.Seq] {
				r.Twice++
			}
			seen[l.Seq] = true
			if l.Err != nil {
				r.Torn++
				continue
			}
			ev, err := event.Decode(l.Object, l.Raw)
			if err != nil {
				return fmt.Errorf("line %d: %w", l.Number, err)
			}
			a, acknowledged := t.acks[l.Seq]
			switch {
			case !acknowledged:
				r.Unanswered++
			case ev.ID == a.id && ev.From == nameOf(a.writer) && ev.Description == noteOf(a.writer, a.number):
				r.Found++
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("check scratch log: %w", err)
	}
	for seq := range head {
		if !seen[seq] {
			r.Gaps++
		}
	}
	r.Lost = r.Acknowledged - r.Found
	r.Passed = r.Lost == 0 && r.Twice == 0 && r.Gaps == 0 && r.Acknowledged > 0
	return nil
}
