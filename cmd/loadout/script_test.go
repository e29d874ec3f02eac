package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/agentloadout/loadout/engine"
)

// TestMain lets the test binary be the program: tests that need a process of their own start it under the name loadout.
func TestMain(m *testing.M) {
	if strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe") == "loadout" {
		main()
		return
	}
	os.Exit(m.Run())
}

// TestScripts runs testdata/script. Beside the commands of testscript there are:
//
//	[!] loadout WORD... [< FILE]   the program, in this process; ! for any exit but 0
//	exits N WORD... [< FILE]       the program, which must exit with N
//	json PATH [VALUE]              what the last program printed to stdout is JSON and has VALUE at PATH, e.g. .claims.0.path;
//	                               PATH.len is a length; with -err first: what it printed to stderr
//	clock +DURATION                move the script's clock, which stands still otherwise
//	caller PID...                  the processes above the program, nearest first; all of them live
//	dead PID                       a process lives no more
//	keep NAME PATH                 put what json finds into the variable NAME
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:           filepath.Join("testdata", "script"),
		UpdateScripts: os.Getenv("UPDATE_SCRIPTS") != "",
		Setup: func(e *testscript.Env) error {
			home := filepath.Join(e.WorkDir, "home")
			for _, v := range []string{"HOME", "USERPROFILE", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"} {
				e.Setenv(v, home)
			}
			e.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
			e.Setenv("GIT_CONFIG_NOSYSTEM", "1")
			e.Setenv("GIT_AUTHOR_NAME", "T")
			e.Setenv("GIT_AUTHOR_EMAIL", "t@example.invalid")
			e.Setenv("GIT_COMMITTER_NAME", "T")
			e.Setenv("GIT_COMMITTER_EMAIL", "t@example.invalid")
			e.Values[sceneKey{}] = &scene{clock: time.Date(2026, 9, 10, 8, 0, 0, 0, time.UTC), dead: map[int]bool{}}
			return os.Mkdir(home, 0o700)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"loadout": func(ts *testscript.TestScript, neg bool, args []string) {
				if code := play(t.Context(), ts, args); neg != (code != 0) {
					ts.Fatalf("exit %d", code)
				}
			},
			"exits": func(ts *testscript.TestScript, neg bool, args []string) {
				want, err := strconv.Atoi(args[0])
				ts.Check(err)
				if code := play(t.Context(), ts, args[1:]); neg || code != want {
					ts.Fatalf("exit %d, want %d", code, want)
				}
			},
			"json":   scriptJSON,
			"keep":   scriptKeep,
			"clock":  scriptClock,
			"caller": scriptCaller,
			"dead": func(ts *testscript.TestScript, _ bool, args []string) {
				pid, err := strconv.Atoi(args[0])
				ts.Check(err)
				sceneOf(ts).dead[pid] = true
			},
		},
	})
}

type sceneKey struct{}

// scene is the machine that a script plays on. It is the Host too.
type scene struct {
	clock     time.Time
	ancestors []engine.Process
	dead      map[int]bool
	out, err  bytes.Buffer // of the last program
}

func sceneOf(ts *testscript.TestScript) *scene { return ts.Value(sceneKey{}).(*scene) }

func process(pid int) engine.Process {
	return engine.Process{PID: pid, Start: "start-" + strconv.Itoa(pid), Boot: "boot"}
}

func (s *scene) Name() string { return "machine" }

func (s *scene) Find(pid int) (engine.Process, error) {
	if s.dead[pid] {
		return engine.Process{}, fmt.Errorf("process %d does not run", pid)
	}
	return process(pid), nil
}

func (s *scene) Alive(p engine.Process) bool { return !s.dead[p.PID] && p == process(p.PID) }
func (s *scene) Ancestors() []engine.Process { return s.ancestors }
func (s *scene) SessionLeader() int          { return 0 }
func (s *scene) Arguments(int) []string      { return nil }
func (s *scene) WorkingDir(int) string       { return "" }

