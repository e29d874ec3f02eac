package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/agentloadout/loadout/engine"
)

type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"For which shell."`
}

func (completionCmd) Help() string {
	return "The script knows every command and flag, and needs loadout no more once it is loaded.\n\n" + examples(
		"source <(loadout completion bash)",
		"loadout completion zsh >\"${fpath[1]}/_loadout\"",
		"loadout completion fish >~/.config/fish/completions/loadout.fish",
	)
}

func (o *completionCmd) run(_ context.Context, c *call) error {
	if c.nested {
		return notHere("completion")
	}
	places, err := allPlaces()
	if err != nil {
		return err
	}
	var script string
	switch o.Shell {
	case "bash":
		script = bashScript(places)
	case "zsh":
		script = zshScript(places)
	case "fish":
		script = fishScript(places)
	}
	answer := struct {
		Shell  string `json:"shell"`
		Script string `json:"script"`
	}{o.Shell, script}
	return c.answer(answer, func() { c.block("", script) })
}

// notHere refuses a verb that makes no sense on the command line of the cockpit.
func notHere(verb string) error {
	return &engine.UsageError{Message: verb + " is for a shell; the cockpit is open already"}
}

// place is a command, and what may be typed behind it.
type place struct {
	path     string   // "loadout coord"
	words    []string // how it may be typed behind its parent: name and aliases
	parent   string   // path of its parent, "" for the program itself
	commands []option
	flags    []option
	values   []option // of its first argument, where only a few are possible
}

// option is a word that may be typed.
type option struct {
	word, help string
	value      bool // a flag that takes a value
}

// allPlaces lists every command that is not hidden, parents first.
func allPlaces() ([]place, error) {
	parser, err := newParser(&grammar{}, func(string) {})
	if err != nil {
		return nil, err
	}
	var places []place
	var visit func(n *kong.Node, parent string, inherited []option)
	visit = func(n *kong.Node, parent string, inherited []option) {
		p := place{path: strings.TrimSpace(parent + " " + n.Name), parent: parent, words: append([]string{n.Name}, n.Aliases...)}
		for _, f := range n.Flags {
			if !f.Hidden {
				p.flags = append(p.flags, option{"--" + f.Name, f.Help, !f.IsBool()})
			}
		}
		p.flags = append(p.flags, inherited...)
		for _, child := range n.Children {
			if !child.Hidden {
				p.commands = append(p.commands, option{word: child.Name, help: child.Help})
			}
		}
		if len(n.Positional) > 0 && n.Positional[0].Enum != "" {
			for _, v := range n.Positional[0].EnumSlice() {
				p.values = append(p.values, option{word: v})
			}
		}
		places = append(places, p)
		for _, child := range n.Children {
			if !child.Hidden {
				visit(child, p.path, p.flags)
			}
		}
	}
	visit(parser.Model.Node, "", nil)
	return places, nil
}

// complete lists what may stand at the end of a line. words are the words before, without the program's name; last is the
// beginning of the one to complete.
func complete(places []place, words []string, last string) []string {
	at := places[0]
	for i, w := range words {
		if i > 0 && slices.ContainsFunc(at.flags, func(f option) bool { return f.value && f.word == words[i-1] }) {
			continue
		}
		for _, p := range places {
			if p.parent == at.path && slices.Contains(p.words, w) {
				at = p
				break
			}
		}
	}
	options := slices.Concat(at.commands, at.values)
	if strings.HasPrefix(last, "-") {
		options = at.flags
	} else if n := len(words); n > 0 && slices.ContainsFunc(at.flags, func(f option) bool { return f.value && f.word == words[n-1] }) {
		return nil
	}
	var found []string
	for _, o := range options {
		if strings.HasPrefix(o.word, last) {
			found = append(found, o.word)
		}
	}
	return found
}

// steps are the patterns of a shell's case statement that lead to a place.
func (p place) steps() []string {
	patterns := make([]string, len(p.words))
	for i, w := range p.words {
		patterns[i] = quote(p.parent + " " + w)
	}
	return patterns
}

// quote is s as one word of a POSIX shell.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

func bashScript(places []place) string {
	var b strings.Builder
	b.WriteString("# bash completion of loadout\n_loadout() {\n")
	b.WriteString("  local cur=\"${COMP_WORDS[COMP_CWORD]}\" prev=\"\" at=loadout commands=\"\" flags=\"\" valued=\"\" i\n")
	b.WriteString("  (( COMP_CWORD > 0 )) && prev=\"${COMP_WORDS[COMP_CWORD-1]}\"\n")
	b.WriteString("  for ((i = 1; i < COMP_CWORD; i++)); do\n    case \"$at ${COMP_WORDS[i]}\" in\n")
	for _, p := range places[1:] {
		fmt.Fprintf(&b, "    %s) at=%s ;;\n", strings.Join(p.steps(), "|"), quote(p.path))
	}
	b.WriteString("    esac\n  done\n  case \"$at\" in\n")
	for _, p := range places {
		fmt.Fprintf(&b, "  %s)\n    commands=%s\n    flags=%s\n    valued=%s ;;\n", quote(p.path),
			quote(joinWords(slices.Concat(p.commands, p.values), false)), quote(joinWords(p.flags, false)), quote(" "+joinWords(p.flags, true)+" "))
	}
	b.WriteString("  esac\n")
	b.WriteString("  if [[ \"$cur\" == -* ]]; then\n    COMPREPLY=($(compgen -W \"$flags\" -- \"$cur\"))\n")
	b.WriteString("  elif [[ -n \"$prev\" && \"$valued\" == *\" $prev \"* ]]; then\n    COMPREPLY=()\n")
	b.WriteString("  else\n    COMPREPLY=($(compgen -W \"$commands\" -- \"$cur\"))\n  fi\n}\n")
	b.WriteString("complete -o default -F _loadout loadout\n")
	return b.String()
}

// joinWords is the words of options with blanks between, all or only those of flags that take a value.
func joinWords(options []option, valued bool) string {
	var words []string
	for _, o := range options {
		if o.value || !valued {
			words = append(words, o.word)
		}
	}
	return strings.Join(words, " ")
}

func zshScript(places []place) string {
	var b strings.Builder
	b.WriteString("#compdef loadout\n# zsh completion of loadout\n_loadout() {\n")
	b.WriteString("  local at=loadout valued='' i\n  local -a commands flags\n")
	b.WriteString("  for ((i = 2; i < CURRENT; i++)); do\n    case \"$at ${words[i]}\" in\n")
	for _, p := range places[1:] {
		fmt.Fprintf(&b, "    %s) at=%s ;;\n", strings.Join(p.steps(), "|"), quote(p.path))
	}
	b.WriteString("    esac\n  done\n  case \"$at\" in\n")
	for _, p := range places {
		fmt.Fprintf(&b, "  %s)\n    commands=(%s)\n    flags=(%s)\n    valued=%s ;;\n", quote(p.path),
			described(slices.Concat(p.commands, p.values)), described(p.flags), quote(" "+joinWords(p.flags, true)+" "))
	}
	b.WriteString("  esac\n")
	b.WriteString("  if [[ \"$PREFIX\" == -* ]]; then\n    _describe -o flag flags\n")
	b.WriteString("  elif [[ $CURRENT -gt 2 && \"$valued\" == *\" ${words[CURRENT-1]} \"* ]] || (( ! $#commands )); then\n    _files\n")
	b.WriteString("  else\n    _describe command commands\n  fi\n}\n")
	b.WriteString("if [[ \"${funcstack[1]}\" == _loadout ]]; then\n  _loadout \"$@\"\nelse\n  compdef _loadout loadout\nfi\n")
	return b.String()
}

// described is options as _describe of zsh takes them.
func described(options []option) string {
	words := make([]string, len(options))
	for i, o := range options {
		words[i] = quote(strings.ReplaceAll(o.word, ":", `\:`) + ":" + o.help)
	}
	return strings.Join(words, " ")
}

func fishScript(places []place) string {
	var b strings.Builder
	b.WriteString("# fish completion of loadout\nfunction __loadout_at\n  set -l at loadout\n")
	b.WriteString("  for word in (commandline -opc)[2..-1]\n    switch \"$at $word\"\n")
	for _, p := range places[1:] {
		fmt.Fprintf(&b, "      case %s\n        set at %s\n", strings.Join(p.steps(), " "), quote(p.path))
	}
	b.WriteString("    end\n  end\n  test \"$at\" = \"$argv\"\nend\n")
	for _, p := range places {
		at := quote("__loadout_at " + p.path)
		if len(p.commands)+len(p.values) > 0 {
			fmt.Fprintf(&b, "complete -c loadout -n %s -f\n", at)
		}
		for _, o := range slices.Concat(p.commands, p.values) {
			fmt.Fprintf(&b, "complete -c loadout -n %s -a %s -d %s\n", at, o.word, fishQuote(o.help))
		}
		for _, f := range p.flags {
			value := ""
			if f.value {
				value = " -r"
			}
			fmt.Fprintf(&b, "complete -c loadout -n %s -l %s%s -d %s\n", at, strings.TrimPrefix(f.word, "--"), value, fishQuote(f.help))
		}
	}
	return b.String()
}

// fishQuote is s as one word of fish, which escapes quotes with a backslash.
func fishQuote(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(s) + "'"
}
