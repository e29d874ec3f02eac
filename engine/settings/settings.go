// Package settings reads what a person and a project have set: config.json of the person, then settings.json of the project, which wins.
//
// A section is a struct that Settings names; a key is one of its fields. The tags of a field are all that there is to say about it:
//
//	json:"theme"             its name in the file
//	allowed:"auto dark"      the only values that it takes (of a list: that its members take)
//	only:"user"              refused in a project's file, which may come with somebody else's repository
//	help:"colours"           what it is, for Keys and the documentation
//
// A key may be a bool, a number, a string, a struct, a list or a map of those by name, or a type with UnmarshalText, whose Allowed then
// says what it takes. Unknown keys, doubled keys and wrong values are refused with the file, the line and what is allowed.
package settings

import (
	"path/filepath"

	"github.com/agentloadout/loadout/engine/turn"
)

// File names, and the most that is read of one.
const (
	UserFile    = "config.json"   // in the person's configuration folder
	ProjectFile = "settings.json" // in .handoff
	maxBytes    = 256 << 10
)

// Settings is everything that can be set.
type Settings struct {
	Cockpit    Cockpit    `json:"cockpit"`
	Compaction Compaction `json:"compaction"`
	Bridge     Bridge     `json:"bridge"`
	Guard      Guard      `json:"guard"`

	Providers map[string]Provider `json:"providers" only:"user" help:"agent programs by name: how to start them and what their turns may do"`

	sources map[string]string // where a key was set, as file:line
}

// Cockpit is how the cockpit looks and which keys it knows.
type Cockpit struct {
	Theme  string              `json:"theme" allowed:"auto dark light none" help:"colours; auto goes by the terminal"`
	ASCII  bool                `json:"ascii" help:"draw without box characters"`
	Layout string              `json:"layout" allowed:"auto columns pair single" help:"how many panes at most: auto as many as the window has room for, pair two, single one"`
	Panes  []string            `json:"panes" allowed:"ownership contracts discussion bridge work gates timeline agents" help:"their order; those left out follow"`
	Keys   map[string][]string `json:"keys" help:"keys by what they do, in place of the usual ones"`
	Mouse  bool                `json:"mouse" help:"click to focus and select, wheel to scroll"`
	Bell   bool                `json:"bell" help:"ring when something needs a person"`
}

// Compaction is when the log is made smaller by itself.
type Compaction struct {
	Above Bytes `json:"above" help:"size of the log from which on it is compacted by itself"`
}

// Guard is what the hooks of agent programs do about edits.
type Guard struct {
	Mode   string `json:"mode" allowed:"deny ask warn" help:"what becomes of an edit of a path that another agent owns exclusively"`
	Halted string `json:"halted" allowed:"deny ask warn" help:"what becomes of an edit while the kill switch is on"`
	Claim  bool   `json:"claim" help:"claim what nobody owns for the agent that edits it, for half an hour"`
}

// Default is what holds where nothing is set.
func Default() Settings {
	return Settings{
		Cockpit:    Cockpit{Theme: "auto", Layout: "auto", Bell: true},
		Compaction: Compaction{Above: 1 << 30},
		Guard:      Guard{Mode: "deny", Halted: "deny"},
		Bridge:     Bridge{Depth: 3, Deadline: TurnTime(turn.DefaultDeadline)},
	}
}

// Source is where a key was set, as file:line, empty for a default. A key is written with dots: cockpit.theme.
func (s *Settings) Source(key string) string { return s.sources[key] }

// UserPath is where a person's settings are, by the environment: below XDG_CONFIG_HOME, else below ~/.config, on Windows below APPDATA. It
// is empty when none of these is known.
func UserPath(goos, home string, env func(string) string) string {
	if dir := env("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "loadout", UserFile)
	}
	if dir := env("APPDATA"); goos == "windows" && filepath.IsAbs(dir) {
		return filepath.Join(dir, "loadout", UserFile)
	}
	if goos != "windows" && filepath.IsAbs(home) {
		return filepath.Join(home, ".config", "loadout", UserFile)
	}
	return ""
}
