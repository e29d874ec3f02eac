package connect

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/BurntSushi/toml"
)

// configured is a home and a project with some files, connected to every program.
type configured struct {
	t          *testing.T
	home, root string
}

func newConfigured(t *testing.T) *configured {
	t.Helper()
	return &configured{t, t.TempDir(), t.TempDir()}
}

func (c *configured) config(program string, scope Scope) *Config {
	return &Config{
		Program: program, Scope: scope, Root: c.root, Home: c.home, Command: "loadout",
		Env: func(string) string { return "" }, Kept: filepath.Join(c.home, "state", "kept"),
	}
}

func (c *configured) write(path, text string) {
	c.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		c.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o640); err != nil {
		c.t.Fatal(err)
	}
}

// files are all files below the home and the project, without what is kept, with their modes.
func (c *configured) files() map[string]string {
	c.t.Helper()
	found := map[string]string{}
	for _, dir := range []string{c.home, c.root} {
		err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
			switch {
			case err != nil:
				return err
			case info.IsDir() && info.Name() == "state":
				return filepath.SkipDir
			case info.Mode()&os.ModeSymlink != 0:
				to, err := os.Readlink(path)
				found[path] = "-> " + to
				return err
			case info.IsDir():
				found[path] = info.Mode().String()
				return nil
			}
			text, err := os.ReadFile(path)
			found[path] = info.Mode().String() + " " + string(text)
			return err
		})
		if err != nil {
			c.t.Fatal(err)
		}
	}
	return found
}

func (c *configured) apply(config *Config, connecting bool) []*Change {
	c.t.Helper()
	plan := config.Disconnect
	if connecting {
		plan = config.Connect
	}
	changes, err := plan()
	if err == nil {
		err = config.Apply(changes, connecting)
	}
	if err != nil {
		c.t.Fatal(err)
	}
	return changes
}

func (c *configured) same(before map[string]string) {
	c.t.Helper()
	after := c.files()
	for path, text := range before {
		if after[path] != text {
			c.t.Errorf("%s was\n%q\nand is\n%q", path, text, after[path])
		}
	}
	for path := range after {
		if _, ok := before[path]; !ok {
			c.t.Errorf("%s is left", path)
		}
	}
}

// jsonTexts are files as people have them, by what is special about them.
var jsonTexts = map[string]string{
	"empty object":     "{}",
	"empty lines":      "{\n}\n",
	"empty file":       "",
	"blank file":       "\n\n",
	"one line":         `{"a":1,"b":[1,2]}`,
	"indented":         "{\n  \"a\": 1,\n  \"b\": {\n    \"c\": [1, 2]\n  }\n}\n",
	"four blanks":      "{\n    \"a\": 1\n}\n",
	"tabs":             "{\n\t\"a\": {\n\t\t\"b\": true\n\t}\n}\n",
	"carriage returns": "{\r\n  \"a\": 1\r\n}\r\n",
	"byte order mark":  "\xef\xbb\xbf{\n  \"a\": 1\n}\n",
	"no last newline":  "{\n  \"a\": 1\n}",
	"odd layout":       "{ \"a\" : 1\n , \"b\":2 }\n",
	"other servers":    "{\n  \"mcpServers\": {\n    \"other\": {\n      \"command\": \"x\"\n    }\n  },\n  \"mcp\": {\"other\": {\"type\": \"local\"}}\n}\n",
	"empty servers":    "{\"mcpServers\": {}, \"mcp\": {}}\n",
	"other hooks":      "{\n  \"hooks\": {\n    \"PreToolUse\": [\n      {\"matcher\": \"Bash\", \"hooks\": [{\"type\": \"command\", \"command\": \"check hook x\"}]}\n    ],\n    \"Stop\": []\n  },\n  \"model\": \"opus\"\n}\n",
	"escapes":          "{\n  \"caf\\u00e9 \\\"x\\\"\": \"a\\\\\",\n  \"é\": \"}\"\n}\n",
}

var jsonPaths = map[string][]string{
	"claude-code": {".mcp.json", ".claude/settings.json"},
	"codex":       {".codex/hooks.json"},
	"cursor":      {".cursor/mcp.json", ".cursor/hooks.json"},
	"gemini":      {".gemini/settings.json"},
	"opencode":    {"opencode.json"},
}

