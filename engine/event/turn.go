package event

// TurnAction is what a turn event reports about the automatic work of a session.
type TurnAction string

// The actions of a turn event.
const (
	TurnAttached  TurnAction = "attached"  // a session takes part; Through is where its deliveries begin
	TurnForgotten TurnAction = "forgotten" // a session takes part no more
	TurnOpened    TurnAction = "opened"    // a bridge drives the sessions of Agents
	TurnClosed    TurnAction = "closed"    // the bridge has ended
	TurnPassed    TurnAction = "passed"    // what waited up to Through asked for no turn
	TurnDelivered TurnAction = "delivered" // the program's own prompt told it Seqs; everything up to Through is dealt with
	TurnQueued    TurnAction = "queued"    // a turn is to be made of Seqs; everything up to Through is dealt with by it
	TurnHeld      TurnAction = "held"      // as queued, but a person has to say so first
	TurnStarted   TurnAction = "started"   // the program is about to be started
	TurnFinished  TurnAction = "finished"  // it answered
	TurnFailed    TurnAction = "failed"    // it did not
	TurnCancelled TurnAction = "cancelled" // it was ended before it answered
	TurnUncertain TurnAction = "uncertain" // who waited for it died: nobody knows what came of it
	TurnRetried   TurnAction = "retried"   // a person wants it made, or made again
	TurnSkipped   TurnAction = "skipped"   // a person lets it go
	TurnStopped   TurnAction = "stopped"   // a cap keeps the next turn from being started
	TurnCapped    TurnAction = "capped"    // caps were set
)

// TurnWhy is what a turn is made for.
type TurnWhy string

// What turns are made for.
const (
	WhyDelivery   TurnWhy = "delivery"   // events that were stored
	WhyMessage    TurnWhy = "message"    // a person's words
	WhyOpening    TurnWhy = "opening"    // a new session
	WhyDiscussion TurnWhy = "discussion" // a statement in a discussion
)

// TurnCap is what a cap bounds.
type TurnCap string

// The caps. The first is one session's, the others are for the sessions of a bridge together.
const (
	CapTurns      TurnCap = "turns"
	CapTotalTurns TurnCap = "totalTurns"
	CapTokens     TurnCap = "tokens"
	CapCost       TurnCap = "cost"
)

// Limits of a turn event.
const (
	MaxTurnSeqs   = 512 // events that one turn is made of
	MaxTurnAgents = 32  // sessions of one bridge
)

// Turn reports one step of the automatic work of a session. It has neither prompt nor answer in it.
type Turn struct {
	Action     TurnAction  `json:"action"`
	Turn       string      `json:"turn,omitempty"` // id, the same in all events of one turn
	Agent      string      `json:"agent,omitempty"`
	Provider   string      `json:"provider,omitempty"`
	Session    string      `json:"session,omitempty"`  // id that the program gave it
	Scripted   bool        `json:"scripted,omitempty"` // no model answers
	Why        TurnWhy     `json:"why,omitempty"`
	Thread     string      `json:"thread,omitempty"`    // the discussion that a statement is made for
	Seqs       []int64     `json:"seqs,omitempty"`      // the events that triggered it, at most MaxTurnSeqs
	Through    *int64      `json:"through,omitempty"`   // everything up to this number is dealt with, -1 for nothing
	Passive    int64       `json:"passive,omitempty"`   // events up to Through that wake nobody
	Duplicate  int64       `json:"duplicate,omitempty"` // events up to Through that repeat another one
	Depth      int64       `json:"depth,omitempty"`     // how many bridged turns led to this one
	Attempt    int64       `json:"attempt,omitempty"`
	Cause      string      `json:"cause,omitempty"`        // kind of failure, who cancelled, which cap
	Spent      string      `json:"spent,omitempty"`        // whether a failed turn may have been paid for: nothing, maybe, yes
	RetryAfter int64       `json:"retryAfterMs,omitempty"` // milliseconds that the program asked to wait
	Duration   int64       `json:"durationMs,omitempty"`
	Usage      *TurnUsage  `json:"usage,omitempty"` // of this turn
	Total      *TurnUsage  `json:"total,omitempty"` // of the session, where the program reports running totals
	Agents     []string    `json:"agents,omitempty"`
	Caps       *TurnLimits `json:"caps,omitempty"`
}

// TurnUsage is what a turn used.
type TurnUsage struct {
	Input      int64 `json:"input"`  // tokens read, those from a cache included
	Cached     int64 `json:"cached"` // of Input
	Output     int64 `json:"output"` // tokens written
	CostMicros int64 `json:"costMicros"`
	Priced     bool  `json:"priced,omitempty"` // CostMicros, in millionths of a US dollar, is what the program reported
	Known      bool  `json:"known,omitempty"`  // the program reported tokens at all
}

