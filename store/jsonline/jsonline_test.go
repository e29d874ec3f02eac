package jsonline

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestParse(t *testing.T) {
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	for line, reason := range map[string]string{
		`{}`:                  "",
		" \t\r\n{ } \n":       "",
		`{"a":1}`:             "",
		`{"a":"","":"b"}`:     "",
		`{"a":{"b":[1,{}]}}`:  "",
		`{"a":{"b":1,"b":2}}`: "", // only the top level is looked at
		`{"a":[true,false,null,-0,0.5,1e9,1E-2,-1.5e+10]}`: "",
		`{"a":"\"\\\/\b\f\n\r\t\u0000\uD834\uDD1E\ud800"}`: "",
		`{"a":"日本 ü 🎉"}`:                                   "",
		`{"a":` + deep(MaxDepth-1) + `}`:                   "",
		`{"a":` + deep(MaxDepth) + `}`:                     "nested too deep",
		`{"a":` + strings.Repeat(`{"x":`, MaxDepth) + `1`:  "nested too deep",
		``:                             "not a JSON object",
		`  `:                           "not a JSON object",
		`[]`:                           "not a JSON object",
		`"a"`:                          "not a JSON object",
		`1`:                            "not a JSON object",
		`{`:                            "unexpected end",
		`{"a"`:                         "unexpected end",
		`{"a":`:                        "unexpected end",
		`{"a":1`:                       "unexpected end",
		`{"a":1,`:                      "unexpected end",
		`{"a":[`:                       "unexpected end",
		`{"a":[1`:                      "unexpected end",
		`{"a":{"b"`:                    "unexpected end",
		`{"a":-`:                       "unexpected end",
		`{"a":"x`:                      "unexpected end in a string",
		`{"a":"x\`:                     "unexpected end in a string",
		`{"a":"\u12`:                   "unexpected end in a string",
		`{"a":"12345678`:               "unexpected end in a string",
		`{a:1}`:                        "expected a key",
		`{1:1}`:                        "expected a key",
		`{,}`:                          "expected a key",
		`{"a":1,}`:                     "expected a key",
		`{"a":{"b":1,}}`:               "expected a key",
		`{"a" 1}`:                      "expected a colon",
		`{"a":{"b" 1}}`:                "expected a colon",
		`{"a":}`:                       "expected a value",
		`{"a":[,1]}`:                   "expected a value",
		`{"a":[1,]}`:                   "expected a value",
		`{"a":tru}`:                    "expected a value",
		`{"a":nul`:                     "expected a value",
		`{"a":True}`:                   "expected a value",
		`{"a":'x'}`:                    "expected a value",
		`{"a":NaN}`:                    "expected a value",
		`{"a":+1}`:                     "expected a value",
		`{"a":.5}`:                     "expected a value",
		`{"a":1 "b":2}`:                "expected a comma",
		`{"a":1]`:                      "expected a comma",
		`{"a":[1}`:                     "expected a comma",
		`{"a":[1 2]}`:                  "expected a comma",
		`{"a":01}`:                     "expected a comma",
		`{"a":0x1}`:                    "expected a comma",
		`{"a":--1}`:                    "invalid number",
		`{"a":1.}`:                     "invalid number",
		`{"a":1.e5}`:                   "invalid number",
		`{"a":1e}`:                     "invalid number",
		`{"a":1e+}`:                    "invalid number",
		`{"a":"\x"}`:                   "invalid escape",
		`{"a":"\u12x4"}`:               "invalid escape",
		"{\"a\":\"\x00\"}":             "control character",
		"{\"a\":\"12345678\t\"}":       "control character",
		"{\"a\":\"\x1f\"}":             "control character",
		"{\"a\":\"\x7f\"}":             "",
		"{\"a\":\"\xff\"}":             "invalid UTF-8",
		"{\"a\":\"\xc0\x80\"}":         "invalid UTF-8",
		"{\"a\":\"\xed\xa0\x80\"}":     "invalid UTF-8",
		"{\"a\":\"\xf4\x90\x80\x80\"}": "invalid UTF-8",
		"{\"\xe2\x82\":1}":             "invalid UTF-8",
		`{"a":1}x`:                     "text after the object",
		`{"a":1}{}`:                    "text after the object",
		"{}\x00":                       "text after the object",
		`{"a":1,"a":1}`:                "duplicate key",
		`{"a":1,"\u0061":1}`:           "duplicate key",
		`{"":1,"":1}`:                  "duplicate key",
	} {
		var o Object
		err := o.Parse([]byte(line))
		var syntax *SyntaxError
		switch {
		case reason == "" && err != nil, reason != "" && !errors.As(err, &syntax):
			t.Errorf("%q: error %v, want %q", line, err, reason)
		case reason != "" && (!strings.Contains(syntax.Reason, reason) || len(o.Fields()) != 0 || syntax.Offset < 0 || syntax.Offset > len(line)):
			t.Errorf("%q: error %v, want %q, fields %v", line, err, reason, o.Fields())
		}
	}
}

func TestFields(t *testing.T) {
	var o Object
	if err := o.Parse([]byte(` {"a" : 1 , "b\n" :"x\"y","c":{"d":[1, 2]} , "e":null}`)); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range o.Fields() {
		got = append(got, string(f.Key)+"="+string(f.Value))
	}
	if want := []string{"a=1", "b\n=\"x\\\"y\"", `c={"d":[1, 2]}`, "e=null"}; strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("fields %q, want %q", got, want)
	}
	if v, ok := o.Get("b\n"); !ok || string(v) != `"x\"y"` {
		t.Errorf("b is %s", v)
	}
	if _, ok := o.Get("d"); ok {
		t.Error("a nested key was found")
	}
}

