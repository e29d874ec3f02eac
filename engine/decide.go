package engine

import (
	"errors"
	"fmt"
	"strings"

	"github.com/agentloadout/loadout/engine/event"
)

// decide turns a command into the events that carry it out, or refuses it with a typed error. It is pure: the same view and the
// same command give the same answer. The events are drafts: ID, Seq, Timestamp, Key and By are not set.
//
// A claim whose time has passed counts as ended; expire makes the record of that, which is stored before the drafts.
func decide(v View, c Command) ([]event.Event, error) {
	events, err := apply(v, c.spelled(v.spelling))
	if err != nil {
		return nil, err
	}
	for i := range events {
		if err := v.checkLookalike(&events[i]); err != nil {
			return nil, err
		}
	}
	return events, nil
}

// apply is the rule of each command.
func apply(v View, c Command) ([]event.Event, error) {
	switch c := c.(type) {
	case Own:
		return decideOwn(v, c)
	case ReleasePaths:
		return decideRelease(v, c)
	case Publish:
		return decidePublish(v, c)
	case Consume:
		return decideConsume(v, c)
	case Decide:
		return decideDecision(v, c)
	case Report:
		return decideReport(v, c)
	case AddTask:
		return decideTask(v, c)
	case Ask:
		return draft1(askEvent(c))
	case Answer:
		return decideAnswer(v, c)
	case Next:
		return decideNext(v, c)
	case ClaimTask:
		return decideClaimTask(v, c)
	case Finish:
		return decideFinish(v, c)
	case Cancel:
		return decideCancel(v, c)
	case Ack:
		return decideAck(v, c)
	case Register:
		return decideRegister(v, c)
	case EndAgent:
		return decideEnd(v, c)
	case ForgetAgent:
		return decideForget(v, c)
	case RenameAgent:
		return decideRename(v, c)
	case Emit:
		return decideEmit(v, c)
	}
	return nil, fmt.Errorf("decide %T: no rule", c)
}

// newEvent makes a draft. A sender or receiver that cannot be one is refused.
func newEvent(from, to, description string, body event.Body) (event.Event, error) {
	if err := checkAgent("agent", from); err != nil {
		return event.Event{}, err
	}
	if to != event.Broadcast {
		if err := checkAgent("to", to); err != nil {
			return event.Event{}, err
		}
	}
	ev, err := event.New(strings.TrimSpace(from), strings.TrimSpace(to), description, body)
	return ev, invalid(err)
}

// checkAgent refuses what is no name of somebody who can act or be asked.
func checkAgent(field, name string) error {
	err := event.CheckName(strings.TrimSpace(name))
	var bad *event.InvalidError
	if errors.As(err, &bad) {
		return &ValidationError{Field: field, Reason: bad.Reason}
	}
	if err == nil && event.SameName(strings.TrimSpace(name), event.Loadout) {
		return &ValidationError{Field: field, Reason: "is the name of the program itself"}
	}
	if err == nil && strings.HasPrefix(strings.TrimSpace(name), "-") { // no command line could name it
		return &ValidationError{Field: field, Reason: "begins with a dash"}
	}
	return err
}

// said is a description that was put together from parts, cut to what fits.
func said(format string, args ...any) string {
	return event.Clip(fmt.Sprintf(format, args...), event.MaxDescription)
}

// draft1 is the list of one draft.
func draft1(ev event.Event, err error) ([]event.Event, error) {
	if err != nil {
		return nil, err
	}
	return []event.Event{ev}, nil
}
