package tui

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestLook prints a frame for a person who works on how it looks: LOOK=120x40 KEYS="2 enter d" go test -v -run TestLook ./tui
func TestLook(t *testing.T) {
	var w, h int
	if n, _ := fmt.Sscanf(os.Getenv("LOOK"), "%dx%d", &w, &h); n != 2 {
		t.Skip("LOOK is not set")
	}
	d := drive(t, story(t), func(o *Options) {
		o.ASCII = os.Getenv("ASCII") != ""
		o.NoColor = os.Getenv("ANSI") == ""
		o.Colors = 256
	})
	d.resize(w, h)
	d.press(strings.Fields(os.Getenv("KEYS"))...)
	if os.Getenv("ANSI") != "" {
		fmt.Println(strings.Join(d.m.view(), "\n"))
		return
	}
	fmt.Println(d.screen())
}
