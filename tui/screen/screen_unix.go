//go:build !windows

package screen

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// notStopped is how long to wait for a stop that does not come: a job that nobody could continue is not stopped by the system.
const notStopped = 250 * time.Millisecond

// console is nothing here: a terminal understands sequences by itself.
type console struct{}

func (console) prepare(*os.File) error { return nil }
func (console) restore() error         { return nil }

// signals are those that concern the terminal.
type signals struct{ ch chan os.Signal }

func (s *signals) listen() {
	s.ch = make(chan os.Signal, 4)
	signal.Notify(s.ch, syscall.SIGWINCH, syscall.SIGTSTP, syscall.SIGCONT)
}

func (s *signals) ignore() { signal.Stop(s.ch) }

// Watch calls resized when the window's size may have changed, suspend when somebody asks the process to stop, and resumed after it was
// stopped, until ctx ends.
func (s *Screen) Watch(ctx context.Context, resized, suspend, resumed func()) {
	for {
		select {
		case <-ctx.Done():
			return
		case sig := <-s.signals.ch:
			switch sig {
			case syscall.SIGWINCH:
				resized()
			case syscall.SIGTSTP:
				suspend()
			case syscall.SIGCONT:
				resumed()
			}
		}
	}
}

// Stop stops the process and its job, as the terminal's suspend character would, and returns when it goes on.
func (s *Screen) Stop() error {
	if err := s.Pause(); err != nil {
		return err
	}
	going := make(chan os.Signal, 1)
	signal.Notify(going, syscall.SIGCONT)
	defer signal.Stop(going)
	signal.Reset(syscall.SIGTSTP) // else we would catch it and not stop
	err := syscall.Kill(0, syscall.SIGTSTP)
	if err == nil {
		timeout := time.NewTimer(notStopped)
		defer timeout.Stop()
		select {
		case <-going:
		case <-timeout.C:
		}
	}
	signal.Notify(s.signals.ch, syscall.SIGTSTP)
	return errors.Join(err, s.Resume())
}
