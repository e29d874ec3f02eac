package claude

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agentloadout/loadout/engine/turn"
)

// modes are the permission modes of the program, with what they mean when nobody can be asked.
var modes = map[string]string{
	"default":           "reads files and runs commands that only read; edits and other commands need the leave of its settings",
	"acceptEdits":       "edits files in its folder without asking",
	"auto":              "decides by itself what it may do",
	"plan":              "plans, and is told not to change anything",
	"dontAsk":           "does only what its settings allow beforehand",
	"bypassPermissions": "does everything without asking: edits, commands, network",
}

// Describe says what the permissions let a turn do.
func (Provider) Describe(p turn.Permissions) (string, error) {
	if _, err := permissionFlags(p); err != nil {
		return "", err
	}
	if p.Forbid {
		return "no tools: it can only answer", nil
	}
	text := modes["default"]
	if p.Mode != "" {
		text = p.Mode + ": " + modes[p.Mode]
	}
	if len(p.Allow) > 0 {
		text += "; allowed: " + strings.Join(p.Allow, ", ")
	}
	if len(p.Deny) > 0 {
		text += "; taken away: " + strings.Join(p.Deny, ", ")
	}
	if p.Model != "" {
		text += "; model " + p.Model
	}
	return text, nil
}

// permissionFlags are the flags for permissions, or a *turn.Failure for those that the program does not know.
func permissionFlags(p turn.Permissions) ([]string, error) {
	refuse := func(format string, args ...any) ([]string, error) {
		return nil, claude.Failure(turn.Rejected, turn.Nothing, fmt.Sprintf(format, args...), nil)
	}
	for _, word := range slices.Concat(p.Allow, p.Deny, []string{p.Model}) {
		if strings.HasPrefix(word, "-") || strings.ContainsAny(word, "\x00\n") {
			return refuse("%q is no name of a tool or model", word)
		}
	}
	if slices.Contains(p.Allow, "") || slices.Contains(p.Deny, "") {
		return refuse("the name of a tool is empty")
	}
	var flags []string
	if p.Model != "" {
		flags = append(flags, "--model", p.Model)
	}
	if p.Forbid {
		if p.Mode != "" || len(p.Allow) > 0 {
			return refuse("everything is forbidden and something allowed")
		}
		// No tools of its own, no MCP servers, and no hooks of settings files, which are commands too.
		return append(flags, "--tools", "", "--strict-mcp-config", "--setting-sources", ""), nil
	}
	if p.Mode != "" {
		if _, known := modes[p.Mode]; !known {
			return refuse("%q is no permission mode; there are acceptEdits, auto, bypassPermissions, default, dontAsk and plan", p.Mode)
		}
		flags = append(flags, "--permission-mode", p.Mode)
	}
	if len(p.Allow) > 0 {
		flags = append(append(flags, "--allowedTools"), p.Allow...)
	}
	if len(p.Deny) > 0 {
		flags = append(append(flags, "--disallowedTools"), p.Deny...)
	}
	return flags, nil
}