func TestConnectThenDisconnectLeavesEveryByte(t *testing.T) {
	for name, text := range jsonTexts {
		for program, paths := range jsonPaths {
			t.Run(name+" "+program, func(t *testing.T) {
				c := newConfigured(t)
				for _, path := range paths {
					c.write(filepath.Join(c.root, path), text)
				}
				c.roundTrip(program, Project)
				for _, path := range paths {
					c.without(program, filepath.Join(c.root, path), text)
				}
			})
		}
	}
}

// roundTrip connects and disconnects.
func (c *configured) roundTrip(program string, scope Scope) {
	c.t.Helper()
	before := c.files()
	config := c.config(program, scope)
	changes := c.apply(config, true)
	if len(changes) == 0 {
		c.t.Fatal("nothing was written")
	}
	for _, change := range changes {
		text, err := os.ReadFile(change.Path)
		if err != nil {
			c.t.Fatal(err)
		}
		if filepath.Ext(change.Path) == ".json" && !json.Valid([]byte(strings.TrimPrefix(string(text), "\xef\xbb\xbf"))) {
			c.t.Errorf("%s is not JSON:\n%s", change.Path, text)
		}
		if change.Action == Edit && strings.Contains(before[change.Path], "\r\n") && strings.Contains(strings.ReplaceAll(string(text), "\r\n", ""), "\n") {
			c.t.Errorf("%s has two kinds of line ends: %q", change.Path, text)
		}
	}
	if again := c.apply(config, true); len(again) != 0 {
		c.t.Errorf("connected twice: %s", again[0].Diff)
	}
	c.apply(config, false)
	c.same(before)
	if again := c.apply(config, false); len(again) != 0 {
		c.t.Errorf("disconnected twice: %s", again[0].Diff)
	}
}

// without takes the parts out of a file by themselves, without the copy of what was there; what a file says stays the same.
func (c *configured) without(program, path, text string) {
	c.t.Helper()
	config := c.config(program, Project)
	c.apply(config, true)
	if err := os.RemoveAll(config.Kept); err != nil {
		c.t.Fatal(err)
	}
	c.apply(config, false)
	now, err := os.ReadFile(path)
	if err != nil && strings.TrimSpace(text) != "" && strings.Trim(text, "{}\n ") != "" && !strings.Contains(text, "mcpServers\": {}") {
		c.t.Fatal(err)
	}
	if strings.Contains(string(now), "loadout") {
		c.t.Errorf("left: %s", now)
	}
	if filepath.Base(path) != "hooks.json" || program != "cursor" { // its version may have been there
		c.says(string(now), text)
	}
}

// says compares a file with what it was, unless that was without content.
func (c *configured) says(now, text string) {
	c.t.Helper()
	if !strings.Contains(text, "{}") && !strings.Contains(text, "[]") && strings.Trim(text, "{}\n ") != "" && now != text {
		c.t.Errorf("was\n%q\nis\n%q", text, now)
	}
}

func TestRoundTripOfOtherFiles(t *testing.T) {
	for name, text := range map[string]string{
		"nothing": "", "lines": "# Title\n\ntext\n", "no last newline": "text", "blank lines at the end": "text\n\n\n",
		"carriage returns": "a\r\nb\r\n", "byte order mark": "\xef\xbb\xbfa = 1\n",
	} {
		for _, scope := range []Scope{Project, User} {
			t.Run(name+" "+string(scope), func(t *testing.T) {
				c := newConfigured(t)
				for _, path := range []string{"CLAUDE.md", "AGENTS.md", "GEMINI.md"} {
					c.write(filepath.Join(c.root, path), text)
				}
				for _, program := range Programs() {
					c.roundTrip(program, scope)
				}
			})
		}
	}
	for name, text := range map[string]string{
		"empty": "", "keys": "model = \"gpt\"\n\n[tui]\nx = 1", "other servers": "[mcp_servers.other]\ncommand = \"x\"\n", "carriage returns": "a = 1\r\n",
		"comments": "# all mine\na = 1 # here\n", "arrays": "[[x]]\ny = 1\n[[x]]\ny = 2\n",
	} {
		t.Run("toml "+name, func(t *testing.T) {
			c := newConfigured(t)
			path := filepath.Join(c.home, ".codex", "config.toml")
			c.write(path, text)
			c.roundTrip("codex", User)
			c.apply(c.config("codex", User), true)
			var got struct {
				Servers map[string]struct {
					Command string
					Args    []string
				} `toml:"mcp_servers"`
			}
			if _, err := toml.DecodeFile(path, &got); err != nil || got.Servers["loadout"].Command != "loadout" || got.Servers["loadout"].Args[0] != "serve" {
				t.Errorf("%+v %v", got, err)
			}
		})
	}
}

