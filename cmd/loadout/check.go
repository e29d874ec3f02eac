package main

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/alecthomas/kong"

	"github.com/agentloadout/loadout/engine"
)

// checkBytes refuses words that are not text: stored, they would silently become other words.
func checkBytes(args []string) error {
	for _, arg := range args {
		if !utf8.ValidString(arg) {
			return &engine.UsageError{Message: fmt.Sprintf("%q is not valid UTF-8", arg)}
		}
	}
	return nil
}

// namingFlags are the flags that name somebody or something. Given as a blank word, which a shell makes of an unset variable,
// they would be taken for absent: another one would act, or something else be done.
var namingFlags = []string{
	"agent", "as", "from", "project", "key", "base", "name", "human", "session", "consume", "done", "supersedes", "needs", "file", "since",
	"agents", "sessions", "proposer", "initiator", "thread-id", "dir", "host", "pane",
}

// checkEmpty refuses empty words where a name, path or text is wanted.
func checkEmpty(parsed *kong.Context) error {
	for _, part := range parsed.Path {
		var value *kong.Value
		var name string
		switch {
		case part.Positional != nil:
			value, name = part.Positional, strings.ToUpper(part.Positional.Name)
		case part.Flag != nil && slices.Contains(namingFlags, part.Flag.Name):
			value, name = part.Flag.Value, "--"+part.Flag.Name
		default:
			continue
		}
		if value.Set && holdsEmpty(value.Target, part.Flag != nil) {
			return &engine.UsageError{Message: name + " is empty"}
		}
	}
	return nil
}

// holdsEmpty reports whether a word that was given is empty, or blank where that is no better.
func holdsEmpty(v reflect.Value, blank bool) bool {
	switch v.Kind() { //nolint:exhaustive // words end up in strings and lists of strings
	case reflect.String:
		return v.String() == "" || blank && strings.TrimSpace(v.String()) == ""
	case reflect.Slice:
		for i := range v.Len() {
			if holdsEmpty(v.Index(i), blank) {
				return true
			}
		}
		return v.Len() == 0
	case reflect.Pointer:
		return !v.IsNil() && holdsEmpty(v.Elem(), blank)
	}
	return false
}
