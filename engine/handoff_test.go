package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/state"
)

func send(s *scene, to, text string) Message {
	s.t.Helper()
	_, m, err := s.HandoffSend(s.t.Context(), Request{Command: AddTask{From: "user", To: to, Text: text, Context: "why"}})
	if err != nil {
		s.t.Fatal(err)
	}
	return m
}

func (s *scene) messages() string {
	s.t.Helper()
	b, err := os.ReadFile(s.path(MessagesName))
	if err != nil && !os.IsNotExist(err) {
		s.t.Fatal(err)
	}
	return string(b)
}

func (s *scene) inbox(agent string) []Message {
	s.t.Helper()
	list, err := s.Inbox(s.t.Context(), agent)
	if err != nil {
		s.t.Fatal(err)
	}
	return list
}

func TestHandoff(t *testing.T) {
	s := newScene(t)
	m := send(s, "codex", "Implement the <frontend>")
	if got := s.inbox("Codex"); len(got) != 1 || got[0].ID != m.ID || got[0].Context != "why" || got[0].From != "user" {
		t.Fatalf("inbox %+v", got)
	}
	if got := s.inbox("claude-code"); len(got) != 0 {
		t.Errorf("another inbox %+v", got)
	}
	want := `{"id":"` + m.ID + `","type":"task","from":"user","to":"codex","description":"Implement the <frontend>","context":"why","timestamp":"2026-09-10T08:00:00.000Z"}` + "\n"
	if got := s.messages(); got != want {
		t.Errorf("message %q, want %q", got, want)
	}
	if task, ok := s.view().State.Task(m.ID); !ok || !task.Handoff || task.Status != state.TaskOpen {
		t.Errorf("the log does not know the task: %+v", task)
	}
	r, done, err := s.HandoffDone(t.Context(), m.ID[:5], "tests pass", "")
	if err != nil || done.Resolves != m.ID || done.Type != event.TypeDone || done.From != "codex" || r.Events[0].By != event.User {
		t.Fatalf("done %+v, %+v, %v", done, r, err)
	}
	if !strings.Contains(s.messages(), `"evidence":{"mode":"manual","status":"passed","summary":"tests pass","isTruncated":false}`) {
		t.Errorf("messages %s", s.messages())
	}
	if got := s.inbox("codex"); len(got) != 0 {
		t.Errorf("inbox %+v", got)
	}
	status, err := s.HandoffStatus(t.Context())
	if err != nil || len(status.Messages) != 2 || len(status.Pending) != 0 || len(status.Done) != 1 {
		t.Errorf("status %+v, %v", status, err)
	}
	for _, id := range []string{m.ID, "unknown"} {
		if _, _, err := s.HandoffDone(t.Context(), id, "", ""); err == nil {
			t.Errorf("%s is settled twice", id)
		}
	}
}

// TestOtherVerbsKeepTheInbox: a handed task is a task, whoever settles it and how.
func TestOtherVerbsKeepTheInbox(t *testing.T) {
	s := newScene(t)
	m := send(s, "codex", "x")
	s.do(Next{Agent: "codex"})
	if got := s.inbox("codex"); len(got) != 1 {
		t.Errorf("inbox %+v", got)
	}
	s.do(Finish{From: "codex", ID: m.ID})
	if got := s.inbox("codex"); len(got) != 0 || strings.Count(s.messages(), m.ID) != 2 {
		t.Errorf("inbox %+v, messages %s", got, s.messages())
	}
}

