package archtest

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/agentloadout/loadout"

// layers maps each top-level folder of packages to the prefixes of ours that it may import, itself apart.
var layers = map[string][]string{
	"store":     {},
	"engine":    {"store"},
	"providers": {"engine/turn"},
	"tui":       {"engine"},
	"cmd":       {"store", "engine", "providers", "tui"},
}

// folders is the whole top level, beside hidden folders and what make builds.
var folders = []string{"store", "engine", "providers", "tui", "cmd", "docs", "testdata"}

// goPackage is what `go list -json` says of a package.
type goPackage struct {
	ImportPath   string
	Imports      []string
	TestImports  []string
	XTestImports []string
	Deps         []string
}

// ours lists the packages of the module.
func ours(t *testing.T) []goPackage {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,Imports,TestImports,XTestImports,Deps", "./...")
	cmd.Dir = root(t)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("list packages: %v", err)
	}
	var packages []goPackage
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p goPackage
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("decode package: %v", err)
		}
		packages = append(packages, p)
	}
	if len(packages) < 5 {
		t.Fatalf("found only %d packages", len(packages))
	}
	return packages
}

// root is the top folder of the module.
func root(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// local is a package's path below the module, and false for packages of others.
func local(importPath string) (string, bool) {
	return strings.CutPrefix(importPath, module+"/")
}

// within reports whether a package's path lies in one of the prefixes, by whole segments.
func within(path string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(prefix string) bool {
		return path == prefix || strings.HasPrefix(path, prefix+"/")
	})
}

// imported is every package that p or its tests name.
func (p goPackage) imported() []string {
	return slices.Concat(p.Imports, p.TestImports, p.XTestImports)
}

func TestFoldersImportOnlyDownwards(t *testing.T) {
	for _, p := range ours(t) {
		path, _ := local(p.ImportPath)
		layer, _, _ := strings.Cut(path, "/")
		allowed, known := layers[layer]
		if !known {
			t.Errorf("%s lies outside the layers", p.ImportPath)
			continue
		}
		for _, imported := range p.imported() {
			target, isOurs := local(imported)
			if isOurs && !within(target, append([]string{layer}, allowed...)) {
				t.Errorf("%s imports %s: %s may import only itself and %v", path, target, layer, allowed)
			}
		}
	}
}

// TestFoldersLinkOnlyDownwards looks at everything that a package brings along, so that no arrow is walked around.
func TestFoldersLinkOnlyDownwards(t *testing.T) {
	linked := map[string][]string{
		"store":     {"store"},
		"engine":    {"engine", "store"},
		"providers": {"providers", "engine", "store"},
		"tui":       {"tui", "engine", "store"},
		"cmd":       {"cmd", "tui", "providers", "engine", "store"},
	}
	for _, p := range ours(t) {
		path, _ := local(p.ImportPath)
		layer, _, _ := strings.Cut(path, "/")
		for _, dep := range p.Deps {
			if target, isOurs := local(dep); isOurs && !within(target, linked[layer]) {
				t.Errorf("%s links %s", path, target)
			}
		}
	}
}

func TestLibrariesStayInTheirFolder(t *testing.T) {
	// isCharm reports the terminal libraries. Tests elsewhere may read a screen with them: only what is linked counts.
	isCharm := func(path string) bool {
		return strings.HasPrefix(path, "github.com/charmbracelet/") || strings.HasPrefix(path, "github.com/muesli/")
	}
	isKong := func(path string) bool { return strings.HasPrefix(path, "github.com/alecthomas/kong") }
	for _, p := range ours(t) {
		path, _ := local(p.ImportPath)
		for _, imported := range p.Imports {
			if isCharm(imported) && !within(path, []string{"tui"}) {
				t.Errorf("%s imports %s: charm packages stay in tui", path, imported)
			}
			if isKong(imported) && !within(path, []string{"cmd"}) {
				t.Errorf("%s imports %s: kong stays in cmd", path, imported)
			}
		}
		if within(path, []string{"store", "engine", "providers"}) && slices.ContainsFunc(p.Deps, isCharm) {
			t.Errorf("%s links a charm package", path)
		}
	}
}

// TestModulePathSortsFirst: Go initialises packages in the order of their paths once their imports are ready. The package
// that stops bubbletea from asking the terminal for its colours runs first only while our path is the smaller one.
func TestModulePathSortsFirst(t *testing.T) {
	if module >= "github.com/charmbracelet/bubbletea" {
		t.Errorf("%s sorts after bubbletea", module)
	}
}

func TestTopLevelIsFixed(t *testing.T) {
	entries, err := os.ReadDir(root(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.IsDir() && !strings.HasPrefix(e.Name(), ".") && e.Name() != "bin" && !slices.Contains(folders, e.Name()) {
			t.Errorf("%s/ is not one of the top-level folders %v", e.Name(), folders)
		}
	}
}
