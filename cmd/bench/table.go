package main

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"
)

// row is one comparison. Ratio is ours to theirs.
type row struct {
	what, against string
	ours, theirs  string
	ratio         float64
	reach         string
	met           bool
}

// atMost compares two times: ours may be limit times theirs.
func atMost(what, against string, ours, theirs time.Duration, limit float64) row {
	ratio := float64(ours) / float64(theirs)
	return row{what, against, duration(ours), duration(theirs), ratio, "≤ " + number(limit) + "×", ratio <= limit}
}

// atLeast compares two rates: ours must reach limit times theirs.
func atLeast(what, against string, ours, theirs float64, unit string, limit float64) row {
	ratio := ours / theirs
	return row{
		what, against, number(ours) + " " + unit, number(theirs) + " " + unit, ratio, "≥ " + number(limit) + "×", ratio >= limit,
	}
}

// below compares a time with a fixed limit.
func below(what string, ours, limit time.Duration) row {
	return row{what, "–", duration(ours), "–", 0, "≤ " + limit.String(), ours <= limit}
}

func table(rows []row) string {
	var b strings.Builder
	b.WriteString("| what | against | loadout | the other | ratio | reach | met |\n")
	b.WriteString("| --- | --- | ---: | ---: | ---: | ---: | --- |\n")
	for _, r := range rows {
		ratio, met := "–", "no"
		if r.ratio != 0 {
			ratio = number(r.ratio) + "×"
		}
		if r.met {
			met = "yes"
		}
		if r.reach == "" {
			r.reach, met = "–", "–"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %s |\n", r.what, r.against, r.ours, r.theirs, ratio, r.reach, met)
	}
	return b.String()
}

// document is docs/benchmarks.md.
func document(rows []row) string {
	return fmt.Sprintf(`# Benchmarks

Written by %[1]smake bench WRITE=1%[1]s on %[2]s with %[3]s on %[4]s/%[5]s, %[6]d cores%[8]s.

Times say little away from the machine they were taken on, so a row is a ratio to a program that does the least that could
be called the same, where there is one, measured in the same run with both taking turns. The other programs are below %[1]scmd/bench/bare/%[1]s.

%[7]s
How each row is taken:

- **Write verb**: 200 turns of %[1]sloadout coord update bench --note moved%[1]s in a warm project, the bare program
  (open, lock, append one line, fsync) and %[1]snode -e 0%[1]s; whole processes, medians.
- **Throughput**: 16 processes are started, released together, and each stores 200 events through the engine, or appends 200
  lines under a lock; five turns, medians. The bare program is run both with blocking %[1]sflock%[1]s and with jittered polling, and the
  faster one counts. Afterwards every event is looked for, and numbers must have no gap.
- **Status**: 60 turns of %[1]sloadout coord status%[1]s on a log of a million generated events and on one of a thousand, checkpoints
  present; medians. The generated log has 5 agents, 60 paths, 40 contracts, and tasks, questions, decisions, updates and
  acknowledgements in the proportions of cmd/bench/generate.go.
- **First fold**: three turns of %[1]sloadout coord status%[1]s on the million events with %[1]s.handoff/cache%[1]s removed, %[1]swc -l%[1]s, and a
  line-by-line %[1]sencoding/json%[1]s decode of the envelope; whole processes, medians.
- **Follow**: one process appends 1,000 lines, each with the time in it, 4 ms apart and in turn to two logs; one is followed by the
  engine and one by a bare fsnotify reader, each in its own process.
- **Hook**: 200 turns of the hook that denies an edit, on a log of 100,000 generated events with its checkpoint; whole processes, medians.
- **Cockpit**: %[1]sloadout tui --pane timeline%[1]s on a pseudo-terminal of 200×60, on generated logs with a checkpoint: 7 starts; 300 keys, each
  until its first byte; a minute without events; 40 random numbers typed as a filter until the frame has that event selected; and keys on
  the command line until their letter is there while another process stores 10,000 events in a second.
- **MCP**: a client of the Go SDK starts %[1]sloadout serve%[1]s in a project whose log has 100,000 generated events and a checkpoint, 15 times,
  and then calls tools of one server 300 times in turn, each from the request to its answer over the pipes.
- **Frame**: the cockpit's own benchmark: a message that moves the timeline of 100,000 events, then the frame.

What holds a row back:

- **Write verb**: on a virtual machine a page fault is dear, 19 µs where this was last looked into, and a process is mostly page
  faults: an empty Go program has about 150, the bare program 190, a write verb 520. Of those 360 more, 100 are the
  initialisation of linked packages, 80 the grammar, 75 the verb itself, and the rest threads and their stacks.
- **Throughput**: an event takes the bare program about 0.25 ms here, nearly all of it the sync, and the engine 0.45 ms. That is made up for in part by
  letting one process sync while others write (decision 28), until the two processors are busy: an event takes 0.4 ms of them. So the ratio
  depends on the disk: 0.67 to 0.75 while a sync takes 0.2 ms, 0.80 to 0.88 while the disk is slower and the bare program makes 2,300 to 2,700 events a second.
- **First fold**: reading lines, decoding and folding take a third of the work each, in three goroutines; two processors share it.
`, "`", time.Now().UTC().Format(time.DateOnly), runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), table(rows), load())
}

// load says how busy the machine is, where the system tells: a row that was missed on a busy machine may be met on a quiet one.
func load() string {
	averages, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return ""
	}
	minute, _, _ := strings.Cut(string(averages), " ")
	return ", load average " + minute
}

// duration prints three digits or so.
func duration(d time.Duration) string {
	switch {
	case d >= time.Second:
		return d.Round(10 * time.Millisecond).String()
	case d >= 10*time.Millisecond:
		return d.Round(100 * time.Microsecond).String()
	case d >= time.Millisecond:
		return d.Round(10 * time.Microsecond).String()
	}
	return d.Round(time.Microsecond).String()
}

// number prints three digits or so.
func number(n float64) string {
	switch {
	case n >= 100:
		return fmt.Sprintf("%.0f", n)
	case n >= 10:
		return fmt.Sprintf("%.1f", n)
	case n == float64(int(n)):
		return fmt.Sprintf("%.0f", n)
	}
	return fmt.Sprintf("%.3g", n)
}
