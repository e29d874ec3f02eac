package state

import "slices"

// Statements lists the numbers of a discussion's events, at most 64: the first and the newest others, so that whoever shows it reads no others.
func (s *State) Statements(thread string) []int64 {
	if t := s.threads[thread]; t != nil {
		return slices.Clone(t.seqs)
	}
	return nil
}
