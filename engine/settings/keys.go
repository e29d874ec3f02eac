package settings

import (
	"fmt"
	"reflect"
	"strings"
)

// Key describes one key for the documentation and for completion.
type Key struct {
	Name    string // with dots
	Allowed string // what it takes, in words
	Default string
	Help    string
	Only    string // "user" when a project cannot set it
}

// Keys lists every key in the order of the sections.
func Keys() []Key {
	s := Default()
	return keys(reflect.ValueOf(&s).Elem(), "")
}

func keys(section reflect.Value, prefix string) []Key {
	var all []Key
	for i := range section.NumField() {
		field, value := section.Type().Field(i), section.Field(i)
		name := jsonName(field)
		if name == "" {
			continue
		}
		key := Key{Name: prefix + name, Help: field.Tag.Get("help"), Only: field.Tag.Get("only")}
		own, ok := value.Addr().Interface().(allower)
		if !ok && value.Kind() == reflect.Struct {
			all = append(all, keys(value, prefix+name+".")...)
			continue
		}
		if ok {
			key.Allowed = own.Allowed()
		} else {
			key.Allowed = takes(field.Type, field.Tag.Get("allowed"))
		}
		if !value.IsZero() || value.Kind() == reflect.Bool {
			key.Default = strings.Trim(fmt.Sprint(value.Interface()), "[]")
		}
		all = append(all, key)
	}
	return all
}

func takes(t reflect.Type, allowed string) string {
	switch t.Kind() { //nolint:exhaustive // the kinds that settings have
	case reflect.Bool:
		return "true, false"
	case reflect.Slice:
		return "a list of: " + takes(t.Elem(), allowed)
	case reflect.Map:
		return "an object of: " + takes(t.Elem(), allowed)
	case reflect.Struct:
		return "an object"
	case reflect.String:
		if allowed == "" {
			return "text"
		}
		return strings.Join(strings.Fields(allowed), ", ")
	}
	return "a number"
}

func jsonName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}

func fieldNamed(t reflect.Type, name string) (reflect.StructField, bool) {
	for i := range t.NumField() {
		if f := t.Field(i); name != "" && jsonName(f) == name {
			return f, true
		}
	}
	return reflect.StructField{}, false
}

func fieldNames(t reflect.Type) []string {
	var names []string
	for i := range t.NumField() {
		if name := jsonName(t.Field(i)); name != "" {
			names = append(names, name)
		}
	}
	return names
}
