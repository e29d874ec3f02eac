package tui

import (
	"context"
	"reflect"
	"time"

	"github.com/agentloadout/loadout/engine"
)

// How often git is asked which files changed. It takes at most one part in driftShare of the time, however large the repository is.
const (
	driftSoon  = 2 * time.Second  // after the log went on, at the soonest
	driftOften = 3 * time.Second  // while the working trees change
	driftIdle  = 30 * time.Second // at the latest, when nothing changes
	driftShare = 50
	driftFrame = 2 * time.Second // how long a single frame waits for git
)

// driftPace says when git is asked again.
type driftPace struct{ pause time.Duration }

// next is how long to wait after an answer that took so long: at least soonest, and no longer than latest when the log does not go on.
func (p *driftPace) next(took time.Duration, changed bool) (soonest, latest time.Duration) {
	if p.pause *= 2; changed || p.pause == 0 {
		p.pause = driftOften
	}
	p.pause = min(p.pause, driftIdle)
	soonest = max(driftSoon, driftShare*took)
	return soonest, max(soonest, p.pause)
}

// watchDrift compares the working trees with the claims until ctx ends.
func (f *feed) watchDrift(ctx context.Context) {
	var last engine.DriftReport
	var pace driftPace
	for ctx.Err() == nil {
		started := f.clock()
		report, err := f.engine.Drift(ctx)
		took := f.clock().Sub(started)
		changed := err == nil && !sameDrift(&last, &report)
		if changed {
			last = report
			f.change(func(u *update) { u.drift = &report })
		}
		soonest, latest := pace.next(took, changed)
		if !sleep(ctx, soonest) {
			return
		}
		idle := time.NewTimer(latest - soonest)
		select {
		case <-f.moved:
		case <-idle.C:
		case <-ctx.Done():
		}
		idle.Stop()
	}
}

// sameDrift reports whether two reports tell the same, whatever the log's number was.
func sameDrift(a, b *engine.DriftReport) bool {
	x, y := *a, *b
	x.AsOf, y.AsOf = 0, 0
	return reflect.DeepEqual(x, y)
}

// driftNow is what git can tell soon, nil when it cannot.
func driftNow(ctx context.Context, e Engine) *engine.DriftReport {
	ctx, cancel := context.WithTimeout(ctx, driftFrame)
	defer cancel()
	report, err := e.Drift(ctx)
	if err != nil {
		return nil
	}
	return &report
}
