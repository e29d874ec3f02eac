package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"unicode/utf8"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/state"
	"github.com/agentloadout/loadout/engine/words"
)

type contractCmd struct {
	Name     string  `complete:"contract" arg:"" optional:"" help:"The contract; without it all are listed."`
	Body     *string `placeholder:"TEXT" help:"Publish this text as the next revision."`
	File     string  `complete:"file" placeholder:"FILE" help:"Publish the contents of a file, or of stdin with -."`
	Revision *int64  `complete:"revision" placeholder:"N" help:"Publish as revision N, or show revision N."`
	Base     *int64  `complete:"revision" placeholder:"N" help:"Publish only if N is still the latest revision; 0: if there is none."`
	Format   string  `placeholder:"NAME" help:"What the text is, e.g. openapi-yaml."`
	Consume  string  `complete:"agent" placeholder:"AGENT" help:"Declare that AGENT builds on the contract."`
	At       *int64  `complete:"seq" placeholder:"SEQ" help:"As of this sequence number."`
	History  bool    `help:"Every revision."`
	bounded
	writing
}

func (contractCmd) Help() string {
	return examples(
		"loadout coord contract",
		"loadout coord contract checkout-api",
		"loadout coord contract checkout-api --agent claude-code --body 'POST /api/checkout -> 201 { id: string }'",
		"loadout coord contract checkout-api --file openapi.yaml --format openapi-yaml --base 3",
		"loadout coord contract checkout-api --consume codex",
		"loadout coord contract checkout-api --history --json",
	)
}

func (o *contractCmd) run(ctx context.Context, c *call) error {
	if err := o.check(); err != nil {
		return err
	}
	switch {
	case o.publishes():
		return o.publish(ctx, c)
	case o.Consume != "":
		return o.consume(ctx, c)
	}
	e, err := c.open(o.LockWait)
	if err != nil {
		return err
	}
	switch {
	case o.Name == "":
		return o.list(ctx, c, e)
	case o.History:
		return o.history(ctx, c, e)
	}
	return o.show(ctx, c, e)
}

func (o *contractCmd) publishes() bool { return o.Body != nil || o.File != "" }

// check refuses words that do not go together.
func (o *contractCmd) check() error {
	refuse := func(message string) error {
		return &engine.UsageError{Message: message, Hints: []string{"loadout coord contract --help"}}
	}
	looks := o.At != nil || o.History
	switch {
	case o.Name == "" && (o.publishes() || o.Consume != "" || o.History || o.Revision != nil):
		return refuse("name the contract")
	case o.Body != nil && o.File != "":
		return refuse("--body and --file exclude each other")
	case o.publishes() && (looks || o.Consume != ""):
		return refuse("publishing excludes --at, --history and --consume")
	case o.Consume != "" && (looks || o.Revision != nil):
		return refuse("--consume excludes --at, --history and --revision")
	case !o.publishes() && (o.Base != nil || o.Format != ""):
		return refuse("--base and --format go with --body or --file")
	case o.Revision != nil && looks:
		return refuse("--revision excludes --at and --history")
	case o.All && (o.publishes() || o.Consume != "" || o.History):
		return refuse("--all goes with what is shown")
	case !o.publishes() && o.Consume == "" && o.Key != "":
		return refuse("--key goes with what is stored: --body, --file or --consume")
	}
	return nil
}

func (o *contractCmd) publish(ctx context.Context, c *call) error {
	body, err := o.body(c)
	if err != nil {
		return err
	}
	r, _, err := c.write(ctx, o.writing, "", func(agent string) engine.Command {
		return engine.Publish{Agent: agent, Name: o.Name, Body: body, Format: o.Format, Revision: o.Revision, Base: o.Base}
	})
	if err != nil {
		return err
	}
	readers := readersOf(ctx, c.opened, o.Name)
	extra := struct {
		Readers []state.Reader `json:"readers"`
	}{readers}
	return c.answer(receipt(r, extra), func() {
		for _, k := range bodies[event.Contract](r) {
			c.printf("Published '%s' rev%d (seq %d)\n", o.Name, k.Revision, r.Seq())
		}
		c.printReaders("  ", o.Name, readers, maxReaders)
	})
}

