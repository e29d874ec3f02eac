package tui

import (
	"time"

	"github.com/agentloadout/loadout/engine/discuss"
	"github.com/agentloadout/loadout/engine/state"
	"github.com/agentloadout/loadout/tui/overlay"
	"github.com/agentloadout/loadout/tui/pane"
)

// The messages of the update loop, beside Bubble Tea's own. Results say which request they answer; those that nobody waits for any more
// are dropped.
type (
	// feedMsg is what the feed took.
	feedMsg struct{ update }

	// turnsMsg is what is new about the turns of this process.
	turnsMsg struct{ turnNews }

	// loadedMsg is what a pane asked for.
	loadedMsg struct {
		pane  int
		key   string
		value any
		err   error
	}

	// talkMsg is how the discussion of this process stands.
	talkMsg struct{ live discuss.Live }

	// actedMsg is the end of an action.
	actedMsg struct {
		id   int
		done string   // what to tell the person, see withNotes
		said []string // what is to be asked next, of an action that only looked
		err  error
	}

	// stateAtMsg is a state of the past.
	stateAtMsg struct {
		seq   int64
		state *state.State
		tasks *pane.Tasks
		err   error
	}

	// tickMsg comes when something on the screen changes by time alone.
	tickMsg struct{ serial int }

	// outputMsg says that a command of the command line wrote something, or ended.
	outputMsg struct {
		id   int
		done bool
		err  error
	}

	// completionMsg is what the last word of a line could become.
	completionMsg struct {
		line       string
		candidates []string
	}

	// inputMsg is what the text of a form's input could become.
	inputMsg struct {
		form       *overlay.Form
		input      *overlay.Input
		typed      string
		candidates []string
	}

	// historyMsg is the command lines of earlier cockpits; historyFailedMsg why a line was not kept for later ones.
	historyMsg       struct{ lines []string }
	historyFailedMsg struct{ err error }

	// momentMsg is the last event that was stored by a moment.
	momentMsg struct {
		at  time.Time
		seq int64
		err error
	}

	// editedMsg is a text that comes back from the editor.
	editedMsg struct {
		text string
		take func(text string) // nil: it was only read
		err  error
	}

	// resumedMsg comes after the process was stopped and goes on, or says why it was not stopped.
	resumedMsg struct{ err error }

	// suspendMsg comes when somebody asks the process to stop.
	suspendMsg struct{}

	// frameMsg comes when a frame that was put off is due.
	frameMsg struct{}
)

// clockFunc tells the time; tests stop it.
type clockFunc func() time.Time