func TestRefusedUntouched(t *testing.T) {
	for name, tt := range map[string]struct{ program, path, text, reason string }{
		"comment":             {"claude-code", ".claude/settings.json", "{\n  // mine\n  \"a\": 1\n}\n", "line 2: comments are not allowed"},
		"trailing comma":      {"claude-code", ".claude/settings.json", "{\"a\": 1,\n}\n", "line 2: has a trailing comma"},
		"trailing comma 2":    {"cursor", ".cursor/mcp.json", "{\"a\": [1,]}", "trailing comma"},
		"cut off":             {"claude-code", ".mcp.json", "{\"a\": {", "ends too early"},
		"a list":              {"claude-code", ".mcp.json", "[]", "not an object"},
		"two values":          {"claude-code", ".mcp.json", "{}{}", "behind the value"},
		"doubled key":         {"gemini", ".gemini/settings.json", `{"a":1,"a":2}`, `"a" twice`},
		"not UTF-8":           {"claude-code", ".mcp.json", "{\"a\": \"\xff\"}", "UTF-8"},
		"wrong kind":          {"claude-code", ".mcp.json", `{"mcpServers": []}`, "mcpServers is not an object"},
		"wrong hooks":         {"claude-code", ".claude/settings.json", `{"hooks": {"PreToolUse": {}}}`, "hooks.PreToolUse is not a list"},
		"another's server":    {"claude-code", ".mcp.json", `{"mcpServers": {"loadout": {"command": "other"}}}`, "none of this program"},
		"bad toml":            {"codex", ".codex/config.toml", "a = \n", "config.toml"},
		"inline servers":      {"codex", ".codex/config.toml", "mcp_servers = {other = {command = \"x\"}}\n", "cannot be added"},
		"another's table":     {"codex", ".codex/config.toml", "[mcp_servers.loadout]\ncommand = \"other\"\n", "none of this program"},
		"half a block":        {"gemini", "GEMINI.md", "<!-- loadout begins -->\nmine\n", "do not match"},
		"binary":              {"gemini", "GEMINI.md", "a\x00b", "not a text"},
		"wrong kind of hooks": {"cursor", ".cursor/hooks.json", `{"version": 1, "hooks": []}`, "hooks is not an object"},
		"dotted servers":      {"codex", ".codex/config.toml", "mcp_servers.other.command = \"x\"\n", "cannot be added"},
		"null":                {"gemini", ".gemini/settings.json", "null\n", "not an object"},
		"another's rule":      {"cursor", ".cursor/rules/loadout.mdc", "mine", "not a file of this program"},
	} {
		t.Run(name, func(t *testing.T) {
			c := newConfigured(t)
			c.write(filepath.Join(c.root, tt.path), tt.text)
			before := c.files()
			_, err := c.config(tt.program, Project).Connect()
			if err == nil || !strings.Contains(err.Error(), tt.reason) {
				t.Errorf("error %v", err)
			}
			c.same(before)
		})
	}
}

// What a person changes in between stays, and only our parts go.
func TestChangesInBetweenStay(t *testing.T) {
	c := newConfigured(t)
	settings := filepath.Join(c.root, ".claude", "settings.json")
	c.write(settings, "{\n  \"model\": \"opus\"\n}\n")
	config := c.config("claude-code", Project)
	c.apply(config, true)
	text, err := os.ReadFile(settings)
	if err != nil {
		t.Fatal(err)
	}
	c.write(settings, strings.Replace(string(text), `"opus"`, `"sonnet"`, 1))
	notes := filepath.Join(c.root, "CLAUDE.md")
	text, err = os.ReadFile(notes)
	if err != nil {
		t.Fatal(err)
	}
	c.write(notes, string(text)+"\nmore\n")
	c.apply(config, false)
	for path, want := range map[string]string{settings: "{\n  \"model\": \"sonnet\"\n}\n", notes: "\nmore\n"} {
		if now, err := os.ReadFile(path); err != nil || string(now) != want {
			t.Errorf("%s: %q, %v", path, now, err)
		}
	}
	if _, err := os.Stat(filepath.Join(c.root, ".mcp.json")); !os.IsNotExist(err) {
		t.Error("what was made is left")
	}
}

