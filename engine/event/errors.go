package event

// InvalidError says which field of an event breaks which rule.
type InvalidError struct {
	Field  string // as the log names it: "from", "payload.revision"
	Reason string // completes "FIELD …"
}

func (e *InvalidError) Error() string { return e.Field + " " + e.Reason }

func invalid(field, reason string) *InvalidError { return &InvalidError{Field: field, Reason: reason} }
