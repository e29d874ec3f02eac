package event

// GateState is where one acceptance gate of a ledger stands.
type GateState string

// The states of a gate. The middle ones are unmet for a reason of their own.
const (
	GateMet        GateState = "met"
	GateUnmet      GateState = "unmet"
	GateStale      GateState = "stale-unmet"       // its evidence is not that of what it asks for now
	GateNoEvidence GateState = "unmet-no-evidence" // ticked by hand without saying what shows it
	GateAbandoned  GateState = "abandoned"
)

// WaveState is where a wave of launched agents stands.
type WaveState string

// The states of a wave.
const (
	WaveOpen      WaveState = "open"   // leaves are being started
	WaveSealed    WaveState = "sealed" // all are started; they return
	WaveComplete  WaveState = "complete"
	WaveAbandoned WaveState = "abandoned"
)

// Limits of gate and wave events.
const (
	MaxScope  = 64  // characters of a scope, ledger, leaf or wave id
	MaxGates  = 256 // gates that one event names
	MaxLeaves = 64  // leaves of one wave
	MaxHandle = 256
)

// Gate is a ledger of acceptance gates as one check found it. It stands for the whole ledger: a later one replaces it.
type Gate struct {
	Scope     string     `json:"scope,omitempty"` // empty: the project's own ledger
	Ledger    string     `json:"ledger"`          // its file without .md
	Met       int64      `json:"met"`
	Unmet     int64      `json:"unmet"` // for whatever reason
	Abandoned int64      `json:"abandoned"`
	Gates     []GateLine `json:"gates,omitempty"`   // at most MaxGates; the counts are of all
	Invalid   string     `json:"invalid,omitempty"` // why the ledger cannot be read; it counts as unmet
}

// GateLine is one gate of a ledger.
type GateLine struct {
	ID     string    `json:"id"`
	Title  string    `json:"title"`
	State  GateState `json:"state"`
	Reason string    `json:"reason,omitempty"` // of an abandoned one
}

// Wave is a launch wave after one step of it. It stands for the whole wave: a later one replaces it.
type Wave struct {
	Scope  string     `json:"scope,omitempty"`
	Wave   string     `json:"wave"`
	State  WaveState  `json:"state"`
	Leaves []WaveLeaf `json:"leaves"`
	Reason string     `json:"reason,omitempty"` // of an abandoned one
}

// WaveLeaf is one agent of a wave.
type WaveLeaf struct {
	Leaf     string `json:"leaf"`
	Handle   string `json:"handle,omitempty"` // by which its host knows it, once it was started
	Started  string `json:"startedAt,omitempty"`
	Returned string `json:"returnedAt,omitempty"`
}

func (Gate) isBody() {}
func (Wave) isBody() {}

func readGate(f *fields) Gate {
	g := Gate{
		Scope:     f.optionalName("scope", MaxScope),
		Ledger:    f.name("ledger", MaxScope),
		Met:       f.integer("met", 0, MaxSeq),
		Unmet:     f.integer("unmet", 0, MaxSeq),
		Abandoned: f.integer("abandoned", 0, MaxSeq),
		Invalid:   f.optionalText("invalid", MaxReason),
	}
	f.list("gates", MaxGates, func(raw []byte) {
		f.nested("gates", raw, func(n *fields) {
			g.Gates = append(g.Gates, GateLine{
				ID:     n.name("id", MaxName),
				Title:  n.name("title", MaxTitle),
				State:  choice(n, "state", GateMet, GateUnmet, GateStale, GateNoEvidence, GateAbandoned),
				Reason: n.optionalText("reason", MaxReason),
			})
		})
	})
	return g
}

func readWave(f *fields) Wave {
	w := Wave{
		Scope:  f.optionalName("scope", MaxScope),
		Wave:   f.name("wave", MaxScope),
		State:  choice(f, "state", WaveOpen, WaveSealed, WaveComplete, WaveAbandoned),
		Reason: f.optionalText("reason", MaxReason),
	}
	f.list("leaves", MaxLeaves, func(raw []byte) {
		f.nested("leaves", raw, func(n *fields) {
			w.Leaves = append(w.Leaves, WaveLeaf{
				Leaf:     n.name("leaf", MaxScope),
				Handle:   n.optionalName("handle", MaxHandle),
				Started:  n.moment("startedAt"),
				Returned: n.moment("returnedAt"),
			})
		})
	})
	if len(w.Leaves) == 0 {
		f.fail("leaves", "is missing or empty")
	}
	return w
}
