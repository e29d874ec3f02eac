package state

// Unacked counts the news to everybody above the highest number that anybody has acknowledged. Where a compaction took out what would have
// to be counted, it is not exact but at most so many.
func (s *State) Unacked() Unread {
	furthest := int64(-1)
	for i := range s.members.list {
		if m := &s.members.list[i]; !m.forgotten {
			furthest = max(furthest, m.cursor)
		}
	}
	switch {
	case furthest < 0:
		return Unread{Count: s.news.total, Exact: true}
	case furthest >= s.news.dropped:
		return Unread{Count: s.news.above(stranger, furthest), Exact: true}
	}
	// What the one who has read furthest has not read is the same, but for what was sent to it alone and what it sent itself.
	least, most := s.news.above(stranger, s.news.dropped), s.news.total
	for i := range s.members.list {
		if m := &s.members.list[i]; !m.forgotten && m.cursor == furthest {
			unread := s.unread(m)
			most = min(most, unread.Count+m.sent)
			if unread.Exact {
				least = max(least, unread.Count-m.direct)
			}
		}
	}
	return Unread{Count: most, Exact: least == most}
}
