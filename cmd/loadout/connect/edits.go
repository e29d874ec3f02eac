package connect

import (
	"bytes"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/turn"
)

// edit changes the text of a file: put writes our part into it, cut takes it out. nil stands for a file that is not there.
type edit struct {
	put func(text []byte) ([]byte, error)
	cut func(text []byte) ([]byte, error)
}

// name is what Loadout's server is called in every program.
const name = "loadout"

// isOurs reports whether a command line runs this program with a verb.
func isOurs(words []string, verb string) bool {
	if len(words) < 2 {
		return false
	}
	base := filepath.Base(strings.ReplaceAll(words[0], `\`, "/"))
	return strings.TrimSuffix(base, ".exe") == name && words[1] == verb
}

// commandWords are the words of a server's entry: its command, a word or a list, and its args.
func commandWords(entry any) []string {
	m, ok := entry.(map[string]any)
	if !ok {
		return nil
	}
	var words []string
	for _, key := range []string{"command", "args"} {
		switch v := m[key].(type) {
		case string:
			words = append(words, v)
		case []any:
			for _, w := range v {
				words = append(words, fmt.Sprint(w))
			}
		}
	}
	return words
}

// isServer reports whether an entry runs the server of this program, also one that was written by hand. own is the command line of ours.
func isServer(entry any, own []string) bool {
	words := commandWords(entry)
	return isOurs(words, "serve") || slices.Equal(words, own)
}

// jsonServer writes the entry of the server at a path of member names.
func jsonServer(entry map[string]any, comments bool, section string) edit {
	at := []string{section, name}
	ours := func(found any) bool { return isServer(found, commandWords(entry)) }
	return edit{
		put: func(text []byte) ([]byte, error) {
			d, err := parseJSON(text, comments)
			if err != nil {
				return nil, err
			}
			n, err := d.find(at...)
			switch {
			case err != nil:
				return nil, err
			case n == nil:
				err = d.set(entry, at...)
			case ours(d.decode(n)): // maybe as somebody has changed it
				err = d.relocate(n.get("command"), commandWords(entry)[0])
			default:
				err = fmt.Errorf("%s has an entry %s that is none of this program", section, name)
			}
			return d.text, err
		},
		cut: func(text []byte) ([]byte, error) {
			d, err := parseJSON(text, comments)
			if err != nil {
				return nil, err
			}
			n, err := d.find(at...)
			if err != nil || n == nil || !ours(d.decode(n)) {
				return text, err
			}
			servers, err := d.find(section)
			if err != nil {
				return nil, err
			}
			i := slices.IndexFunc(servers.members, func(m member) bool { return m.key == name })
			err = errors.Join(d.remove(servers, i), d.prune(section))
			return d.text, err
		},
	}
}

// relocate puts this program in the place of one that is not there any more in the command of a server: a string, or the first of a list.
func (d *document) relocate(command *node, program string) error {
	if command != nil && command.isList() && len(command.items) > 0 {
		command = command.items[0]
	}
	if command == nil {
		return nil
	}
	was, isText := d.decode(command).(string)
	if !isText || was == program {
		return nil
	}
	if _, err := exec.LookPath(was); err == nil {
		return nil
	}
	return d.replace(command, program)
}

// hookEntry is what a program runs at an event.
type hookEntry struct {
	event, matcher, command string
	timeout                 int  // in the program's unit
	flat                    bool // the command is the item itself, as in Cursor, and not one of a list in it
}

func (h hookEntry) item() map[string]any {
	item := map[string]any{"command": h.command, "timeout": h.timeout}
	if !h.flat {
		item["type"] = "command"
		item = map[string]any{"hooks": []any{item}}
	}
	if h.matcher != "" {
		item["matcher"] = h.matcher
	}
	return item
}

// hookCommands are the commands of an item in a list of hooks.
func hookCommands(item any) []string {
	m, _ := item.(map[string]any) //nolint:errcheck // nil has no members
	list, nested := m["hooks"].([]any)
	if !nested {
		list = []any{item}
	}
	commands := []string{}
	for _, h := range list {
		one, _ := h.(map[string]any)          //nolint:errcheck // as above
		command, _ := one["command"].(string) //nolint:errcheck // as above
		commands = append(commands, command)
	}
	return commands
}

// isHook reports whether a command is a hook of this program.
func isHook(command string) bool {
	program, rest, found := strings.Cut(command, " hook ")
	return found && rest != "" && isOurs([]string{strings.Trim(program, `"' `), "hook"}, "hook")
}

// jsonHooks writes hooks as Claude Code, Codex, Gemini CLI and Cursor have them. Cursor's file needs a version.
func jsonHooks(entries []hookEntry, comments, versioned bool) edit {
	ours := func(command string) bool {
		return isHook(command) || slices.ContainsFunc(entries, func(h hookEntry) bool { return h.command == command })
	}
	return edit{
		put: func(text []byte) ([]byte, error) {
			d, err := parseJSON(text, comments)
			if err != nil {
				return nil, err
			}
			if versioned && d.root.get("version") == nil {
				if err := d.set(1, "version"); err != nil {
					return nil, err
				}
			}
			for _, entry := range entries {
				if err := d.putHook(entry, ours); err != nil {
					return nil, err
				}
			}
			return d.text, nil
		},
		cut: func(text []byte) ([]byte, error) {
			d, err := parseJSON(text, comments)
			if err != nil {
				return nil, err
			}
			before := string(d.text)
			for _, entry := range entries {
				if err := d.cutHooks(entry.event, ours); err != nil {
					return nil, err
				}
			}
			if string(d.text) == before {
				return text, nil
			}
			err = d.prune("hooks")
			return d.text, err
		},
	}
}

func (d *document) putHook(h hookEntry, ours func(string) bool) error {
	list, err := d.find("hooks", h.event)
	if err != nil {
		return err
	}
	if list != nil {
		for _, n := range list.items {
			switch commands := hookCommands(d.decode(n)); {
			case !slices.ContainsFunc(commands, ours):
			case slices.Contains(commands, h.command):
				return nil
			case len(commands) == 1:
				return d.replace(n, h.item())
			default:
				return fmt.Errorf("hooks.%s has an older hook of this program among others; take it out", h.event)
			}
		}
	}
	return d.add(h.item(), "hooks", h.event)
}

func (d *document) cutHooks(event string, ours func(string) bool) error {
	for {
		list, err := d.find("hooks", event)
		if err != nil || list == nil {
			return err
		}
		i := slices.IndexFunc(list.items, func(n *node) bool { return slices.ContainsFunc(hookCommands(d.decode(n)), ours) })
		if i < 0 {
			return nil
		}
		own := list.items[i].get("hooks")
		if commands := hookCommands(d.decode(list.items[i])); len(commands) > 1 { // somebody put others beside ours
			err = d.remove(own, slices.IndexFunc(commands, ours))
		} else {
			err = errors.Join(d.remove(list, i), d.prune("hooks", event))
		}
		if err != nil {
			return err
		}
	}
}

// passed are the variables that Codex, which clears the environment of its servers, is to leave in: in a turn of the bridge they say
// whose turn it is.
var passed = []string{engine.EnvAgent, "LOADOUT_PROJECT", turn.EnvMark}

// tomlServer writes the table of the server into Codex's configuration.
func tomlServer(command string, args []string) edit {
	own := append([]string{command}, args...)
	b := script(fmt.Sprintf("[mcp_servers.%s]\ncommand = %s\nargs = %s\nenv_vars = %s\n",
		name, tomlText(command), tomlList(args), tomlList(passed)), false)
	return edit{
		put: func(text []byte) ([]byte, error) {
			others, entry, err := tomlServers(text)
			marked := lineOf(text, b.begin) >= 0 || lineOf(text, b.end) >= 0
			switch {
			case err != nil:
				return nil, err
			case entry != nil && !isServer(entry, own):
				return nil, fmt.Errorf("mcp_servers has an entry %s that is none of this program", name)
			case entry != nil && !marked: // made by hand
				return text, nil
			case unextendable.Match(text):
				return nil, fmt.Errorf("mcp_servers is not written as tables there, so that mcp_servers.%s cannot be added", name)
			}
			after, err := b.put(text)
			if err == nil {
				_, err = sameTOML(after, others)
			}
			if err != nil && marked { // Codex has written into the block, or taken a mark out
				if after, err = b.put(cutTable(b.unmark(text))); err == nil {
					_, err = sameTOML(after, others)
				}
			}
			return after, err
		},
		cut: func(text []byte) ([]byte, error) {
			others, entry, err := tomlServers(text)
			if err != nil || entry != nil && !isServer(entry, own) {
				return text, err
			}
			if after, err := b.cut(text); err == nil {
				if left, err := sameTOML(after, others); err == nil && left == nil {
					return after, nil
				}
			}
			after := cutTable(b.unmark(text)) // it is not as we wrote it: Codex moves the end of the file
			left, err := sameTOML(after, others)
			if err == nil && left != nil {
				err = fmt.Errorf("mcp_servers.%s is not written as a table, and cannot be taken out", name)
			}
			return after, err
		},
	}
}

// tomlTable is a table of TOML.
type tomlTable = map[string]any

// tomlServers reads a configuration: the entry of our server, nil for none, and the rest.
func tomlServers(text []byte) (others tomlTable, entry any, err error) {
	others = tomlTable{}
	if err := toml.Unmarshal(bytes.TrimPrefix(text, bom), &others); err != nil {
		return nil, nil, errors.New(strings.TrimPrefix(err.Error(), "toml: "))
	}
	if servers, ok := others["mcp_servers"].(tomlTable); ok {
		entry = servers[name]
		if delete(servers, name); len(servers) == 0 {
			delete(others, "mcp_servers")
		}
	}
	return others, entry, nil
}

// sameTOML refuses a text that says anything else than others, beside the entry of our server, which it returns.
func sameTOML(text []byte, others tomlTable) (entry any, err error) {
	now, entry, err := tomlServers(text)
	switch {
	case err != nil:
		return nil, fmt.Errorf("mcp_servers.%s cannot be edited by itself: %w", name, err)
	case !reflect.DeepEqual(now, others):
		return nil, fmt.Errorf("mcp_servers.%s cannot be edited without changing other parts", name)
	}
	return entry, nil
}

// cutTable takes the tables of our server out, wherever they are. What stands between their last key and the next table stays.
func cutTable(text []byte) []byte {
	var kept, between []byte
	inside := false
	for line := range bytes.Lines(text) {
		trimmed := bytes.TrimSpace(line)
		if bytes.HasPrefix(trimmed, []byte("[")) {
			inside = ownTable.Match(trimmed)
		}
		switch {
		case !inside:
			kept, between = append(append(kept, between...), line...), nil
		case len(trimmed) == 0 || trimmed[0] == '#':
			between = append(between, line...)
		default:
			between = nil
		}
	}
	return append(kept, between...)
}

// ownTable finds the headers of our server's tables.
var ownTable = regexp.MustCompile(`^\[[ \t]*["']?mcp_servers["']?[ \t]*\.[ \t]*["']?` + name + `["']?[ \t]*[\].]`)

// unextendable finds servers that are written as one value or with dotted keys, which a table cannot be added to.
var unextendable = regexp.MustCompile(`(?m)^[ \t]*["']?mcp_servers["']?[ \t]*[=.]`)

func tomlList(texts []string) string {
	quoted := make([]string, len(texts))
	for i, t := range texts {
		quoted[i] = tomlText(t)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// tomlText is a basic string of TOML, whose escapes are those of JSON.
func tomlText(s string) string {
	text, err := render("", s, "", "", "\n", true)
	if err != nil {
		return `""`
	}
	return text
}

// marked writes a block of a text file.
func marked(b block) edit { return edit{put: b.put, cut: b.cut} }
