package main

import (
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"time"
)

// frameMetric is what the cockpit's benchmark reports of its slowest twentieth.
var frameMetric = regexp.MustCompile(`([0-9.e+]+) p95-ms`)

// measureFrame runs the cockpit's own benchmark of one update and one frame at 200×60 on 100,000 events.
func measureFrame(ctx context.Context, _ *bench) ([]row, error) {
	const name = "BenchmarkFrame"
	out, err := exec.CommandContext(ctx, "go", "test", "-run", "^$", "-bench", "^"+name+"$", "./tui").CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("run %s: %w\n%s", name, err, out)
	}
	m := frameMetric.FindSubmatch(out)
	if m == nil {
		return nil, fmt.Errorf("%s reports no p95:\n%s", name, out)
	}
	ms, err := strconv.ParseFloat(string(m[1]), 64)
	if err != nil {
		return nil, err
	}
	p95 := time.Duration(ms * float64(time.Millisecond))
	return []row{below("cockpit: Update and View at 200×60 with 100,000 events, p95", p95, 8*time.Millisecond)}, nil
}
