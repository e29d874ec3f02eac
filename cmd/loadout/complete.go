package main

import (
	"context"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// candidate is what an unfinished word may become.
type candidate struct {
	Word   string `json:"word"`
	Help   string `json:"help"`   // a few words about it, may be empty
	GoesOn bool   `json:"goesOn"` // something may follow in the same word, as behind a folder
}

// place is where a line of words ends in the grammar.
type place struct {
	node  *kong.Node          // the command that the words have reached, nil where they name none
	flag  *kong.Flag          // whose value stands here, nil for none
	given map[string][]string // values typed so far: of arguments by their name, of flags with their dashes
	args  int                 // arguments that are complete
	plain bool                // behind "--": nothing is a flag any more
}

// walk follows words through the grammar. It forgives what a parser would not: the line is not finished.
func walk(root *kong.Node, words []string) place {
	p := place{node: root, given: map[string][]string{}}
	if len(words) > 0 && words[0] == "help" {
		words = words[1:]
	}
	for _, w := range words {
		p.step(w)
	}
	return p
}

func (p *place) step(word string) {
	if p.wantsValue(word) {
		p.give(p.flag.Value, word)
		if !several(p.flag.Value) {
			p.flag = nil
		}
		return
	}
	p.flag = nil
	switch {
	case p.node == nil:
	case !p.plain && word == "--":
		p.plain = true
	case p.isFlag(word):
		name, value, joined := strings.Cut(word, "=")
		switch f := p.findFlag(name); {
		case f == nil:
		case joined || f.IsBool():
			p.give(f.Value, value)
		default:
			p.flag = f
		}
	case len(p.node.Children) > 0:
		p.node = childOf(p.node, word)
	default:
		if arg := p.argument(); arg != nil {
			p.give(arg, word)
		}
		p.args++
	}
}

// isFlag reports whether a word is, or begins, a flag here.
func (p *place) isFlag(word string) bool { return !p.plain && len(word) > 0 && word[0] == '-' }

// wantsValue reports whether a word is a value of the flag before it. The first one always is, also if it begins with a dash.
func (p *place) wantsValue(word string) bool {
	return p.flag != nil && (len(p.given["--"+p.flag.Name]) == 0 || !several(p.flag.Value) || !p.isFlag(word))
}

func (p *place) give(v *kong.Value, word string) {
	name := v.Name
	if v.Flag != nil {
		name = "--" + name
	}
	p.given[name] = append(p.given[name], word)
}

// first is the first value of an argument or flag, "" for none.
func (p *place) first(name string) string {
	if values := p.given[name]; len(values) > 0 {
		return values[0]
	}
	return ""
}

// argument is the argument that stands here, nil if there is none. The last one may take several words.
func (p *place) argument() *kong.Value {
	args := p.node.Positional
	switch n := len(args); {
	case p.args < n:
		return args[p.args]
	case n > 0 && several(args[n-1]):
		return args[n-1]
	}
	return nil
}

// flags are the flags that hold here, those of the command first.
func (p *place) flags() []*kong.Flag {
	var flags []*kong.Flag
	for n := p.node; n != nil; n = n.Parent {
		flags = append(flags, n.Flags...)
	}
	return slices.DeleteFunc(flags, func(f *kong.Flag) bool { return f.Hidden })
}

func (p *place) findFlag(word string) *kong.Flag {
	for _, f := range p.flags() {
		if word == "--"+f.Name || f.Short != 0 && word == "-"+string(f.Short) {
			return f
		}
	}
	return nil
}

// several reports whether a value takes more than one word.
func several(v *kong.Value) bool { return v.IsSlice() }

func childOf(n *kong.Node, word string) *kong.Node {
	for _, child := range n.Children {
		if !child.Hidden && (child.Name == word || slices.Contains(child.Aliases, word)) {
			return child
		}
	}
	return nil
}

// candidates are what may stand at a place, whatever last, the beginning that is typed, is; it decides only of which kind they are.
func (c *completer) candidates(ctx context.Context, p place, last string) []candidate {
	switch {
	case p.wantsValue(last):
		return c.values(ctx, &p, p.flag.Value, last)
	case p.node == nil:
		return nil
	case p.isFlag(last):
		return c.flagCandidates(ctx, &p, last)
	case len(p.node.Children) > 0:
		return commandCandidates(p.node)
	}
	var found []candidate
	if arg := p.argument(); arg != nil {
		found = c.values(ctx, &p, arg, last)
	}
	if len(found) == 0 && last == "" && (p.args > 0 || len(p.node.Positional) == 0) && !p.plain {
		return c.flagCandidates(ctx, &p, last)
	}
	return found
}

func commandCandidates(n *kong.Node) []candidate {
	var found []candidate
	for _, child := range n.Children {
		if !child.Hidden {
			found = append(found, candidate{Word: child.Name, Help: child.Help})
		}
	}
	return found
}

// flagCandidates are the flags that were not given yet, or behind --flag= the values of that flag.
func (c *completer) flagCandidates(ctx context.Context, p *place, last string) []candidate {
	if name, typed, joined := strings.Cut(last, "="); joined {
		f := p.findFlag(name)
		if f == nil || f.IsBool() {
			return nil
		}
		found := c.values(ctx, p, f.Value, typed)
		for i := range found {
			found[i].Word = name + "=" + found[i].Word
		}
		return found
	}
	var found []candidate
	for _, f := range p.flags() {
		if len(p.given["--"+f.Name]) == 0 || several(f.Value) {
			found = append(found, candidate{Word: "--" + f.Name, Help: f.Help})
		}
	}
	return found
}
