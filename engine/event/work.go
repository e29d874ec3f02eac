package event

// WorkAction is what a work event reports. The names are those of the audit that other programs keep of work items, and two more for a
// pause, which such audits leave out.
type WorkAction string

// The actions of a work event.
const (
	WorkRegistered   WorkAction = "agent_registered"   // an agent that takes work items started
	WorkUnregistered WorkAction = "agent_unregistered" // it ended, and holds nothing any more
	WorkTaken        WorkAction = "take"
	WorkReleased     WorkAction = "release" // with an Outcome
	WorkLapsed       WorkAction = "lapsed"  // nobody heard of the holder for too long
	WorkYielded      WorkAction = "yield"   // the holder let it go, for To where that is known
	WorkPaused       WorkAction = "pause"   // the holder keeps it and does not work on it
	WorkResumed      WorkAction = "resume"
	WorkEscalated    WorkAction = "escalate_requested" // Agent and Holder both want it: a person is to choose
	WorkResolved     WorkAction = "escalate_resolved"  // a person chose
)

// WorkOutcome is how work on an item ended.
type WorkOutcome string

// The outcomes of a release.
const (
	WorkCompleted WorkOutcome = "completed"
	WorkAbandoned WorkOutcome = "abandoned"
)

// WorkChoice is what a person chooses when two agents want one item.
type WorkChoice string

// The choices.
const (
	WaitThenSwap WorkChoice = "wait_then_swap" // the other one goes on after the holder's next checkpoint
	SwapNow      WorkChoice = "swap_now"
	Sequence     WorkChoice = "sequence"  // the other one takes it when the holder has finished
	KeepBoth     WorkChoice = "keep_both" // both go on
)

// Work reports what becomes of a typed work item, or of an agent that takes such items.
type Work struct {
	Action     WorkAction  `json:"action"`
	Agent      string      `json:"agent,omitempty"` // id of one run of an agent: harness, start, six random characters
	Item       *WorkItem   `json:"item,omitempty"`
	Harness    string      `json:"harness,omitempty"`    // of a registration or a take: the program, e.g. claude-code
	Human      string      `json:"human,omitempty"`      // whose run it is
	Started    string      `json:"startedAt,omitempty"`  // of a registration
	Beat       string      `json:"lastBeat,omitempty"`   // of a lapse: when the holder was last heard of
	Reason     string      `json:"reason,omitempty"`     // of a take or a lapse
	Outcome    WorkOutcome `json:"outcome,omitempty"`    // of a release
	To         string      `json:"to,omitempty"`         // of a yield: the run that it is let go for
	Holder     string      `json:"holder,omitempty"`     // of an escalation: the run that holds the item
	Escalation string      `json:"escalation,omitempty"` // its id
	Choice     WorkChoice  `json:"choice,omitempty"`
}

// WorkItem names a piece of work. Two items are the same when type and id are.
type WorkItem struct {
	Type string `json:"type"`
	ID   string `json:"id"`
}

func (Work) isBody() {}

func readWork(f *fields) Work {
	w := Work{
		Action: choice(f, "action", WorkRegistered, WorkUnregistered, WorkTaken, WorkReleased, WorkLapsed, WorkYielded,
			WorkPaused, WorkResumed, WorkEscalated, WorkResolved),
		Agent:      f.optionalName("agent", MaxName),
		Harness:    f.optionalName("harness", MaxName),
		Human:      f.optionalName("human", MaxName),
		Started:    f.moment("startedAt"),
		Beat:       f.moment("lastBeat"),
		Reason:     f.optionalText("reason", MaxReason),
		Outcome:    optionalChoice(f, "outcome", WorkCompleted, WorkAbandoned),
		To:         f.optionalName("to", MaxName),
		Holder:     f.optionalName("holder", MaxName),
		Escalation: f.optionalName("escalation", MaxName),
		Choice:     optionalChoice(f, "choice", WaitThenSwap, SwapNow, Sequence, KeepBoth),
	}
	if raw := f.get("item"); raw != nil {
		f.nested("item", raw, func(n *fields) {
			w.Item = &WorkItem{Type: n.name("type", MaxName), ID: n.name("id", MaxName)}
		})
	}
	w.check(f)
	return w
}

// check demands what each action is about.
func (w *Work) check(f *fields) {
	need := func(key string, has bool) {
		if !has {
			f.fail(key, "is missing")
		}
	}
	if w.Action != WorkResolved {
		need("agent", w.Agent != "")
	}
	switch w.Action {
	case WorkTaken, WorkLapsed, WorkYielded, WorkPaused, WorkResumed:
		need("item", w.Item != nil)
	case WorkReleased:
		need("item", w.Item != nil)
		need("outcome", w.Outcome != "")
	case WorkEscalated:
		need("item", w.Item != nil)
		need("holder", w.Holder != "")
		need("escalation", w.Escalation != "")
	case WorkResolved:
		need("escalation", w.Escalation != "")
		need("choice", w.Choice != "")
	case WorkRegistered:
		need("harness", w.Harness != "")
	case WorkUnregistered:
	}
}

// moment is an optional date and time.
func (f *fields) moment(key string) string {
	s := f.optionalName(key, MaxName)
	if s != "" {
		if _, ok := ParseTime(s); !ok {
			f.fail(key, "is not an ISO 8601 date and time with seconds and a zone")
		}
	}
	return s
}