// TestProjectionIsMended: a crash between log and messages.jsonl leaves the log right, and the next run mends the file.
func TestProjectionIsMended(t *testing.T) {
	s := newScene(t)
	first := send(s, "codex", "first")
	if _, _, err := s.HandoffDone(t.Context(), first.ID, "", ""); err != nil {
		t.Fatal(err)
	}
	whole := s.messages()
	second := send(s, "codex", "second")
	for name, content := range map[string]string{
		"lost": whole, "torn": whole + `{"id":"` + second.ID, "lost with an answer": strings.SplitAfter(whole, "\n")[0], "gone": "",
	} {
		if err := os.WriteFile(s.path(MessagesName), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := s.inbox("codex"); len(got) != 1 || got[0].ID != second.ID {
			t.Errorf("%s: inbox %+v", name, got)
		}
		text := s.messages()
		for _, id := range []string{`{"id":"` + first.ID + `"`, `{"id":"` + second.ID + `","type":"task"`, `"resolves":"` + first.ID} {
			if strings.Count(text, id) != 1 {
				t.Errorf("%s: %s is not once in\n%s", name, id, text)
			}
		}
		if box, err := s.readMailbox(); err != nil || len(box.corrupt) > 0 && name != "torn" || len(box.messages) != 3 {
			t.Errorf("%s: %+v, %v", name, box, err)
		}
	}
}

// TestTheNextHandoffMends: also who sends or settles brings back what the file lacks, in order.
func TestTheNextHandoffMends(t *testing.T) {
	for name, next := range map[string]func(*scene, Message){
		"send": func(s *scene, _ Message) { send(s, "codex", "third") },
		"done": func(s *scene, second Message) {
			if _, _, err := s.HandoffDone(s.t.Context(), second.ID, "", ""); err != nil {
				s.t.Fatal(err)
			}
		},
	} {
		s := newScene(t)
		first, second := send(s, "codex", "first"), send(s, "codex", "second")
		if err := os.Remove(s.path(MessagesName)); err != nil {
			t.Fatal(err)
		}
		next(s, second)
		lines := strings.Split(s.messages(), "\n")
		if len(lines) != 4 || !strings.Contains(lines[0], first.ID) || !strings.Contains(lines[1], second.ID) {
			t.Errorf("%s: %q", name, lines)
		}
	}
}

const foreign = `{"id":"f0000001","type":"task","from":"claude-code","to":"codex","description":"by another program","timestamp":"2026-09-10T07:00:00.000Z","bundle":{"path":"x"}}
{"id":"f0000002","type":"task","from":"claude-code","to":"codex","description":"settled","timestamp":"2026-09-10T07:01:00Z"}
{"id":"f0000003","type":"done","from":"codex","to":"claude-code","description":"ok","context":"Resolves f0000002.","timestamp":"2026-09-10T07:02:00.000Z"}
{"id":"f0000004","from":"user","to":"codex","description":"no type","timestamp":"2026-09-10T06:00:00.000Z"}
not a message
{"id":"","type":"task","to":"x","description":"y","timestamp":"2026-09-10T06:00:00.000Z"}
{"id":"f0000005","type":"task","from":"user","to":"codex","description":"checked","timestamp":"2026-09-10T07:03:00.000Z","verification":{"criteria":"green"}}
`

func TestMessagesOfAnotherProgram(t *testing.T) {
	s := newScene(t)
	s.do(note("codex", "x"))
	if err := os.WriteFile(s.path(MessagesName), []byte(foreign), 0o600); err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, m := range s.inbox("codex") {
		ids = append(ids, m.ID)
	}
	if got := strings.Join(ids, " "); got != "f0000004 f0000001 f0000005" {
		t.Errorf("inbox %s", got)
	}
	status, err := s.HandoffStatus(t.Context())
	if err != nil || len(status.Corrupt) != 2 || status.Corrupt[0].Line != 5 || len(status.Done) != 1 || len(status.Messages) != 5 {
		t.Errorf("status %+v, %v", status, err)
	}
	r, m, err := s.HandoffDone(t.Context(), "f0000001", "", "")
	if err != nil || len(r.Events) != 2 || m.Resolves != "f0000001" || m.From != "codex" || m.To != "claude-code" {
		t.Fatalf("%+v, %+v, %v", r, m, err)
	}
	if task, ok := s.view().State.Task("f0000001"); !ok || task.Status != state.TaskDone || task.From != "claude-code" {
		t.Errorf("the log has %+v", task)
	}
	if got := s.messages(); !strings.HasPrefix(got, foreign) || strings.Count(got, "\n") != strings.Count(foreign, "\n")+1 {
		t.Errorf("messages %s", got)
	}
	_, _, err = s.HandoffDone(t.Context(), "f0000005", "", "")
	as[*UsageError](t, err) // it asks for evidence
	_, _, err = s.HandoffDone(t.Context(), "f0000002", "", "")
	as[*ConflictError](t, err)
	s.env[EnvAgent] = "gemini"
	_, _, err = s.HandoffDone(t.Context(), "f0000004", "", "")
	as[*ConflictError](t, err)
}

// TestVerificationIsNeverRun: what another program wants to see run is data.
func TestVerificationIsNeverRun(t *testing.T) {
	s := newScene(t)
	s.do(note("codex", "x"))
	ran := s.path("ran")
	text := fmt.Sprintf(`{"id":"f0000009","type":"task","from":"gemini","to":"codex","description":"d","timestamp":"2026-09-10T07:00:00.000Z",`+
		`"verification":{"mode":"command","command":"touch %[1]s","commands":["touch %[1]s"]}}`, ran) + "\n"
	if err := os.WriteFile(s.path(MessagesName), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := s.inbox("codex"); len(got) != 1 {
		t.Fatalf("inbox %+v", got)
	}
	if _, m, err := s.HandoffDone(t.Context(), "f0000009", "seen", ""); err != nil || m.Resolves != "f0000009" {
		t.Fatalf("%+v, %v", m, err)
	}
	if _, err := os.Stat(ran); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it was run: %v", err)
	}
}

// TestForeignSettlementReachesTheLog: another program settles in the file what we handed over; the log learns of it.
func TestForeignSettlementReachesTheLog(t *testing.T) {
	s := newScene(t)
	m := send(s, "codex", "x")
	if err := s.Engine.log.AppendFile(MessagesName, []byte(
		`{"id":"z","type":"done","from":"codex","to":"user","description":"finished","timestamp":"2026-09-10T09:00:00.000Z","resolves":"`+m.ID+`"}`+"\n")); err != nil {
		t.Fatal(err)
	}
	before := s.messages()
	if got := s.inbox("codex"); len(got) != 0 {
		t.Errorf("inbox %+v", got)
	}
	if task, ok := s.view().State.Task(m.ID); !ok || task.Status != state.TaskDone || task.SettledBy != "codex" {
		t.Errorf("task %+v", task)
	}
	if s.messages() != before {
		t.Errorf("messages changed to %s", s.messages())
	}
}

func TestHandoffLimits(t *testing.T) {
	s := newScene(t)
	_, _, err := s.HandoffSend(t.Context(), Request{Command: AddTask{From: "user", To: "codex", Text: strings.Repeat("x", event.MaxDescription+1)}})
	if err == nil || s.messages() != "" {
		t.Errorf("%v, messages %q", err, s.messages())
	}
	_, _, err = s.HandoffSend(t.Context(), Request{Command: note("codex", "x")})
	as[*UsageError](t, err)
	if status, err := s.HandoffStatus(t.Context()); err != nil || status.Initialized {
		t.Errorf("%+v, %v", status, err)
	}
}

// TestARetriedSettlementIsStoredOnce, of a task of the log and of one that only messages.jsonl knows, also by who had sent that.
func TestARetriedSettlementIsStoredOnce(t *testing.T) {
	s := newScene(t)
	_, m, err := s.HandoffSend(t.Context(), Request{Command: AddTask{From: "claude-code", To: "codex", Text: strings.Repeat("long ", 200)}})
	if err != nil {
		t.Fatal(err)
	}
	text := s.messages() + `{"id":"f0000001","type":"task","from":"codex","to":"gemini","description":"` + strings.Repeat("foreign ", 60) +
		`","timestamp":"2026-09-10T07:00:00.000Z"}` + "\n"
	if err := os.WriteFile(s.path(MessagesName), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for i, id := range []string{m.ID, "f0000001"} {
		s.env[EnvAgent] = "codex"
		key := fmt.Sprintf("k%d", i)
		first, told, err := s.HandoffDone(t.Context(), id, "seen", key)
		if err != nil || first.Duplicate {
			t.Fatalf("%s: %+v, %v", id, first, err)
		}
		lines := s.lines()
		again, toldAgain, err := s.HandoffDone(t.Context(), id, "seen", key)
		if err != nil || !again.Duplicate || again.Seq() != first.Seq() || toldAgain.ID != told.ID || s.lines() != lines {
			t.Errorf("%s: %+v, %v", id, again, err)
		}
		var other *ConflictError
		if _, _, err := s.HandoffDone(t.Context(), id, "something else", key); !errors.As(err, &other) || other.Kind != ConflictKey {
			t.Errorf("%s: another request: %v", id, err)
		}
		if _, _, err := s.HandoffDone(t.Context(), id, "seen", ""); !errors.As(err, &other) || other.Kind != ConflictTask {
			t.Errorf("%s: without the key: %v", id, err)
		}
	}
}