func TestLinksAndModesStay(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("skipped: on Windows links need rights that a test may not have")
	}
	c := newConfigured(t)
	target := filepath.Join(c.home, "dotfiles", "settings.json")
	c.write(target, "{\"a\": 1}\n")
	if err := os.Chmod(target, 0o604); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(c.root, ".claude", "settings.json")
	if err := os.MkdirAll(filepath.Dir(link), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
	before := c.files()
	config := c.config("claude-code", Project)
	c.apply(config, true)
	now := c.files()
	if now[link] != before[link] || !strings.HasPrefix(now[target], "-rw----r-- ") || !strings.Contains(now[target], "loadout hook") {
		t.Errorf("%q %q", now[link], now[target])
	}
	c.apply(config, false)
	c.same(before)
	if err := os.Remove(target); err != nil {
		t.Fatal(err)
	}
	if _, err := config.Connect(); err == nil || !strings.Contains(err.Error(), "leads nowhere") {
		t.Errorf("error %v", err)
	}
}

func TestCommentsStay(t *testing.T) {
	c := newConfigured(t)
	path := filepath.Join(c.root, "opencode.json")
	text := "{\n  // my model\n  \"model\": \"x\", /* here */\n  \"mcp\": {\n    // none yet\n  } // end\n}\n"
	c.write(path, text)
	config := c.config("opencode", Project)
	c.apply(config, true)
	now, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"// my model", "/* here */", "// none yet", "// end", `"loadout": {`} {
		if !strings.Contains(string(now), want) {
			t.Errorf("no %s in\n%s", want, now)
		}
	}
	if _, err := parseJSON(now, true); err != nil {
		t.Error(err)
	}
	c.apply(config, false)
	if now, err := os.ReadFile(path); err != nil || string(now) != text {
		t.Errorf("%q %v", now, err)
	}
}

// A file that a person has emptied stays, and what was in it does not come back.
func TestEmptiedByHand(t *testing.T) {
	c := newConfigured(t)
	settings := filepath.Join(c.root, ".claude", "settings.json")
	c.write(settings, "{\n  \"model\": \"opus\"\n}\n")
	config := c.config("claude-code", Project)
	c.apply(config, true)
	c.edit(settings, "  \"model\": \"opus\",\n", "")
	c.apply(config, false)
	c.reads(settings, "{}\n")
}

// What a person changes between two connects stays, and a folder that was made for the first one goes all the same.
func TestConnectedAgainAfterAnEdit(t *testing.T) {
	for added, left := range map[string]string{"\n": "", "\"model\": \"opus\",\n  ": "{\n  \"model\": \"opus\"\n}\n"} {
		c := newConfigured(t)
		config := c.config("claude-code", Project)
		c.apply(config, true)
		settings := filepath.Join(c.root, ".claude", "settings.json")
		c.edit(settings, `"hooks": {`, added+`"hooks": {`)
		config.Command = "/opt/loadout"
		c.apply(config, true)
		c.apply(config, false)
		if left != "" {
			c.reads(settings, left)
		} else if files := c.files(); len(files) != 2 {
			t.Errorf("left: %v", files)
		}
	}
}

// Connecting again after the program has moved leaves no entry of one that is gone, and nothing at all after disconnecting.
func TestConnectedAgainAfterAMove(t *testing.T) {
	for program, paths := range jsonPaths {
		c := newConfigured(t)
		config := c.config(program, Project)
		before := c.files()
		config.Command = filepath.Join(c.root, "gone", "loadout")
		c.apply(config, true)
		config.Command = "/opt/loadout"
		c.apply(config, true)
		for _, path := range paths {
			if text, err := os.ReadFile(filepath.Join(c.root, path)); err != nil || strings.Contains(string(text), "gone") || !strings.Contains(string(text), "/opt/loadout") {
				t.Errorf("%s: %s, %v", program, text, err)
			}
		}
		c.apply(config, false)
		c.same(before)
	}
}

