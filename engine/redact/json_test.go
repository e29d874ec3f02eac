package redact

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestJSON(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"string", `"password=hunter2222"`, `"password=[REDACTED]"`},
		{"key", `{"password":"x"}`, `{"password":"[REDACTED]"}`},
		{
			"every key of the protocol", `{"apikey":"a","api_key":"a","API-KEY":"a","access token":1,"auth":"a","authorization":"a","bearer":"a","clientSecret":"a","secret":"a","token":"a","passwd":"a","pwd":"a","credential":"a","credentials":"a"}`,
			`{"apikey":"M","api_key":"M","API-KEY":"M","access token":"M","auth":"M","authorization":"M","bearer":"M","clientSecret":"M","secret":"M","token":"M","passwd":"M","pwd":"M","credential":"M","credentials":"M"}`,
		},
		{"part of a longer key", `{"dbPassword":"x","MY_API_KEY":"y"}`, `{"dbPassword":"M","MY_API_KEY":"M"}`},
		{"number", `{"token":12345,"n":1}`, `{"token":"M","n":1}`},
		{"array", `{"secret":["a",{"b":1}],"n":[1,2]}`, `{"secret":"M","n":[1,2]}`},
		{"object", `{"credentials":{"user":"u","n":[1]},"x":{}}`, `{"credentials":"M","x":{}}`},
		{"says nothing", `{"password":null,"token":true,"secret":"","auth":[],"pwd":{ }}`, `{"password":null,"token":true,"secret":"","auth":[],"pwd":{ }}`},
		{"nested", `{"a":[[{"b":{"password":"x"}}]]}`, `{"a":[[{"b":{"password":"M"}}]]}`},
		{"arrays stay arrays", `{"a":[["token=abcdefghijkl1"],[],[1.50]]}`, `{"a":[["token=M"],[],[1.50]]}`},
		{"counts", `{"inputTokens":1234,"max_tokens":5,"tokens":99}`, `{"inputTokens":1234,"max_tokens":5,"tokens":99}`},
		{"hint", `{"sessionTokens":["aB3dE6gH9jK2mN5pQ8"],"tokens":"plain words"}`, `{"sessionTokens":["M"],"tokens":"plain words"}`},
		{"pass", `{"pass":"hunter2","n":{"pass":"ok"},"r":{"pass":12}}`, `{"pass":"M","n":{"pass":"ok"},"r":{"pass":12}}`},
		{"ours", `{"key":"k-1","fence":3,"paths":["src/auth"],"author":"bob","name":"token","revision":2}`, `{"key":"k-1","fence":3,"paths":["src/auth"],"author":"bob","name":"token","revision":2}`},
		{
			"name and value", `[{"name":"DB_PASSWORD","value":"x1y2"},{"value":"x1y2","name":"DB_PASSWORD"},{"name":"LEVEL","value":"info"}]`,
			`[{"name":"DB_PASSWORD","value":"M"},{"value":"M","name":"DB_PASSWORD"},{"name":"LEVEL","value":"info"}]`,
		},
		{"command line", `{"args":["app","--password","x","-v","--token","-x"]}`, `{"args":["app","--password","M","-v","--token","-x"]}`},
		{"manifest", `{"kind":"Secret","data":{"a":"b"},"type":"Opaque"}`, `{"kind":"Secret","data":"M","type":"Opaque"}`},
		{"layout and numbers", "{ \"b\" : 1e400 ,\n\t\"a\":\"token=abcdefghijkl1\", \"c\":12345678901234567890 }", "{ \"b\" : 1e400 ,\n\t\"a\":\"token=M\", \"c\":12345678901234567890 }"},
		{"escapes", `{"a":"\u0070assword=hunter2222 <é> \"q\" \\ \n"}`, `{"a":"password=M <é> \"q\" \\ \n"}`},
		{"escaped key", `{"\u0070assword":"x"}`, `{"\u0070assword":"M"}`},
		{"key stays", `{"ghp_` + strings.Repeat("a", 36) + `":1}`, `{"ghp_` + strings.Repeat("a", 36) + `":1}`},
		{"marked", `{"password":"[REDACTED]","note":"token=[REDACTED]"}`, `{"password":"[REDACTED]","note":"token=[REDACTED]"}`},
		{"JSON in a string", `{"body":"{\"password\":\"x1y2\"}"}`, `{"body":"{\"password\":\"M\"}"}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			want := strings.ReplaceAll(tt.want, `"M"`, `"[REDACTED]"`)
			want = strings.ReplaceAll(strings.ReplaceAll(want, `=M`, `=[REDACTED]`), `\"M\"`, `\"[REDACTED]\"`)
			got, err := JSON([]byte(tt.in))
			if err != nil || string(got) != want {
				t.Fatalf("JSON(%s)\n = %s, %v\nwant %s", tt.in, got, err, want)
			}
			if again, err := JSON(got); err != nil || string(again) != want {
				t.Errorf("again: %s, %v", again, err)
			}
		})
	}
}

func TestJSONReturnsCleanInput(t *testing.T) {
	raw := []byte(event)
	got, err := JSON(raw)
	if err != nil || &got[0] != &raw[0] || string(got) != event {
		t.Errorf("JSON of a clean value: %s, %v", got, err)
	}
}

func TestJSONRefuses(t *testing.T) {
	for _, raw := range []string{"", "{", `{"a":1} x`, `{"a":}`, "\x00", `"a`, "nul", strings.Repeat("[", maxDepth+1) + strings.Repeat("]", maxDepth+1)} {
		if got, err := JSON([]byte(raw)); err == nil || got != nil {
			t.Errorf("JSON(%.20q) = %.20q, %v; want an error", raw, got, err)
		}
	}
}

// shape replaces the strings of a JSON value, so that two values can be compared
// but for them.
func shape(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k := range v {
			v[k] = shape(v[k])
		}
	case []any:
		for i := range v {
			v[i] = shape(v[i])
		}
	case string:
		return ""
	}
	return v
}

func decode(t *testing.T, raw []byte) any {
	t.Helper()
	var v any
	dec := json.NewDecoder(strings.NewReader(string(raw)))
	dec.UseNumber()
	if err := dec.Decode(&v); err != nil {
		t.Fatalf("decode %q: %v", raw, err)
	}
	return v
}
