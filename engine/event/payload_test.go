package event

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestBodyRefuses(t *testing.T) {
	x := strings.Repeat
	list := func(n int, element string) string { return "[" + strings.TrimSuffix(x(element+",", n), ",") + "]" }
	for _, c := range []struct {
		name    string
		typ     Type
		payload string
		field   string
	}{
		{"no payload", TypeOwnership, ``, "payload"},
		{"list as payload", TypeOwnership, `[]`, "payload"},
		{"no paths", TypeOwnership, `{"mode":"exclusive"}`, "payload.paths"},
		{"empty paths", TypeOwnership, `{"paths":[],"mode":"exclusive"}`, "payload.paths"},
		{"paths as text", TypeOwnership, `{"paths":"src","mode":"exclusive"}`, "payload.paths"},
		{"number as path", TypeOwnership, `{"paths":[1],"mode":"exclusive"}`, "payload.paths"},
		{"blank path", TypeOwnership, `{"paths":["  "],"mode":"exclusive"}`, "payload.paths"},
		{"long path", TypeOwnership, `{"paths":["` + x("x", MaxPath+1) + `"],"mode":"exclusive"}`, "payload.paths"},
		{"too many paths", TypeOwnership, `{"paths":` + list(MaxPaths+1, `"p"`) + `,"mode":"exclusive"}`, "payload.paths"},
		{"absolute path", TypeOwnership, `{"paths":["ok","/etc/passwd"],"mode":"exclusive"}`, "payload.paths"},
		{"escaping path", TypeOwnership, `{"paths":["../x"],"mode":"exclusive"}`, "payload.paths"},
		{"no mode", TypeOwnership, `{"paths":["a"]}`, "payload.mode"},
		{"unknown mode", TypeOwnership, `{"paths":["a"],"mode":"<script>"}`, "payload.mode"},
		{"list as mode", TypeOwnership, `{"paths":["a"],"mode":["exclusive"]}`, "payload.mode"},
		{"mode twice", TypeOwnership, `{"paths":["a"],"mode":"exclusive","mode":"release"}`, "payload"},
		{"long reason", TypeOwnership, `{"paths":["a"],"mode":"shared","reason":"` + x("x", MaxReason+1) + `"}`, "payload.reason"},
		{"bad expiry", TypeOwnership, `{"paths":["a"],"mode":"shared","expiresAt":"tomorrow"}`, "payload.expiresAt"},
		{"unknown cause", TypeOwnership, `{"paths":["a"],"mode":"release","cause":"whim"}`, "payload.cause"},
		{"bad displaced", TypeOwnership, `{"paths":["a"],"mode":"shared","displaced":[{"agent":"x","path":"/abs","mode":"shared","fence":1}]}`, "payload.displaced.path"},
		{"text as displaced", TypeOwnership, `{"paths":["a"],"mode":"shared","displaced":["x"]}`, "payload.displaced"},

		{"no name", TypeContract, `{"revision":1,"body":""}`, "payload.name"},
		{"long name", TypeContract, `{"name":"` + x("x", MaxContractName+1) + `","revision":1,"body":""}`, "payload.name"},
		{"no revision", TypeContract, `{"name":"n","body":""}`, "payload.revision"},
		{"revision 0", TypeContract, `{"name":"n","revision":0,"body":""}`, "payload.revision"},
		{"revision as text", TypeContract, `{"name":"n","revision":"<b>","body":""}`, "payload.revision"},
		{"no body", TypeContract, `{"name":"n","revision":1}`, "payload.body"},
		{"long body", TypeContract, `{"name":"n","revision":1,"body":"` + x("x", MaxContractBody+1) + `"}`, "payload.body"},
		{"long format", TypeContract, `{"name":"n","revision":1,"body":"","format":"` + x("x", MaxFormat+1) + `"}`, "payload.format"},

		{"no title", TypeDecision, `{"rationale":"r"}`, "payload.title"},
		{"long title", TypeDecision, `{"title":"` + x("x", MaxTitle+1) + `","rationale":"r"}`, "payload.title"},
		{"no rationale", TypeDecision, `{"title":"t"}`, "payload.rationale"},
		{"long rationale", TypeDecision, `{"title":"t","rationale":"` + x("x", MaxRationale+1) + `"}`, "payload.rationale"},
		{"number as supersedes", TypeDecision, `{"title":"t","rationale":"r","supersedes":4}`, "payload.supersedes"},

		{"files as text", TypeUpdate, `{"files":"a"}`, "payload.files"},
		{"too many files", TypeUpdate, `{"files":` + list(MaxFiles+1, `"f"`) + `}`, "payload.files"},
		{"long file", TypeUpdate, `{"files":["` + x("x", MaxPath+1) + `"]}`, "payload.files"},
		{"too many commands", TypeUpdate, `{"commands":` + list(MaxCommands+1, `{"command":"c"}`) + `}`, "payload.commands"},
		{"command without command", TypeUpdate, `{"commands":[{}]}`, "payload.commands.command"},
		{"exit code as text", TypeUpdate, `{"commands":[{"command":"c","exitCode":"0"}]}`, "payload.commands.exitCode"},
		{"long note", TypeUpdate, `{"note":"` + x("x", MaxUpdateNote+1) + `"}`, "payload.note"},
		{"too many blockers", TypeUpdate, `{"blockers":` + list(MaxBlockers+1, `"b"`) + `}`, "payload.blockers"},
		{"long next", TypeUpdate, `{"next":"` + x("x", MaxNext+1) + `"}`, "payload.next"},
		{"object as next", TypeUpdate, `{"next":{}}`, "payload.next"},
		{"blank consumed contract", TypeUpdate, `{"consumes":[" "]}`, "payload.consumes"},

		{"no number", TypeAck, `{}`, "payload.eventSeq"},
		{"negative number", TypeAck, `{"eventSeq":-1}`, "payload.eventSeq"},
		{"long ack note", TypeAck, `{"eventSeq":1,"note":"` + x("x", MaxAckNote+1) + `"}`, "payload.note"},

		{"no thread", TypeDiscussion, `{"kind":"started","round":0,"role":"system","content":"c"}`, "payload.threadId"},
		{"unknown kind", TypeDiscussion, `{"threadId":"t","kind":"opened","round":0,"role":"system","content":"c"}`, "payload.kind"},
		{"round 9", TypeDiscussion, `{"threadId":"t","kind":"started","round":9,"role":"system","content":"c"}`, "payload.round"},
		{"unknown role", TypeDiscussion, `{"threadId":"t","kind":"started","round":0,"role":"judge","content":"c"}`, "payload.role"},
		{"blank content", TypeDiscussion, `{"threadId":"t","kind":"started","round":0,"role":"system","content":" "}`, "payload.content"},
		{"one participant", TypeDiscussion, `{"threadId":"t","kind":"started","round":0,"role":"system","content":"c","participants":["a"]}`, "payload.participants"},
		{"three participants", TypeDiscussion, `{"threadId":"t","kind":"started","round":0,"role":"system","content":"c","participants":["a","b","c"]}`, "payload.participants"},
		{"unknown outcome", TypeDiscussion, `{"threadId":"t","kind":"closed","round":0,"role":"system","content":"c","outcome":"maybe"}`, "payload.outcome"},

		{"unknown action", TypeAgent, `{"action":"slept","name":"a"}`, "payload.action"},
		{"no agent name", TypeAgent, `{"action":"ended"}`, "payload.name"},
		{"rename from nobody", TypeAgent, `{"action":"renamed","name":"a"}`, "payload.previous"},
		{"negative pid", TypeAgent, `{"action":"registered","name":"a","pid":-4}`, "payload.pid"},
		{"unknown halt", TypeHalt, `{"action":"paused"}`, "payload.action"},
		{"unknown step of a turn", TypeTurn, `{"action":"paused"}`, "payload.action"},
		{"a turn without id", TypeTurn, `{"action":"started"}`, "payload.turn"},
		{"a turn of nobody", TypeTurn, `{"action":"queued","turn":"t","why":"delivery"}`, "payload.agent"},
		{"a session without a cursor", TypeTurn, `{"action":"attached","agent":"a","provider":"p","session":"s"}`, "payload.through"},
		{"a negative cap", TypeTurn, `{"action":"capped","caps":{"tokens":-1}}`, "payload.caps.tokens"},
		{"no caps", TypeTurn, `{"action":"capped"}`, "payload.caps"},
		{"triggers that are no numbers", TypeTurn, `{"action":"started","turn":"t","seqs":["1"]}`, "payload.seqs"},
	} {
		t.Run(string(c.typ)+"/"+c.name, func(t *testing.T) {
			e := Event{Type: c.typ, Payload: json.RawMessage(c.payload)}
			var invalid *InvalidError
			for how, read := range map[string]func() (Body, error){
				"body":  e.Body,
				"brief": func() (Body, error) { return new(Reader).Brief(&e) },
			} {
				if _, err := read(); !errors.As(err, &invalid) || invalid.Field != c.field {
					t.Errorf("%s: got %v, want an error of %s", how, err, c.field)
				}
			}
		})
	}
}

