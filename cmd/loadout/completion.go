package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/alecthomas/kong"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/safetext"
	"github.com/agentloadout/loadout/engine/words"
)

type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"For which shell."`
}

func (completionCmd) Help() string {
	return "The script asks loadout for everything that may stand where the cursor is: commands, flags, agents, paths, claims, contracts, " +
		"open tasks.\n\n" + examples(
		"source <(loadout completion bash)",
		"loadout completion zsh >\"${fpath[1]}/_loadout\"",
		"loadout completion fish >~/.config/fish/completions/loadout.fish",
	)
}

func (o *completionCmd) run(_ context.Context, c *call) error {
	if c.nested {
		return notHere("completion")
	}
	script := map[string]string{"bash": bashScript, "zsh": zshScript, "fish": fishScript}[o.Shell]
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

// completeCmd answers the completion scripts.
type completeCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"Which shell asks."`
	Line  string `arg:"" help:"The line up to the cursor, with the name of the program."`
}

func (o *completeCmd) run(ctx context.Context, c *call) error {
	completer, err := newCompleter(c.app, common{})
	if err != nil {
		return err
	}
	before, last, start := words.Unfinished(o.Line)
	if len(before) == 0 {
		return errors.New("complete line: the name of the program is not complete")
	}
	found := orEmpty(completer.complete(ctx, before[1:], last))
	answer := struct {
		Candidates []candidate `json:"candidates"`
	}{found}
	return c.answer(answer, func() {
		for _, x := range found {
			switch o.Shell {
			case "bash":
				c.printf("%s\n", bashWord(x, last, o.Line[start:]))
			default:
				c.printf("%s\t%s\n", x.Word, x.Help)
			}
		}
	})
}

// bashBreaks are the characters at which bash begins a new word to complete, besides blanks and quotes.
const bashBreaks = "=:@><;|&("

// bashWord is a candidate as bash takes it: only what goes behind the last break of the typed word, and quoted unless the person has
// opened a quote, which bash then closes itself.
func bashWord(x candidate, last, typed string) styled {
	word := x.Word
	if strings.ContainsAny(typed, `'"`) {
		return styled(safetext.Line(word))
	}
	if i := strings.LastIndexAny(last, bashBreaks); i >= 0 && len(word) > i {
		word = word[i+1:]
	}
	return styled(words.Complete(word, x.GoesOn))
}

// The scripts know nothing: what may stand where is asked of the program, so that agents, claims and paths are those of now.
const (
	bashScript = `# bash completion of loadout
_loadout() {
  local word
  COMPREPLY=()
  while IFS= read -r word; do
    COMPREPLY+=("$word")
  done < <(loadout __complete bash "${COMP_LINE:0:COMP_POINT}" 2>/dev/null)
  case "${COMPREPLY[0]-}" in
  */ | *=) compopt -o nospace 2>/dev/null ;;
  esac
}
complete -o default -F _loadout loadout
`
	zshScript = `#compdef loadout
# zsh completion of loadout
_loadout() {
  local word help item
  local -a ends goes
  while IFS=$'\t' read -r word help; do
    item="${word//:/\\:}:$help"
    case "$word" in
    */ | *=) goes+=("$item") ;;
    *) ends+=("$item") ;;
    esac
  done < <(loadout __complete zsh "${(j: :)words[1,CURRENT-1]} $QIPREFIX$PREFIX" 2>/dev/null)
  if (( $#ends + $#goes )); then
    _describe word ends -- goes -S ''
  else
    _files
  fi
}
if [[ "${funcstack[1]}" == _loadout ]]; then
  _loadout "$@"
else
  compdef _loadout loadout
fi
`
	fishScript = `# fish completion of loadout
complete -c loadout -f -k -a '(loadout __complete fish (commandline -cp | string collect) 2>/dev/null)'
`
)

// completer lists what may stand at the end of a line of words.
type completer struct {
	app    *app
	common common // flags that hold unless the line says otherwise
	root   *kong.Node

	mu     sync.Mutex
	opened map[string]*call // by the project that the line names, "" for none
}

func newCompleter(a *app, flags common) (*completer, error) {
	parser, err := newParser(&grammar{}, func(string) {})
	if err != nil {
		return nil, fmt.Errorf("build grammar: %w", err)
	}
	return &completer{app: a, common: flags, root: parser.Model.Node, opened: map[string]*call{}}, nil
}

// maxCandidates bounds an answer: nobody reads more, and a terminal shows less.
const maxCandidates = 200

// complete lists what the last word of a line may become. before are the words before it, without the program's name.
func (c *completer) complete(ctx context.Context, before []string, last string) []candidate {
	var found []candidate
	for _, x := range c.candidates(ctx, walk(c.root, before), last) {
		if len(found) == maxCandidates {
			break
		}
		if strings.HasPrefix(x.Word, last) {
			found = append(found, x)
		}
	}
	return found
}
