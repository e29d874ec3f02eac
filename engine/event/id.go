package event

import (
	"crypto/rand"
	"strings"
)

// NewID makes a random id of 65 bits: thirteen lower-case letters and digits, short enough to type.
func NewID() string { return strings.ToLower(rand.Text()[:13]) }
