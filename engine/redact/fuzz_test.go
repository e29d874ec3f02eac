package redact

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzText: no input makes it panic, a second call finds nothing more, and valid
// text stays valid.
func FuzzText(f *testing.F) {
	for i, e := range secretCorpus(7) {
		if i%12 == 0 {
			f.Add(e.text)
		}
	}
	for i, e := range heldCorpus(7) {
		if i%3 == 0 {
			f.Add(e.text)
		}
	}
	for _, piece := range hostile {
		f.Add(strings.Repeat(piece, 3))
	}
	f.Fuzz(func(t *testing.T, s string) {
		once := Text(s)
		if again := Text(once); again != once {
			t.Errorf("Text(%q) = %q, again %q", s, once, again)
		}
		if utf8.ValidString(s) && !utf8.ValidString(once) {
			t.Errorf("Text(%q) = %q, which is not UTF-8", s, once)
		}
		if !strings.Contains(once, Marker) && once != s {
			t.Errorf("Text(%q) = %q without a marker", s, once)
		}
	})
}

// FuzzJSON: valid JSON stays valid, a second call changes nothing, and a value
// without names of secrets keeps its shape.
func FuzzJSON(f *testing.F) {
	f.Add(event)
	f.Add(`{"password":["a",{"b":1}],"x":[[1,"token=abcdefghijkl1"],null,true,-1.5e3,""],"name":"API_KEY","value":"x"}`)
	f.Add(`{"args":["--token","x"],"kind":"Secret","data":{"a":"b"}}`)
	f.Add(`["\ud800","\u0000",{"":{}}]`)
	f.Fuzz(func(t *testing.T, s string) {
		once, err := JSON([]byte(s))
		if (err == nil) != json.Valid([]byte(s)) && strings.Count(s, "[")+strings.Count(s, "{") <= maxDepth {
			t.Fatalf("JSON(%q) = %v, valid: %v", s, err, json.Valid([]byte(s)))
		}
		if err != nil {
			return
		}
		if !json.Valid(once) {
			t.Fatalf("JSON(%q) = %q", s, once)
		}
		if again, err := JSON(once); err != nil || string(again) != string(once) {
			t.Errorf("JSON(%q) = %q, again %q, %v", s, once, again, err)
		}
		if !strings.Contains(string(once), `"`+Marker+`"`) &&
			!reflect.DeepEqual(shape(decode(t, once)), shape(decode(t, []byte(s)))) {
			t.Errorf("JSON(%q) = %q", s, once)
		}
	})
}
