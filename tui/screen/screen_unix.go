//go:build !windows

package screen

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

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

// Stop gives the terminal back, stops the process and its job as the terminal's suspend character would, and takes the terminal again
// when a shell lets the job go on. It is refused where there is no shell that could.
//
// SIGSTOP does it: the runtime keeps its handler for SIGTSTP once that was asked for, and a second SIGTSTP would be lost.
func (s *Screen) Stop() error {
	if leader, err := unix.Getsid(0); err != nil || leader == os.Getpid() {
		return ErrNoShell
	}
	if err := s.Pause(); err != nil {
		return err
	}
	going := make(chan os.Signal, 1)
	signal.Notify(going, syscall.SIGCONT)
	defer signal.Stop(going)
	err := syscall.Kill(0, syscall.SIGSTOP)
	if err == nil {
		<-going // the stop may reach this thread a little later than the call returns
	}
	return errors.Join(err, s.Resume())
}
