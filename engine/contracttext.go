package engine

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/state"
)

// ContractText is one revision of a contract with its body.
type ContractText struct {
	Name      string    `json:"name"`
	Revision  int64     `json:"revision"`
	Body      string    `json:"body"`
	Format    string    `json:"format,omitempty"`
	Publisher string    `json:"publisher"`
	EventID   string    `json:"eventId"`
	Seq       int64     `json:"seq"`
	At        time.Time `json:"timestamp"`
}

// ContractBody reads one revision of a contract, the latest for revision 0, from the log or from an archive.
func (e *Engine) ContractBody(ctx context.Context, name string, revision int64) (ContractText, error) {
	v, err := e.View(ctx)
	if err != nil {
		return ContractText{}, err
	}
	c, ok := v.State.Contract(name)
	if !ok {
		return ContractText{}, noContract(v.State, name)
	}
	if revision == 0 {
		revision = c.Revision
	}
	return e.contractBody(ctx, c, revision)
}

// ContractHistory reads every known revision of a contract with its body, oldest first, and says as of which number that is.
func (e *Engine) ContractHistory(ctx context.Context, name string) (texts []ContractText, asOf int64, err error) {
	v, err := e.View(ctx)
	if err != nil {
		return nil, 0, err
	}
	asOf = v.State.Head()
	c, ok := v.State.Contract(name)
	if !ok {
		return nil, asOf, noContract(v.State, name)
	}
	texts = make([]ContractText, 0, len(c.History))
	for _, r := range c.History {
		text, err := e.contractBody(ctx, c, r.Revision)
		if err != nil {
			return nil, asOf, err
		}
		texts = append(texts, text)
	}
	return texts, asOf, nil
}

// contractBody reads one revision of c.
func (e *Engine) contractBody(ctx context.Context, c state.Contract, revision int64) (ContractText, error) {
	for _, r := range c.History {
		if r.Revision != revision {
			continue
		}
		text := ContractText{
			Name: c.Name, Revision: r.Revision, Format: r.Format, Publisher: r.Publisher,
			EventID: r.EventID, Seq: r.Seq, At: r.At,
		}
		if r.Seq == c.Seq {
			text.Body = c.Body
			return text, nil
		}
		ev, ok, err := e.eventAt(ctx, r.Seq)
		if err != nil {
			return ContractText{}, err
		}
		body, err := ev.Body()
		if published, is := body.(event.Contract); ok && err == nil && is {
			text.Body = published.Body
			return text, nil
		}
		return ContractText{}, &NotFoundError{
			Kind: "revision", Name: fmt.Sprintf("%d of contract %s", revision, c.Name),
			Reason: "it is neither in the log nor in an archive any more",
		}
	}
	err := &NotFoundError{Kind: "revision", Name: fmt.Sprintf("%d of contract %s", revision, c.Name)}
	for _, r := range c.History[max(0, len(c.History)-3):] {
		err.Suggestions = append(err.Suggestions, strconv.FormatInt(r.Revision, 10))
	}
	err.Hints = []string{"loadout coord contract " + word(c.Name) + " --history"}
	return ContractText{}, err
}
