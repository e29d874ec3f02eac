package event

import "strings"

// InvalidError says which field of an event breaks which rule.
type InvalidError struct {
	Field  string // as the log names it: "from", "payload.revision"
	Reason string // completes "FIELD …"
}

// Error names the field without the payload around it, which people do not know.
func (e *InvalidError) Error() string {
	return strings.TrimPrefix(e.Field, "payload.") + " " + e.Reason
}

func invalid(field, reason string) *InvalidError { return &InvalidError{Field: field, Reason: reason} }
