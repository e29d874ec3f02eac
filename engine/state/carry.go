package state

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/agentloadout/loadout/engine/event"
)

// carried is what the summary of a compaction (event.Status.Carried) says of the lines that were taken out. Folding it makes
// the fold of what is left equal to the state before. Folding it on the state before forgets what a compaction lets go: what was
// settled, and the news of that time one by one.
type carried struct {
	Version int             `json:"v"`
	Since   int64           `json:"since"` // every line from this sequence number on has stayed
	At      time.Time       `json:"at"`
	Total   int64           `json:"news"`    // news sent to everybody
	Members []carriedMember `json:"members"` // everybody who is known
	Retries []carriedRetry  `json:"retries,omitempty"`
	Gone    carriedGone     `json:"gone"` // what the lines that stay show and that has ended
	Claims  []Claim         `json:"claims,omitempty"`
	Tasks   []carriedTask   `json:"tasks,omitempty"`
	Texts   []carriedText   `json:"contracts,omitempty"`
	Threads []Thread        `json:"threads,omitempty"`
}

const (
	carryVersion = 1
	maxCarried   = 500      // retry keys
	memberBytes  = 64 << 10 // of all members together
)

type carriedMember struct {
	Agent   Agent `json:"agent"`
	Gone    bool  `json:"forgotten,omitempty"`
	AckSeq  int64 `json:"ackSeq"`
	Sent    int64 `json:"sent"`
	Direct  int64 `json:"direct"`
	Read    int64 `json:"read"`
	Inexact bool  `json:"inexact,omitempty"`
}

type carriedRetry struct {
	Digest string `json:"d"` // of sender and retry key, base64
	Seq    int64  `json:"s"`
	Intent string `json:"i"` // base64
}

type carriedGone struct {
	Claims  [][2]string `json:"claims,omitempty"` // path and agent
	Tasks   []string    `json:"tasks,omitempty"`
	Threads []string    `json:"threads,omitempty"`
}

type carriedTask struct {
	ID       string     `json:"id"`
	To       string     `json:"to"`
	Waiting  []string   `json:"waiting,omitempty"`
	TakenBy  string     `json:"takenBy,omitempty"`
	TakenAt  *time.Time `json:"takenAt,omitempty"`
	TakenSeq int64      `json:"takenSeq"`
}

// carriedText is what a contract has beside its revisions.
type carriedText struct {
	Name    string           `json:"name"`
	Older   int64            `json:"older,omitempty"`
	Readers []carriedReaders `json:"readers,omitempty"`
}

type carriedReaders struct {
	Agent string `json:"agent"`
	Seq   int64  `json:"seq"`
}

// Carry is what the summary of a compaction must carry (event.Status.Carried), so that folding the lines that stay and then the
// summary gives the same as folding the summary on s. kept is the fold of the lines that stay: all from the sequence number since
// on, and of those before it at least the Roots.
func (s *State) Carry(kept *State, since int64) (json.RawMessage, error) {
	c := carried{
		Version: carryVersion,
		Since:   since,
		At:      s.at,
		Total:   s.news.total,
		Members: s.carriedMembers(),
		Retries: s.carriedRetries(since),
	}
	s.carryClaims(kept, &c)
	if err := s.carryTasks(kept, &c); err != nil {
		return nil, err
	}
	if err := s.carryContracts(kept, &c); err != nil {
		return nil, err
	}
	s.carryThreads(kept, &c)
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(c); err != nil {
		return nil, fmt.Errorf("encode what a compaction carries: %w", err)
	}
	return bytes.TrimSpace(b.Bytes()), nil
}

// carriedMembers lists those who hold something or have acknowledged something, then the others as long as there is room.
func (s *State) carriedMembers() []carriedMember {
	holders := s.holders()
	rank := func(m *member) int {
		if m.registered || m.cursor >= 0 || holders[event.FoldName(m.name)] {
			return 0
		}
		return 1
	}
	places := make([]int, 0, len(s.members.list))
	for i := range s.members.list {
		if s.members.list[i].name != "" {
			places = append(places, i)
		}
	}
	slices.SortStableFunc(places, func(a, b int) int {
		m, n := &s.members.list[a], &s.members.list[b]
		return cmp.Or(cmp.Compare(rank(m), rank(n)), cmp.Compare(n.lastSeq, m.lastSeq))
	})
	list := make([]carriedMember, 0, len(places))
	size := 0
	for _, place := range places {
		m := &s.members.list[place]
		const each = 300 // an estimate of what a member takes beside its name
		if size += each + len(m.name); size > memberBytes && rank(m) > 0 {
			break
		}
		list = append(list, carriedMember{
			Agent: s.agent(m), Gone: m.forgotten,
			AckSeq: m.ackSeq, Sent: m.sent, Direct: m.direct, Read: m.read, Inexact: m.inexact,
		})
	}
	return list
}

