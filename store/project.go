package store

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode"
)

// Where says from where to look for a project.
type Where struct {
	Flag string // the project that the command line names, "" for none
	Env  string // the project that the environment names, "" for none
	Dir  string // working directory
	Home string // home directory of the user, "" when unknown
}

// Project is a directory whose agents share one log.
type Project struct {
	Root      string // has the .handoff directory, or will
	Dir       string // Root/.handoff
	Worktree  string // top of the enclosing git worktree, "" outside git
	GitCommon string // git directory that all worktrees share, "" outside git
	Linked    bool   // Worktree is a linked one
	FoldCase  bool   // the file system does not tell upper from lower case

	repo *repository
}

// Discover finds the project. It is the first of: the directory that the command
// line names, the one that the environment names, the nearest ancestor of the
// working directory that has a .handoff directory, the main worktree of the
// enclosing git repository (its common directory when there is none), the
// working directory. The search for .handoff ends with the top of the enclosing
// worktree; outside git it ends before the home directory, at the border of the
// file system, and counts only a directory of the same user. Paths come with
// symbolic links resolved. Git is not run.
func Discover(w Where) (Project, error) {
	dir, err := realDir(w.Dir)
	if err != nil {
		return Project{}, fmt.Errorf("find project: %w", err)
	}
	repo, err := findRepository(dir)
	if err != nil {
		return Project{}, fmt.Errorf("find project: %w", err)
	}
	named := w.Flag
	if named == "" {
		named = w.Env
	}
	var root string
	if named != "" {
		root, err = namedRoot(dir, named)
	} else {
		root, err = searchRoot(dir, w.Home, repo)
	}
	if err != nil {
		return Project{}, fmt.Errorf("find project: %w", err)
	}
	if named != "" {
		if repo, err = repositoryOf(root, repo); err != nil {
			return Project{}, fmt.Errorf("find project: %w", err)
		}
	}
	p := Project{Root: root, Dir: filepath.Join(root, DirName), FoldCase: foldsCase(root), repo: repo}
	if repo != nil {
		p.Worktree, p.GitCommon, p.Linked = repo.top, repo.common, repo.gitDir != repo.common && repo.top != ""
	}
	return p, nil
}

// realDir returns the absolute path of a directory without symbolic links.
func realDir(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return "", err
	}
	info, err := os.Stat(path)
	if err == nil && !info.IsDir() {
		return "", fmt.Errorf("%s is not a directory", path)
	}
	return path, err
}

// namedRoot returns the directory that was named, relative to the working one.
func namedRoot(dir, named string) (string, error) {
	if !filepath.IsAbs(named) {
		named = filepath.Join(dir, named)
	}
	root, err := realDir(named)
	if err == nil && strings.EqualFold(filepath.Base(root), DirName) {
		return "", fmt.Errorf("%s is not a project; the project is the directory that has it", root)
	}
	if err == nil {
		err = refuseGitDir(root)
	}
	return root, err
}

// refuseGitDir refuses a git directory that belongs to a worktree: what is searched for from there is that worktree, and one
// repository should have one log.
func refuseGitDir(root string) error {
	repo, err := findRepository(root)
	if err != nil || repo == nil || repo.top != "" {
		return err
	}
	main, err := repo.mainWorktree()
	if err != nil || main == "" {
		return err
	}
	return fmt.Errorf("%s is a git directory and not a project; the project is %s", root, main)
}

// searchRoot finds the project of a working directory that is not named.
func searchRoot(dir, home string, repo *repository) (string, error) {
	if home != "" {
		if real, err := filepath.EvalSymlinks(home); err == nil {
			home = real
		}
	}
	root, err := nearestHandoff(dir, home, repo)
	if err != nil || root != "" || repo == nil {
		return cmp.Or(root, dir), err
	}
	main, err := repo.mainWorktree()
	if err != nil {
		return "", err
	}
	if main == "" {
		return repo.common, nil
	}
	return filepath.EvalSymlinks(main)
}

