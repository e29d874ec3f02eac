package settings

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// load writes the files, "" for none, and loads them.
func load(t *testing.T, user, project string) (Settings, error) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), ".handoff")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	userPath := filepath.Join(t.TempDir(), UserFile)
	for path, text := range map[string]string{userPath: user, filepath.Join(dir, ProjectFile): project} {
		if text == "" {
			continue
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return Load(userPath, dir)
}

func TestNothingSetIsTheDefault(t *testing.T) {
	got, err := load(t, "", "")
	if err != nil {
		t.Fatal(err)
	}
	got.sources = nil
	if !reflect.DeepEqual(got, Default()) {
		t.Errorf("got %+v", got)
	}
}

func TestTheProjectWins(t *testing.T) {
	s, err := load(t,
		`{"cockpit": {"theme": "light", "mouse": true, "keys": {"quit": ["x"], "help": "h"}}, "compaction": {"above": "2GiB"}}`,
		`{"cockpit": {"theme": "dark", "panes": ["timeline", "work"],
		  "keys": {"quit": "Q"}}}`)
	if err != nil {
		t.Fatal(err)
	}
	c := s.Cockpit
	want := Cockpit{
		Theme: "dark", Layout: "auto", Mouse: true, Bell: true, Panes: []string{"timeline", "work"},
		Keys: map[string][]string{"quit": {"Q"}, "help": {"h"}},
	}
	if !reflect.DeepEqual(c, want) || s.Compaction.Above != 2<<30 {
		t.Errorf("got %+v", s)
	}
	if source := s.Source("cockpit.keys.quit"); !strings.HasSuffix(source, ProjectFile+":2") {
		t.Errorf("quit was set at %q", source)
	}
	if source := s.Source("cockpit.keys.help"); !strings.HasSuffix(source, UserFile+":1") {
		t.Errorf("help was set at %q", source)
	}
	if s.Source("cockpit.bell") != "" {
		t.Error("a default has a source")
	}
}

func TestRefusals(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"unknown key", `{"cockpit": {"them": "dark"}}`, `config.json:1: cockpit.them is unknown; did you mean cockpit.theme?`},
		{"unknown section", `{"kitchen": {"x": [1, {"y": 2}]}}`, `config.json:1: kitchen is unknown; there are cockpit,`},
		{"value", "{\"cockpit\": {\n\"theme\": \"neon\"}}", `config.json:2: cockpit.theme must be one of auto, dark, light, none`},
		{"type", `{"cockpit": {"mouse": "yes"}}`, `cockpit.mouse must be true or false`},
		{"section of another type", `{"cockpit": 3}`, `cockpit must be an object`},
		{"map of another type", `{"cockpit": {"keys": ["q"]}}`, `cockpit.keys must be an object`},
		{"member", `{"cockpit": {"panes": ["attic"]}}`, `cockpit.panes must be one of ownership,`},
		{"member twice", `{"cockpit": {"panes": ["work", "work"]}}`, `cockpit.panes names work twice`},
		{"own notation", `{"compaction": {"above": "huge"}}`, `compaction.above must be a size such as 512MiB`},
		{"own notation of another type", `{"compaction": {"above": {"n": 1}}}`, `compaction.above must be a size`},
		{"too large", `{"compaction": {"above": "9999999999GiB"}}`, `compaction.above must be a size`},
		{"nested lists", `{"cockpit": {"panes": [[["work"]]]}}`, `cockpit.panes must be one of`},
		{"twice", `{"cockpit": {"bell": true, "bell": false}}`, `cockpit.bell is set twice`},
		{"null", `{"cockpit": {"bell": null}}`, `cockpit.bell must be true or false`},
		{"no JSON", `cockpit`, `config.json:1: is not JSON`},
		{"cut", `{"cockpit": {"bell": tr`, `is not JSON: it ends too early`},
		{"cut between", `{"cockpit": {"bell": true`, `it ends too early`},
		{"two objects", `{} {}`, `holds more than one object`},
		{"a list", `[]`, `must be an object`},
		{"escape sequences", "{\"\\u001b[31mx\": 1}", `x is unknown`},
		{"nested", strings.Repeat(`{"x":`, 30) + strings.Repeat("}", 30), `x is unknown`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := load(t, tt.text, "")
			var invalid *InvalidError
			if !errors.As(err, &invalid) || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\x1b") {
				t.Errorf("error is %q, want %q", err, tt.want)
			}
		})
	}
}

func TestAllFaultsAreReportedAndTheRestHolds(t *testing.T) {
	s, err := load(t, `{"cockpit": {"theme": "neon", "mouse": true, "layuot": "pair", "keys": {"quit": [1], "help": ["h"]}}}`, `{"cockpit": {"bell": 0, "ascii": true}}`)
	var invalid *InvalidError
	if !errors.As(err, &invalid) || len(invalid.Problems) != 4 {
		t.Fatalf("error is %v", err)
	}
	if c := s.Cockpit; c.Theme != "auto" || !c.Mouse || !c.Bell || !c.ASCII || len(c.Keys) != 1 {
		t.Errorf("what is valid was not kept: %+v", c)
	}
}

