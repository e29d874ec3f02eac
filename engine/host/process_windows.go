package host

// SessionLeader returns 0: Windows has no sessions with a leader.
func (Machine) SessionLeader() int { return 0 }
