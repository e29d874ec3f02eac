package main

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/event"
)

// command is a leaf of the grammar.
type command interface {
	run(ctx context.Context, c *call) error
}

// call is one command line on its way: what the process gave, the common flags, and how answers are printed.
type call struct {
	*app
	common
	printer // of the answer, on stdout

	name   string // the verb as it was found: "coord own"
	caller string // who calls, where a flag says so and the engine asks the environment
	opened *engine.Engine
	lost   func() string // what the log of the opened engine has lost, see engine.Engine.Loss
	wrote  bool          // an event was stored
	past   time.Time     // the moment that the answer is about, zero for now
}

// run carries out a command line, says why if it was refused, and returns the exit code. It never ends the process.
func run(ctx context.Context, args []string, a *app) int {
	if isHook(args) {
		return runHook(ctx, args, a)
	}
	c, err := execute(ctx, args, a)
	code := exitCode(ctx, err)
	if code != exitDone {
		c.refuse(err, code)
	}
	if c.wrote { // the answer is out: nobody waits for this
		for _, n := range c.opened.Maintain(ctx, func(text string) { c.note("note: %s", text) }) {
			c.note("note: %s", n)
		}
	}
	return code
}

// execute parses a command line, carries it out, and returns why it was refused.
func execute(ctx context.Context, args []string, a *app) (*call, error) {
	c, cmd, err := parse(a, args)
	c.lost = func() string {
		if c.opened == nil || c.wrote { // what was written tells of it, and goes on above it
			return ""
		}
		lost, err := c.opened.Loss(ctx)
		if err != nil {
			return "" // whatever keeps the log from being read is told elsewhere
		}
		return lost
	}
	if err == nil {
		err = cmd.run(ctx, c)
	}
	if err == nil {
		err = c.err // of printing the answer
	}
	if errors.Is(err, errHelpShown) {
		err = c.err
	}
	return c, err
}

// parse reads a command line. The call is usable also when it fails, to print why.
func parse(a *app, args []string) (*call, command, error) {
	c := &call{app: a, printer: printer{w: a.stdout, coloured: a.colour}}
	// A refusal of the words themselves must know how to print.
	c.JSON = given(args, "--json")
	if len(args) > 0 && args[0] == "help" { // as in other programs: loadout help coord own
		args = append(slices.Clone(args[1:]), "--help")
	}
	if err := checkBytes(args); err != nil {
		return c, nil, err
	}
	tree := prune(args)
	parser, err := newParser(tree, func(page string) { c.printf("%s", styled(page)) })
	if err != nil {
		return c, nil, fmt.Errorf("build grammar: %w", err)
	}
	parsed, err := parser.Parse(args)
	if err != nil {
		if !errors.Is(err, errHelpShown) {
			err = misspelt(parser.Model, args, err)
		}
		return c, nil, err
	}
	if err := checkEmpty(parsed); err != nil {
		return c, nil, err
	}
	node := parsed.Selected()
	c.name = verbOf(node)
	flags, hasFlags := reflect.ValueOf(tree).Elem().FieldByName("Common").Interface().(common)
	cmd, isCommand := node.Target.Addr().Interface().(command)
	if !hasFlags || !isCommand {
		return c, nil, fmt.Errorf("%s is not a command", c.name)
	}
	c.common = flags
	c.coloured = a.colour && !flags.NoColor
	return c, cmd, nil
}

// newParser builds the parser of a grammar, which may be a part of the whole. A page of help goes to show.
func newParser(tree any, show func(page string)) (*kong.Kong, error) {
	w := &decoder{flags: map[string]bool{}, shorts: map[string]bool{}}
	parser, err := kong.New(tree, append(w.options(),
		kong.Name("loadout"),
		kong.Description(synopsis),
		kong.NoDefaultHelp(),
		kong.Help(func(_ kong.HelpOptions, ctx *kong.Context) error {
			show(helpOf(ctx))
			return nil
		}),
	)...)
	if err != nil {
		return nil, err
	}
	w.learn(parser.Model.Node)
	return parser, nil
}

// verbOf is the path of a command without the name of the program.
func verbOf(node *kong.Node) string {
	var names []string
	for ; node != nil && node.Type == kong.CommandNode; node = node.Parent {
		names = append(names, node.Name)
	}
	slices.Reverse(names)
	return strings.Join(names, " ")
}

// given reports whether a switch is among the words before "--".
func given(args []string, flag string) bool {
	if i := slices.Index(args, "--"); i >= 0 {
		args = args[:i]
	}
	return slices.Contains(args, flag)
}