// nearestHandoff returns the nearest ancestor that has a .handoff directory, ""
// when the search ends without one.
func nearestHandoff(dir, home string, repo *repository) (string, error) {
	start, err := os.Stat(dir)
	if err != nil {
		return "", err
	}
	for current := dir; ; {
		inside := current == dir || repo != nil // what a person works in, not what lies above
		info, err := os.Lstat(filepath.Join(current, DirName))
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return "", err
		case inside && (info.IsDir() || info.Mode()&fs.ModeSymlink != 0): // a link is refused later, by name
			return current, nil
		case info.IsDir() && foreign(info) == "":
			return current, nil
		}
		parent := filepath.Dir(current)
		if parent == current || repo != nil && current == repo.top {
			return "", nil
		}
		if repo == nil || repo.top == "" {
			above, err := os.Stat(parent)
			if err != nil || parent == home || current == home || !sameDevice(start, above) {
				return "", err
			}
		}
		current = parent
	}
}

// repositoryOf returns the repository of a project that was named: that of the
// working directory when it is the same one, so that a worktree of it is known.
func repositoryOf(root string, ofDir *repository) (*repository, error) {
	repo, err := findRepository(root)
	if err == nil && repo != nil && ofDir != nil && repo.common == ofDir.common {
		return ofDir, nil
	}
	return repo, err
}

// foldsCase reports whether a name in dir is also found in other case.
func foldsCase(dir string) bool {
	for _, name := range []string{".git", DirName, filepath.Base(dir)} {
		path := filepath.Join(dir, name)
		if name == filepath.Base(dir) {
			path = dir
		}
		other := strings.Map(swapCase, name)
		if other == name {
			continue
		}
		info, err := os.Lstat(path)
		if err != nil {
			continue
		}
		twin, err := os.Lstat(filepath.Join(filepath.Dir(path), other))
		return err == nil && os.SameFile(info, twin)
	}
	return false
}

func swapCase(r rune) rune {
	if unicode.IsUpper(r) {
		return unicode.ToLower(r)
	}
	return unicode.ToUpper(r)
}

// Worktrees lists the worktrees of the project's repository that exist, the main
// one first. Outside git there are none.
func (p Project) Worktrees() ([]Worktree, error) {
	if p.repo == nil {
		return nil, nil
	}
	list, err := p.repo.worktrees()
	if err != nil {
		return nil, fmt.Errorf("list worktrees: %w", err)
	}
	return list, nil
}

// ExcludeFromGit keeps the .handoff directory out of git by an entry in the
// info/exclude file of the repository, once. It does nothing outside git, and
// where the directory lies in the git directory itself.
func ExcludeFromGit(p Project) error {
	if p.GitCommon == "" || p.Root == p.GitCommon {
		return nil
	}
	if err := exclude(filepath.Join(p.GitCommon, "info", "exclude")); err != nil {
		return fmt.Errorf("exclude %s from git: %w", DirName, err)
	}
	return nil
}

func exclude(file string) error {
	if err := os.Mkdir(filepath.Dir(file), 0o777); err != nil && !errors.Is(err, fs.ErrExist) { //nolint:gosec // as git creates it
		return err
	}
	f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE|os.O_APPEND|openNonBlock, 0o666) //nolint:gosec // as git creates it
	if err != nil {
		return err
	}
	return also(excludeIn(f), f.Close())
}

func excludeIn(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return &UnsafeError{Path: f.Name(), Reason: "is not a regular file"}
	}
	b, err := io.ReadAll(f)
	if err != nil {
		return err
	}
	text := string(b)
	for line := range strings.Lines(text) {
		switch strings.TrimSpace(line) {
		case DirName, DirName + "/", "/" + DirName, "/" + DirName + "/":
			return nil
		}
	}
	entry := DirName + "/\n"
	if text != "" && !strings.HasSuffix(text, "\n") {
		entry = "\n" + entry
	}
	_, err = f.WriteString(entry)
	return err
}