func (s *State) carriedRetries(since int64) []carriedRetry {
	var list []carriedRetry
	for _, k := range s.keys.list() {
		if k.seq < since {
			intent := binary.BigEndian.AppendUint64(nil, k.intent)
			list = append(list, carriedRetry{
				Digest: base64.RawStdEncoding.EncodeToString(k.key[:]),
				Seq:    k.seq,
				Intent: base64.RawStdEncoding.EncodeToString(intent),
			})
		}
	}
	return list[max(0, len(list)-maxCarried):]
}

func (s *State) carryClaims(kept *State, c *carried) {
	same := map[[2]string]Claim{}
	for _, claim := range kept.Claims() {
		same[claim.key()] = claim
	}
	for _, claim := range s.Claims() {
		if other, ok := same[claim.key()]; !ok || !claim.equal(other) {
			c.Claims = append(c.Claims, claim)
		}
		delete(same, claim.key())
	}
	c.Gone.Claims = slices.SortedFunc(maps.Keys(same), func(a, b [2]string) int {
		return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1]))
	})
}

// key tells claims apart.
func (c *Claim) key() [2]string { return [2]string{pathKey(c.Path), event.FoldName(c.Agent)} }

func (c *Claim) equal(o Claim) bool {
	if (c.ExpiresAt == nil) != (o.ExpiresAt == nil) || c.ExpiresAt != nil && !c.ExpiresAt.Equal(*o.ExpiresAt) {
		return false
	}
	return c.Path == o.Path && c.Agent == o.Agent && c.Mode == o.Mode && c.Reason == o.Reason &&
		c.Since.Equal(o.Since) && c.Seq == o.Seq && c.Fence == o.Fence
}

func (s *State) carryTasks(kept *State, c *carried) error {
	for _, t := range s.openTasks(func(*task) bool { return true }) {
		mine, other := s.tasks.open[t.ID], kept.tasks.open[t.ID]
		if other == nil {
			return fmt.Errorf("task %s is not among the lines that stay", t.ID)
		}
		if mine.To != other.To || mine.TakenBy != other.TakenBy || mine.takenSeq != other.takenSeq ||
			!slices.Equal(mine.Waiting, other.Waiting) {
			c.Tasks = append(c.Tasks, carriedTask{
				ID: t.ID, To: t.To, Waiting: t.Waiting, TakenBy: t.TakenBy, TakenAt: t.TakenAt, TakenSeq: mine.takenSeq,
			})
		}
	}
	for id := range kept.tasks.open {
		if s.tasks.open[id] == nil {
			c.Gone.Tasks = append(c.Gone.Tasks, id)
		}
	}
	slices.Sort(c.Gone.Tasks)
	return nil
}

func (s *State) carryContracts(kept *State, c *carried) error {
	for _, name := range slices.Sorted(maps.Keys(s.contracts)) {
		mine, other := s.contracts[name], kept.contracts[name]
		if other == nil {
			return fmt.Errorf("contract %s is not among the lines that stay", name)
		}
		if mine.older == other.older && slices.Equal(mine.readers, other.readers) {
			continue
		}
		text := carriedText{Name: name, Older: mine.older}
		for _, d := range mine.readers {
			text.Readers = append(text.Readers, carriedReaders{Agent: d.agent, Seq: d.seq})
		}
		c.Texts = append(c.Texts, text)
	}
	return nil
}

func (s *State) carryThreads(kept *State, c *carried) {
	for _, id := range slices.Sorted(maps.Keys(s.threads)) {
		mine, other := s.threads[id], kept.threads[id]
		if other == nil || mine.Statements != other.Statements || mine.Seq != other.Seq || mine.Status != other.Status {
			c.Threads = append(c.Threads, mine.Thread)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(kept.threads)) {
		if s.threads[id] == nil {
			c.Gone.Threads = append(c.Gone.Threads, id)
		}
	}
}

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
	if s.halt != nil {
		roots[s.halt.Seq] = true
	}
	return func(seq int64) bool { return seq >= 0 && roots[seq] }
}