// play runs the program in this process.
func play(ctx context.Context, ts *testscript.TestScript, args []string) int {
	s := sceneOf(ts)
	s.out.Reset()
	s.err.Reset()
	var stdin io.Reader = strings.NewReader("")
	if n := len(args); n > 1 && args[n-2] == "<" {
		stdin = strings.NewReader(ts.ReadFile(args[n-1]))
		args = args[:n-2]
	}
	code := run(ctx, args, &app{
		stdin: stdin, stdout: io.MultiWriter(&s.out, ts.Stdout()), stderr: io.MultiWriter(&s.err, ts.Stderr()),
		env: ts.Getenv, now: func() time.Time { return s.clock },
		dir: ts.MkAbs("."), home: ts.Getenv("HOME"), host: s,
	})
	if bytes.ContainsAny(append(s.out.Bytes(), s.err.Bytes()...), "\x1b\x07\x00\u202e\u009b") {
		ts.Fatalf("unsafe output: %q", s.out.String()+s.err.String())
	}
	for line := range strings.Lines(s.out.String()) {
		if name, ok := strings.CutSuffix(strings.TrimRight(line, ",\n"), ": null"); ok && !mayBeNull[strings.Trim(name, " \"")] {
			ts.Fatalf("null in an answer: %s", line)
		}
	}
	return code
}

// mayBeNull are the members of answers that stand for one thing which may be absent. A list never does.
var mayBeNull = map[string]bool{"task": true, "halted": true}

func scriptJSON(ts *testscript.TestScript, neg bool, args []string) {
	text := &sceneOf(ts).out
	if args[0] == "-err" {
		text, args = &sceneOf(ts).err, args[1:]
	}
	got, found := lookup(ts, text.Bytes(), args[0])
	switch {
	case len(args) == 1 && found == neg:
		ts.Fatalf("%s found: %v", args[0], found)
	case len(args) == 2 && (got == args[1]) == neg:
		ts.Fatalf("%s is %q (found: %v)", args[0], got, found)
	}
}

func scriptKeep(ts *testscript.TestScript, _ bool, args []string) {
	got, found := lookup(ts, sceneOf(ts).out.Bytes(), args[1])
	if !found {
		ts.Fatalf("there is no %s", args[1])
	}
	ts.Setenv(args[0], got)
}

// lookup finds what is at a path of a JSON text, as text: strings as they are, everything else as JSON.
func lookup(ts *testscript.TestScript, text []byte, path string) (string, bool) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		ts.Fatalf("not JSON: %v\n%s", err, text)
	}
	if d.More() {
		ts.Fatalf("more than one JSON value:\n%s", text)
	}
	for name := range strings.SplitSeq(strings.Trim(path, "."), ".") {
		if name == "" {
			break
		}
		switch in := v.(type) {
		case map[string]any:
			var ok bool
			if v, ok = in[name]; !ok {
				return "", false
			}
		case []any:
			if name == "len" {
				return strconv.Itoa(len(in)), true
			}
			i, err := strconv.Atoi(name)
			if err != nil || i < 0 || i >= len(in) {
				return "", false
			}
			v = in[i]
		default:
			return "", false
		}
	}
	if s, ok := v.(string); ok {
		return s, true
	}
	out, err := json.Marshal(v)
	ts.Check(err)
	return string(out), true
}

func scriptClock(ts *testscript.TestScript, _ bool, args []string) {
	d, err := time.ParseDuration(strings.TrimPrefix(args[0], "+"))
	ts.Check(err)
	s := sceneOf(ts)
	s.clock = s.clock.Add(d)
}

func scriptCaller(ts *testscript.TestScript, _ bool, args []string) {
	s := sceneOf(ts)
	s.ancestors = nil
	for _, arg := range args {
		pid, err := strconv.Atoi(arg)
		ts.Check(err)
		s.ancestors = append(s.ancestors, process(pid))
	}
}
