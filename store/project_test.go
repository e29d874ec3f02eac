package store_test

import (
	"bytes"
	"compress/zlib"
	"context"
	"crypto/sha1" //nolint:gosec // git's names of objects
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agentloadout/loadout/store"
)

// tree is a temporary directory with repositories made by git itself.
type tree struct {
	t    *testing.T
	root string
}

func newTree(t *testing.T) tree {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return tree{t, root}
}

func (r tree) path(name string) string { return filepath.Join(r.root, filepath.FromSlash(name)) }

func (r tree) git(dir string, args ...string) {
	r.t.Helper()
	cmd := exec.CommandContext(context.Background(), "git", args...)
	cmd.Dir = r.path(dir)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=x", "GIT_AUTHOR_EMAIL=x@x", "GIT_COMMITTER_NAME=x", "GIT_COMMITTER_EMAIL=x@x")
	if out, err := cmd.CombinedOutput(); err != nil {
		r.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

func (r tree) mkdir(names ...string) {
	r.t.Helper()
	for _, name := range names {
		if err := os.MkdirAll(r.path(name), 0o700); err != nil {
			r.t.Fatal(err)
		}
	}
}

// repo makes a repository with one commit and a folder src/api. Without arguments
// for git init it is written by hand, which is much quicker.
func (r tree) repo(name string, args ...string) {
	r.t.Helper()
	r.mkdir(name + "/src/api")
	if len(args) > 0 {
		r.git(name, append([]string{"init", "-q", "-b", "main", "--template="}, args...)...)
		r.git(name, "commit", "-q", "--allow-empty", "-m", "x")
		return
	}
	dir := name + "/.git/"
	r.mkdir(dir+"objects", dir+"refs/heads", dir+"info")
	root := r.object(dir, "tree", "")
	person := "x <x@x> 1700000000 +0000\n"
	commit := r.object(dir, "commit", "tree "+root+"\nauthor "+person+"committer "+person+"\nx\n")
	for file, text := range map[string]string{
		"HEAD": "ref: refs/heads/main\n", "refs/heads/main": commit + "\n",
		"config": "[core]\n\trepositoryformatversion = 0\n\tbare = false\n",
	} {
		writeFile(r.t, r.path(dir+file), text)
	}
}

// object writes a loose object of git and returns its name.
func (r tree) object(dir, kind, text string) string {
	r.t.Helper()
	text = fmt.Sprintf("%s %d\x00%s", kind, len(text), text)
	id := fmt.Sprintf("%x", sha1.Sum([]byte(text))) //nolint:gosec // git's names
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	if _, err := w.Write([]byte(text)); err != nil {
		r.t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		r.t.Fatal(err)
	}
	r.mkdir(dir + "objects/" + id[:2])
	writeFile(r.t, r.path(dir+"objects/"+id[:2]+"/"+id[2:]), b.String())
	return id
}

func (r tree) discover(dir string, change ...func(*store.Where)) store.Project {
	r.t.Helper()
	w := store.Where{Dir: r.path(dir), Home: r.path("home")}
	for _, c := range change {
		c(&w)
	}
	p, err := store.Discover(w)
	if err != nil {
		r.t.Fatal(err)
	}
	return p
}

func TestDiscover(t *testing.T) {
	type want struct {
		root, worktree, common string
		linked                 bool
	}
	for name, test := range map[string]struct {
		prepare func(r tree)
		dir     string
		want    want
	}{
		"no git":                {func(r tree) { r.mkdir("a/b") }, "a/b", want{root: "a/b"}},
		"no git, handoff above": {func(r tree) { r.mkdir("a/b/c", "a/.handoff") }, "a/b/c", want{root: "a"}},
		"nearest handoff":       {func(r tree) { r.mkdir("a/b/c", "a/.handoff", "a/b/.handoff") }, "a/b/c", want{root: "a/b"}},
		"not from home":         {func(r tree) { r.mkdir("home/a/b", "home/.handoff") }, "home/a/b", want{root: "home/a/b"}},
		"not from above home":   {func(r tree) { r.mkdir("home/a", ".handoff") }, "home/a", want{root: "home/a"}},
		"in home itself":        {func(r tree) { r.mkdir("home/.handoff", ".handoff") }, "home", want{root: "home"}},
		"not a directory": {func(r tree) {
			r.mkdir("a/b")
			writeFile(r.t, r.path("a/.handoff"), "")
		}, "a/b", want{root: "a/b"}},
		"planted link above": {func(r tree) {
			r.mkdir("a/b", "x/.handoff")
			symlink(r.t, r.path("x/.handoff"), r.path("a/.handoff"))
		}, "a/b", want{root: "a/b"}},
		"planted directory above": {func(r tree) {
			r.mkdir("a/b", "a/.handoff")
			chown(r.t, r.path("a/.handoff"))
		}, "a/b", want{root: "a/b"}},
		"own link is refused later": {func(r tree) {
			r.mkdir("a", "x/.handoff")
			symlink(r.t, r.path("x/.handoff"), r.path("a/.handoff"))
		}, "a", want{root: "a"}},
		"repository":       {func(r tree) { r.repo("r") }, "r", want{"r", "r", "r/.git", false}},
		"repository below": {func(r tree) { r.repo("r") }, "r/src/api", want{"r", "r", "r/.git", false}},
		"handoff below top": {func(r tree) {
			r.repo("r")
			r.mkdir("r/src/.handoff")
		}, "r/src/api", want{"r/src", "r", "r/.git", false}},
		"not from above the repository": {func(r tree) {
			r.repo("a/r")
			r.mkdir("a/.handoff")
		}, "a/r/src", want{"a/r", "a/r", "a/r/.git", false}},
		"inside the git directory": {func(r tree) { r.repo("r") }, "r/.git/objects", want{"r", "", "r/.git", false}},
		"linked worktree": {func(r tree) {
			r.repo("r")
			r.git("r", "worktree", "add", "-q", "../w")
			r.mkdir("w/src")
		}, "w/src", want{"r", "w", "r/.git", true}},
		"linked worktree with handoff": {func(r tree) {
			r.repo("r")
			r.git("r", "worktree", "add", "-q", "../w")
			r.mkdir("w/.handoff")
		}, "w", want{"w", "w", "r/.git", true}},
		"linked worktree inside": {func(r tree) {
			r.repo("r")
			r.mkdir("r/.handoff")
			r.git("r", "worktree", "add", "-q", "trees/w")
		}, "r/trees/w", want{"r", "r/trees/w", "r/.git", true}},
		"relative paths": {func(r tree) {
			r.repo("r")
			r.git("r", "worktree", "add", "-q", "../w")
			writeFile(r.t, r.path("w/.git"), "gitdir: ../r/.git/worktrees/w\n")
			writeFile(r.t, r.path("r/.git/worktrees/w/gitdir"), "../../../../w/.git\n")
		}, "w", want{"r", "w", "r/.git", true}},
		"bare with linked": {func(r tree) {
			r.repo("r")
			r.git("", "clone", "-q", "--bare", "r", "b.git")
			r.git("b.git", "worktree", "add", "-q", "../w", "main")
		}, "w", want{"b.git", "w", "b.git", true}},
		"inside bare": {func(r tree) {
			r.repo("r")
			r.git("", "clone", "-q", "--bare", "r", "b.git")
		}, "b.git/refs", want{"b.git", "", "b.git", false}},
		"bare in a hidden folder": {func(r tree) {
			r.repo("r")
			r.git("", "clone", "-q", "--bare", "r", "p/.bare")
			writeFile(r.t, r.path("p/.git"), "gitdir: ./.bare\n")
			r.git("p", "worktree", "add", "-q", "main")
		}, "p/main", want{"p/.bare", "p/main", "p/.bare", true}},
		"git directory apart": {func(r tree) {
			r.mkdir("g")
			r.repo("r", "--separate-git-dir", r.path("g/git"))
		}, "r/src", want{"g/git", "r", "g/git", false}},
		"git directory apart, linked": {func(r tree) {
			r.mkdir("g")
			r.repo("r", "--separate-git-dir", r.path("g/git"))
			r.git("r", "worktree", "add", "-q", "../w")
		}, "w", want{"g/git", "w", "g/git", true}},
		"submodule": {func(r tree) {
			r.repo("s")
			r.repo("r")
			r.git("r", "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", r.path("s"), "sub")
		}, "r/sub", want{"r/sub", "r/sub", "r/.git/modules/sub", false}},
		"an empty .git is none": {func(r tree) {
			r.repo("r")
			r.mkdir("r/src/.git")
		}, "r/src", want{"r", "r", "r/.git", false}},
		"repository in a repository": {func(r tree) {
			r.repo("r")
			r.mkdir("r/.handoff")
			r.repo("r/inner")
		}, "r/inner/src", want{"r/inner", "r/inner", "r/inner/.git", false}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newTree(t)
			r.mkdir("home")
			test.prepare(r)
			p := r.discover(test.dir)
			at := func(name string) string {
				if name == "" {
					return ""
				}
				return r.path(name)
			}
			if p.Root != at(test.want.root) || p.Worktree != at(test.want.worktree) || p.GitCommon != at(test.want.common) || p.Linked != test.want.linked {
				t.Errorf("got %+v, want %+v in %s", p, test.want, r.root)
			}
			if p.Dir != filepath.Join(p.Root, store.DirName) {
				t.Errorf("directory %s", p.Dir)
			}
		})
	}
}

func TestDiscoverNamed(t *testing.T) {
	r := newTree(t)
	r.repo("r")
	r.git("r", "worktree", "add", "-q", "../w")
	r.mkdir("home", "other", "r/.handoff")
	symlink(t, r.path("other"), r.path("link"))
	flag := func(v string) func(*store.Where) { return func(w *store.Where) { w.Flag = v } }
	env := func(v string) func(*store.Where) { return func(w *store.Where) { w.Env = v } }
	for name, test := range map[string]struct {
		project        store.Project
		root, worktree string
	}{
		"flag":                 {r.discover("r/src", flag(r.path("other"))), "other", ""},
		"environment":          {r.discover("r/src", env(r.path("other"))), "other", ""},
		"flag before it":       {r.discover("r", flag(r.path("other")), env(r.path("w"))), "other", ""},
		"relative":             {r.discover("r/src", flag("../../other")), "other", ""},
		"through a link":       {r.discover("r", flag(r.path("link"))), "other", ""},
		"main from worktree":   {r.discover("w", env(r.path("r"))), "r", "w"},
		"worktree as it is":    {r.discover("r", flag(r.path("w"))), "w", "r"},
		"repository elsewhere": {r.discover("other", flag(r.path("r"))), "r", "r"},
	} {
		want := ""
		if test.worktree != "" {
			want = r.path(test.worktree)
		}
		if test.project.Root != r.path(test.root) || test.project.Worktree != want {
			t.Errorf("%s: %+v, want %+v", name, test.project, test)
		}
	}
	for _, named := range []string{"missing", r.path("r/.handoff"), r.path("r/.git/HEAD")} {
		if _, err := store.Discover(store.Where{Dir: r.path("r"), Flag: named}); err == nil {
			t.Errorf("%s was accepted", named)
		}
	}
	if _, err := store.Discover(store.Where{Dir: r.path("missing")}); err == nil {
		t.Error("a missing working directory was accepted")
	}
}

func TestDiscoverBrokenGit(t *testing.T) {
	r := newTree(t)
	for name, text := range map[string]string{"nonsense": "nonsense", "gone": "gitdir: /missing/x\n", "empty": "", "no path": "gitdir: \n"} {
		r.mkdir(name)
		writeFile(t, r.path(name+"/.git"), text)
		if p, err := store.Discover(store.Where{Dir: r.path(name)}); err == nil {
			t.Errorf("%s: %+v", name, p)
		}
	}
}

// A repository that somebody else has put above the working directory counts as
// little for us as for git.
func TestDiscoverForeignRepository(t *testing.T) {
	r := newTree(t)
	r.repo("r")
	r.mkdir("r/work")
	chown(t, r.path("r"))
	if p := r.discover("r/work"); p.Root != r.path("r/work") || p.GitCommon != "" {
		t.Errorf("got %+v", p)
	}
	chown(t, r.path("r/work")) // all of it is theirs: a checkout in a container
	if p := r.discover("r/work"); p.Root != r.path("r") {
		t.Errorf("got %+v", p)
	}
}

func TestWorktrees(t *testing.T) {
	r := newTree(t)
	r.repo("r")
	r.git("r", "worktree", "add", "-q", "-b", "feature/x", "../w")
	r.git("r", "worktree", "add", "-q", "--detach", "../d")
	r.git("r", "worktree", "add", "-q", "../gone")
	if err := os.RemoveAll(r.path("gone")); err != nil {
		t.Fatal(err)
	}
	want := []store.Worktree{
		{Path: r.path("r"), Branch: "main", Main: true},
		{Path: r.path("d")},
		{Path: r.path("w"), Branch: "feature/x"},
	}
	for _, dir := range []string{"r/src", "w", "d"} {
		got, err := r.discover(dir).Worktrees()
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("from %s: %+v, want %+v, error %v", dir, got, want, err)
		}
	}
	r.mkdir("plain")
	if got, err := r.discover("plain").Worktrees(); err != nil || len(got) != 0 {
		t.Errorf("outside git: %+v, error %v", got, err)
	}
}

