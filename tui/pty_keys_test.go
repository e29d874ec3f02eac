//go:build !windows

package tui

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTerminalResizeStorm(t *testing.T) {
	tt := startTTY(t, "plain")
	tt.shows("1 Ownership", "live")
	seed := uint32(7)
	next := func(n uint32) uint16 {
		seed = seed*1664525 + 1013904223
		return uint16(1 + (seed>>8)%n)
	}
	for range 200 {
		w, h := next(240), next(80)
		tt.emulator.Resize(int(w), int(h))
		resizeTTY(t, tt.host, w, h)
	}
	tt.emulator.Resize(100, 30)
	resizeTTY(t, tt.host, 100, 30)
	tt.until("the frame is whole", func(s string) bool {
		lines := strings.Split(s, "\n")
		return len(lines) == 30 && strings.Contains(lines[0], " shop") && strings.HasPrefix(lines[29], " ? help") && strings.Contains(lines[1], "1 Ownership")
	})
	tt.quit()
}

const pasteOn, pasteOff = "\x1b[200~", "\x1b[201~"

func TestTerminalPasteOf100KB(t *testing.T) {
	tt := startTTY(t, "plain")
	tt.shows("1 Ownership", "live")
	tt.press(pasteOn + strings.Repeat("q\r", 50<<10) + pasteOff) // with nothing to paste into it is dropped, and quits nothing
	tt.press("c")
	tt.shows("Claim ")
	tt.press("\t\t" + pasteOn + strings.Repeat("word\r", 20<<10) + pasteOff)
	tt.shows("the reason was too long and is cut")
	tt.press("\x1b")
	tt.quit()
}

func TestTerminalTypingThatIsFasterThanTheScreen(t *testing.T) {
	tt := startTTY(t, "plain")
	tt.shows("1 Ownership", "live")
	tt.press("csrc/fast\t\tbecause it is quick\r")
	tt.shows("user holds src/fast")
	tt.press(":status --all\r")
	tt.shows("all is well")
	tt.press("\x1b")
	tt.until("the output closes", func(s string) bool { return !strings.Contains(s, "all is well") })
	tt.quit()
}

func TestTerminalEditor(t *testing.T) {
	tt := startTTY(t, "plain")
	script := "#!/bin/sh\nprintf 'EDITING\\n'; read -r line; echo \"$line\" >\"$1\"\n"
	if err := os.WriteFile(filepath.Join(tt.dir, "editor"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	tt.shows("1 Ownership", "live")
	tt.press("A")
	tt.shows("ctrl+o editor")
	tt.press("\x0f")
	tt.shows("EDITING")
	tt.press("typed in the editor\n")
	tt.until("the form has it", func(s string) bool { // and not only the terminal, which echoes what is typed
		return strings.Contains(s, "typed in the editor") && strings.Contains(s, "ctrl+o editor")
	})
	tt.press("!")
	tt.shows("typed in the editor!") // no key is lost
	tt.press("\x1b")
	tt.quit()
}

func TestTerminalMouseIsGivenBack(t *testing.T) {
	tt := startTTY(t, "plain")
	tt.shows("1 Ownership", "live")
	tt.press("M")
	tt.shows("the mouse selects rows")
	tt.press("\x1b[<0;70;6M\x1b[<0;70;6m")
	tt.shows("▌7 Timeline")
	tt.quit()
	if w := tt.written(); strings.LastIndex(w, "\x1b[?1000l") < strings.LastIndex(w, "\x1b[?1000h") {
		t.Error("the terminal still reports the mouse")
	}
}
