package state

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/agentloadout/loadout/engine/event"
)

// Bounds of what a State remembers of gates. Everything older is in the log.
const (
	MaxLedgers = 100
	MaxWaves   = 100
)

// Ledger is a ledger of acceptance gates as it was found last.
type Ledger struct {
	event.Gate
	By  string    `json:"by"` // who checked it
	At  time.Time `json:"at"`
	Seq int64     `json:"seq"`
}

// Wave is a launch wave as it stands.
type Wave struct {
	event.Wave
	By  string    `json:"by"`
	At  time.Time `json:"at"`
	Seq int64     `json:"seq"`
}

// Returned counts the leaves that were started and that have returned.
func (w *Wave) Returned() (started, returned int) {
	for _, leaf := range w.Leaves {
		if leaf.Started != "" {
			started++
		}
		if leaf.Returned != "" {
			returned++
		}
	}
	return started, returned
}

// gateKey names a ledger or a wave.
func gateKey(scope, name string) string { return scope + "\x00" + name }

// gates holds the newest of each ledger and wave: an event stands for the whole of one, so a later one replaces it.
type gates struct {
	ledgers map[string]Ledger
	waves   map[string]Wave
}

func newGates() gates { return gates{map[string]Ledger{}, map[string]Wave{}} }

func (g *gates) clone() gates { return gates{maps.Clone(g.ledgers), maps.Clone(g.waves)} }

func (g *gates) foldGate(e *event.Event, b event.Gate, at time.Time) {
	g.ledgers[gateKey(b.Scope, b.Ledger)] = Ledger{b, strings.Clone(e.From), at, e.Seq}
	forgetOldest(g.ledgers, MaxLedgers, func(l Ledger) int64 { return l.Seq })
}

func (g *gates) foldWave(e *event.Event, b event.Wave, at time.Time) {
	g.waves[gateKey(b.Scope, b.Wave)] = Wave{b, strings.Clone(e.From), at, e.Seq}
	forgetOldest(g.waves, MaxWaves, func(w Wave) int64 { return w.Seq })
}

// Ledgers lists the ledgers by scope and name.
func (s *State) Ledgers() []Ledger {
	return slices.SortedFunc(maps.Values(s.gates.ledgers), func(a, b Ledger) int {
		return cmp.Or(strings.Compare(a.Scope, b.Scope), strings.Compare(a.Ledger, b.Ledger))
	})
}

// Waves lists the launch waves, the one that moved last at the end.
func (s *State) Waves() []Wave {
	return slices.SortedFunc(maps.Values(s.gates.waves), func(a, b Wave) int { return cmp.Compare(a.Seq, b.Seq) })
}

// roots marks the events that stand for the ledgers and the waves.
func (g *gates) roots(roots map[int64]bool) {
	for _, l := range g.ledgers {
		roots[l.Seq] = true
	}
	for _, w := range g.waves {
		roots[w.Seq] = true
	}
}

func (g *gates) wire(w *wire) {
	wireMap(w, g.ledgers, func(w *wire, key *string, l *Ledger) {
		wireLedger(w, l)
		*key = gateKey(l.Scope, l.Ledger)
	})
	wireMap(w, g.waves, func(w *wire, key *string, v *Wave) {
		wireWave(w, v)
		*key = gateKey(v.Scope, v.Wave.Wave)
	})
}

func wireLedger(w *wire, l *Ledger) {
	w.name(&l.Scope)
	w.name(&l.Ledger)
	w.int(&l.Met)
	w.int(&l.Unmet)
	w.int(&l.Abandoned)
	list(w, &l.Gates, func(w *wire, g *event.GateLine) {
		w.text(&g.ID)
		w.text(&g.Title)
		word(w, &g.State)
		w.text(&g.Reason)
	})
	w.text(&l.Invalid)
	w.name(&l.By)
	w.time(&l.At)
	w.number(&l.Seq)
}

func wireWave(w *wire, v *Wave) {
	w.name(&v.Scope)
	w.name(&v.Wave.Wave)
	word(w, &v.State)
	list(w, &v.Leaves, func(w *wire, leaf *event.WaveLeaf) {
		w.text(&leaf.Leaf)
		w.text(&leaf.Handle)
		w.text(&leaf.Started)
		w.text(&leaf.Returned)
	})
	w.text(&v.Reason)
	w.name(&v.By)
	w.time(&v.At)
	w.number(&v.Seq)
}
