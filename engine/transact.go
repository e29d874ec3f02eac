package engine

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/state"
	"github.com/agentloadout/loadout/store"
)

// Do carries a command out: all of it, on disk, or a typed refusal and nothing.
func (e *Engine) Do(ctx context.Context, r Request) (Receipt, error) {
	if c, ok := r.Command.(ClaimTask); ok && c.NewID == "" {
		c.NewID = event.NewID()
		r.Command = c
	}
	r = e.signed(r)
	gathered := e.gather(&r)
	if c, ok := r.Command.(EndAgent); ok {
		gathered = e.handOver(ctx, c.Name, r.By)
	}
	var known state.Agent
	var notReady []string // of Next, when nothing is
	receipt, err := e.transact(ctx, transaction{
		decide: func(v View) ([]event.Event, error) {
			v.Person = e.byPerson(r)
			if c, ok := r.Command.(Register); ok {
				known, _ = v.registered(c)
			}
			events, err := decide(v, r.Command)
			if c, ok := r.Command.(Next); ok && err == nil && len(events) == 0 {
				notReady = v.notReady(v.spelling(c.Agent))
			}
			if err == nil && slices.ContainsFunc(events, isRename) {
				_, err = e.SessionRecords() // before anything is stored that it could not follow
			}
			return events, err
		},
		stored:  func(own []event.Event) error { return e.noteSessions("", own) },
		request: r,
	})
	if err != nil {
		return Receipt{}, err
	}
	receipt.Notes = append(receipt.Notes, notReady...)
	switch c := r.Command.(type) { //nolint:gochecksumtype // only what claims or reports
	case Own:
		receipt.Notes = append(receipt.Notes, e.misplaced(c)...)
	case ClaimTask:
		receipt.Notes = append(receipt.Notes, e.misplaced(c.own())...)
	case Report:
		if len(c.Files) > 0 {
			e.forgetTouched(c.Agent)
		}
	}
	if gathered != "" {
		receipt.Notes = append(receipt.Notes, gathered)
	}
	if _, ok := r.Command.(Register); ok && known.Name == "" {
		receipt.Agent = receipt.Events[0].From
	} else if ok {
		receipt.Agent, receipt.Duplicate = known.Name, true
		receipt.Notes = append(receipt.Notes, fmt.Sprintf("this process was registered as %s before, which it stays", told(known.Name)))
	}
	return receipt, nil
}

func isRename(ev event.Event) bool {
	body, err := ev.Body()
	if err != nil {
		return false
	}
	b, ok := body.(event.Agent)
	return ok && b.Action == event.AgentRenamed
}

// transaction is what one write does under the lock.
type transaction struct {
	request     Request                           // its Key and By go onto every event
	decide      func(View) ([]event.Event, error) // the rule; no events and no error: there is nothing to do
	sketch      func(View) (event.Event, error)   // what a retry asks for; nil: the request's command. Then the key is that of the last event only
	whileHalted bool                              // the write is one of the few that the kill switch lets through
	stored      func(own []event.Event) error     // what else belongs to the write
	beside      bool                              // stored tells files beside the log of what the log holds, which must be on disk before, as toldBeside
	known       func(Message) bool                // whether messages.jsonl says that already; nil: nothing of this write
}

// draft is what a transaction has made up before it writes.
type draft struct {
	own, lapsed []event.Event
	lines       [][]byte
	messages    []Message // what messages.jsonl must show of it
	duplicate   int64     // sequence number of the first event that the same retry key stored, -1: none
	head        int64
	begins      bool  // the log was empty
	loss        *loss // the log was gone, or an older copy; nil: no
}

// transact is the only way to write: lock, kill switch, catch up to the last line, expire, decide, redact, validate, append
// and sync, unlock.
func (e *Engine) transact(ctx context.Context, t transaction) (Receipt, error) {
	if err := e.warmUp(ctx); err != nil {
		return Receipt{}, err
	}
	var (
		d     draft
		notes []string
	)
	err := e.log.Update(ctx, func(tx *store.Tx) error {
		defer func() { notes = append(tx.Notes(), notes...) }()
		if !t.whileHalted { // the common answer needs no second look at the folder
			if halted, err := tx.Exists(KillSwitchName); err != nil {
				return err
			} else if halted {
				if err := e.refuseHalted(); err != nil {
					return err
				}
			}
		}
		var err error
		if d, err = e.draft(ctx, tx, t); err != nil {
			return err
		}
		if len(d.lines) == 0 {
			tx.Depend()
		} else if _, err := tx.Append(d.lines); err != nil {
			return fmt.Errorf("store event: %w", err)
		}
		if t.beside || len(d.messages) > 0 || slices.ContainsFunc(d.own, toldBeside) {
			if err := tx.Sync(); err != nil {
				return fmt.Errorf("store event: %w", err)
			}
			notes = append(notes, e.projectMessages(t, d.messages)...)
		}
		if t.stored != nil && d.duplicate < 0 {
			return t.stored(d.own)
		}
		return nil
	})
	kept := e.keepDue() // also after a refusal: the next verb should not have to read all that again
	if err != nil {
		return Receipt{}, e.inWords(e.explainSpent(ctx, err))
	}
	if d.loss != nil {
		notes = append(notes, fmt.Sprintf("%s; numbers go on above that, and loadout doctor says what is left of it", d.loss))
	}
	notes = append(notes, kept...)
	e.mu.Lock()
	e.remember(d.head)
	e.mu.Unlock()
	receipt := Receipt{Events: d.own, Expired: d.lapsed, Head: d.head, Notes: notes}
	if d.duplicate >= 0 {
		receipt.Duplicate = true
		if receipt.Events, err = e.storedWithKey(ctx, d.duplicate, t.request.Key); err != nil {
			return Receipt{}, err
		}
	}
	receipt.Notes = append(receipt.Notes, e.afterWrite(ctx, t, d)...)
	return receipt, nil
}

