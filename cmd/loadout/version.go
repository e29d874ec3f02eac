package main

import (
	"context"
	"runtime"
	"runtime/debug"
)

type versionCmd struct{}

func (versionCmd) Help() string { return examples("loadout version", "loadout version --json") }

// build is what the linker knows about this program.
type build struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"` // of the source
	Modified bool   `json:"modified,omitempty"` // the source differed from the revision
	Go       string `json:"go"`
	OS       string `json:"os"`
	Arch     string `json:"arch"`
}

func thisBuild() build {
	b := build{Version: "unknown", Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	if info.Main.Version != "" {
		b.Version = info.Main.Version
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Revision = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}

func (*versionCmd) run(_ context.Context, c *call) error {
	b := thisBuild()
	return c.answer(b, func() {
		c.printf("loadout %s (%s, %s/%s)\n", b.Version, b.Go, b.OS, b.Arch)
	})
}
