package store_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agentloadout/loadout/store"
)

// roleVar tells the re-executed test binary what to do.
const roleVar = "STORE_TEST_ROLE"

// runChild is what a re-executed test binary does instead of tests.
func runChild(role string) (exitCode int) {
	dir := os.Getenv("STORE_TEST_DIR")
	n, err := strconv.Atoi(os.Getenv("STORE_TEST_N"))
	if err == nil {
		switch role {
		case "write":
			err = childWrite(dir, n)
		case "hold":
			err = childHold(dir)
		default:
			err = fmt.Errorf("unknown role %s", role)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// childWrite appends n events, for ever when n is 0, and prints the number of
// each as soon as it is acknowledged.
func childWrite(dir string, n int) error {
	ctx := context.Background()
	l := store.Open(dir, store.Options{Command: "writer"})
	var pos store.Position
	for i := 0; n == 0 || i < n; i++ {
		var seq int64
		err := l.Update(ctx, func(tx *store.Tx) (err error) {
			if pos, err = tx.Read(ctx, pos, ignore); err != nil {
				return err
			}
			seq = pos.Highest() + 1
			line := fmt.Sprintf(`{"id":"%d-%d","seq":%d,"pad":"%s"}`, os.Getpid(), i, seq, strings.Repeat("x", rand.IntN(2000))) //nolint:gosec // a length
			pos, err = tx.Append([][]byte{[]byte(line)})
			return err
		})
		if err != nil {
			return err
		}
		if _, err := fmt.Printf("%d %d-%d\n", seq, os.Getpid(), i); err != nil {
			return err
		}
	}
	return nil
}

// childHold takes the lock, says so and waits to be killed.
func childHold(dir string) error {
	return store.Open(dir, store.Options{Command: "holder"}).Update(context.Background(), func(*store.Tx) error {
		fmt.Println("held")
		_, err := bufio.NewReader(os.Stdin).ReadByte() // ends with the parent
		return err
	})
}

// child is a re-executed test binary.
type child struct {
	cmd *exec.Cmd
	out bytes.Buffer
	err bytes.Buffer
}

func start(t *testing.T, role, dir string, n int) *child {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := &child{cmd: exec.CommandContext(testContext(t), exe)}
	c.cmd.Env = append(os.Environ(), roleVar+"="+role, "STORE_TEST_DIR="+dir, fmt.Sprintf("STORE_TEST_N=%d", n))
	c.cmd.Stdout, c.cmd.Stderr = &c.out, &c.err
	return c
}

func (c *child) run(t *testing.T) {
	t.Helper()
	if err := c.cmd.Run(); err != nil {
		t.Errorf("%v\n%s", err, &c.err)
	}
}

// acknowledged returns what the child has printed: numbers with the id of their
// event. A line that the kill cut off was not acknowledged to anybody.
func (c *child) acknowledged(t *testing.T) map[int64]string {
	t.Helper()
	acks := map[int64]string{}
	for line := range strings.Lines(c.out.String()) {
		number, id, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		seq, err := strconv.ParseInt(number, 10, 64)
		if !strings.HasSuffix(line, "\n") {
			continue
		}
		if !ok || err != nil {
			t.Errorf("child printed %q", line)
		}
		acks[seq] = id
	}
	return acks
}

// checkAcknowledged checks that every acknowledged event is found and that no
// number was used twice.
func checkAcknowledged(t *testing.T, l *store.Log, acks ...map[int64]string) (lines int) {
	t.Helper()
	found := map[int64]string{}
	_, err := l.Read(testContext(t), store.Position{}, func(b store.Batch) error {
		for i := range b.Lines {
			line := &b.Lines[i]
			lines++
			if line.Seq < 0 {
				continue
			}
			if line.Disordered() {
				return fmt.Errorf("number %d on line %d follows %d", line.Seq, line.Number, line.Prior)
			}
			if line.Err == nil {
				id, _ := line.Object.Get("id")
				found[line.Seq] = strings.Trim(string(id), `"`)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, list := range acks {
		for seq, id := range list {
			if found[seq] != id {
				t.Errorf("acknowledged %d as %s, found %q", seq, id, found[seq])
			}
		}
	}
	return lines
}

func TestProcessesExclude(t *testing.T) {
	const processes, each = 6, 20
	l := store.Open(newDir(t), store.Options{})
	var wg sync.WaitGroup
	children := make([]*child, processes)
	for i := range children {
		children[i] = start(t, "write", l.Dir(), each)
		wg.Go(func() { children[i].run(t) })
	}
	wg.Wait()
	total := 0
	for _, c := range children {
		acks := c.acknowledged(t)
		checkAcknowledged(t, l, acks)
		total += len(acks)
	}
	if total != processes*each {
		t.Fatalf("%d acknowledgements", total)
	}
	wantSeqs(t, l, upTo(processes*each)...)
}

// killRounds is how often TestKill kills; STORE_KILL_ROUNDS raises it.
func killRounds(t *testing.T) int {
	t.Helper()
	text := os.Getenv("STORE_KILL_ROUNDS")
	if text == "" {
		return 4
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Writers are killed at random moments; what they acknowledged is there, and no
// number is used twice.
func TestKill(t *testing.T) {
	l := store.Open(newDir(t), store.Options{})
	var all []map[int64]string
	acknowledged, survivors := 0, 0
	for round := range killRounds(t) {
		writers := []*child{start(t, "write", l.Dir(), 0), start(t, "write", l.Dir(), 0)}
		for _, w := range writers {
			if err := w.cmd.Start(); err != nil {
				t.Fatal(err)
			}
		}
		_, before := read(t, l, store.Position{})
		grown := before.Lines + rand.Int64N(20) + 1 //nolint:gosec // a moment
		waitFor(t, l, before, grown)
		for _, w := range writers {
			if err := w.cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			if err := w.cmd.Wait(); err == nil || w.err.Len() > 0 {
				t.Fatalf("writer ended by itself: %s", &w.err)
			}
			acks := w.acknowledged(t)
			acknowledged += len(acks)
			all = append(all, acks)
		}
		if _, _, err := tryWrite(t, l, 1); err != nil { // the lock is free again
			t.Fatalf("round %d: %v", round, err)
		}
		survivors = checkAcknowledged(t, l, all...)
	}
	t.Logf("%d events acknowledged, %d lines in the log", acknowledged, survivors)
}

// waitFor follows the log until it has so many lines.
func waitFor(t *testing.T, l *store.Log, from store.Position, lines int64) {
	t.Helper()
	done := fmt.Errorf("there are %d", lines)
	err := l.Follow(testContext(t), from, func(e store.Event) error {
		if e.Pos.Lines >= lines {
			return done
		}
		return nil
	})
	wantError(t, err, done)
}

func TestKilledHolderReleasesLock(t *testing.T) {
	l := store.Open(newDir(t), store.Options{LockWait: deadline})
	holder := start(t, "hold", l.Dir(), 0)
	holder.cmd.Stdout = nil
	out, err := holder.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	in, err := holder.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := holder.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if word, err := bufio.NewReader(out).ReadString('\n'); err != nil || word != "held\n" {
		t.Fatalf("holder said %q, error %v", word, err)
	}
	_, _, err = tryWrite(t, store.Open(l.Dir(), store.Options{LockWait: 20 * time.Millisecond}), 1)
	var locked *store.LockedError
	if !asError(err, &locked) || locked.Owner.PID != holder.cmd.Process.Pid || locked.Owner.Command != "holder" {
		t.Fatalf("error %v", err)
	}
	if err := holder.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	write(t, l, 1)
	_ = in.Close()
	_ = holder.cmd.Wait()
}