func TestExcludeFromGit(t *testing.T) {
	for name, before := range map[string]string{
		"usual": "# git ls-files --others --exclude-from=.git/info/exclude\n", "empty": "", "no newline": "*.o",
		"there already": "/.handoff\n", "there in other form": "x\n .handoff/ \ny\n",
	} {
		t.Run(name, func(t *testing.T) {
			r := newTree(t)
			r.repo("r")
			r.git("r", "worktree", "add", "-q", "../w")
			file := r.path("r/.git/info/exclude")
			r.mkdir("r/.git/info")
			writeFile(t, file, before)
			for range 2 {
				for _, dir := range []string{"r", "w"} {
					if err := store.ExcludeFromGit(r.discover(dir)); err != nil {
						t.Fatal(err)
					}
				}
			}
			after := readFile(t, file)
			if !strings.HasPrefix(after, before) || strings.Count(after, ".handoff") != 1 || !strings.HasSuffix(after, "\n") {
				t.Fatalf("%q became %q", before, after)
			}
			r.mkdir("r/.handoff")
			writeFile(t, r.path("r/.handoff/x"), "")
			cmd := exec.CommandContext(testContext(t), "git", "status", "--porcelain")
			cmd.Dir = r.path("r")
			if out, err := cmd.Output(); err != nil || len(out) != 0 {
				t.Fatalf("git sees %s, error %v", out, err)
			}
		})
	}
	t.Run("no info folder", func(t *testing.T) {
		r := newTree(t)
		r.repo("r")
		if err := os.RemoveAll(r.path("r/.git/info")); err != nil {
			t.Fatal(err)
		}
		if err := store.ExcludeFromGit(r.discover("r")); err != nil || readFile(t, r.path("r/.git/info/exclude")) != ".handoff/\n" {
			t.Fatal(err)
		}
	})
	t.Run("outside git", func(t *testing.T) {
		r := newTree(t)
		r.mkdir("a")
		if err := store.ExcludeFromGit(r.discover("a")); err != nil || len(entriesOf(t, r.path("a"))) != 0 {
			t.Fatal(err)
		}
	})
}

