package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// run measures, or plays one of the roles that a measurement starts in processes of their own.
func run(ctx context.Context, args []string) error {
	if len(args) > 0 {
		switch args[0] {
		case roleWriter:
			return writer(ctx, args[1:])
		case roleFollower:
			return follower(ctx, args[1:])
		case roleBridge:
			return bridgeRole(ctx)
		}
	}
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	only := flags.String("only", "", "names of measurements, with commas; all of them if empty")
	write := flags.Bool("write", false, "record docs/benchmarks.md")
	keep := flags.String("dir", "", "work in this folder and keep it, instead of a temporary one")
	if err := flags.Parse(args); err != nil {
		return err
	}

	dir := *keep
	if dir == "" {
		temp, err := os.MkdirTemp("", "loadout-bench-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(temp) //nolint:errcheck // a leftover temporary folder harms nobody
		dir = temp
	}
	b, err := newBench(ctx, dir)
	if err != nil {
		return err
	}
	var rows []row
	for _, m := range measurements {
		if *only != "" && !slices.Contains(strings.Split(*only, ","), m.name) {
			continue
		}
		fmt.Fprintf(os.Stderr, "bench: %s\n", m.name)
		found, err := m.run(ctx, b)
		if err != nil {
			return fmt.Errorf("measure %s: %w", m.name, err)
		}
		rows = append(rows, found...)
	}
	if len(rows) == 0 {
		return errors.New("nothing measured: no such name")
	}
	if _, err := os.Stdout.WriteString(table(rows)); err != nil {
		return err
	}
	if *write {
		return os.WriteFile(filepath.Join("docs", "benchmarks.md"), []byte(document(rows)), 0o644)
	}
	return nil
}

// measurement yields the rows of one question.
type measurement struct {
	name string
	run  func(context.Context, *bench) ([]row, error)
}

var measurements = []measurement{
	{"write", measureWrite},
	{"throughput", measureThroughput},
	{"status", measureStatus},
	{"fold", measureFold},
	{"follow", measureFollow},
	{"bridge", measureBridge},
	{"mcp", measureMCP},
	{"hook", measureHook},
	{"frame", measureFrame},
	{"cockpit", measureCockpit},
}
