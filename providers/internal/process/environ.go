package process

import (
	"os"
	"slices"
	"strings"
)

// hostVariables say in which agent's session, and as which agent, a process runs. They are true of this process and would be
// false of a program that it starts.
var hostVariables = []string{
	"CLAUDECODE", "CLAUDE_CODE_SESSION_ID", "CLAUDE_CODE_CHILD_SESSION", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_PROJECT_DIR",
	"CODEX_THREAD_ID", "CODEX_SESSION_ID", "LOADOUT_AGENT",
}

// Environ is the environment of this process without what tells its host session, and with the further KEY=value.
func Environ(further []string) []string {
	env := slices.DeleteFunc(os.Environ(), func(kv string) bool {
		key, _, _ := strings.Cut(kv, "=")
		return slices.Contains(hostVariables, key)
	})
	return append(env, further...)
}
