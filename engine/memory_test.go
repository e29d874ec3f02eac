package engine

import (
	"strings"
	"testing"

	"github.com/agentloadout/loadout/engine/state"
	"github.com/agentloadout/loadout/store"
)

// TestFoldKeepsNothingOfItsInput: the store uses the memory of a line again, so what the state keeps must be its own.
func TestFoldKeepsNothingOfItsInput(t *testing.T) {
	s := newScene(t)
	busy(s)
	s.append("not an event\n{\"id\":\"half\"}\n")
	m := emptyMemory()
	want := state.New()
	if _, err := s.Engine.log.Read(t.Context(), place{}, func(b store.Batch) error {
		for i := range b.Lines {
			l := &b.Lines[i]
			if ev, err := decodeLine(l); err == nil {
				_ = want.ApplyLine(&ev, l.Number)
			} else {
				want.Skip(l.Number, l.Seq, strings.Clone(reason(err)))
			}
		}
		m.fold(b)
		for i := range b.Lines {
			clear(b.Lines[i].Raw)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if same, difference := state.Equal(want, m.state); !same {
		t.Error(difference)
	}
	got, expected := m.state.Skips(), want.Skips()
	if got.Bad != 2 || got.Recent[0] != expected.Recent[0] || got.Recent[1] != expected.Recent[1] {
		t.Errorf("skips %+v, want %+v", got, expected)
	}
}

// TestThawRefusesWhatIsCut: a checkpoint of any length is used whole or not at all.
func TestThawRefusesWhatIsCut(t *testing.T) {
	s := newScene(t)
	busy(s)
	s.view()
	s.mu.Lock()
	cp, err := s.mem.freeze()
	s.mu.Unlock()
	if err != nil {
		t.Fatal(err)
	}
	m, err := thaw(cp)
	if err != nil {
		t.Fatal(err)
	}
	if same, difference := state.Equal(m.state, s.view().State); !same || m.at != cp.Pos {
		t.Errorf("%s", difference)
	}
	whole := cp.State
	for n := range whole {
		cp.State = whole[:n]
		if _, err := thaw(cp); err == nil {
			t.Fatalf("%d of %d bytes make a state", n, len(whole))
		}
	}
}
