// Package screen draws frames on the person's terminal and gives the terminal back as it was.
//
// Run writes, in a goroutine of its own: Show only leaves the newest frame for it, so that a terminal which takes its time, or is gone, never holds up the
// cockpit. Frames that were not drawn in time are skipped. Nothing is written while nothing changes.
package screen

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/charmbracelet/x/ansi"
	"golang.org/x/term"
)

const (
	open  = ansi.SetModeAltScreenSaveCursor
	modes = ansi.HideCursor + ansi.SetModeBracketedPaste +
		ansi.ResetModeAutoWrap + // a character wider than we think must not push a line
		ansi.ResetModeBiDirectionalSupport + // terminals that reorder Hebrew or Arabic would reorder the borders too
		ansi.EraseEntireScreen
	mouseOn  = ansi.SetModeMouseNormal + ansi.SetModeMouseExtSgr
	mouseOff = ansi.ResetModeMouseExtSgr + ansi.ResetModeMouseNormal
	leave    = mouseOff + ansi.SetModeBiDirectionalSupport + ansi.SetModeAutoWrap + ansi.ResetModeBracketedPaste + ansi.ResetStyle +
		ansi.ShowCursor + ansi.ResetModeAltScreenSaveCursor
)

// closeWait is how long a terminal that does not take what is written to it may hold up the end.
const closeWait = time.Second

// ErrHangup says that the terminal is gone, ErrNoShell that nobody could let a stopped program go on, ErrClosed that the terminal was given
// back for good.
var (
	ErrHangup  = errors.New("the terminal is gone")
	ErrClosed  = errors.New("the terminal was given back")
	ErrNoShell = errors.New("there is no shell here that could continue a suspended program")
)

// Screen is a terminal in the cockpit's hands.
type Screen struct {
	in, out *os.File
	console console // what else the platform wants
	signals signals
	before  *term.State

	mu    sync.Mutex // guards next, extra, anew
	next  []string
	extra string
	mouse bool
	anew  bool
	wake  chan struct{}

	write chan struct{} // holds a token; who has it may write
	shown []string      // what is on the screen; nil: unknown
	on    bool
	stop  chan struct{}
	done  chan struct{}
}

// Open takes the terminal: raw mode, the alternate screen, no cursor. Close gives it back.
func Open(in, out *os.File) (*Screen, error) {
	if !term.IsTerminal(int(in.Fd())) || !term.IsTerminal(int(out.Fd())) {
		return nil, errors.New("the cockpit needs a terminal for its input and its output")
	}
	s := &Screen{
		in: in, out: out,
		wake: make(chan struct{}, 1), write: make(chan struct{}, 1),
		stop: make(chan struct{}), done: make(chan struct{}),
	}
	s.write <- struct{}{}
	if err := s.Resume(); err != nil {
		return nil, err
	}
	s.signals.listen()
	return s, nil
}

// Size is the terminal's size in cells.
func (s *Screen) Size() (w, h int, err error) { return term.GetSize(int(s.out.Fd())) }

// Input is where keys are read. It reports the end of the terminal as an error, which a reader of ordinary files would not.
func (s *Screen) Input() io.Reader { return input{s.in} }

type input struct{ *os.File }

func (i input) Read(p []byte) (int, error) {
	n, err := i.File.Read(p)
	if errors.Is(err, io.EOF) {
		return n, ErrHangup
	}
	return n, err
}

// Show draws a frame soon. The lines belong to the screen from now on.
func (s *Screen) Show(lines []string) {
	s.mu.Lock()
	s.next = lines
	s.mu.Unlock()
	s.poke()
}

// Send writes a sequence that is not part of a frame, such as one for the clipboard.
func (s *Screen) Send(sequence string) {
	s.mu.Lock()
	s.extra += sequence
	s.mu.Unlock()
	s.poke()
}