// Codex writes its own tables in front of the last comment of the file, which is the end of our block, and takes out the comment in front
// of a table when it adds one behind it. (Seen with 0.171.0, which trusts a folder and then adds a server.)
func TestTablesThatCodexWroteIntoOurBlockStay(t *testing.T) {
	const trusted = "# mine\n[projects.\"/x\"]\ntrust_level = \"trusted\"\n"
	for _, mark := range []string{"# loadout begins\n", ""} {
		c := newConfigured(t)
		path := filepath.Join(c.home, ".codex", "config.toml")
		c.write(path, "model = \"gpt\"\n")
		config := c.config("codex", User)
		c.apply(config, true)
		c.edit(path, "# loadout begins\n", mark)
		c.edit(path, "# loadout ends\n", "\n[mcp_servers.loadout.env]\nA = \"b\"\n\n"+trusted+"# loadout ends\n")
		written, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		c.apply(config, true)
		if again := c.apply(config, true); len(again) != 0 {
			t.Errorf("connected twice: %s", again[0].Diff)
		}
		c.write(path, string(written))
		c.apply(config, false)
		c.reads(path, "model = \"gpt\"\n\n\n"+trusted)
	}
}

// An entry that was made by hand, as the manual of the server says, is taken for ours.
func TestMadeByHand(t *testing.T) {
	own := filepath.Join(t.TempDir(), "loadout")
	if err := os.WriteFile(own, []byte("#!/bin/sh\n"), 0o700); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	for program, file := range map[string][2]string{
		"claude-code": {".mcp.json", `{"mcpServers": {"loadout": {"command": "loadout", "args": ["serve"], "env": {"A": "b"}}, "x": {"command": "y"}}}`},
		"opencode":    {"opencode.json", `{"mcp": {"loadout": {"type": "local", /* mine */ "command": ["` + own + `", "serve"]}, "x": {}}}`},
		"codex":       {".codex/config.toml", "[mcp_servers.loadout]\ncommand = \"loadout\"\nargs = [\"serve\"]\n\n[mcp_servers.x]\ncommand = \"y\"\n"},
	} {
		c := newConfigured(t)
		path := filepath.Join(c.root, file[0])
		c.write(path, file[1])
		config := c.config(program, Project)
		c.apply(config, true)
		c.reads(path, file[1])
		c.apply(config, false)
		if text, err := os.ReadFile(path); err != nil || strings.Contains(string(text), "loadout") || !strings.Contains(string(text), "x") {
			t.Errorf("%s: %q, %v", program, text, err)
		}
	}
}

// Codex and opencode read one file: it keeps the instruction as long as one of them is connected.
func TestSharedInstruction(t *testing.T) {
	c := newConfigured(t)
	before := c.files()
	codex, opencode := c.config("codex", Project), c.config("opencode", Project)
	c.apply(codex, true)
	c.apply(opencode, true)
	c.apply(codex, false)
	if text, err := os.ReadFile(filepath.Join(c.root, "AGENTS.md")); err != nil || !strings.Contains(string(text), "loadout begins") {
		t.Errorf("%q, %v", text, err)
	}
	c.apply(opencode, false)
	c.same(before)
	if runtime.GOOS == "windows" {
		return // links need rights there
	}
	c.write(filepath.Join(c.root, "AGENTS.md"), "mine\n")
	if err := os.Symlink("AGENTS.md", filepath.Join(c.root, "CLAUDE.md")); err != nil {
		t.Fatal(err)
	}
	before = c.files()
	claude := c.config("claude-code", Project)
	c.apply(claude, true)
	c.apply(codex, true)
	c.apply(claude, false)
	if text, err := os.ReadFile(filepath.Join(c.root, "AGENTS.md")); err != nil || strings.Count(string(text), "loadout begins") != 1 {
		t.Errorf("%q, %v", text, err)
	}
	c.apply(codex, false)
	c.same(before)
}