// warmUp reads the log before the lock is taken, unless it was read just now, so that only what came in between is left to read
// while others wait.
func (e *Engine) warmUp(ctx context.Context) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if age := e.now().Sub(e.read); e.mem.started && age >= 0 && age < warmFor {
		return nil
	}
	return e.catchUp(ctx, e.log.Read)
}

// readAhead reads what others have written while a write waited for its turn. Whatever is wrong with the log, the write meets it again.
func (e *Engine) readAhead(ctx context.Context, read store.ReadFunc) {
	e.mu.Lock()
	defer e.mu.Unlock()
	_ = e.catchUp(ctx, read)
}

// draft makes the lines of a transaction, under the lock.
func (e *Engine) draft(ctx context.Context, tx *store.Tx, t transaction) (draft, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.catchUp(ctx, tx.Read); err != nil {
		return draft{}, err
	}
	v := e.view(e.mem.state)
	d := draft{duplicate: -1, head: v.at.Highest(), begins: v.at.Offset == 0}
	if seq, found, err := t.retried(v); err != nil {
		return draft{}, err
	} else if found {
		d.duplicate = seq
		return d, nil
	}
	own, err := t.decide(v)
	if err != nil || len(own) == 0 {
		return d, err
	}
	lapsed, err := expire(v)
	if err != nil {
		return draft{}, err
	}
	var first []event.Event
	if lost, err := e.lost(ctx, e.readHead()); err != nil {
		return draft{}, err
	} else if lost.Seq >= 0 {
		record, err := lossRecord(lost)
		if err != nil {
			return draft{}, err
		}
		first, d.head, d.loss = []event.Event{record}, lost.Seq, &lost
	}
	for i := range own {
		own[i].By = v.spelling(t.request.By)
		if t.sketch == nil || i == len(own)-1 { // else the others make up for what was missed
			own[i].Key = t.request.Key
		}
	}
	for _, events := range [][]event.Event{first, lapsed, own} {
		for i := range events {
			if err := d.add(&events[i], v.Now); err != nil {
				return draft{}, err
			}
		}
	}
	d.own, d.lapsed, d.messages = own, lapsed, project(v.State, own)
	return d, nil
}

// retried finds what the same request stored before.
func (t *transaction) retried(v View) (seq int64, found bool, err error) {
	if t.request.Key == "" {
		return -1, false, nil
	}
	redact := func(ev *event.Event) { _ = redactDraft(ev) }
	if t.sketch == nil {
		return retried(v, t.request, redact)
	}
	asked, err := t.sketch(v)
	if err != nil {
		return -1, false, nil //nolint:nilerr // the rule refuses it too, and says why
	}
	return stored(v, t.request, asked, redact)
}

// before answers a retry from what the log holds, without the lock.
func (e *Engine) before(ctx context.Context, t transaction) (_ Receipt, found bool, err error) {
	v, err := e.glance(ctx)
	if err != nil {
		return Receipt{}, false, err
	}
	seq, found, err := t.retried(v)
	if err != nil || !found {
		return Receipt{}, false, err
	}
	if err := e.log.Sync(); err != nil {
		return Receipt{}, false, err
	}
	r := Receipt{Duplicate: true, Head: v.State.Head()}
	r.Events, err = e.storedWithKey(ctx, seq, t.request.Key)
	return r, err == nil, err
}

// add completes an event and makes its line.
func (d *draft) add(ev *event.Event, now time.Time) error {
	if d.head++; d.head > event.MaxSeq {
		return errNumbersSpent
	}
	ev.Seq, ev.Timestamp = d.head, event.FormatTime(now)
	if ev.ID == "" {
		ev.ID = event.NewID()
	}
	if err := cleanDraft(ev); err != nil {
		return err
	}
	d.lines = append(d.lines, ev.AppendLine(nil))
	return nil
}

// projectMessages shows a write in messages.jsonl. The write stands whether this works or not: the next handoff mends it.
func (e *Engine) projectMessages(t transaction, messages []Message) []string {
	if err := e.appendMessages(messages, t.known); err != nil {
		return []string{fmt.Sprintf("%s does not show this yet: %v", MessagesName, err)}
	}
	return nil
}

// afterWrite does what may wait until others can write again. Nothing of it can make the write fail.
func (e *Engine) afterWrite(ctx context.Context, t transaction, d draft) []string {
	var notes []string
	if len(d.lines) > 0 {
		e.writeHead(d.head)
	}
	if len(d.lines) > 0 && d.begins { // the first write of the project
		e.keepOutOfGit()
	}
	if exposed := e.exposed.Swap(nil); exposed != nil {
		notes = append(notes, *exposed)
	}
	if len(d.own) > 0 && t.request.By == "" {
		e.beatFor(ctx, &d.own[0])
	}
	return notes
}

// toldBeside reports whether files beside the log tell of an event too, which must be on disk before them.
func toldBeside(ev event.Event) bool {
	return ev.Type == event.TypeTurn || ev.Type == event.TypeAgent || ev.Type == event.TypeHalt
}
