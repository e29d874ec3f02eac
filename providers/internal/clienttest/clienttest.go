// Package clienttest finds the real agent programs that `make e2e` installs, for tests that drive them.
package clienttest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// EnvRequired is the environment variable with which a missing program fails a test instead of skipping it.
const EnvRequired = "LOADOUT_E2E"

// Claude is the path of Claude Code's executable. Without it the test is skipped.
func Claude(t *testing.T) string {
	t.Helper()
	return find(t, "Claude Code", "@anthropic-ai/claude-code-*/claude", "@anthropic-ai/claude-code-*/claude.exe")
}

// Codex is the path of Codex's executable. Without it the test is skipped.
func Codex(t *testing.T) string {
	t.Helper()
	return find(t, "Codex", "@openai/codex-*/vendor/*/bin/codex", "@openai/codex-*/vendor/*/bin/codex.exe")
}

// find returns the first file below node_modules that fits a pattern, if the installation is of the versions of this tree.
func find(t *testing.T, program string, patterns ...string) string {
	t.Helper()
	cache := os.Getenv("XDG_CACHE_HOME")
	if cache == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			t.Fatal(err)
		}
		cache = filepath.Join(home, ".cache")
	}
	clients := filepath.Join(cache, "loadout", "clients")
	want, err := os.ReadFile(filepath.Join(root(t), "testdata", "clients", "package-lock.json"))
	if err != nil {
		t.Fatal(err)
	}
	have, err := os.ReadFile(filepath.Join(clients, "package-lock.json"))
	switch {
	case err != nil:
		missing(t, program+" is not installed in "+clients)
	case !bytes.Equal(have, want):
		missing(t, program+" is installed in other versions than this tree names")
	}
	for _, pattern := range patterns {
		found, err := filepath.Glob(filepath.Join(clients, "node_modules", filepath.FromSlash(pattern)))
		if err != nil {
			t.Fatal(err)
		}
		if len(found) > 0 {
			return found[0]
		}
	}
	missing(t, fmt.Sprintf("%s has no program for this machine in %s", program, clients))
	return ""
}

func missing(t *testing.T, what string) {
	t.Helper()
	if os.Getenv(EnvRequired) != "" {
		t.Fatal(what)
	}
	t.Skip("skipped: " + what + "; make e2e installs it")
}

// root is the top folder of the module.
func root(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		if filepath.Dir(dir) == dir {
			t.Fatal("no go.mod above the test")
		}
		dir = filepath.Dir(dir)
	}
}