// body is the text to publish.
func (o *contractCmd) body(c *call) (string, error) {
	if o.Body != nil {
		return *o.Body, nil
	}
	from := c.stdin
	if o.File != "-" {
		path := o.File
		if !filepath.IsAbs(path) {
			path = filepath.Join(c.dir, path)
		}
		f, err := os.Open(path) //nolint:gosec // reading the file that the person named is the job
		if errors.Is(err, os.ErrNotExist) {
			return "", &engine.NotFoundError{Kind: "file", Name: o.File}
		} else if err != nil {
			return "", &engine.UsageError{Message: err.Error()}
		}
		defer f.Close()
		if info, err := f.Stat(); err == nil && info.IsDir() {
			return "", &engine.UsageError{Message: o.File + " is a folder"}
		}
		from = f
	}
	// A code unit takes at most three bytes of UTF-8, so longer text breaks the limit in any case.
	const most = 3 * event.MaxContractBody
	text, err := io.ReadAll(io.LimitReader(from, most+1))
	if err != nil {
		return "", fmt.Errorf("read contract body: %w", err)
	}
	if len(text) > most {
		return "", &engine.ValidationError{
			Field: "body", Reason: fmt.Sprintf("is longer than %d characters", event.MaxContractBody),
		}
	}
	if !utf8.Valid(text) || bytes.IndexByte(text, 0) >= 0 {
		return "", &engine.ValidationError{Field: "body", Reason: "is no text: it has a NUL byte or is not valid UTF-8"}
	}
	return string(text), nil
}

func (o *contractCmd) consume(ctx context.Context, c *call) error {
	r, agent, err := c.write(ctx, o.writing, o.Consume, func(agent string) engine.Command {
		return engine.Consume{Agent: agent, Names: []string{o.Name}}
	})
	if err != nil {
		return err
	}
	readers := readersOf(ctx, c.opened, o.Name)
	extra := struct {
		Readers []state.Reader `json:"readers"`
	}{readers}
	return c.answer(receipt(r, extra), func() {
		if len(r.Events) == 0 {
			c.printf("%s builds on '%s' already\n", agent, o.Name)
		} else {
			c.printf("%s builds on '%s' (seq %d)\n", agent, o.Name, r.Seq())
		}
		c.printReaders("  ", o.Name, readers, maxReaders)
	})
}

func (o *contractCmd) list(ctx context.Context, c *call, e *engine.Engine) error {
	s, err := c.stateAt(ctx, e, o.At)
	if err != nil {
		return err
	}
	contracts, omitted := keep(s.Contracts(), c.most(o.All), func(k *state.Contract) int64 { return k.Seq })
	answer := struct {
		Contracts []state.Contract `json:"contracts"`
		Omitted   int              `json:"omitted"`
		AsOf      int64            `json:"asOf"`
		Skipped   state.Skips      `json:"skipped"`
	}{contracts, omitted, s.Head(), s.Skips()}
	return c.answer(answer, func() {
		if len(contracts) == 0 {
			c.printf("No active contracts (%s).\n", words.AsOf(answer.AsOf))
			return
		}
		c.printf("Active contracts (%d, %s):\n", len(contracts)+omitted, words.AsOf(answer.AsOf))
		for _, k := range contracts {
			c.printListed(k)
		}
		c.more(omitted, "contract", "coord contract --all")
	})
}

