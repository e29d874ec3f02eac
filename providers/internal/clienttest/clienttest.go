// Package clienttest finds the real agent programs that `make e2e` installs, for tests that drive them.
package clienttest

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// EnvRequired is the environment variable with which a missing program fails a test instead of skipping it.
const EnvRequired = "LOADOUT_E2E"

// Claude is the path of Claude Code's executable. Without it the test is skipped.
func Claude(t *testing.T) string {
	t.Helper()
	return find(t, "@anthropic-ai/claude-code-*/claude", "@anthropic-ai/claude-code-*/claude.exe")
}

// Codex is the path of Codex's executable. Without it the test is skipped.
func Codex(t *testing.T) string {
	t.Helper()
	return find(t, "@openai/codex-*/vendor/*/bin/codex", "@openai/codex-*/vendor/*/bin/codex.exe")
}

// find returns the first file below node_modules that fits a pattern, if the installation is of the versions of this tree.
func find(t *testing.T, patterns ...string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("skipped: drives a real program")
	}
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
	if have, err := os.ReadFile(filepath.Join(clients, "package-lock.json")); err != nil || !bytes.Equal(have, want) {
		missing(t)
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
	missing(t)
	return ""
}

func missing(t *testing.T) {
	t.Helper()
	const text = "the real program is not installed, or in another version: run make e2e"
	if os.Getenv(EnvRequired) != "" {
		t.Fatal(text)
	}
	t.Skip("skipped: " + text)
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