func entriesOf(t testing.TB, dir string) []os.DirEntry {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestRel(t *testing.T) {
	r := newTree(t)
	r.repo("r")
	r.git("r", "worktree", "add", "-q", "../w")
	r.git("r", "worktree", "add", "-q", "trees/in")
	r.mkdir("w/src", "outside", "r/trees/in/src", "r/.handoff")
	symlink(t, r.path("r"), r.path("alias"))
	symlink(t, r.path("r/src/api"), r.path("r/api"))
	symlink(t, r.path("outside"), r.path("r/out"))
	symlink(t, r.path("missing"), r.path("r/dangling"))
	symlink(t, "loop", r.path("r/loop"))
	writeFile(t, r.path("r/src/file"), "")
	for _, test := range []struct{ cwd, typed, want string }{
		{"r", "src/api", "src/api"},
		{"r", "src/api/", "src/api"},
		{"r", "./src//api/.", "src/api"},
		{"r", "src/new/deep/file.ts", "src/new/deep/file.ts"},
		{"r/src", "api", "src/api"},
		{"r/src/api", "..", "src"},
		{"r/src/api", "../../", "."},
		{"r", ".", "."},
		{"r", "src/new/../api", "src/api"},
		{"r", "src/file/x", "src/file/x"},
		{"r", "with blank", "with blank"},
		{"r", "-dash", "-dash"},
		{"r", "*", "*"},
		{"r", "ünïcode/日本", "ünïcode/日本"},
		{"r", "@r/src/api", "src/api"},
		{"r", "@w/src/api", "src/api"},
		{"w/src", "api", "src/api"},
		{"w", "@r/src", "src"},
		{"w", "@w", "."},
		{"r", "trees/in/src", "src"},
		{"r", "trees/in", "."},
		{"r", "trees/other", "trees/other"},
		{"r/trees/in", "../../src", "src"},
		{"alias/src", "api", "src/api"},
		{"r", "@alias/src/x", "src/x"},
		{"r", "api", "src/api"},
		{"r", "api/x", "src/api/x"},
		{"r", "api/../x", "src/x"},
		{"r", "out", "out"},
		{"r", "dangling", "dangling"},
		{"r", ".github/x", ".github/x"},
		{"r", ".gitignore", ".gitignore"},
		{"r", "..file", "..file"},
		{"outside", "@r/src", "src"},
		{"r", "", "!is empty"},
		{"r", "a\x00b", "!control"},
		{"r", "a\nb", "!control"},
		{"r", "a\x1b[2Jb", "!control"},
		{"r", "a\u0085b", "!control"},
		{"r", "a\xffb", "!UTF-8"},
		{"r", "..", "!outside"},
		{"r", "../outside/x", "!outside"},
		{"r/src", "../../outside", "!outside"},
		{"r", "@outside", "!outside"},
		{"r", "@r2", "!outside"},
		{"outside", "src", "!outside"},
		{"r", "out/x", "!outside"},
		{"r", "out/", "!outside"},
		{"r", "loop", "!cannot be resolved"},
		{"r", ".git", "!inside .git"},
		{"r", ".git/config", "!inside .git"},
		{"r", "sub/.git/config", "!inside .git"},
		{"r", ".GIT/config", "!inside .GIT"},
		{"r", ".handoff", "!inside .handoff"},
		{"r", "src/../.handoff/x", "!inside .handoff"},
		{"w", ".Handoff/x", "!inside .Handoff"},
	} {
		typed := test.typed
		if name, ok := strings.CutPrefix(typed, "@"); ok {
			typed = r.path(name)
		}
		for _, from := range []string{"r", "w"} { // the same in each worktree
			got, err := r.discover(from).Rel(r.path(test.cwd), typed)
			if reason, refused := strings.CutPrefix(test.want, "!"); refused {
				if pathError := (*store.PathError)(nil); !asError(err, &pathError) || !strings.Contains(err.Error(), reason) {
					t.Errorf("%s in %s: %q, error %v, want %s", test.typed, test.cwd, got, err, reason)
				}
				continue
			}
			if err != nil || got != test.want {
				t.Errorf("%s in %s: %q, want %q, error %v", test.typed, test.cwd, got, test.want, err)
			}
		}
	}
}

func TestRelOutsideGit(t *testing.T) {
	r := newTree(t)
	r.mkdir("a/b/c", "a/.handoff", "x")
	p := r.discover("a/b")
	for typed, want := range map[string]string{"c": "b/c", "../y": "y", "..": ".", r.path("a/b"): "b"} {
		if got, err := p.Rel(r.path("a/b"), typed); err != nil || got != want {
			t.Errorf("%s: %q, want %q, error %v", typed, got, want, err)
		}
	}
	if got, err := p.Rel(r.path("a/b"), "../../x"); err == nil {
		t.Errorf("outside: %q", got)
	}
}

func TestFoldCase(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "probe"), "")
	_, err := os.Stat(filepath.Join(dir, "PROBE"))
	p, discovered := store.Discover(store.Where{Dir: dir})
	if discovered != nil || p.FoldCase != (err == nil) {
		t.Fatalf("%+v, error %v", p, discovered)
	}
}

// A git directory is no project of its own beside its worktree; a bare repository without one is.
func TestGitDirectoryIsNamedAsProject(t *testing.T) {
	r := newTree(t)
	r.repo("r")
	r.git("", "clone", "-q", "--bare", "r", "b.git")
	for named, want := range map[string]string{"r/.git": "r", "r/.git/refs": "r", "b.git": ""} {
		_, err := store.Discover(store.Where{Flag: r.path(named), Dir: r.path("")})
		if want == "" {
			if err != nil {
				t.Errorf("%s: %v", named, err)
			}
			continue
		}
		if err == nil || !strings.HasSuffix(err.Error(), "is a git directory and not a project; the project is "+r.path(want)) {
			t.Errorf("%s: %v", named, err)
		}
	}
}
