package main

import (
	"reflect"
	"slices"
	"strings"
)

// prune builds the part of the grammar that a command line needs: the common flags and the one command that it names. Building all
// of it takes longer than most verbs do. When the words name no command, as with a misspelt one, it builds the whole.
//
// The result is a pointer to a struct that kong can parse into, and whose first field is common.
func prune(args []string) any {
	path := commandPath(reflect.TypeFor[grammar](), args)
	if path == nil {
		return &grammar{}
	}
	// From the leaf up: each group becomes a struct with one field.
	last := len(path) - 1
	field := path[last]
	for i := last - 1; i >= 0; i-- {
		group := path[i]
		group.Type = reflect.StructOf([]reflect.StructField{plain(field)})
		field = group
	}
	flags, _ := reflect.TypeFor[grammar]().FieldByName("Common")
	return reflect.New(reflect.StructOf([]reflect.StructField{plain(flags), plain(field)})).Interface()
}

// plain is a field as reflect.StructOf wants it: without a place in another struct.
func plain(f reflect.StructField) reflect.StructField {
	return reflect.StructField{Name: f.Name, Type: f.Type, Tag: f.Tag}
}

// commandPath finds the fields that lead to the command which the words name, nil if they name none. It sees words as kong does:
// flags may come before the command, and those of common that take a value take the next word.
func commandPath(t reflect.Type, args []string) []reflect.StructField {
	var path []reflect.StructField
	for i := 0; i < len(args); i++ {
		word := args[i]
		if strings.HasPrefix(word, "-") && word != "-" {
			if word == "--" {
				return nil
			}
			if takesValue(word) {
				i++
			}
			continue
		}
		field, ok := commandField(t, word)
		if !ok {
			return nil
		}
		path = append(path, field)
		if _, leaf := reflect.New(field.Type).Interface().(command); leaf {
			return path
		}
		t = field.Type
	}
	return nil
}

// commandField finds the field of a group's struct that is the command of that name.
func commandField(t reflect.Type, name string) (reflect.StructField, bool) {
	for i := range t.NumField() {
		f := t.Field(i)
		if _, isCommand := f.Tag.Lookup("cmd"); !isCommand {
			continue
		}
		if commandName(f) == name || slices.Contains(strings.Split(f.Tag.Get("aliases"), ","), name) {
			return f, true
		}
	}
	return reflect.StructField{}, false
}

// commandName is the name that kong gives to a command.
func commandName(f reflect.StructField) string {
	if name := f.Tag.Get("name"); name != "" {
		return name
	}
	return strings.ToLower(f.Name)
}

// takesValue reports whether a word is a common flag whose value is the next word.
func takesValue(word string) bool {
	t := reflect.TypeFor[common]()
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Type.Kind() == reflect.String && word == "--"+commandName(f) {
			return true
		}
	}
	return false
}