// Duplicates are found among few keys and among many, and looking for them does
// not take quadratic time.
func TestManyKeys(t *testing.T) {
	for _, n := range []int{2, indexAbove - 1, indexAbove, indexAbove + 1, 200, 100_000} {
		keys := make([]string, n)
		for i := range keys {
			keys[i] = fmt.Sprintf(`"k%d":%d`, i, i)
		}
		var o Object
		for range 2 { // the second time with used memory
			if err := o.Parse([]byte("{" + strings.Join(keys, ",") + "}")); err != nil || len(o.Fields()) != n {
				t.Fatalf("%d keys: %d fields, error %v", n, len(o.Fields()), err)
			}
			if err := o.Parse([]byte("{" + strings.Join(keys, ",") + `,"k1":0}`)); err == nil {
				t.Fatalf("%d keys: the duplicate was not found", n)
			}
		}
	}
}

func TestParseDoesNotAllocate(t *testing.T) {
	var o Object
	if n := testing.AllocsPerRun(100, func() {
		if err := o.Parse(line450); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestString(t *testing.T) {
	for raw, want := range map[string]string{
		`""`: "", `"abc"`: "abc", `"日本"`: "日本", `"a\"b\\c\/d"`: `a"b\c/d`, `"\b\f\n\r\t"`: "\b\f\n\r\t", `"\u0041\u00e9\u65e5"`: "Aé日",
		`"\ud834\udd1e"`: "𝄞", `"\ud800"`: "\ufffd", `"\ud800x"`: "\ufffdx", `"\ud800\u0041"`: "\ufffdA", `"\udc00\ud800"`: "\ufffd\ufffd", `"\ud800\n"`: "\ufffd\n",
	} {
		got, err := String([]byte(raw))
		if err != nil || got != want {
			t.Errorf("%s is %q, want %q, error %v", raw, got, want, err)
		}
	}
	for _, raw := range []string{``, `"`, `a`, `1`, `null`, `"a`, `"a"b"`, `"a" `, ` "a"`, `"\x"`, "\"\xff\"", `"\"`} {
		if got, err := String([]byte(raw)); !errors.Is(err, ErrNotString) {
			t.Errorf("%s is %q, error %v", raw, got, err)
		}
	}
}

// Split trusts its text, and is not led astray by what it cannot trust.
func TestSplit(t *testing.T) {
	for _, raw := range []string{`{}`, `{ }`, `{"a":1}`, `{"a" : [1, {"b":"}"}] , "c":"\"" }`, `{"\u0061":1}`, `{"a":{"b":[]},"c":null,"":"\\"}`} {
		var want, got Object
		if err := want.Parse([]byte(raw)); err != nil {
			t.Fatal(err)
		}
		if err := got.Split([]byte(raw)); err != nil || fmt.Sprintf("%q", got.Fields()) != fmt.Sprintf("%q", want.Fields()) {
			t.Errorf("%s: %q, want %q, error %v", raw, got.Fields(), want.Fields(), err)
		}
	}
	for _, raw := range []string{``, `{`, `[]`, `"a"`, `{"a`, `{"a"`, `{"a":`, `{"a":1`, `{"a":1,"a":2}`, `{"a":1}}`, `{"a":}`} {
		var o Object
		if err := o.Split([]byte(raw)); err == nil {
			t.Errorf("%s was accepted: %q", raw, o.Fields())
		}
	}
}

func TestElements(t *testing.T) {
	for raw, want := range map[string]string{
		`[]`: ``, `[ ]`: ``, `[1]`: `1`, `[1 , "a,]",[2,{"b":[]}],{ }, null]`: `1|"a,]"|[2,{"b":[]}]|{ }|null`, `[`: ``, `[1`: `1`,
	} {
		var got []string
		for element := range Elements([]byte(raw)) {
			got = append(got, string(element))
		}
		if strings.Join(got, "|") != want {
			t.Errorf("%s: %q, want %s", raw, got, want)
		}
	}
}

func TestInt(t *testing.T) {
	for raw, want := range map[string]int64{"0": 0, "-0": 0, "7": 7, "-7": -7, "9007199254740991": MaxInt, "-9007199254740991": -MaxInt} {
		if got, err := Int([]byte(raw)); err != nil || got != want {
			t.Errorf("%s is %d, error %v", raw, got, err)
		}
	}
	for _, raw := range []string{"", "-", "+1", "1.0", "1e3", "01", "-01", "9007199254740992", "99999999999999999999999999", `"1"`, "null", "1 ", "0x1", "--1", "١"} {
		if got, err := Int([]byte(raw)); !errors.Is(err, ErrNotInt) {
			t.Errorf("%s is %d, error %v", raw, got, err)
		}
	}
}

func TestLenientSeq(t *testing.T) {
	for line, want := range map[string]int64{
		``: -1, `{"seq":5`: 5, `{"seq" : 5,`: 5, `"seq":5`: 5, `{"seq":`: -1, `{"seq"`: -1, `{"seq":x}`: -1, `{"seq":-5}`: -1, `{"seq":"5"}`: -1,
		`{"seq":5,"x":"{"seq":7,"y":1}`: 7, `{"seq":7}{"seq":5}`: 7, `{"x":"\"seq\":9"`: -1, `{"seq":9007199254740991`: MaxInt, `{"seq":9007199254740992`: -1,
		`{"seq":00012`: 12, `{"seqs":5`: -1, `{"seq":5.5`: 5, `"seq" "seq":3`: 3,
	} {
		if got := LenientSeq([]byte(line)); got != want {
			t.Errorf("%s has %d, want %d", line, got, want)
		}
	}
}

// FuzzParse compares Parse with encoding/json: what either accepts, the other
// accepts too but for the documented differences, and with the same fields.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		string(line450), `{}`, `{"a":1,"b":[true,null,"x"],"c":{"d":-1.5e3}}`, `{"\u0061":"\ud834\udd1e"}`, `{"a":1,"a":2}`, `{"a":`, "{\"a\":\"\xff\"}", `[1]`, `{"a":01}`, `{"a":1}}`,
	} {
		f.Add([]byte(seed))
	}
	var o, split Object
	f.Fuzz(func(t *testing.T, line []byte) {
		err := o.Parse(line)
		if err == nil {
			compare(t, &o, line)
			if err := split.Split(bytes.TrimSpace(line)); err != nil || !reflect.DeepEqual(split.Fields(), o.Fields()) {
				t.Fatalf("%q: Split gives %q, error %v", line, split.Fields(), err)
			}
			return
		}
		var syntax *SyntaxError
		if !errors.As(err, &syntax) || syntax.Offset < 0 || syntax.Offset > len(line) {
			t.Fatalf("%q: error %v", line, err)
		}
		var m map[string]json.RawMessage
		if json.Unmarshal(line, &m) != nil || m == nil || !utf8.Valid(line) {
			return
		}
		if syntax.Reason != "duplicate key" && syntax.Reason != "nested too deep" {
			t.Fatalf("%q is refused: %v", line, err)
		}
	})
}

func compare(t *testing.T, o *Object, line []byte) {
	t.Helper()
	var m map[string]json.RawMessage
	if err := json.Unmarshal(line, &m); err != nil || !utf8.Valid(line) {
		t.Fatalf("%q is accepted, encoding/json says %v", line, err)
	}
	if len(m) != len(o.Fields()) {
		t.Fatalf("%q has %d fields, want %d", line, len(o.Fields()), len(m))
	}
	for _, field := range o.Fields() {
		want, ok := m[string(field.Key)]
		if !ok || !bytes.Equal(field.Value, want) {
			t.Fatalf("%q: %s is %s, want %s", line, field.Key, field.Value, want)
		}
		if want[0] == '"' {
			var text string
			if err := json.Unmarshal(want, &text); err != nil {
				t.Fatal(err)
			}
			if got, err := String(field.Value); err != nil || got != text {
				t.Fatalf("%s is %q, want %q, error %v", want, got, text, err)
			}
		}
		if n, err := Int(field.Value); err == nil {
			if want, err := strconv.ParseInt(string(want), 10, 64); err != nil || n != want {
				t.Fatalf("%s is %d, want %d, error %v", field.Value, n, want, err)
			}
		}
	}
}

var line450 = []byte(`{"id":"3f1c9a02","seq":123456,"type":"update","from":"claude-code","to":"*","description":"Implemented the checkout endpoint and its tests, next is the error path","timestamp":"2026-09-10T08:00:00.000Z","payload":{"note":"Implemented the checkout endpoint and its tests","files":["src/api/checkout.ts","src/api/checkout.test.ts"],"commands":[{"command":"npm test","exitCode":0,"summary":"12 passed"}],"blockers":[],"next":"error path of the endpoint"}}`)

func BenchmarkParse(b *testing.B) {
	var o Object
	b.SetBytes(int64(len(line450)))
	b.ReportAllocs()
	for b.Loop() {
		if err := o.Parse(line450); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkEncodingJSON is what BenchmarkParse is compared with.
func BenchmarkEncodingJSON(b *testing.B) {
	b.SetBytes(int64(len(line450)))
	for b.Loop() {
		var e struct {
			ID, Type, From, To, Description, Timestamp, Context, Resolves string
			Seq                                                           int64
			Payload                                                       json.RawMessage
		}
		if err := json.Unmarshal(line450, &e); err != nil {
			b.Fatal(err)
		}
	}
}