func TestBodyReads(t *testing.T) {
	exit := int64(2)
	for _, c := range []struct {
		name    string
		typ     Type
		payload string
		want    Body
	}{
		{
			"paths are cleaned", TypeOwnership, `{"paths":["src/api/","./a//b","x\\y"," z "],"mode":"shared"}`,
			Ownership{Paths: []string{"src/api", "a/b", "x/y", "z"}, Mode: Shared},
		},
		{
			"unknown keys are ignored", TypeContract, ` {"more":[1,{"a":"]"}],"name":" n ","revision":3,"body":" b ","format":""} `,
			Contract{Name: "n", Revision: 3, Body: " b "},
		},
		{"empty update", TypeUpdate, `{}`, Update{}},
		{
			"whole update", TypeUpdate, `{"files":[ "a" ,"b\n"],"commands":[{"command":"c \"q\"","exitCode":2,"summary":"s"}],"note":"n","blockers":[],"next":"x","consumes":["k"]}`,
			Update{Files: []string{"a", "b\n"}, Commands: []CommandRun{{Command: `c "q"`, ExitCode: &exit, Summary: "s"}}, Note: "n", Next: "x", Consumes: []string{"k"}},
		},
		{"task without payload", TypeTask, ``, Task{}},
		{"needs", TypeTask, `{"needs":["a","b"]}`, Task{Needs: []string{"a", "b"}}},
		{"needs of another form", TypeTask, `{"needs":"coffee","handoff":1}`, Task{}},
		{"evidence of another form", TypeDone, `{"evidence":{"mode":"command"}}`, Done{}},
		{"remark with any payload", TypeStatus, `{"compactedCount":"many"}`, Status{}},
		{"ack", TypeAck, `{"eventSeq":0}`, Ack{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := Event{Type: c.typ, Payload: json.RawMessage(c.payload)}
			got, err := e.Body()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Brief leaves out of an update what no state is built from, and reads all other bodies as Body does.
func TestBrief(t *testing.T) {
	var r Reader
	for _, line := range golden(t) {
		e := decode(t, line)
		want, err := e.Body()
		if err != nil {
			t.Fatal(err)
		}
		switch b := want.(type) {
		case Update:
			want = Update{Consumes: b.Consumes}
		case Ack:
			want = Ack{EventSeq: b.EventSeq}
		}
		got, err := r.Brief(&e)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", e.Type, diff)
		}
	}
}

func TestNormalize(t *testing.T) {
	draft := func(change func(*Event)) Event {
		e := Event{Type: TypeTask, From: "a", To: "b", Description: "d"}
		change(&e)
		return e
	}
	for _, c := range []struct {
		name  string
		draft Event
		want  Event
	}{
		{"trims", draft(func(e *Event) { e.From, e.Description, e.Key = " a\n", "\ufeffd ", " k " }), draft(func(e *Event) { e.Key = "k" })},
		{"drops an empty payload", draft(func(e *Event) { e.Payload = json.RawMessage(`{ }`) }), draft(func(*Event) {})},
		{
			"makes the payload one line", draft(func(e *Event) { e.Payload = json.RawMessage("{\n \"x\": [1,\n 2]\n}") }),
			draft(func(e *Event) { e.Payload = json.RawMessage(`{"x":[1,2]}`) }),
		},
		{
			"drops what a typed payload does not have", draft(func(e *Event) { e.Type, e.Payload = TypeAck, json.RawMessage(`{"x":1,"eventSeq":4,"note":""}`) }),
			draft(func(e *Event) { e.Type, e.Payload = TypeAck, json.RawMessage(`{"eventSeq":4}`) }),
		},
		{
			"cleans paths", draft(func(e *Event) {
				e.Type, e.Payload = TypeOwnership, json.RawMessage(`{"paths":["./src//api/"],"mode":"shared"}`)
			}),
			draft(func(e *Event) {
				e.Type, e.Payload = TypeOwnership, json.RawMessage(`{"paths":["src/api"],"mode":"shared"}`)
			}),
		},
		{"mends UTF-8", draft(func(e *Event) { e.Description, e.Context = "d\xff", "c\xc3(" }), draft(func(e *Event) { e.Description, e.Context = "d\uFFFD", "c\uFFFD(" })},
		{
			"keeps markup", draft(func(e *Event) {
				e.Type, e.Payload = TypeDecision, json.RawMessage(`{"title":"<a> & b","rationale":""}`)
			}),
			draft(func(e *Event) {
				e.Type, e.Payload = TypeDecision, json.RawMessage(`{"title":"<a> & b","rationale":""}`)
			}),
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := c.draft.Normalize(); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, c.draft); diff != "" {
				t.Error(diff)
			}
			again := c.draft
			if err := again.Normalize(); err != nil || !cmp.Equal(again, c.draft) {
				t.Errorf("normalising twice changes it, or fails: %v", err)
			}
		})
	}
}

func TestNormalizeRefuses(t *testing.T) {
	big := `{"x":"` + strings.Repeat("x", MaxPayloadBytes) + `"}`
	for _, c := range []struct {
		name   string
		change func(*Event)
		field  string
	}{
		{"unknown type", func(e *Event) { e.Type = "skill" }, "type"},
		{"nobody", func(e *Event) { e.From = " " }, "from"},
		{"everybody", func(e *Event) { e.From = "*" }, "from"},
		{"name with a newline inside", func(e *Event) { e.To = "a\nb" }, "to"},
		{"long name", func(e *Event) { e.To = strings.Repeat("x", MaxName+1) }, "to"},
		{"long key", func(e *Event) { e.Key = strings.Repeat("x", MaxName+1) }, "key"},
		{"blank description", func(e *Event) { e.Description = "\u00a0" }, "description"},
		{"long context", func(e *Event) { e.Context = strings.Repeat("x", MaxContext+1) }, "context"},
		{"negative seq", func(e *Event) { e.Seq = -1 }, "seq"},
		{"bad timestamp", func(e *Event) { e.Timestamp = "now" }, "timestamp"},
		{"large payload", func(e *Event) { e.Payload = json.RawMessage(big) }, "payload"},
		{"broken payload", func(e *Event) { e.Payload = json.RawMessage(`{"a":`) }, "payload"},
		{"our key of another form", func(e *Event) { e.Payload = json.RawMessage(`{"needs":"coffee"}`) }, "payload.needs"},
		{"typed without payload", func(e *Event) { e.Type = TypeContract }, "payload"},
		{"contract with a name of two lines", func(e *Event) {
			e.Type, e.Payload = TypeContract, json.RawMessage(`{"name":"a\nb","revision":1,"body":"x"}`)
		}, "payload.name"},
		{"contract with a format that turns text around", func(e *Event) {
			e.Type, e.Payload = TypeContract, json.RawMessage(`{"name":"a","revision":1,"body":"x","format":"\u202ejson"}`)
		}, "payload.format"},
		{"session with an escape", func(e *Event) {
			e.Type, e.Payload = TypeTurn, json.RawMessage(`{"action":"attached","agent":"a","provider":"p","session":"x\u001b[2J","through":1}`)
		}, "payload.session"},
		{"statement with a key too many", func(e *Event) {
			e.Type, e.Payload = TypeDiscussion, json.RawMessage(`{"threadId":"t","kind":"closed","round":1,"role":"system","content":"c","mood":"good"}`)
		}, "payload.mood"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := Event{Type: TypeTask, From: "a", To: "b", Description: "d"}
			c.change(&e)
			var invalid *InvalidError
			if err := e.Normalize(); !errors.As(err, &invalid) || invalid.Field != c.field {
				t.Errorf("got %v, want an error of %s", err, c.field)
			}
		})
	}
}

// New and Body are inverse for every kind of body.
func TestNewKeepsBody(t *testing.T) {
	for _, line := range golden(t) {
		e := decode(t, line)
		body, err := e.Body()
		if err != nil {
			t.Fatal(err)
		}
		made, err := New(e.From, e.To, e.Description, body)
		if err != nil {
			t.Fatal(err)
		}
		again, err := made.Body()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(body, again); diff != "" || made.Type != e.Type {
			t.Errorf("%s becomes %s: %s", e.Type, made.Type, diff)
		}
	}
	if _, err := New("a", "b", "d", Unknown{}); err == nil {
		t.Error("made an event of an unknown type")
	}
}

// People know no payload: a refusal names the field alone, while Field stays what the log has.
func TestARefusalNamesNoPayload(t *testing.T) {
	for field, want := range map[string]string{"payload.note": "note is long", "payload.commands.command": "commands.command is long", "from": "from is long"} {
		if err := invalid(field, "is long"); err.Error() != want || err.Field != field {
			t.Errorf("%q of %s, want %q", err.Error(), err.Field, want)
		}
	}
}
