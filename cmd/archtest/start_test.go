package archtest

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"
)

// maxInit is how long the initialisation of one linked package may take: all of them run before every verb.
const maxInit = time.Millisecond

// initLine is what the runtime prints of a package with GODEBUG=inittrace=1.
var initLine = regexp.MustCompile(`(?m)^init (\S+) @\S+ ms, (\S+) ms clock`)

// TestPackagesInitialiseQuickly takes the least of twenty runs, so that a busy machine does not look like a slow package.
func TestPackagesInitialiseQuickly(t *testing.T) {
	binary := buildLoadout(t)
	least := map[string]time.Duration{}
	for range 20 {
		cmd := exec.CommandContext(t.Context(), binary, "version")
		cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1", "HOME="+t.TempDir())
		var trace bytes.Buffer
		cmd.Stderr = &trace
		if err := cmd.Run(); err != nil {
			t.Fatalf("loadout version: %v\n%s", err, trace.String())
		}
		for _, m := range initLine.FindAllStringSubmatch(trace.String(), -1) {
			ms, err := strconv.ParseFloat(m[2], 64)
			if err != nil {
				t.Fatalf("read %q: %v", m[0], err)
			}
			took := time.Duration(ms * float64(time.Millisecond))
			if least0, seen := least[m[1]]; !seen || took < least0 {
				least[m[1]] = took
			}
		}
	}
	if len(least) < 10 {
		t.Fatalf("the trace names only %d packages", len(least))
	}
	for name, took := range least {
		if took > maxInit {
			t.Errorf("%s initialises for %v, more than %v", name, took, maxInit)
		}
	}
}

// TestMain keeps the folder of the binary that the tests share.
func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "archtest-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	binDir = dir
	code := m.Run()
	if err := os.RemoveAll(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

var (
	binDir string
	build  = sync.OnceValues(func() (string, error) {
		name := "loadout"
		if runtime.GOOS == "windows" {
			name += ".exe"
		}
		binary := filepath.Join(binDir, name)
		cmd := exec.Command("go", "build", "-trimpath", "-o", binary, "./cmd/loadout")
		cmd.Dir = filepath.Join("..", "..")
		if out, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("build loadout: %w\n%s", err, out)
		}
		return binary, nil
	})
)

// buildLoadout builds the binary as `make build` does, once, and returns its path.
func buildLoadout(t *testing.T) string {
	t.Helper()
	binary, err := build()
	if err != nil {
		t.Fatal(err)
	}
	return binary
}
