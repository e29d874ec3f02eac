// Package noprobe keeps a program that links Bubble Tea from questioning the terminal before main runs.
//
// Bubble Tea v1 asks the terminal for its background colour in a package init and waits up to five seconds for an answer. Scripts and
// agents run headless verbs on terminals that never answer. Telling Lip Gloss that the background is dark makes the question needless.
//
// It works because Go initialises packages that are ready in the order of their import paths, and this path sorts before
// github.com/charmbracelet/bubbletea. For the same reason this package may import nothing but Lip Gloss.
package noprobe

import "github.com/charmbracelet/lipgloss"

func init() { //nolint:gochecknoinits // only an init can run before Bubble Tea's init
	lipgloss.SetHasDarkBackground(true)
}
