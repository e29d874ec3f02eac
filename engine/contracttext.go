package engine

import (
	"context"
	"time"
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
	panic("later")
}

// ContractHistory reads every known revision of a contract with its body, oldest first.
func (e *Engine) ContractHistory(ctx context.Context, name string) ([]ContractText, error) {
	panic("later")
}
