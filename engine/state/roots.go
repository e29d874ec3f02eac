package state

// Roots says which events the state is built from: a compaction keeps their lines.
func (s *State) Roots() func(seq int64) bool {
	roots := map[int64]bool{}
	for _, held := range s.claims.byPath {
		for i := range held {
			roots[held[i].Seq] = true
		}
	}
	for _, c := range s.contracts {
		for i := range c.history {
			roots[c.history[i].Seq] = true
		}
		for _, d := range c.readers {
			roots[d.seq] = true
		}
	}
	for _, t := range s.tasks.open {
		roots[t.Seq], roots[t.takenSeq] = true, true
	}
	for _, d := range s.decisions.newest() {
		roots[d.Seq] = true
	}
	for _, t := range s.threads {
		for _, seq := range t.seqs {
			roots[seq] = true
		}
	}
	for i := range s.members.list {
		roots[s.members.list[i].ackSeq] = true // for other programs: ours is told by the summary
	}
	for _, turn := range s.turns.open {
		for _, seq := range turn.lines {
			roots[seq] = true
		}
		for _, seq := range turn.Seqs {
			roots[seq] = true
		}
	}
	s.work.roots(roots)
	s.gates.roots(roots)
	if s.halt != nil {
		roots[s.halt.Seq] = true
	}
	return func(seq int64) bool { return seq >= 0 && roots[seq] }
}
