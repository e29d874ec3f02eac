package state

import (
	"crypto/sha256"
	"hash/fnv"
	"io"
	"strconv"

	"github.com/agentloadout/loadout/engine/event"
)

// keyed remembers that an event was stored with a retry key.
type keyed struct {
	key    [16]byte // digest of sender and key
	seq    int64
	intent uint64 // see Intent
}

func keyDigest(from, key string) [16]byte {
	sum := sha256.Sum256([]byte(event.FoldName(from) + "\x00" + key))
	return [16]byte(sum[:16])
}

func (s *State) addKey(e *event.Event) {
	s.keys.push(keyed{key: keyDigest(e.From, e.Key), seq: e.Seq, intent: Intent(e)}, MaxKeys)
}

// SeenRequest finds the first event that from stored with a retry key, of the newest MaxKeys keys, and tells its Intent.
func (s *State) SeenRequest(from, key string) (seq int64, intent uint64, ok bool) {
	digest := keyDigest(from, key)
	for i := range s.keys.len() {
		if k := s.keys.at(i); k.key == digest {
			return k.seq, k.intent, true
		}
	}
	return -1, 0, false
}

// Intent is a digest of what an event asks for, without what depends on the state at the time: of a contract, say, its name and
// text but not its revision. Two tries of the same request have the same intent.
func Intent(e *event.Event) uint64 {
	h := fnv.New64a()
	part := func(texts ...string) {
		for _, text := range texts {
			_, _ = io.WriteString(h, strconv.Itoa(len(text))+":"+text) // a hash does not fail
		}
	}
	part(string(e.Type), event.FoldName(e.From))
	body, err := e.Body()
	if err != nil {
		part(string(e.Payload))
		return h.Sum64()
	}
	switch b := body.(type) {
	case event.Contract:
		part(e.To, b.Name, b.Body, b.Format)
		return h.Sum64()
	case event.Agent:
		part(string(b.Action), b.Base, b.Human, b.Session)
		if b.Action != event.AgentRegistered { // a name is made when it is registered
			part(event.FoldName(b.Name), event.FoldName(b.Previous))
		}
		return h.Sum64()
	case event.Task:
		if e.Resolves != "" { // which task is taken depends on what is ready
			part("take")
			return h.Sum64()
		}
	case event.Ownership:
		part(string(b.Mode), b.Reason)
	case event.Decision:
		part(b.Title, b.Rationale)
	case event.Ack:
		part(strconv.FormatInt(b.EventSeq, 10), b.Note)
	case event.Done:
		part(e.Resolves, b.Evidence)
	case event.Error, event.Cancel:
		part(e.Resolves)
	case event.Update, event.Discussion, event.Handoff, event.Question, event.Status, event.Halt, event.Turn, event.Work,
		event.Gate, event.Wave, event.Unknown:
		part(string(e.Payload))
	}
	part(e.To, e.Description, e.Context)
	return h.Sum64()
}
