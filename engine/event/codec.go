package event

import (
	"github.com/agentloadout/loadout/store/jsonline"
)

// InvalidError says which field of an event breaks which rule.
type InvalidError struct{ Field, Reason string }

func (e *InvalidError) Error() string { return e.Field + " " + e.Reason }

// Decode reads the envelope of one line.
func Decode(o *jsonline.Object, raw []byte) (Event, error) { panic("later") }

// Body decodes and checks the payload.
func (e *Event) Body() (Body, error) { panic("later") }

// Normalize completes a draft.
func (e *Event) Normalize() error { panic("later") }

// AppendLine appends the event as one line without its newline.
func (e *Event) AppendLine(dst []byte) []byte { panic("later") }

// NewID returns a random id.
func NewID() string { panic("later") }

// KnownType reports whether this build knows the type.
func KnownType(t Type) bool { panic("later") }

// Types lists the known types.
func Types() []Type { panic("later") }

// FoldName is the form in which names are compared.
func FoldName(name string) string { panic("later") }

// SameName reports whether two names stand for the same agent.
func SameName(a, b string) bool { panic("later") }

// CleanPath is the stored form of a path relative to the top of the project.
func CleanPath(path string) (string, error) { panic("later") }

func encodeBody(body Body) (Type, []byte, error) { panic("later") }