// TurnLimits are caps. An absent one stays as it is, zero lifts it.
type TurnLimits struct {
	Turns      *int64 `json:"turns,omitempty"` // automatic turns of one session
	TotalTurns *int64 `json:"totalTurns,omitempty"`
	Tokens     *int64 `json:"tokens,omitempty"`
	CostMicros *int64 `json:"costMicros,omitempty"`
}

func (Turn) isBody() {}

func readTurn(f *fields) Turn {
	t := Turn{
		Action: choice(f, "action", TurnAttached, TurnForgotten, TurnOpened, TurnClosed, TurnPassed, TurnDelivered, TurnQueued, TurnHeld, TurnStarted,
			TurnFinished, TurnFailed, TurnCancelled, TurnUncertain, TurnRetried, TurnSkipped, TurnStopped, TurnCapped),
		Turn:       f.optionalName("turn", MaxName),
		Agent:      f.optionalName("agent", MaxName),
		Provider:   f.optionalName("provider", MaxName),
		Session:    f.newLabel("session", f.optionalName("session", MaxSession)),
		Scripted:   f.flag("scripted"),
		Why:        optionalChoice(f, "why", WhyDelivery, WhyMessage, WhyOpening, WhyDiscussion),
		Thread:     f.optionalName("thread", MaxName),
		Seqs:       f.numbers("seqs", MaxTurnSeqs),
		Through:    f.optionalInteger("through", -1, MaxSeq),
		Passive:    f.count("passive"),
		Duplicate:  f.count("duplicate"),
		Depth:      f.count("depth"),
		Attempt:    f.count("attempt"),
		Cause:      f.optionalName("cause", MaxName),
		Spent:      f.optionalName("spent", MaxName),
		RetryAfter: f.count("retryAfterMs"),
		Duration:   f.count("durationMs"),
		Usage:      f.usage("usage"),
		Total:      f.usage("total"),
		Agents:     f.names("agents", MaxTurnAgents, MaxName),
	}
	if raw := f.get("caps"); raw != nil {
		f.nested("caps", raw, func(n *fields) {
			t.Caps = &TurnLimits{
				Turns:      n.optionalInteger("turns", 0, MaxSeq),
				TotalTurns: n.optionalInteger("totalTurns", 0, MaxSeq),
				Tokens:     n.optionalInteger("tokens", 0, MaxSeq),
				CostMicros: n.optionalInteger("costMicros", 0, MaxSeq),
			}
		})
	}
	t.check(f)
	return t
}

// check demands what each action is about.
func (t *Turn) check(f *fields) {
	need := func(key string, has bool) {
		if !has {
			f.fail(key, "is missing")
		}
	}
	switch t.Action {
	case TurnAttached:
		need("session", t.Session != "")
		need("provider", t.Provider != "")
		need("agent", t.Agent != "")
		need("through", t.Through != nil)
	case TurnForgotten:
		need("agent", t.Agent != "")
	case TurnPassed, TurnDelivered:
		need("agent", t.Agent != "")
		need("through", t.Through != nil)
	case TurnQueued, TurnHeld:
		need("turn", t.Turn != "")
		need("agent", t.Agent != "")
		need("provider", t.Provider != "")
		need("why", t.Why != "")
	case TurnStarted, TurnFinished, TurnFailed, TurnCancelled, TurnUncertain, TurnRetried, TurnSkipped:
		need("turn", t.Turn != "")
	case TurnStopped:
		need("cause", t.Cause != "")
	case TurnCapped:
		need("caps", t.Caps != nil)
	case TurnOpened, TurnClosed:
	}
}

// count is an optional number of something.
func (f *fields) count(key string) int64 {
	if n := f.optionalInteger(key, 0, MaxSeq); n != nil {
		return *n
	}
	return 0
}

// numbers is an optional list of sequence numbers.
func (f *fields) numbers(key string, limit int) []int64 {
	var list []int64
	f.list(key, limit, func(raw []byte) { list = append(list, f.number(key, raw, 0, MaxSeq)) })
	return list
}

func (f *fields) usage(key string) *TurnUsage {
	raw := f.get(key)
	if raw == nil {
		return nil
	}
	var u TurnUsage
	f.nested(key, raw, func(n *fields) {
		u = TurnUsage{
			Input: n.count("input"), Cached: n.count("cached"), Output: n.count("output"), CostMicros: n.count("costMicros"),
			Priced: n.flag("priced"), Known: n.flag("known"),
		}
	})
	return &u
}