func TestFilesThatCannotBeRead(t *testing.T) {
	dir := t.TempDir()
	if _, err := Load(filepath.Join(os.DevNull, "loadout", "config.json"), ""); err != nil {
		t.Errorf("a home that is no folder: %v", err)
	}
	if _, err := Load(dir, ""); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("a folder: %v", err)
	}
	large := filepath.Join(dir, "large")
	if err := os.WriteFile(large, make([]byte, maxBytes+1), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(large, ""); err == nil || !strings.Contains(err.Error(), "larger than") {
		t.Errorf("a large file: %v", err)
	}
	project := filepath.Join(dir, ".handoff")
	if err := os.Mkdir(project, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(large, filepath.Join(project, ProjectFile)); err != nil {
		t.Skipf("skipped: no symbolic links can be made: %v", err)
	}
	if _, err := Load("", project); err == nil || !strings.Contains(err.Error(), "link") {
		t.Errorf("a link in a project: %v", err)
	}
}

// A program that the settings name must not come with somebody else's repository.
func TestOnlyAPersonMaySet(t *testing.T) {
	var dst struct {
		Command string `json:"command" only:"user"`
	}
	for _, project := range []bool{false, true} {
		d := newDecoder("f", project, []byte(`{"command": "x"}`), map[string]string{})
		if err := d.value(reflect.ValueOf(&dst).Elem(), "", ""); err != nil {
			t.Fatal(err)
		}
		if refused := len(d.problems) == 1; refused != project {
			t.Errorf("project %v: %v", project, d.problems)
		}
	}
}

// Every field must be of a kind that the decoder knows, and be explained.
func TestEveryKeyCanBeSetAndIsExplained(t *testing.T) {
	for _, k := range Keys() {
		if k.Help == "" || k.Allowed == "" {
			t.Errorf("%+v is not explained", k)
		}
	}
	var check func(typ reflect.Type, key string)
	check = func(typ reflect.Type, key string) {
		if _, ok := reflect.New(typ).Interface().(allower); ok {
			return
		}
		switch typ.Kind() {
		case reflect.Bool, reflect.String, reflect.Int, reflect.Int64, reflect.Float64:
		case reflect.Slice, reflect.Map:
			check(typ.Elem(), key)
		case reflect.Struct:
			for i := range typ.NumField() {
				if f := typ.Field(i); f.IsExported() {
					if jsonName(f) == "" {
						t.Errorf("%s.%s has no name in the file", key, f.Name)
					}
					check(f.Type, key+"."+jsonName(f))
				}
			}
		default:
			t.Errorf("%s is a %s", key, typ)
		}
	}
	check(reflect.TypeFor[Settings](), "")
}

func TestKeysAreDocumented(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "settings.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range Keys() {
		help := k.Help
		if k.Only == "user" {
			help += " (a person's file only)"
		}
		row := "| `" + k.Name + "` | " + k.Allowed + " | " + k.Default + " | " + help + " |"
		if !strings.Contains(string(text), row+"\n") {
			t.Errorf("docs/settings.md lacks\n%s", row)
		}
	}
}

func TestUserPath(t *testing.T) {
	home := t.TempDir()
	env := func(vars map[string]string) func(string) string { return func(n string) string { return vars[n] } }
	tests := []struct {
		name, goos, home string
		vars             map[string]string
		want             string
	}{
		{"xdg", "linux", home, map[string]string{"XDG_CONFIG_HOME": home}, filepath.Join(home, "loadout", UserFile)},
		{"home", "darwin", home, nil, filepath.Join(home, ".config", "loadout", UserFile)},
		{"relative xdg is none", "linux", home, map[string]string{"XDG_CONFIG_HOME": "x"}, filepath.Join(home, ".config", "loadout", UserFile)},
		{"windows", "windows", home, map[string]string{"APPDATA": home}, filepath.Join(home, "loadout", UserFile)},
		{"nowhere", "linux", "", nil, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := UserPath(tt.goos, tt.home, env(tt.vars)); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestSizesAreReadAsTheyAreWritten(t *testing.T) {
	for _, b := range []Bytes{-1, 1, 1000, 1 << 10, 3 << 20, 5 << 30} {
		var read Bytes
		if err := read.UnmarshalText([]byte(b.String())); err != nil || read != b {
			t.Errorf("%s was read as %d, %v", b, read, err)
		}
	}
}

// A chain that nothing follows is refused, not taken for the default.
func TestADepthIsOneOrMore(t *testing.T) {
	for _, value := range []string{"0", "-1", "1.5", "true", "99999999999", `""`} {
		s, err := load(t, `{"bridge": {"depth": `+value+`}}`, "")
		if err == nil || !strings.Contains(err.Error(), "bridge.depth must be a whole number from 1 on") || s.Bridge.Depth != 3 {
			t.Errorf("%s: %d, %v", value, s.Bridge.Depth, err)
		}
	}
	if s, err := load(t, `{"bridge": {"depth": 1}}`, ""); err != nil || s.Bridge.Depth != 1 {
		t.Errorf("%d, %v", s.Bridge.Depth, err)
	}
}

func TestATurnTimeIsBounded(t *testing.T) {
	for _, text := range []string{"10s", "90s", "10m"} {
		var read, again TurnTime
		if err := read.UnmarshalText([]byte(text)); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if err := again.UnmarshalText([]byte(read.String())); err != nil || again != read {
			t.Errorf("%s is written as %s and read as %v, %v", text, read, again, err)
		}
	}
	for _, text := range []string{"", "-1s", "9.9s", "10m1ns", "2h", "1e9", "NaN"} {
		if new(TurnTime).UnmarshalText([]byte(text)) == nil {
			t.Errorf("%q is accepted", text)
		}
	}
}

func FuzzLoad(f *testing.F) {
	f.Add([]byte(`{"cockpit": {"theme": "dark", "keys": {"quit": ["q"]}}}`))
	f.Add([]byte(`{"cockpit": [[[`))
	f.Fuzz(func(t *testing.T, data []byte) {
		s := Default()
		s.sources = map[string]string{}
		for _, p := range s.apply("f", true, data) {
			if p.Reason == "" || strings.ContainsAny(p.Key, "\x1b\n") {
				t.Errorf("%+v", p)
			}
		}
	})
}
