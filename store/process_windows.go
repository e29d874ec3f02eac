package store

// SessionLeader returns 0: Windows has no sessions with a leader.
func SessionLeader() int { return 0 }