func (s *Screen) poke() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// Run draws what Show leaves, until Close or until the terminal cannot be written to, which is the error. It must run while the screen
// is open.
func (s *Screen) Run() error {
	defer close(s.done)
	for {
		select {
		case <-s.stop:
			return nil
		case <-s.wake:
		}
		if !s.acquire() {
			return nil
		}
		if err := s.draw(); err != nil {
			return fmt.Errorf("%w: %w", ErrHangup, err)
		}
	}
}

// draw writes the newest frame and gives the token back.
func (s *Screen) draw() error {
	defer func() { s.write <- struct{}{} }()
	if !s.on {
		return nil
	}
	s.mu.Lock()
	lines, extra, anew := s.next, s.extra, s.anew
	s.extra, s.anew = "", false
	s.mu.Unlock()
	if anew || len(lines) != len(s.shown) {
		s.shown = nil
	}
	var b strings.Builder
	b.WriteString(extra)
	if lines != nil {
		paint(&b, s.shown, lines)
		s.shown = lines
	}
	if b.Len() == 0 {
		return nil
	}
	_, err := io.WriteString(s.out, b.String())
	return err
}

// Redraw draws everything anew, whatever the terminal shows.
func (s *Screen) Redraw() {
	s.mu.Lock()
	s.anew = true
	s.mu.Unlock()
	s.poke()
}

// Mouse listens to clicks and the wheel, or leaves them to the terminal, which selects text with them.
func (s *Screen) Mouse(on bool) {
	sequence := mouseOff
	if on {
		sequence = mouseOn
	}
	s.mu.Lock()
	s.mouse = on
	s.extra += sequence
	s.mu.Unlock()
	s.poke()
}

// Files is the terminal for a program that runs while the screen is paused.
func (s *Screen) Files() (in, out, errs *os.File) { return s.in, s.out, s.out }

// Pause gives the terminal back for a while, as for a suspended job.
func (s *Screen) Pause() error {
	if !s.acquire() {
		return ErrClosed
	}
	defer func() { s.write <- struct{}{} }()
	return s.release()
}

// acquire takes the token, unless the screen was closed: what comes late must not take the terminal again.
func (s *Screen) acquire() bool {
	select {
	case <-s.stop:
		return false
	case <-s.write:
	}
	select {
	case <-s.stop:
		s.write <- struct{}{}
		return false
	default:
		return true
	}
}

func (s *Screen) release() error {
	if !s.on {
		return nil
	}
	s.on = false
	_, err := io.WriteString(s.out, leave)
	return errors.Join(err, s.restore())
}

func (s *Screen) restore() error {
	return errors.Join(term.Restore(int(s.in.Fd()), s.before), s.console.restore())
}

// Resume takes the terminal again and draws everything. It also mends a terminal that was never given back, as after a stop that could
// not be caught.
func (s *Screen) Resume() error {
	if !s.acquire() {
		return ErrClosed
	}
	defer func() { s.write <- struct{}{} }()
	before, err := term.MakeRaw(int(s.in.Fd()))
	if err != nil {
		return fmt.Errorf("set the terminal to raw mode: %w", err)
	}
	if s.before == nil {
		s.before = before
	}
	if err := s.console.prepare(s.out); err != nil {
		return errors.Join(err, s.restore())
	}
	sequences := modes
	if !s.on {
		sequences = open + modes
	}
	s.mu.Lock()
	if s.mouse {
		sequences += mouseOn
	}
	s.mu.Unlock()
	s.on, s.shown = true, nil
	if _, err := io.WriteString(s.out, sequences); err != nil {
		return errors.Join(fmt.Errorf("%w: %w", ErrHangup, err), s.restore())
	}
	s.poke()
	return nil
}

// Close gives the terminal back for good.
func (s *Screen) Close() error {
	s.signals.ignore()
	close(s.stop)
	timeout := time.NewTimer(closeWait)
	defer timeout.Stop()
	select {
	case <-s.write:
		err := s.release()
		<-s.done
		return err
	case <-timeout.C: // a write hangs; at least the modes of the line are put right
		return s.restore()
	}
}
