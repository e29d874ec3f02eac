package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/alecthomas/kong"
)

const synopsis = "Several coding agents in one repository, without collisions. Without a verb it opens the cockpit."

// errHelpShown ends a call whose answer was its help.
var errHelpShown = errors.New("help was shown")

// helpFlag prints the help of whatever command its line has reached, whether or not the rest of the line is complete.
type helpFlag bool

// BeforeReset is called by kong when the flag was given, before anything is checked.
func (helpFlag) BeforeReset(ctx *kong.Context) error {
	if err := ctx.PrintUsage(false); err != nil {
		return err
	}
	return errHelpShown
}

// IgnoreDefault keeps the bare command from being chosen when help is asked for.
func (helpFlag) IgnoreDefault() {}

// examples is the part of a command's help that shows how it is called.
func examples(lines ...string) string {
	return "Examples:\n    " + strings.Join(lines, "\n    ")
}

// helpOf is the page of help of the command that a line has reached.
func helpOf(ctx *kong.Context) string {
	node := ctx.Selected()
	if node == nil || node.Hidden {
		node = ctx.Model.Node
	}
	h := &helpPage{width: helpWidth}
	h.node(node)
	return h.text.String()
}

// helpWidth is the width of a page of help: comfortable to read, and what a cockpit of 80 columns has for the output of a verb.
const helpWidth = 76

// helpPage writes the help of one command.
type helpPage struct {
	width int
	text  strings.Builder
}

func (h *helpPage) node(n *kong.Node) {
	fmt.Fprintf(&h.text, "Usage: %s\n\n", usage(n))
	h.wrap("", n.Help)
	if n.Detail != "" {
		h.detail(n.Detail)
	}
	rows := make([][2]string, 0, len(n.Positional))
	for _, arg := range n.Positional {
		rows = append(rows, [2]string{argument(arg), arg.Help})
	}
	h.table("Arguments", rows)
	h.commands(n)
	var own, shared [][2]string
	for ; n != nil; n = n.Parent {
		for _, f := range n.Flags {
			if f.Group != nil {
				shared = append(shared, [2]string{flagUsage(f), f.Help})
			} else {
				own = append(own, [2]string{flagUsage(f), f.Help})
			}
		}
	}
	h.table("Flags", own)
	h.table("Common flags", shared)
}

// commands lists what a group holds, by the group's headings.
func (h *helpPage) commands(n *kong.Node) {
	var titles []string
	rows := map[string][][2]string{}
	for _, child := range n.Children {
		if child.Hidden {
			continue
		}
		title := "Commands"
		if child.Group != nil {
			title = child.Group.Title
		}
		if rows[title] == nil {
			titles = append(titles, title)
		}
		rows[title] = append(rows[title], [2]string{strings.Join(append([]string{child.Name}, child.Aliases...), ", "), child.Help})
	}
	for _, title := range titles {
		h.table(title, rows[title])
	}
	if len(titles) > 0 {
		fmt.Fprintf(&h.text, "\n%s COMMAND --help shows a command with examples.\n", strings.TrimSpace(h.path(n)))
	}
}

func (h *helpPage) path(n *kong.Node) string { return "loadout " + verbOf(n) }

// detail writes longer text: paragraphs are wrapped, indented lines stay.
func (h *helpPage) detail(text string) {
	h.text.WriteByte('\n')
	for line := range strings.SplitSeq(text, "\n") {
		if strings.HasPrefix(line, " ") || line == "" {
			h.text.WriteString(line + "\n")
			continue
		}
		h.wrap("", line)
	}
}

// table writes rows of a term and its meaning under a heading.
func (h *helpPage) table(title string, rows [][2]string) {
	if len(rows) == 0 {
		return
	}
	const most = 24 // a longer term has its meaning below it
	left := 0
	for _, r := range rows {
		if n := len(r[0]); n <= most {
			left = max(left, n)
		}
	}
	fmt.Fprintf(&h.text, "\n%s:\n", title)
	for _, r := range rows {
		indent := strings.Repeat(" ", 2+left+2)
		if len(r[0]) > left {
			h.text.WriteString("  " + r[0] + "\n")
			h.wrap(indent, r[1])
			continue
		}
		h.wrapAfter("  "+r[0]+strings.Repeat(" ", left-len(r[0]))+"  ", indent, r[1])
	}
}

// wrap writes text in lines that fit, each behind indent.
func (h *helpPage) wrap(indent, text string) { h.wrapAfter(indent, indent, text) }

// wrapAfter is wrap with another beginning for the first line.
func (h *helpPage) wrapAfter(first, indent, text string) {
	line := first
	for i, word := range strings.Fields(text) {
		if i > 0 && len(line)+1+len(word) > h.width {
			h.text.WriteString(line + "\n")
			line = indent + word
			continue
		}
		if i > 0 {
			line += " "
		}
		line += word
	}
	h.text.WriteString(line + "\n")
}

// usage is how a command is called: "loadout coord own AGENT PATH... [flags]".
func usage(n *kong.Node) string {
	words := []string{"loadout"}
	if verb := verbOf(n); verb != "" {
		words = append(words, verb)
	}
	for _, arg := range n.Positional {
		words = append(words, argument(arg))
	}
	if len(n.Children) > 0 {
		words = append(words, "COMMAND")
	}
	return strings.Join(append(words, "[flags]"), " ")
}

// argument is an argument as usage shows it: AGENT, PATH..., [TEXT...].
func argument(v *kong.Value) string {
	s := strings.ToUpper(v.Name)
	if v.Enum != "" {
		s = strings.ReplaceAll(v.Enum, ",", "|")
	}
	if v.IsCumulative() {
		s += "..."
	}
	if !v.Required {
		s = "[" + s + "]"
	}
	return s
}

// flagUsage is a flag as a table of flags shows it: "-h, --help", "--ttl TIME", "--files PATH...".
func flagUsage(f *kong.Flag) string {
	s := "--" + f.Name
	if f.Short != 0 {
		s = "-" + string(f.Short) + ", " + s
	}
	if f.IsBool() {
		return s
	}
	s += " " + f.FormatPlaceHolder()
	if f.IsCumulative() {
		s += "..."
	}
	return s
}
