package engine

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/agentloadout/loadout/engine/event"
)

// waitTick is how often a waiting claim tells how long it still waits, and looks whether what is in the way has lapsed.
const waitTick = time.Second

// OwnWait carries an Own command out and, while another agent's claim is in the way, waits up to wait for it to end.
// progress, which may be nil, is told at once and then about once a second who is in the way and how much time is left.
// When the time is up the last refusal is returned.
func (e *Engine) OwnWait(ctx context.Context, r Request, wait time.Duration, progress func(*ConflictError, time.Duration)) (Receipt, error) {
	v, err := e.View(ctx)
	if err != nil {
		return Receipt{}, err
	}
	receipt, err := e.Do(ctx, r)
	if wait <= 0 || !isOwned(err) {
		return receipt, err
	}
	following, cancel := context.WithCancel(ctx)
	news := make(chan struct{}, 1)
	var wg sync.WaitGroup
	wg.Go(func() {
		_ = e.FollowFrom(following, v, func(d Delivery) error { // it ends because we end it
			if mayFree(d) {
				select {
				case news <- struct{}{}:
				default:
				}
			}
			return nil
		})
	})
	defer wg.Wait()
	defer cancel()
	return e.retryOwn(ctx, r, err, wait, news, progress)
}

// retryOwn asks again whenever there is news that may have freed the way, until the wait is over.
func (e *Engine) retryOwn(
	ctx context.Context, r Request, refusal error, wait time.Duration, news <-chan struct{},
	progress func(*ConflictError, time.Duration),
) (Receipt, error) {
	start := e.now()
	tick := time.NewTicker(waitTick)
	defer tick.Stop()
	end := time.NewTimer(wait)
	defer end.Stop()
	for {
		var conflict *ConflictError
		errors.As(refusal, &conflict)
		if progress != nil {
			progress(conflict, max(0, wait-e.now().Sub(start)))
		}
		last := false
		select {
		case <-ctx.Done():
			return Receipt{}, ctx.Err()
		case <-news:
		case <-tick.C:
			if !e.anyLapsed(conflict) {
				continue
			}
		case <-end.C:
			last = true
		}
		receipt, err := e.Do(ctx, r)
		if last || !isOwned(err) {
			return receipt, err
		}
		refusal = err
	}
}

// isOwned reports whether a claim was refused because somebody holds the path.
func isOwned(err error) bool {
	var conflict *ConflictError
	return errors.As(err, &conflict) && conflict.Kind == ConflictOwnership
}

// mayFree reports whether a delivery holds something that may end a claim.
func mayFree(d Delivery) bool {
	if d.Reset || d.Halted != nil {
		return true
	}
	for i := range d.Events {
		if t := d.Events[i].Type; t == event.TypeOwnership || t == event.TypeAgent || t == event.TypeHalt {
			return true
		}
	}
	return false
}

func (e *Engine) anyLapsed(c *ConflictError) bool {
	now := e.now()
	for _, in := range c.Conflicts {
		if in.Claim.Lapsed(now) {
			return true
		}
	}
	return false
}
