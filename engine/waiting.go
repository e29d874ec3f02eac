package engine

import "github.com/agentloadout/loadout/engine/state"

// Waiting lists what waits for a person, the weightiest first, then the oldest.
func (v *View) Waiting() []state.Waiting {
	o := v.outlook()
	if h := v.Halted; h != nil {
		o.Halt = &state.Halt{By: h.By, Reason: h.Reason, At: h.At, Seq: -1}
		if logged := v.State.Halt(); logged != nil {
			o.Halt.Seq = logged.Seq
		}
	}
	list := v.State.Waiting(o)
	for i := range list {
		if w := &list[i]; w.Kind == state.WaitClaim && v.typed != nil {
			w.Verb[len(w.Verb)-1] = v.typed(w.Verb[len(w.Verb)-1])
		}
	}
	return list
}

// outlook is what decides beside the log, without the kill switch.
func (v *View) outlook() state.Outlook {
	return state.Outlook{Now: v.Now, Stale: v.stale, Rests: func(agent string) bool { return v.liveness(agent).Idle }}
}
