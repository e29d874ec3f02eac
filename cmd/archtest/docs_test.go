package archtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	fence  = regexp.MustCompile("(?ms)^```(\\w*)\n(.*?)^```")
	inline = regexp.MustCompile("`(loadout [^`]+)`")
	link   = regexp.MustCompile(`\]\(([^)#:\s]+)(?:#[^)]*)?\)`)
	// shellWord is a word with its quoted parts.
	shellWord = regexp.MustCompile(`(?:'[^']*'|"[^"]*"|[^\s'"])+`)
	quoted    = regexp.MustCompile(`'[^']*'|"[^"]*"`)
)

// TestDocumentedCommandsParse gives every command line of the documentation to the binary with --help before it: words and
// flags are then parsed, and nothing is carried out.
func TestDocumentedCommandsParse(t *testing.T) {
	binary := buildLoadout(t)
	commands := 0
	for path, text := range documents(t) {
		for _, line := range commandLines(text) {
			commands++
			cmd := exec.CommandContext(t.Context(), binary, append([]string{"--help"}, shellWords(line)[1:]...)...)
			cmd.Dir = t.TempDir()
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%s: %s: %v\n%s", path, line, err, out)
			}
		}
	}
	if commands < 10 {
		t.Errorf("found only %d command lines", commands)
	}
}

func TestDocumentedFilesExist(t *testing.T) {
	for path, text := range documents(t) {
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			target := filepath.Join(root(t), filepath.Dir(path), m[1])
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s links to %s: %v", path, m[1], err)
			}
		}
	}
}

// documents maps the path of every document to its text.
func documents(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md"} {
		paths, err := filepath.Glob(filepath.Join(root(t), pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			relative, err := filepath.Rel(root(t), path)
			if err != nil {
				t.Fatal(err)
			}
			found[relative] = string(text)
		}
	}
	if _, ok := found["README.md"]; !ok {
		t.Fatal("there is no README.md")
	}
	return found
}

// commandLines are the lines of shell blocks and the inline code that begin with loadout.
func commandLines(text string) []string {
	var lines []string
	for _, block := range fence.FindAllStringSubmatch(text, -1) {
		if !slices.Contains([]string{"sh", "console"}, block[1]) {
			continue
		}
		for line := range strings.SplitSeq(strings.ReplaceAll(block[2], "\\\n", " "), "\n") {
			line = strings.TrimPrefix(strings.TrimSpace(line), "$ ")
			if strings.HasPrefix(line, "loadout ") {
				lines = append(lines, line)
			}
		}
	}
	for _, m := range inline.FindAllStringSubmatch(fence.ReplaceAllString(text, ""), -1) {
		lines = append(lines, m[1])
	}
	return lines
}

// shellWords cuts a line as a shell would, up to a comment, a pipe or a redirection, without expanding anything.
func shellWords(line string) []string {
	var words []string
	for _, word := range shellWord.FindAllString(line, -1) {
		if strings.HasPrefix(word, "#") || slices.Contains([]string{"|", "||", "&&", ">", "<", ";", "&", "…"}, word) {
			break
		}
		words = append(words, quoted.ReplaceAllStringFunc(word, func(q string) string { return q[1 : len(q)-1] }))
	}
	return words
}

func TestShellWords(t *testing.T) {
	got := shellWords(`loadout coord own me 'a b'/c --reason "it's" -- x # why | what`)
	want := []string{"loadout", "coord", "own", "me", "a b/c", "--reason", "it's", "--", "x"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
