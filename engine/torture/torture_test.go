package torture

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"
)

// envWriter makes the test binary a writer.
const envWriter = "LOADOUT_TORTURE_WRITER"

func TestMain(m *testing.M) {
	if os.Getenv(envWriter) == "" {
		os.Exit(m.Run())
	}
	if err := write(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func write(args []string) error {
	w, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	from, err := strconv.Atoi(args[2])
	if err != nil {
		return err
	}
	return Write(context.Background(), args[0], w, from, os.Stdout)
}

// writer makes the command of a writer.
func writer(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, os.Args[0], args...) //nolint:gosec // the test binary itself
	cmd.Env = append(os.Environ(), envWriter+"=1")
	return cmd
}

// TestTorture kills writers with SIGKILL at random points and counts: nothing acknowledged is lost, no number is used twice or
// left out. LOADOUT_TEST_ROUNDS is how many kills there are at least.
func TestTorture(t *testing.T) {
	n, err := strconv.Atoi(os.Getenv("LOADOUT_TEST_ROUNDS"))
	if err != nil {
		n = 12
	}
	report, err := Run(t.Context(), Options{
		Duration: 10 * time.Minute,
		Writers:  4,
		Kills:    n,
		Exec: func(ctx context.Context, dir string, w, from int) *exec.Cmd {
			return writer(ctx, dir, strconv.Itoa(w), strconv.Itoa(from))
		},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v", report)
	if !report.Passed || report.Kills < n || report.Acknowledged == 0 || report.Lost+report.Twice+report.Gaps != 0 {
		t.Errorf("report %+v", report)
	}
	if _, err := os.Stat(report.Directory); !os.IsNotExist(err) {
		t.Errorf("the scratch directory was left: %v", err)
	}
}

func TestTortureTellsOfWritersThatFail(t *testing.T) {
	_, err := Run(t.Context(), Options{
		Duration: time.Second, Writers: 1,
		Exec: func(ctx context.Context, _ string, _, _ int) *exec.Cmd { return writer(ctx, "nowhere", "1", "none") },
	}, nil)
	if err == nil {
		t.Error("no error")
	}
}
