package tui

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/words"
	"github.com/agentloadout/loadout/tui/keymap"
)

// openJump asks for a place in time. A second g goes to the first row, as in other programs.
func (m *model) openJump() {
	m.prompt = &prompt{
		mark: "go to ", hint: "1234  14:03  2h ago  now",
		entered: m.jump,
		left:    func() tea.Cmd { return nil },
		special: func(k tea.KeyMsg) (tea.Cmd, bool) {
			if k.String() != "g" || m.prompt.field.Value() != "" {
				return nil, false
			}
			m.prompt = nil
			return m.do(m.focus, m.panes[m.focus].Handle(keymap.Home)), true
		},
	}
}

// jump shows the project as of what was typed.
func (m *model) jump(typed string) tea.Cmd {
	typed = strings.TrimSpace(typed)
	if typed == "" {
		return nil
	}
	if typed == "now" {
		return m.toNow()
	}
	if seq, err := strconv.ParseInt(strings.TrimPrefix(typed, "#"), 10, 64); err == nil && seq >= 0 {
		if seq >= m.live.State.Head() {
			return m.toNow()
		}
		return m.travelTo(seq)
	}
	at, err := moment(typed, m.clock())
	if err != nil {
		m.say(bad, err.Error())
		return m.scheduleTick()
	}
	ctx, e, head := m.ctx, m.engine, m.live.State.Head()
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(ctx, loadTimeout)
		defer cancel()
		seq, err := seqAt(ctx, e, head, at)
		return momentMsg{at, seq, err}
	}
}

// arrivedAt travels to the last event of a moment.
func (m *model) arrivedAt(msg momentMsg) tea.Cmd {
	switch {
	case msg.err != nil:
		m.say(bad, msg.err.Error())
	case msg.seq < 0:
		m.say(bad, "the log begins after "+words.Stamp(m.clock(), msg.at))
	case msg.seq >= m.live.State.Head():
		m.say(plainly, "nothing was stored since "+words.Stamp(m.clock(), msg.at))
		return tea.Batch(m.toNow(), m.scheduleTick())
	default:
		return m.travelTo(msg.seq)
	}
	return m.scheduleTick()
}

// moment reads 14:03, 2026-09-10 14:03, 2h or 2h ago. A time of day that is still to come is yesterday's.
func moment(typed string, now time.Time) (time.Time, error) {
	if d, err := words.ParseDuration(strings.TrimSpace(strings.TrimSuffix(typed, "ago"))); err == nil {
		return now.Add(-d), nil
	}
	for _, layout := range []string{"2006-01-02 15:04", "2006-01-02 15:04:05", "2006-01-02"} {
		if t, err := time.ParseInLocation(layout, typed, now.Location()); err == nil {
			return t, nil
		}
	}
	for _, layout := range []string{"15:04", "15:04:05"} {
		if t, err := time.ParseInLocation(layout, typed, now.Location()); err == nil {
			t = time.Date(now.Year(), now.Month(), now.Day(), t.Hour(), t.Minute(), t.Second(), 0, now.Location())
			if t.After(now) {
				t = t.AddDate(0, 0, -1)
			}
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is neither a number nor a time; write 1234, 14:03, 2026-09-10 14:03 or 2h ago", typed)
}

// seqAt is the last event that was stored by a moment, -1 when there is none. It halves the log, as events are in the order of their times
// but for clocks that were set back.
func seqAt(ctx context.Context, e Engine, head int64, at time.Time) (int64, error) {
	below, above := int64(-1), head // everything up to below was stored by then; nothing after above
	for below < above {
		mid := below + (above-below+1)/2
		r, err := e.Events(ctx, engine.Query{After: mid - 1, Max: 1})
		if err != nil {
			return 0, err
		}
		if len(r.Events) == 0 || r.Events[0].Seq > above || r.Events[0].Time().After(at) {
			above = mid - 1
		} else {
			below = r.Events[0].Seq
		}
	}
	return below, nil
}
