package host

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"runtime"
	"testing"
	"time"
)

var here Machine

func TestProcess(t *testing.T) {
	self, err := here.Find(os.Getpid())
	if errors.Is(err, errors.ErrUnsupported) {
		t.Skipf("skipped: the processes of this system cannot be seen: %v", err)
	}
	if err != nil || self.PID != os.Getpid() || self.Parent != os.Getppid() || self.Start == "" || self.Boot == "" || self.Name == "" {
		t.Fatalf("%+v %v", self, err)
	}
	if !here.Alive(self) {
		t.Error("this process is not alive")
	}
	other := self
	other.Start += "1"
	if here.Alive(other) {
		t.Error("another process with our number is alive")
	}
	other = self
	other.Boot = "another"
	if here.Alive(other) {
		t.Error("a process of another boot is alive")
	}
	list := here.Ancestors()
	if len(list) == 0 || list[0].PID != os.Getppid() {
		t.Errorf("ancestors %+v", list)
	}
	for i, p := range list[:max(0, len(list)-1)] {
		if p.Parent != list[i+1].PID || !here.Alive(p) {
			t.Errorf("ancestors %+v", list)
		}
	}
	if here.SessionLeader() < 0 {
		t.Errorf("session leader %d", here.SessionLeader())
	}
}

// A child that has ended is not alive, also while nobody has waited for it.
func TestProcessEnded(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no sleep program to start")
	}
	cmd := exec.CommandContext(t.Context(), "sleep", "60")
	if err := cmd.Start(); err != nil {
		t.Skipf("skipped: there is no sleep program: %v", err)
	}
	child, err := here.Find(cmd.Process.Pid)
	if err != nil || !here.Alive(child) || child.Parent != os.Getpid() {
		t.Fatalf("%+v %v", child, err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for start := time.Now(); here.Alive(child); {
		if time.Since(start) > 30*time.Second {
			t.Fatal("still alive")
		}
		runtime.Gosched()
	}
	if err := cmd.Wait(); err == nil {
		t.Fatal("it was killed")
	}
	if _, err := here.Find(child.PID); !errors.Is(err, fs.ErrNotExist) || here.Alive(child) {
		t.Fatalf("error %v", err)
	}
}
