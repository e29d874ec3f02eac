package settings

import (
	"strings"
	"testing"
	"time"
)

func TestPermissions(t *testing.T) {
	s, err := load(t, `{"bridge": {"depth": 5, "deadline": "3m"}, "providers": {
		"codex": {"command": ["/opt/codex"], "permissions": {"mode": "workspace-write"},
			"sessions": {"codex-2": {"mode": "read-only", "forbid": true}}},
		"gemini": {"protocol": "acp", "command": ["gemini", "--acp"]}}}`, "")
	if err != nil {
		t.Fatal(err)
	}
	if s.Bridge.Depth != 5 || time.Duration(s.Bridge.Deadline) != 3*time.Minute {
		t.Errorf("%+v", s.Bridge)
	}
	if p := s.Permissions("codex", "codex"); p.Mode != "workspace-write" || p.Forbid || len(p.Command) != 1 {
		t.Errorf("%+v", p)
	}
	if p := s.Permissions("codex", "codex-2"); p.Mode != "read-only" || !p.Forbid || len(p.Command) != 1 {
		t.Errorf("%+v", p)
	}
	if p := s.Permissions("gemini", "gemini"); p.Command != nil {
		t.Errorf("%+v", p)
	}
	if p := s.Permissions("claude-code", "claude-code"); p.Mode != "" || p.Command != nil {
		t.Errorf("%+v", p)
	}
}

// A repository that comes from somebody else cannot say what programs may do here.
func TestAProjectSaysNothingAboutPrograms(t *testing.T) {
	s, err := load(t, "", `{"providers": {"codex": {"permissions": {"mode": "danger-full-access"}}}}`)
	if err == nil || !strings.Contains(err.Error(), "providers may stand only in a person's own") || s.Providers != nil {
		t.Errorf("%+v %v", s.Providers, err)
	}
}
