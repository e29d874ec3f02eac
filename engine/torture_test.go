package engine

import (
	"context"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"
)

// TestTorture kills writers with SIGKILL at random points and counts: nothing acknowledged is lost, no number is used twice or
// left out. LOADOUT_TEST_ROUNDS is how many kills there are at least.
func TestTorture(t *testing.T) {
	n := rounds(t, 12)
	report, err := Torture(t.Context(), TortureOptions{
		Duration: 10 * time.Minute,
		Writers:  4,
		Kills:    n,
		Exec: func(ctx context.Context, dir string, writer, from int) *exec.Cmd {
			return role(ctx, "torture", dir, strconv.Itoa(writer), strconv.Itoa(from))
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
	_, err := Torture(ctxFor(t), TortureOptions{
		Duration: time.Second, Writers: 1,
		Exec: func(ctx context.Context, _ string, _, _ int) *exec.Cmd { return role(ctx, "none") },
	}, nil)
	if err == nil {
		t.Error("no error")
	}
}
