package engine

import (
	"context"
	"os/exec"
	"time"
)

// TortureOptions set up a torture run.
type TortureOptions struct {
	Duration time.Duration // default 10 s
	Writers  int           // processes that write at once, default 8
	// Exec makes the command of one writer process: our own binary with a hidden verb that calls TortureWriter with these
	// values and its standard output.
	Exec func(ctx context.Context, dir string, writer, from int) *exec.Cmd
}

// TortureReport is what a torture run found. It passed when Lost, Twice and Gaps are zero.
type TortureReport struct {
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

// Torture lets writers append to a scratch log in a temporary directory, kills them at random, starts them again, and then
// checks that everything acknowledged is found, no number is used twice and none is left out. progress may be nil.
func Torture(ctx context.Context, o TortureOptions, progress func(TortureReport)) (TortureReport, error) {
	panic("later")
}