// Of several at once one writes, and what it made goes with it.
func TestConnectedAtOnce(t *testing.T) {
	c := newConfigured(t)
	c.write(filepath.Join(c.root, ".mcp.json"), "{}\n")
	before := c.files()
	config := c.config("claude-code", Project)
	var wg sync.WaitGroup
	var done atomic.Int32
	var plans [8][]*Change
	for i := range plans {
		var err error
		if plans[i], err = config.Connect(); err != nil {
			t.Fatal(err)
		}
	}
	for _, changes := range plans {
		wg.Go(func() {
			var refused *RefusedError
			if err := config.Apply(changes, true); err == nil {
				done.Add(1)
			} else if !errors.As(err, &refused) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if done.Load() != 1 {
		t.Errorf("%d have written", done.Load())
	}
	c.apply(config, false)
	c.same(before)
}

// A folder that cannot be made is found before anything is written.
func TestLinkInPlaceOfAFolder(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("skipped: on Windows links need rights that a test may not have")
	}
	c := newConfigured(t)
	if err := os.Symlink(filepath.Join(c.home, "nowhere"), filepath.Join(c.root, ".claude")); err != nil {
		t.Fatal(err)
	}
	if _, err := c.config("claude-code", Project).Connect(); err == nil || !strings.Contains(err.Error(), ".claude is a link that leads nowhere") {
		t.Errorf("error %v", err)
	}
}

func TestReadOnlyFileIsRefused(t *testing.T) {
	c := newConfigured(t)
	path := filepath.Join(c.root, ".mcp.json")
	c.write(path, "{}\n")
	if err := os.Chmod(path, 0o444); err != nil {
		t.Fatal(err)
	}
	if _, err := c.config("claude-code", Project).Connect(); err == nil || !strings.Contains(err.Error(), "is read-only") {
		t.Errorf("error %v", err)
	}
}

// When somebody changes one of the files after the preview, none is written.
func TestChangedAfterThePreview(t *testing.T) {
	c := newConfigured(t)
	config := c.config("claude-code", Project)
	changes, err := config.Connect()
	if err != nil {
		t.Fatal(err)
	}
	c.write(filepath.Join(c.root, "CLAUDE.md"), "mine\n")
	before := c.files()
	var refused *RefusedError
	if err := config.Apply(changes, true); !errors.As(err, &refused) || !strings.Contains(err.Error(), "this moment") {
		t.Errorf("error %v", err)
	}
	c.same(before)
}

// The path of the program is one word for the shell that runs a hook.
func TestHookCommandIsQuoted(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("skipped: the shells of Windows quote in another way")
	}
	c := newConfigured(t)
	config := c.config("gemini", Project)
	config.Command = "/o'dd/$(x) `y` \"z\"/loadout"
	c.apply(config, true)
	var set struct {
		Hooks map[string][]struct{ Hooks []struct{ Command string } }
	}
	text, err := os.ReadFile(filepath.Join(c.root, ".gemini", "settings.json"))
	if err == nil {
		err = json.Unmarshal(text, &set)
	}
	if err != nil {
		t.Fatal(err)
	}
	command := strings.TrimSuffix(set.Hooks["BeforeTool"][0].Hooks[0].Command, " hook BeforeTool --host gemini")
	if said, err := exec.CommandContext(t.Context(), "sh", "-c", "printf %s "+command).Output(); err != nil || string(said) != config.Command {
		t.Errorf("%s is read as %s, %v", command, said, err)
	}
	c.apply(config, false)
	if _, err := os.Stat(filepath.Join(c.root, ".gemini")); !os.IsNotExist(err) {
		t.Error("what was made is left")
	}
}

func (c *configured) edit(path, old, by string) {
	c.t.Helper()
	text, err := os.ReadFile(path)
	if err != nil || strings.Count(string(text), old) != 1 {
		c.t.Fatalf("%q is not once in %q, %v", old, text, err)
	}
	c.write(path, strings.Replace(string(text), old, by, 1))
}

func (c *configured) reads(path, want string) {
	c.t.Helper()
	if text, err := os.ReadFile(path); err != nil || string(text) != want {
		c.t.Errorf("%s is %q, want %q, %v", path, text, want, err)
	}
}

func FuzzEditJSON(f *testing.F) {
	for _, text := range jsonTexts {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		e := jsonHooks([]hookEntry{{event: "PreToolUse", matcher: "Edit", command: "loadout hook PreToolUse", timeout: 1}}, false, false)
		after, err := e.put(text)
		if err != nil {
			return
		}
		var was, is map[string]any
		if json.Unmarshal(bytes.TrimPrefix(after, bom), &is) != nil {
			t.Fatalf("%q became %q, which is not JSON", text, after)
		}
		again, err := e.put(after)
		if err != nil || string(again) != string(after) {
			t.Fatalf("%q became %q: %v", after, again, err)
		}
		cut, err := e.cut(after)
		if err != nil {
			t.Fatalf("cut %q: %v", after, err)
		}
		if json.Unmarshal(bytes.TrimPrefix(text, bom), &was) != nil || was["hooks"] != nil || len(was) == 0 {
			return // what was empty may be gone
		}
		is = nil
		if json.Unmarshal(bytes.TrimPrefix(cut, bom), &is) != nil {
			t.Fatalf("%q became %q, which is not JSON", after, cut)
		}
		if delete(was, "hooks"); !reflect.DeepEqual(was, is) {
			t.Fatalf("%q became %q", text, cut)
		}
	})
}
