//go:build !linux

package host

// Arguments are not known here without privileges or a helper program.
func (Machine) Arguments(int) []string { return nil }

// WorkingDir is not known here.
func (Machine) WorkingDir(int) string { return "" }
