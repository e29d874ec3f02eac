//go:build !linux

package engine

// arguments are not known here without privileges or a helper program.
func arguments(int) []string { return nil }

// workingDir is not known here.
func workingDir(int) string { return "" }
