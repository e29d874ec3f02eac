package program

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"unicode"

	"github.com/agentloadout/loadout/engine/turn"
)

// maxMessage is how much of what a program said about a failure is kept, in characters.
const maxMessage = 300

// Failure builds the failure of a turn, with what the person can do about it.
func (p Program) Failure(kind turn.Kind, spent turn.Spent, message string, err error) *turn.Failure {
	return &turn.Failure{Provider: p.Provider, Kind: kind, Message: OneLine(message), Spent: spent, Hints: p.hints(kind), Err: err}
}

// missing is the failure of a program that is not there or may not be run. command is what the settings name for it, if anything: then
// that is what is to be seen to.
func (p Program) missing(command []string, err error) *turn.Failure {
	failure := p.Failure(turn.NotInstalled, turn.Nothing, err.Error(), err)
	if len(command) > 0 {
		failure.Hints = []string{"see that " + command[0] + " is there and may be run: the settings name it as the command of " + p.Provider}
	}
	return failure
}

// NotStarted is the failure of a program that process.Run could not start. command is what the settings name for it, if anything.
func (p Program) NotStarted(ctx context.Context, command []string, err error) *turn.Failure {
	if ctx.Err() != nil {
		return p.Failure(turn.Cancelled, turn.Nothing, "", err)
	}
	if errors.Is(err, syscall.E2BIG) {
		return p.Failure(turn.TooLong, turn.Nothing, "its arguments are too long", err)
	}
	var at *fs.PathError
	if errors.As(err, &at) {
		if _, lost := os.Stat(at.Path); lost == nil {
			failure := p.Failure(turn.Broken, turn.Nothing, at.Path+": "+at.Err.Error(), err)
			failure.Hints = []string{"run " + at.Path + " --version by hand: it may be for another kind of machine, lack what runs it, or be damaged"}
			if len(command) == 0 {
				failure.Hints = append(failure.Hints, "install it anew: "+p.Install)
			}
			return failure
		}
	}
	return p.missing(command, err)
}

func (p Program) hints(kind turn.Kind) []string {
	switch kind {
	case turn.NotInstalled:
		return []string{"install it: " + p.Install, "or name the command that starts it in the settings: providers." + p.Provider + ".command"}
	case turn.Broken:
		return nil // NotStarted knows better
	case turn.NotSignedIn:
		return []string{"sign in: " + p.SignIn}
	case turn.UnknownSession:
		return []string{"see the sessions that are known: loadout coord agents list", "a session may have to be resumed in the folder in which it was started"}
	case turn.SessionBusy:
		return []string{"wait for the turn that is open in this session, or close the terminal that has it"}
	case turn.Quota:
		return []string{"wait for the limit to be lifted, or see the plan and billing of the account"}
	case turn.Overloaded:
		return []string{"try again later"}
	case turn.Unreachable:
		return []string{"see to the connection to the network, and to proxy settings"}
	case turn.TooLong:
		return []string{"send less, or start a new session"}
	case turn.Timeout:
		return []string{"give it a longer deadline, 600 seconds at most, or a smaller task"}
	case turn.Cancelled:
		return nil
	case turn.Forbidden:
		return []string{"see what it did before trusting it with another turn", "its version may lack the flags that take tools away: update it"}
	case turn.Rejected:
		return []string{"see whether model, permissions and version fit each other"}
	case turn.Nonsense, turn.Crashed:
		return []string{"run " + p.Binary + " by hand in the same folder to see what it says", "see whether its version is one that docs/providers.md names"}
	default:
		return nil
	}
}

// OneLine makes text of a program fit to be shown in a line: without control and formatting characters, blanks folded, and shortened.
func OneLine(text string) string {
	var b strings.Builder
	n, blank := 0, false
	for _, r := range text {
		if unicode.IsSpace(r) || unicode.IsControl(r) {
			blank = true
			continue
		}
		if unicode.Is(unicode.Cf, r) || r == unicode.ReplacementChar {
			continue
		}
		if n >= maxMessage {
			b.WriteRune('…')
			break
		}
		if blank && n > 0 {
			b.WriteByte(' ')
		}
		b.WriteRune(r)
		n, blank = n+1, false
	}
	return b.String()
}

// LastLine is the last line with text in it.
func LastLine(text string) string {
	text = strings.TrimSpace(text)
	return text[strings.LastIndexByte(text, '\n')+1:]
}
