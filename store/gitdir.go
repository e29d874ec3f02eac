package store

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// repository is a git repository as its files describe it; git itself is not run.
type repository struct {
	top    string // of the worktree that was found, "" inside a bare repository
	gitDir string // of that worktree
	common string // shared by all worktrees
}

// maxGitFileBytes bounds the one-line files of git that name a path.
const maxGitFileBytes = 64 << 10

// findRepository returns the repository that encloses dir, nil when there is
// none. Like git it stays on one file system and does not trust a repository of
// somebody else above the working directory.
func findRepository(dir string) (*repository, error) {
	start, err := os.Stat(dir)
	if err != nil {
		return nil, err
	}
	for current := dir; ; {
		info, err := os.Stat(current)
		if err != nil {
			return nil, err
		}
		if !sameDevice(start, info) {
			return nil, nil //nolint:nilnil // outside git
		}
		if foreign(info) == "" || sameOwner(start, info) {
			if repo, err := repositoryAt(current); repo != nil || err != nil {
				return repo, err
			}
		}
		parent := filepath.Dir(current)
		if parent == current {
			return nil, nil //nolint:nilnil // outside git
		}
		current = parent
	}
}

func sameDevice(a, b fs.FileInfo) bool {
	x, okX := deviceOf(a)
	y, okY := deviceOf(b)
	return !okX || !okY || x == y
}

// repositoryAt returns the repository whose worktree has its top at dir, or which
// lies at dir itself without a worktree.
func repositoryAt(dir string) (*repository, error) {
	dotGit := filepath.Join(dir, ".git")
	info, err := os.Stat(dotGit)
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, errNotDirectory):
		if isGitDir(dir) {
			return openRepository("", dir)
		}
		return nil, nil //nolint:nilnil // no repository here
	case err != nil:
		return nil, err
	case info.IsDir():
		if !isGitDir(dotGit) {
			return nil, nil //nolint:nilnil // git ignores such a folder too
		}
		return openRepository(dir, dotGit)
	}
	target, err := readPath(dotGit, "gitdir: ", dir)
	if err != nil {
		return nil, err
	}
	return openRepository(dir, target)
}

// openRepository reads what a git directory says about its repository.
func openRepository(top, gitDir string) (*repository, error) {
	repo := &repository{top: top, gitDir: gitDir, common: gitDir}
	common, err := readPath(filepath.Join(gitDir, "commondir"), "", gitDir)
	switch {
	case err == nil:
		repo.common = common
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	if repo.common, err = filepath.EvalSymlinks(repo.common); err != nil {
		return nil, fmt.Errorf("find git repository: %w", err)
	}
	return repo, nil
}

// isGitDir reports whether dir looks like a git directory, as git judges it.
func isGitDir(dir string) bool {
	head, err := os.Lstat(filepath.Join(dir, "HEAD"))
	if err != nil || head.IsDir() {
		return false
	}
	for _, name := range []string{"objects", "refs"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || !info.IsDir() {
			return false
		}
	}
	return true
}

// readPath reads a file of git that holds one path, relative to base.
func readPath(file, prefix, base string) (string, error) {
	text, err := readSmall(file)
	if err != nil {
		return "", err
	}
	path, ok := strings.CutPrefix(strings.TrimRight(text, "\r\n"), prefix)
	if !ok || path == "" || strings.ContainsAny(path, "\n\x00") {
		return "", fmt.Errorf("%s does not name a git directory", file)
	}
	if path = filepath.FromSlash(path); !filepath.IsAbs(path) {
		path = filepath.Join(base, path)
	}
	return filepath.Clean(path), nil
}

func readSmall(file string) (string, error) {
	f, err := os.OpenFile(file, os.O_RDONLY|openNonBlock, 0) //nolint:gosec // the repository of the working directory
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(io.LimitReader(f, maxGitFileBytes))
	return string(text), also(err, f.Close())
}

// mainWorktree returns the worktree that belongs to the common directory itself,
// "" for a bare repository, and for one whose git directory lies apart and does
// not say where its worktree is.
func (r *repository) mainWorktree() (string, error) {
	if filepath.Base(r.common) == ".git" {
		return filepath.Dir(r.common), nil
	}
	worktree, err := coreSetting(filepath.Join(r.common, "config"), "worktree")
	if err != nil || worktree == "" {
		return "", err
	}
	if worktree = filepath.FromSlash(worktree); !filepath.IsAbs(worktree) {
		worktree = filepath.Join(r.common, worktree)
	}
	return filepath.Clean(worktree), nil
}

// coreSetting returns the last value of a key in section [core] of a git
// configuration file, "" when it has none.
func coreSetting(file, key string) (value string, err error) {
	text, err := readSmall(file)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	core := false
	for lines := bufio.NewScanner(strings.NewReader(text)); lines.Scan(); {
		line := strings.TrimSpace(lines.Text())
		if strings.HasPrefix(line, "[") {
			core = strings.EqualFold(line, "[core]")
			continue
		}
		name, v, ok := strings.Cut(line, "=")
		if core && ok && strings.EqualFold(strings.TrimSpace(name), key) {
			value = strings.Trim(strings.TrimSpace(v), `"`)
		}
	}
	return value, nil
}

// Worktree is a checkout of the repository of a project.
type Worktree struct {
	Path   string // its top, symbolic links resolved
	Branch string // short name of the branch that is checked out, "" when none is
	Main   bool   // it belongs to the repository itself; the others are linked
}

// worktrees lists the worktrees that exist, the main one first.
func (r *repository) worktrees() ([]Worktree, error) {
	var list []Worktree
	add := func(path, gitDir string, main bool) {
		if path, err := filepath.EvalSymlinks(path); err == nil {
			list = append(list, Worktree{Path: path, Branch: branch(gitDir), Main: main})
		}
	}
	path, err := r.mainWorktree()
	if err != nil {
		return nil, err
	}
	switch {
	case path != "":
		add(path, r.common, true)
	case r.top != "" && r.gitDir == r.common: // a git directory apart from its worktree
		if bare, err := coreSetting(filepath.Join(r.common, "config"), "bare"); err != nil || bare != "true" {
			add(r.top, r.common, true)
		}
	}
	entries, err := os.ReadDir(filepath.Join(r.common, "worktrees"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, entry := range entries {
		gitDir := filepath.Join(r.common, "worktrees", entry.Name())
		if dotGit, err := readPath(filepath.Join(gitDir, "gitdir"), "", gitDir); err == nil {
			add(filepath.Dir(dotGit), gitDir, false) // one that is gone waits for git to prune it
		}
	}
	return list, nil
}

// branch returns the short name of the branch that HEAD of a git directory is on.
func branch(gitDir string) string {
	head, err := readSmall(filepath.Join(gitDir, "HEAD"))
	if err != nil {
		return ""
	}
	name, ok := strings.CutPrefix(strings.TrimSpace(head), "ref: refs/heads/")
	if !ok {
		return ""
	}
	return name
}
