package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
)

const lineBytes = 250 // about what an update event takes

// measureWrite times one write verb as a whole process, in a project that has been written to before.
func measureWrite(ctx context.Context, b *bench) ([]row, error) {
	project, err := b.project("write")
	if err != nil {
		return nil, err
	}
	plain := filepath.Join(b.dir, "write-bare")
	if err := os.MkdirAll(plain, 0o700); err != nil {
		return nil, err
	}
	contenders := []contender{
		process(ctx, project, b.loadout, "coord", "update", "bench", "--note", "Wired the handler to the store"),
		process(ctx, plain, b.append, "-size", strconv.Itoa(lineBytes)),
	}
	node, missing := exec.LookPath("node")
	if missing == nil {
		contenders = append(contenders, process(ctx, plain, node, "-e", "0"))
	}
	if _, err := takeTurns(5, contenders...); err != nil { // warm up
		return nil, err
	}
	times, err := takeTurns(200, contenders...)
	if err != nil {
		return nil, err
	}
	ours := median(times[0])
	rows := []row{atMost("one write verb, whole process", "bare: open, lock, append, fsync", ours, median(times[1]), 4)}
	if missing == nil {
		rows = append(rows, atMost("the same", "`node -e 0`", ours, median(times[2]), 0.125))
	}
	return rows, nil
}
