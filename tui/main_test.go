package tui

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

// child makes the test binary a cockpit on a fake engine: the terminal tests start it.
const child = "LOADOUT_TEST_COCKPIT"

func TestMain(m *testing.M) {
	if how := os.Getenv(child); how != "" {
		os.Exit(runChild(how))
	}
	goleak.VerifyTestMain(m)
}
