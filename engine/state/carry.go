package state

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
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
	Turns   *carriedTurns   `json:"turns,omitempty"`
	Work    *carriedWork    `json:"work,omitempty"`
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
	Halt    bool        `json:"halt,omitempty"` // the kill switch is off
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
		Turns:   s.turns.carry(),
		Work:    s.work.carry(&kept.work),
	}
	s.carryClaims(kept, &c)
	if err := s.carryTasks(kept, &c); err != nil {
		return nil, err
	}
	if err := s.carryContracts(kept, &c); err != nil {
		return nil, err
	}
	s.carryThreads(kept, &c)
	c.Gone.Halt = s.halt == nil && kept.halt != nil
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
	for _, mine := range s.tasks.sorted(every) {
		other := kept.tasks.open[mine.ID]
		if other == nil {
			return fmt.Errorf("task %s is not among the lines that stay", mine.ID)
		}
		if mine.To != other.To || mine.TakenBy != other.TakenBy || mine.takenSeq != other.takenSeq ||
			!slices.Equal(mine.Waiting, other.Waiting) {
			c.Tasks = append(c.Tasks, carriedTask{
				ID: mine.ID, To: mine.To, Waiting: mine.Waiting, TakenBy: mine.TakenBy, TakenAt: mine.TakenAt, TakenSeq: mine.takenSeq,
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
