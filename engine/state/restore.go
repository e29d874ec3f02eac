package state

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"time"

	"github.com/agentloadout/loadout/engine/event"
)

// readCarried decodes what a summary carries, nil when that is nothing.
func readCarried(b event.Status) (*carried, error) {
	if len(b.Carried) == 0 {
		return nil, nil //nolint:nilnil // nothing is carried
	}
	var c carried
	if err := json.Unmarshal(b.Carried, &c); err != nil {
		return nil, err
	}
	if c.Version != carryVersion {
		return nil, errors.New("another version")
	}
	return &c, nil
}

// foldSummary folds what the summary of a compaction carries.
func (s *State) foldSummary(e *event.Event, b event.Status) {
	c, err := readCarried(b)
	if err != nil || c == nil || e.From != event.Loadout {
		return // refuses has reported an error
	}
	if c.At.After(s.at) {
		s.at = c.At
	}
	s.restoreMembers(c)
	s.restoreRetries(c)
	s.restoreClaims(c)
	s.restoreTasks(c)
	for _, text := range c.Texts {
		if t := s.contract(text.Name); t != nil {
			t.older, t.readers = text.Older, nil
			for _, r := range text.Readers {
				t.readers = append(t.readers, declaration{agent: r.Agent, seq: r.Seq})
			}
		}
	}
	if c.Gone.Halt {
		s.halt = nil
	}
	for _, id := range c.Gone.Threads {
		delete(s.threads, id)
	}
	for _, row := range c.Threads {
		t := s.thread(row.ID)
		if t == nil {
			t = &thread{epoch: s.epoch}
			s.threads[row.ID] = t
		}
		t.Thread = row
	}
	s.turns.restore(c.Turns, c.Since)
	s.work.restore(c.Work, c.Since)
	s.news.total = c.Total
	s.news.dropped = max(s.news.dropped, c.Since-1)
	s.news.recent.keepIf(func(d *delivery) bool { return d.seq >= c.Since })
	s.refs.keepIf(func(r *Ref) bool { return r.Seq >= c.Since })
}

// restoreMembers makes the roster what is carried.
func (s *State) restoreMembers(c *carried) {
	list := make([]member, 0, len(c.Members))
	index := make(map[string]int, len(c.Members))
	for _, m := range c.Members {
		a := m.Agent
		index[event.FoldName(a.Name)] = len(list)
		list = append(list, member{
			name: a.Name, registered: a.Registered, forgotten: m.Gone, ended: moment(a.Ended), since: moment(a.Since),
			identity: identity{a.Base, a.Human, a.Session, a.Start, a.Boot, a.Host, a.PID},
			cursor:   a.Cursor, ackSeq: m.AckSeq, lastSeq: a.LastSeq, lastAt: moment(a.LastAt),
			sent: m.Sent, direct: m.Direct, read: m.Read, inexact: m.Inexact,
		})
	}
	moved := make([]int, len(s.members.list))
	for i := range s.members.list {
		moved[i] = nobody
		if place, ok := index[event.FoldName(s.members.list[i].name)]; ok && s.members.list[i].name != "" {
			moved[i] = place
		}
	}
	s.members = roster{list: list, index: index}
	s.news.renumber(moved)
}

// moment is the zero time for nil.
func moment(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.UTC()
}

func (s *State) restoreRetries(c *carried) {
	var items []keyed
	for _, r := range c.Retries {
		digest, err := base64.RawStdEncoding.DecodeString(r.Digest)
		intent, intentErr := base64.RawStdEncoding.DecodeString(r.Intent)
		if err == nil && intentErr == nil && len(digest) == 16 && len(intent) == 8 {
			items = append(items, keyed{key: [16]byte(digest), seq: r.Seq, intent: binary.BigEndian.Uint64(intent)})
		}
	}
	for _, k := range s.keys.list() {
		if k.seq >= c.Since {
			items = append(items, k)
		}
	}
	s.keys = ring[keyed]{items: items}
}

func (s *State) restoreClaims(c *carried) {
	for _, gone := range c.Gone.Claims {
		s.endClaim(gone[0], gone[1], -1)
	}
	for _, claim := range c.Claims {
		s.endClaim(claim.Path, claim.Agent, -1)
		claim.Since = claim.Since.UTC()
		key := pathKey(claim.Path)
		held := s.claims.byPath[key]
		s.claims.byPath[key] = append(held[:len(held):len(held)], claim)
		s.claims.sources[claim.Seq]++
	}
}

func (s *State) restoreTasks(c *carried) {
	for _, id := range c.Gone.Tasks {
		if t := s.tasks.open[id]; t != nil {
			delete(s.tasks.open, id)
			for _, need := range t.Waiting {
				s.stopWaiting(need, id)
			}
		}
	}
	for _, row := range c.Tasks {
		t := s.task(row.ID)
		if t == nil {
			continue
		}
		for _, need := range t.Waiting {
			s.stopWaiting(need, t.ID)
		}
		t.To, t.Waiting, t.TakenBy, t.TakenAt, t.takenSeq = row.To, row.Waiting, row.TakenBy, row.TakenAt, row.TakenSeq
		t.Status = TaskOpen
		if t.TakenBy != "" {
			t.Status = TaskTaken
		}
		for _, need := range t.Waiting {
			s.wait(need, t.ID)
		}
	}
	s.tasks.settled.keepIf(func(t **task) bool { return (*t).Seq >= c.Since })
}