func (o *contractCmd) history(ctx context.Context, c *call, e *engine.Engine) error {
	revisions, asOf, err := e.ContractHistory(ctx, o.Name)
	if err != nil {
		return err
	}
	if o.At != nil {
		if _, err := e.StateAt(ctx, *o.At); err != nil {
			return err
		}
		kept := revisions[:0]
		for _, r := range revisions {
			if r.Seq <= *o.At {
				kept = append(kept, r)
			}
		}
		revisions, asOf = kept, *o.At
	}
	answer := struct {
		Name      string                `json:"name"`
		Revisions []engine.ContractText `json:"revisions"`
		AsOf      int64                 `json:"asOf"`
	}{o.Name, orEmpty(revisions), asOf}
	return c.answer(answer, func() {
		c.printf("%s: %s (%s)\n", c.bold(o.Name), words.Plural(len(revisions), "revision"), words.AsOf(asOf))
		for _, r := range revisions {
			c.printf("  rev%d by %s, %s (seq %d)%s\n", r.Revision, r.Publisher, c.moment(r.At), r.Seq, inParens(r.Format))
		}
	})
}

func (o *contractCmd) show(ctx context.Context, c *call, e *engine.Engine) error {
	revision := int64(0)
	var readers []state.Reader
	switch {
	case o.Revision != nil:
		revision = *o.Revision
		if revision < 1 {
			return &engine.ValidationError{Field: "revision", Reason: "starts at 1"}
		}
	default:
		s, err := c.stateAt(ctx, e, o.At)
		if err != nil {
			return err
		}
		if k, ok := s.Contract(o.Name); ok {
			revision, readers = k.Revision, k.Readers
		} else if o.At != nil {
			return &engine.NotFoundError{Kind: "contract", Name: o.Name, Reason: fmt.Sprintf("as of seq %d", *o.At)}
		}
	}
	text, err := e.ContractBody(ctx, o.Name, revision)
	if err != nil {
		return err
	}
	extra := struct {
		Readers []state.Reader `json:"readers"`
	}{orEmpty(readers)}
	return c.answer(joined{text, extra}, func() {
		c.printf("%s rev%d by %s (seq %d, %s)\n", c.bold(text.Name), text.Revision, text.Publisher, text.Seq, c.moment(text.At))
		if text.Format != "" {
			c.printf("Format: %s\n", text.Format)
		}
		c.printReaders("", text.Name, readers, c.most(o.All))
		c.printf("---\n")
		if text.Body != "" {
			c.block("", text.Body)
		}
	})
}

// readersOf is who builds on a contract, after a write that was answered already.
func readersOf(ctx context.Context, e *engine.Engine, name string) []state.Reader {
	view, err := e.View(ctx)
	if err != nil {
		return []state.Reader{}
	}
	k, _ := view.State.Contract(name)
	return orEmpty(k.Readers)
}

// printListed prints a contract of a list.
func (c *call) printListed(k state.Contract) {
	c.printf("  %s rev%d by %s%s\n", c.bold(k.Name), k.Revision, k.Publisher, inParens(k.Format))
	c.printReaders("    ", k.Name, k.Readers, maxReaders)
}

// printReaders says who is on which revision, first who is behind.
func (c *call) printReaders(indent, name string, readers []state.Reader, most int) {
	readers, omitted := keep(readers, most, func(r *state.Reader) int64 { return r.Behind })
	for _, r := range readers {
		switch {
		case r.Revision == 0:
			c.printf("%s%s has read no revision yet\n", styled(indent), r.Agent)
		case r.Behind == 0:
			c.printf("%s%s has read rev%d, up to date\n", styled(indent), r.Agent, r.Revision)
		default:
			c.printf("%s%s is on rev%d, %d behind\n", styled(indent), r.Agent, r.Revision, r.Behind)
		}
	}
	if omitted > 0 {
		c.printf("%s… and %s: loadout coord contract %s --all\n", styled(indent), words.Plural(omitted, "more reader"), words.ShellWord(name))
	}
}

// inParens is " (s)" in safe text, nothing for nothing.
func inParens(s string) styled {
	if s == "" {
		return ""
	}
	return " (" + pad(s, 0) + ")"
}

// orEmpty makes an absent list an empty one, so that JSON always shows a list.
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// stateAt is the state now, or as of a sequence number.
func (c *call) stateAt(ctx context.Context, e *engine.Engine, at *int64) (*state.State, error) {
	if at != nil {
		return e.StateAt(ctx, *at)
	}
	view, err := e.View(ctx)
	if err != nil {
		return nil, err
	}
	return view.State, nil
}
