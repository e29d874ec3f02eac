package event

// Types lists the known types: those of the protocol, then Loadout's own.
func Types() []Type {
	return []Type{
		TypeTask, TypeHandoff, TypeQuestion, TypeDone, TypeStatus, TypeError, TypeCancel,
		TypeContract, TypeOwnership, TypeDecision, TypeUpdate, TypeAck, TypeDiscussion,
		TypeAgent, TypeHalt, TypeTurn, TypeWork, TypeGate, TypeWave,
	}
}

// KnownType reports whether this build knows the type. An unknown one is kept and shown.
func KnownType(t Type) bool { return t.form() != formUnknown }

// form says what the payload of a type must be.
type form int

const (
	formUnknown form = iota // a type that this build does not know: anything
	formOpen                // any object, or none; keys that we know are read when they have the right form
	formTyped               // an object with the fields of its Body
)

func (t Type) form() form {
	switch t {
	case TypeTask, TypeHandoff, TypeQuestion, TypeDone, TypeStatus, TypeError, TypeCancel:
		return formOpen
	case TypeContract, TypeOwnership, TypeDecision, TypeUpdate, TypeAck, TypeDiscussion, TypeAgent, TypeHalt, TypeTurn,
		TypeWork, TypeGate, TypeWave:
		return formTyped
	}
	return formUnknown
}

// typeOf is the type that a body belongs to, empty for Unknown.
func typeOf(b Body) Type {
	switch b.(type) {
	case Task:
		return TypeTask
	case Handoff:
		return TypeHandoff
	case Question:
		return TypeQuestion
	case Done:
		return TypeDone
	case Status:
		return TypeStatus
	case Error:
		return TypeError
	case Cancel:
		return TypeCancel
	case Contract:
		return TypeContract
	case Ownership:
		return TypeOwnership
	case Decision:
		return TypeDecision
	case Update:
		return TypeUpdate
	case Ack:
		return TypeAck
	case Discussion:
		return TypeDiscussion
	case Agent:
		return TypeAgent
	case Halt:
		return TypeHalt
	case Turn:
		return TypeTurn
	case Work:
		return TypeWork
	case Gate:
		return TypeGate
	case Wave:
		return TypeWave
	case Unknown:
	}
	return ""
}
