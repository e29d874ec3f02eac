package main

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"github.com/agentloadout/loadout/engine/words"
)

// decoder decodes the values of flags and arguments. Its own rules, beside kong's:
//   - a value may start with a dash, but a flag of this program right behind another is a forgotten value;
//   - a flag that takes several takes several words, or is repeated (type:"words"), and for names also commas (type:"names"). A further
//     word may begin with one dash unless it is a flag; one with two dashes ends the list, so that no misspelt flag becomes a value;
//   - whole numbers are decimal;
//   - durations also know days and weeks.
type decoder struct {
	flags  map[string]bool // every long flag of the grammar; filled once the grammar is built
	shorts map[string]bool // and every short one, with its dash
}

func (w *decoder) options() []kong.Option {
	return []kong.Option{
		kong.WithHyphenPrefixedParameters(true),
		kong.KindMapper(reflect.String, kong.MapperFunc(w.decodeString)),
		kong.KindMapper(reflect.Int, kong.MapperFunc(w.decodeInt)),
		kong.KindMapper(reflect.Int64, kong.MapperFunc(w.decodeInt)),
		kong.TypeMapper(reflect.TypeFor[time.Duration](), kong.MapperFunc(w.decodeDuration)),
		kong.NamedMapper("words", kong.MapperFunc(w.decodeWords)),
		kong.NamedMapper("names", kong.MapperFunc(w.decodeNames)),
	}
}

// learn collects the flags of the built grammar.
func (w *decoder) learn(node *kong.Node) {
	for _, f := range node.Flags {
		w.flags[f.Name] = true
		if f.Short != 0 {
			w.shorts["-"+string(f.Short)] = true
		}
	}
	for _, child := range node.Children {
		w.learn(child)
	}
}

// value takes the next word of the command line.
func (w *decoder) value(ctx *kong.DecodeContext) (string, error) {
	token := ctx.Scan.Pop()
	if token.IsEOL() {
		return "", errors.New("needs a value")
	}
	v := token.String()
	if s, ok := token.Value.(string); ok {
		v = s
	}
	if token.Type == kong.UntypedToken && w.isFlag(v) {
		return "", fmt.Errorf("needs a value before %s; if that is the value, write %s=%s", v, ctx.Value.ShortSummary(), v)
	}
	return v, nil
}

// isFlag reports whether a word is a long flag of the grammar, with or without its value.
func (w *decoder) isFlag(word string) bool {
	name, ok := strings.CutPrefix(word, "--")
	if !ok {
		return false
	}
	name, _, _ = strings.Cut(name, "=")
	return w.flags[name]
}

func (w *decoder) decodeString(ctx *kong.DecodeContext, target reflect.Value) error {
	v, err := w.value(ctx)
	if err != nil {
		return err
	}
	target.SetString(v)
	return nil
}

func (w *decoder) decodeInt(ctx *kong.DecodeContext, target reflect.Value) error {
	v, err := w.value(ctx)
	if err != nil {
		return err
	}
	n, err := strconv.ParseInt(v, 10, target.Type().Bits())
	if err != nil {
		return fmt.Errorf("%q is not a whole decimal number", v)
	}
	target.SetInt(n)
	return nil
}

func (w *decoder) decodeDuration(ctx *kong.DecodeContext, target reflect.Value) error {
	v, err := w.value(ctx)
	if err != nil {
		return err
	}
	d, err := words.ParseDuration(v)
	if err != nil {
		return err
	}
	target.SetInt(int64(d))
	return nil
}

// goesOn reports whether a word is one more of the list that a flag takes, though it begins with a dash.
func (w *decoder) goesOn(ctx *kong.DecodeContext, next kong.Token) bool {
	word, ok := next.Value.(string)
	return ok && ctx.Value.Flag != nil && next.Type == kong.UntypedToken && !strings.HasPrefix(word, "--") && !w.shorts[word]
}

// decodeWords takes one word and every further one up to the next flag; after -- it takes all the rest.
func (w *decoder) decodeWords(ctx *kong.DecodeContext, target reflect.Value) error {
	return w.several(ctx, target, func(v string) []string { return []string{v} })
}

func (w *decoder) decodeNames(ctx *kong.DecodeContext, target reflect.Value) error {
	return w.several(ctx, target, func(v string) []string {
		var names []string
		for name := range strings.SplitSeq(v, ",") {
			if name = strings.TrimSpace(name); name != "" {
				names = append(names, name)
			}
		}
		return names
	})
}

func (w *decoder) several(ctx *kong.DecodeContext, target reflect.Value, split func(string) []string) error {
	joined := ctx.Scan.Peek().Type == kong.FlagValueToken // --flag=value is complete
	v, err := w.value(ctx)
	if err != nil {
		return err
	}
	values := split(v)
	for !joined {
		next := ctx.Scan.Peek()
		if next.Type == kong.UntypedToken && next.Value == "--" && ctx.Value.Flag == nil {
			ctx.Scan.Pop()
			for _, rest := range ctx.Scan.PopUntil(kong.Token.IsEOL) {
				values = append(values, split(rest.String())...)
			}
			break
		}
		if next.IsEOL() || !next.IsValue() && !w.goesOn(ctx, next) {
			break
		}
		values = append(values, split(ctx.Scan.Pop().String())...)
	}
	target.Set(reflect.AppendSlice(target, reflect.ValueOf(values)))
	return nil
}

const (
	day     = 24 * time.Hour
	maxDays = 36500 // well below what a time.Duration can hold
)

// parseSince reads a point in time: an age ("2h", "7d"), an RFC 3339 time, or a date.
func parseSince(s string, now time.Time) (time.Time, error) {
	if d, err := words.ParseDuration(s); err == nil {
		return now.Add(-d), nil
	}
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02"} {
		if t, err := time.ParseInLocation(layout, s, now.Location()); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is not an age such as 2h or 7d, a date, or an RFC 3339 time", s)
}

// ageFlag is an age in days ("30"), or a duration with a unit ("12h", "2w"). Zero is an age too.
type ageFlag time.Duration

// Decode implements kong.MapperValue.
func (a *ageFlag) Decode(ctx *kong.DecodeContext) error {
	token := ctx.Scan.Pop()
	if token.IsEOL() {
		return errors.New("needs a value")
	}
	v := token.String()
	if days, err := strconv.ParseInt(v, 10, 64); err == nil {
		if days < 0 || days > maxDays {
			return fmt.Errorf("%q is not a number of days", v)
		}
		*a = ageFlag(time.Duration(days) * day)
		return nil
	}
	d, err := words.ParseDuration(v)
	if err != nil {
		return err
	}
	*a = ageFlag(d)
	return nil
}