// misspelt turns a parse error of kong into a usage error that names the help to read.
func misspelt(model *kong.Application, args []string, err error) error {
	help := "loadout --help"
	message := err.Error()
	var failed *kong.ParseError
	var hints []string
	counts := false // the command takes a number
	if errors.As(err, &failed) && failed.Context != nil {
		if node := failed.Context.Selected(); node != nil {
			if word, ok := strings.CutPrefix(message, "unknown flag -"); ok && len(node.Positional) > 0 && !strings.HasPrefix(word, "-") {
				hints = append(hints, "words that begin with a dash follow --")
			}
			counts = slices.ContainsFunc(node.Positional, func(p *kong.Positional) bool { return p.Target.CanInt() })
			help = model.Name + " " + verbOf(node) + " --help"
			message = expected(node, message)
		}
	}
	if word, ok := strings.CutPrefix(message, "unknown flag "); ok && counts && isNegative(word) {
		word = strings.TrimSuffix(strings.Fields(word)[0], ",") // the parser names only its first digit
		if at := slices.IndexFunc(args, func(arg string) bool { return strings.HasPrefix(arg, word) }); at >= 0 {
			word = args[at]
		}
		message = word + " is below zero; numbers here begin at 0"
	}
	if word, ok := strings.CutPrefix(message, "unknown flag --"); ok && slices.ContainsFunc(model.Children, func(n *kong.Node) bool { return n.Name == word }) {
		hints = append(hints, model.Name+" "+word)
	}
	if word, ok := strings.CutPrefix(message, "unexpected argument "); ok {
		word, _, _ = strings.Cut(word, ",")
		for _, verb := range elsewhere(model.Node, word) {
			hints = append(hints, model.Name+" "+verb)
		}
	}
	return &engine.UsageError{Message: message, Hints: append(hints, help)}
}

// expected is a message about arguments of a command which are not there, or about a value that is none of the words that it may be, with
// names as in the help and those words; any other message stays as it is.
func expected(node *kong.Node, message string) string {
	if strings.HasPrefix(message, `expected one of "`) {
		var verbs []string
		for _, verb := range node.Children {
			if !verb.Hidden {
				verbs = append(verbs, verb.Name)
			}
		}
		return "expected COMMAND: " + strings.Join(verbs, ", ")
	}
	names, missing := strings.CutPrefix(message, `expected "<`)
	values := slices.Clone(node.Positional)
	for _, group := range node.AllFlags(true) {
		for _, flag := range group {
			values = append(values, flag.Value)
		}
	}
	for _, value := range values {
		if value.Enum == "" {
			continue
		}
		name := value.ShortSummary()
		if value.Flag == nil {
			name = strings.ToUpper(value.Name)
		}
		said := "expected " + name + ": " + strings.Join(slices.DeleteFunc(value.EnumSlice(), func(word string) bool { return word == "" }), ", ")
		if missing && names == value.Name+`>"` {
			return said
		}
		if _, given, wrong := strings.Cut(message, value.ShortSummary()+" must be one of "); wrong {
			_, given, _ = strings.Cut(given, " but got ")
			return said + "; got " + event.Clip(given, maxQuoted)
		}
	}
	if !missing {
		for _, value := range node.Positional {
			if rest, ok := strings.CutPrefix(message, value.ShortSummary()+": "); ok {
				return strings.ToUpper(value.Name) + ": " + rest
			}
		}
		return message
	}
	return "expected " + strings.ToUpper(strings.NewReplacer("<", "", ">", "", " ...", "...", `"`, "").Replace(names))
}

// maxQuoted is how many characters of a wrong word a message repeats.
const maxQuoted = 200

// elsewhere lists the verbs below a node that are called word, the least deep ones.
func elsewhere(below *kong.Node, word string) []string {
	for level := below.Children; len(level) > 0; {
		var found []string
		var next []*kong.Node
		for _, node := range level {
			if !node.Hidden && node.Parent != below && (node.Name == word || slices.Contains(node.Aliases, word)) {
				found = append(found, verbOf(node))
			}
			next = append(next, node.Children...)
		}
		if len(found) > 0 {
			return found
		}
		level = next
	}
	return nil
}

// isNegative reports whether a word begins as a negative number does, which a parser takes for a flag.
func isNegative(word string) bool {
	return len(word) > 1 && word[0] == '-' && word[1] >= '0' && word[1] <= '9'
}
