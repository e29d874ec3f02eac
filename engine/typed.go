package engine

import (
	"path/filepath"
	"strings"
)

// typed is how a path of the log is typed in the folder that hints are followed in.
func (e *Engine) typed(stored string) string {
	below, err := e.below()
	if err != nil { // outside of the project
		return filepath.Join(e.project.Root, filepath.FromSlash(stored))
	}
	rel, err := filepath.Rel(filepath.FromSlash(below), filepath.FromSlash(stored))
	if err != nil {
		return stored
	}
	return filepath.ToSlash(rel)
}

// pathWord is a path of the log as a word of a command in a hint.
func (v View) pathWord(stored string) string {
	if v.typed != nil {
		stored = v.typed(stored)
	}
	return word(stored)
}

func (v View) pathWords(stored []string) string {
	list := make([]string, len(stored))
	for i, p := range stored {
		list[i] = v.pathWord(p)
	}
	return strings.Join(list, " ")
}
