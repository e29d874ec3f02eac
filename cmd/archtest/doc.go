// Package archtest checks what holds for the module as a whole: which folder may import which, what the top level contains,
// and that nothing linked into the binary makes every verb start slowly. It has tests only.
package archtest
