package engine

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/safetext"
)

// hidden are ways to put something into a word that no screen shows.
var hidden = map[string]string{
	"escape": "\x1b[0m", "soft hyphen": "\u00ad", "zero-width space": "\u200b", "joiner": "\u200d", "non-joiner": "\u200c",
	"word joiner": "\u2060", "byte order mark": "\ufeff", "variation": "\ufe0f", "grapheme joiner": "\u034f", "override": "\u202e",
}

func TestSecretsWithInvisibleCharactersInside(t *testing.T) {
	for name, cut := range hidden {
		split := token[:9] + cut + token[9:15] + cut + token[15:]
		s := newScene(t)
		r := s.do(AddTask{From: "codex", To: "claude", Text: "use " + split, Context: "also " + split})
		n := s.do(note("codex", "a "+split+" b"))
		for _, ev := range append(r.Events, n.Events...) {
			seen := visible(safetext.Block(ev.Description + ev.Context + string(ev.Payload)))
			if strings.Contains(seen, token) || !strings.Contains(seen, "REDACTED") {
				t.Errorf("%s: stored %q", name, seen)
			}
		}
		if _, err := s.Do(t.Context(), Request{Command: own("codex", "src/"+split)}); err == nil {
			t.Errorf("%s: a secret in a path", name)
		}
	}
}

func TestTextWithoutSecretsKeepsWhatItHolds(t *testing.T) {
	for _, text := range []string{"", "plain", "a family 👨\u200d👩\u200d👧 and a heart ❤\ufe0f", "soft\u00adhyphen", "\x1b[1mbold\x1b[0m", "می\u200cخواهم"} {
		if got := Redact(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
		raw, err := json.Marshal(map[string]any{"b": []any{text, 1.50, nil, true, map[string]any{}}, "a": text})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := redactJSON(raw); err != nil || string(got) != string(raw) {
			t.Errorf("%s became %s, %v", raw, got, err)
		}
	}
}

func TestVisibleJSONKeepsTheShape(t *testing.T) {
	got, err := visibleJSON([]byte(`{"z\u200b":[1,2.50,{"a":null}, [ ] ,"<x\u001b[1m>"],"b":{},"a":true,"n":123456789012345678901}`))
	want := `{"z":[1,2.50,{"a":null},[],"<x>"],"b":{},"a":true,"n":123456789012345678901}`
	if err != nil || string(got) != want {
		t.Errorf("%s, %v", got, err)
	}
}

func TestKillReasonIsRedacted(t *testing.T) {
	s := newScene(t)
	r, err := s.Kill(t.Context(), "user", "leaked "+token[:9]+"\u200b"+token[9:])
	if err != nil {
		t.Fatal(err)
	}
	body, err := r.Events[0].Body()
	if h, err := s.Halted(); err != nil || strings.Contains(h.Reason, token[9:]) || h.Reason != body.(event.Halt).Reason {
		t.Errorf("%+v, %v", h, err)
	}
	if err != nil {
		t.Error(err)
	}
}
