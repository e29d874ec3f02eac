package tui

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

// child makes the test binary a cockpit on a fake engine: the terminal tests start it.
const child = "LOADOUT_TEST_COCKPIT"

// childDir names the project of a child on the real engine.
const childDir = "LOADOUT_TEST_DIR"

func TestMain(m *testing.M) {
	if how := os.Getenv(child); how != "" {
		os.Exit(runChild(how))
	}
	goleak.VerifyTestMain(m)
}
