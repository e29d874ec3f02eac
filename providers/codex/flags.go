package codex

import (
	"fmt"
	"strings"

	"github.com/agentloadout/loadout/engine/turn"
)

// sandboxes are the program's, with what they mean. It never asks anybody in a turn of this kind.
var sandboxes = map[string]string{
	"read-only":          "reads everything and runs commands, which can write nothing and have no network",
	"workspace-write":    "runs commands and edits files in its folder; no network",
	"danger-full-access": "does everything: edits, commands, network",
}

// features are the abilities that are switched off in a forbidden turn. The program has no switch for all tools, so that a sandbox that
// cannot write comes with them. With code_mode_host off, the tools of models that call them by code fail.
var features = []string{
	"apps", "browser_use", "browser_use_external", "code_mode_host", "computer_use", "goals", "hooks", "image_generation", "memories", "multi_agent",
	"plugins", "shell_tool", "skill_search", "sleep_tool", "tool_suggest", "unified_exec", "view_image",
}

// Describe says what the permissions let a turn do.
func (Provider) Describe(p turn.Permissions) (string, error) {
	if _, err := permissionFlags(p); err != nil {
		return "", err
	}
	if p.Forbid {
		return "tools switched off and a sandbox that cannot write; a turn that acts all the same is stopped", nil
	}
	text := "sandbox " + p.Mode + ": " + sandboxes[p.Mode]
	if p.Mode == "" {
		text = "its own default: sandbox read-only, unless its config.toml sets sandbox_mode or names the folder, as trusted or not; then it can write there"
	}
	if p.Model != "" {
		text += "; model " + p.Model
	}
	return text, nil
}

// permissionFlags are the flags for permissions, or a *turn.Failure for those that the program does not know.
func permissionFlags(p turn.Permissions) ([]string, error) {
	refuse := func(format string, args ...any) ([]string, error) {
		return nil, codex.Failure(turn.Rejected, turn.Nothing, fmt.Sprintf(format, args...), nil)
	}
	if len(p.Allow) > 0 || len(p.Deny) > 0 {
		return refuse("it cannot allow or deny single tools, only choose a sandbox")
	}
	if strings.HasPrefix(p.Model, "-") || strings.ContainsAny(p.Model, "\x00\n") {
		return refuse("%q is no name of a model", p.Model)
	}
	var flags []string
	if p.Model != "" {
		flags = append(flags, "--model", p.Model)
	}
	if p.Forbid {
		if p.Mode != "" {
			return refuse("everything is forbidden and something allowed")
		}
		flags = append(flags, "--sandbox", "read-only", "-c", `web_search="disabled"`, "-c", "notify=[]", "-c", "project_doc_max_bytes=0")
		for _, feature := range features {
			// Not --disable, which fails in a version that does not know the feature.
			flags = append(flags, "-c", "features."+feature+"=false")
		}
		return flags, nil
	}
	if p.Mode != "" {
		if _, known := sandboxes[p.Mode]; !known {
			return refuse("%q is no sandbox; there are read-only, workspace-write and danger-full-access", p.Mode)
		}
		flags = append(flags, "--sandbox", p.Mode)
	}
	return flags, nil
}
