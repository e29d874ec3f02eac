package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/words"
)

// maxTouchedBytes bounds the file of what one agent has edited; what comes after that is not noted.
const maxTouchedBytes = 64 << 10

// touchedName is the private file of what an agent has edited since its last update, a path a line. It may be lost.
func touchedName(agent string) string { return "touched/" + fileWord(agent) }

// Touch notes that an agent has edited paths, in stored form, for its next update.
func (e *Engine) Touch(agent string, paths []string) error {
	known := e.Touched(agent)
	var b strings.Builder
	for _, p := range paths {
		if clean, err := event.CleanPath(p); err == nil && !slices.Contains(known, clean) && !strings.Contains(clean, "\n") {
			known = append(known, clean)
			b.WriteString(clean + "\n")
		}
	}
	if b.Len() == 0 || len(known) > event.MaxFiles || len(strings.Join(known, "\n")) > maxTouchedBytes {
		return nil
	}
	if err := e.log.AppendFile(touchedName(agent), []byte(b.String())); err != nil {
		return fmt.Errorf("note edited files: %w", err)
	}
	return nil
}

// Touched lists what an agent has edited since its last update, as far as that is known.
func (e *Engine) Touched(agent string) []string {
	name := touchedName(agent)
	if there, err := e.log.Exists(name); err != nil || !there {
		return nil
	}
	data, err := e.log.ReadFile(name, 2*maxTouchedBytes)
	if err != nil {
		return nil
	}
	var paths []string
	for p := range strings.Lines(string(data)) {
		if p = strings.TrimSuffix(p, "\n"); p != "" && !slices.Contains(paths, p) && len(paths) < event.MaxFiles {
			paths = append(paths, p)
		}
	}
	return paths
}

// gather gives an update that names no files those that its agent has edited. One with a retry key stays as it is: a second call
// must ask for the same.
func (e *Engine) gather(r *Request) (note string) {
	c, ok := r.Command.(Report)
	if !ok || r.Key != "" || len(c.Files) > 0 {
		return ""
	}
	if c.Files = e.Touched(c.Agent); len(c.Files) == 0 {
		return ""
	}
	r.Command = c
	return fmt.Sprintf("the update names %s that %s has edited", words.Plural(len(c.Files), "file"), told(c.Agent))
}

// forgetTouched lets go what an update has told.
func (e *Engine) forgetTouched(agent string) {
	if there, err := e.log.Exists(touchedName(agent)); err == nil && there {
		_ = e.log.Remove(touchedName(agent)) // told twice at worst
	}
}
