package state

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agentloadout/loadout/engine/event"
)

func same(t *testing.T, what string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func at(seq int64) time.Time { return start.Add(time.Duration(seq) * time.Second) }

func moment2(seq int64) *time.Time {
	t := at(seq)
	return &t
}

func TestEmptyState(t *testing.T) {
	s := New()
	if s.Head() != -1 || s.Count() != 0 || !s.At().IsZero() || s.Halt() != nil {
		t.Errorf("head %d, count %d, at %v, halt %v", s.Head(), s.Count(), s.At(), s.Halt())
	}
	same(t, "lists", []any{[]Claim{}, []Contract{}, []Task{}, []Decision{}, []Agent{}, []Ref{}, []Thread{}},
		[]any{s.Claims(), s.Contracts(), s.Tasks(), s.Decisions(), s.Agents(), s.Recent(9), s.Threads()})
	same(t, "skips", Skips{Recent: []BadRef{}}, s.Skips())
	same(t, "unread", Unread{Exact: true}, s.Unread("codex"))
	if _, _, ok := s.SeenRequest("a", "k"); ok {
		t.Error("a key was seen")
	}
}

// Logs of any program fold as their writer meant: what a rule would refuse now may well be in them.
func TestOwnershipAsWritten(t *testing.T) {
	release := func(paths ...string) event.Ownership { return claim(event.Release, paths...) }
	type step struct {
		from string
		body event.Ownership
	}
	for _, c := range []struct {
		name  string
		steps []step
		want  []string
	}{
		{"the last exclusive claim wins", []step{{"a", claim(event.Exclusive, "src")}, {"b", claim(event.Exclusive, "src")}}, []string{"src b exclusive 1"}},
		{"shared claims add up", []step{{"a", claim(event.Shared, "src")}, {"b", claim(event.Shared, "src")}}, []string{"src a shared 0", "src b shared 1"}},
		{"an upgrade keeps the other's share in sight", []step{{"a", claim(event.Shared, "src")}, {"b", claim(event.Shared, "src")}, {"b", claim(event.Exclusive, "src")}}, []string{"src a shared 0", "src b exclusive 1"}},
		{"a share beside an exclusive claim", []step{{"a", claim(event.Exclusive, "src")}, {"b", claim(event.Shared, "src")}}, []string{"src a exclusive 0", "src b shared 1"}},
		{"renewal keeps the fence", []step{{"a", claim(event.Exclusive, "src")}, {"A", claim(event.Exclusive, "src/")}}, []string{"src A exclusive 0"}},
		{"release of exactly the path", []step{{"a", claim(event.Exclusive, "src", "src/api")}, {"a", release("src")}}, []string{"src/api a exclusive 0"}},
		{"release of somebody else's", []step{{"a", claim(event.Exclusive, "src")}, {"b", release("src")}}, []string{"src a exclusive 0"}},
		{"release in other letters", []step{{"codex", claim(event.Exclusive, "docs/\u00e4")}, {"Codex", release("docs/a\u0308/")}}, []string{}},
		{"release and claim again", []step{{"a", claim(event.Exclusive, "src")}, {"a", release("src")}, {"a", claim(event.Exclusive, "src")}}, []string{"src a exclusive 2"}},
		{"release for a holder", []step{{"a", claim(event.Exclusive, "src")}, {"loadout", event.Ownership{Mode: event.Release, Paths: []string{"src"}, Holder: "A", Cause: event.CauseExpired}}}, []string{}},
		{"displaced", []step{{"a", claim(event.Exclusive, "src/x", "web")}, {"b", event.Ownership{
			Mode: event.Exclusive, Paths: []string{"src"}, Cause: event.CauseForced,
			Displaced: []event.Displaced{{Agent: "a", Path: "src/x", Mode: event.Exclusive}},
		}}}, []string{"src b exclusive 1", "web a exclusive 0"}},
		{"the same path twice", []step{{"a", claim(event.Exclusive, "src", "./src/")}}, []string{"src a exclusive 0"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newLog(t)
			for _, s := range c.steps {
				l.add(s.from, "*", s.body)
			}
			same(t, "claims", c.want, held(l.state.Claims()))
		})
	}
}

func TestClaims(t *testing.T) {
	l := newLog(t)
	l.add("codex", "*", event.Ownership{Mode: event.Exclusive, Paths: []string{"src/api"}, Reason: "r", ExpiresAt: "2026-09-10T09:00:00+01:00"})
	l.add("gemini", "*", claim(event.Shared, "src", "web"))
	l.add("codex", "*", claim(event.Exclusive, "src/api"))
	expires := start
	want := Claim{Path: "src/api", Agent: "codex", Mode: event.Exclusive, Reason: "r", Since: at(0), Seq: 2, Fence: 0}
	same(t, "renewed", []Claim{want}, l.state.ClaimsOf("CODEX"))
	same(t, "overlapping", []string{"src gemini shared 1", "src/api codex exclusive 0"}, held(l.state.Overlapping("src/api/x", false)))
	same(t, "overlapping", []string{"src gemini shared 1"}, held(l.state.Overlapping("src/API", false)))
	same(t, "overlapping, case folded", []string{"src gemini shared 1", "src/api codex exclusive 0"}, held(l.state.Overlapping("SRC/API", true)))
	same(t, "overlapping everything", 3, len(l.state.Overlapping(".", false)))

	l = newLog(t)
	l.add("codex", "*", event.Ownership{Mode: event.Shared, Paths: []string{"a"}, ExpiresAt: "2026-09-10T09:00:00+01:00"})
	c := l.state.Claims()[0]
	if c.ExpiresAt == nil || !c.ExpiresAt.Equal(expires) {
		t.Errorf("expires at %v, want %v", c.ExpiresAt, expires)
	}
	if c.Lapsed(expires.Add(-1)) || !c.Lapsed(expires) || (Claim{}).Lapsed(expires) {
		t.Error("lapses at another time")
	}
}

func TestContracts(t *testing.T) {
	l := newLog(t)
	publish := func(from string, revision int64, to string) {
		l.add(from, to, event.Contract{Name: "api", Revision: revision, Body: fmt.Sprint("body ", revision), Format: "f"})
	}
	publish("claude-code", 1, "*")                                   // 0
	l.add("codex", "*", event.Ack{EventSeq: 0})                      // 1
	publish("claude-code", 3, "*")                                   // 2
	l.add("gemini", "*", event.Update{Consumes: []string{"api"}})    // 3
	l.add("gemini", "*", event.Update{Consumes: []string{"nobody"}}) // 4
	publish("gemini", 2, "*")                                        // 5, out of order
	publish("claude-code", 4, "pair")                                // 6
	l.add("pair", "*", event.Ack{EventSeq: 6})                       // 7
	l.add("codex-2", "*", event.Ack{EventSeq: 6})                    // 8

	c, ok := l.state.Contract("api")
	if !ok || c.Revision != 4 || c.Body != "body 4" || c.Publisher != "claude-code" || c.Seq != 6 || c.EventID != "id000006" || !c.At.Equal(at(6)) || c.Format != "f" {
		t.Errorf("contract %+v", c)
	}
	var revisions []int64
	for _, h := range c.History {
		revisions = append(revisions, h.Revision)
	}
	same(t, "history", []int64{1, 2, 3, 4}, revisions)
	same(t, "readers", []Reader{
		{Agent: "codex", Revision: 1, Behind: 2},
		{Agent: "codex-2", Revision: 3},
		{Agent: "gemini", Declared: true, Revision: 2, Behind: 2},
		{Agent: "pair", Revision: 4},
	}, c.Readers)
	if _, ok := l.state.Contract("API"); ok {
		t.Error("found under another name")
	}
}

// TestBehindCountsWhatIsNewer: who publishes a revision has passed over those before it.
func TestBehindCountsWhatIsNewer(t *testing.T) {
	l := newLog(t)
	for i, from := range []string{"user", "user", "user", "codex", "user"} {
		l.add(from, "*", event.Contract{Name: "api", Revision: int64(i + 1), Body: "b"})
	}
	l.add("codex", "*", event.Update{Consumes: []string{"api"}})
	c, _ := l.state.Contract("api")
	same(t, "readers", []Reader{{Agent: "codex", Declared: true, Revision: 4, Behind: 1}}, c.Readers)
}

func TestContractHistoryIsBounded(t *testing.T) {
	l := newLog(t)
	l.add("slow", "*", event.Ack{EventSeq: 0})
	for i := range int64(MaxHistory + 5) {
		l.add("a", "*", event.Contract{Name: "api", Revision: i + 1, Body: "b"})
	}
	l.add("b", "*", event.Update{Consumes: []string{"api"}})
	c, _ := l.state.Contract("api")
	if len(c.History) != MaxHistory || c.Older != 5 || c.History[0].Revision != 6 {
		t.Errorf("%d revisions from %d, %d older", len(c.History), c.History[0].Revision, c.Older)
	}
	same(t, "readers", []Reader{{Agent: "b", Declared: true, Behind: MaxHistory + 5}}, c.Readers)
}

func TestTasks(t *testing.T) {
	l := newLog(t)
	a := l.add("user", "codex", event.Task{}, saying("build"), func(e *event.Event) { e.Context = "ctx" }) // 0
	b := l.add("user", "*", event.Task{Needs: []string{a.ID, a.ID, "later"}, Handoff: true})               // 1
	q := l.add("codex", "gemini", event.Question{}, saying("why?"))                                        // 2
	l.add("codex", "user", event.Task{}, resolving(a.ID))                                                  // 3
	l.add("gemini", "codex", event.Done{}, resolving(q.ID), saying("because"))                             // 4

	same(t, "open", []Task{
		{
			ID: a.ID, From: "user", To: "codex", Description: "build", Context: "ctx", At: at(0), Status: TaskTaken,
			TakenBy: "codex", TakenAt: moment2(3),
		},
		{
			ID: b.ID, Seq: 1, From: "user", To: "*", Description: "says user", At: at(1), Handoff: true, Status: TaskOpen,
			Needs: []string{a.ID, a.ID, "later"}, Waiting: []string{a.ID, "later"},
		},
	}, l.state.Pending())
	answered := Task{
		ID: q.ID, Seq: 2, From: "codex", To: "gemini", Question: true, Description: "why?", At: at(2), Status: TaskDone,
		SettledBy: "gemini", SettledAt: moment2(4), SettledSeq: 4, Answer: "because",
	}
	same(t, "all", append(l.state.Pending(), answered), l.state.Tasks())
	got, ok := l.state.Task(q.ID)
	if !ok || got.Open() {
		t.Error("an answered question is open or lost")
	}
	same(t, "question", answered, got)
	same(t, "ready", 0, len(l.state.ready("gemini")))

	l.add("codex", "user", event.Done{Evidence: "tests"}, resolving(a.ID)) // 5
	l.add("other", "user", event.Error{}, resolving(a.ID))                 // 6: settled already
	done, _ := l.state.Task(a.ID)
	if done.Status != TaskDone || done.SettledBy != "codex" || done.Evidence != "tests" || done.Context != "" {
		t.Errorf("task %+v", done)
	}
	same(t, "waiting", []string{"later"}, l.state.Pending()[0].Waiting)
	l.add("user", "*", event.Task{}, func(e *event.Event) { e.ID = "later" }) // 7
	l.add("user", "*", event.Cancel{}, resolving("later"))                    // 8: cancelled is not done
	same(t, "still waiting", 0, len(l.state.ready("codex")))
	l.add("user", "*", event.Task{}, func(e *event.Event) { e.ID = "later" }) // 9: an id may come again
	l.add("codex", "*", event.Done{}, resolving("later"))                     // 10
	same(t, "ready", []string{b.ID}, ids(l.state.ready("codex")))
}

func ids(tasks []Task) []string {
	list := []string{}
	for _, t := range tasks {
		list = append(list, t.ID)
	}
	return list
}

func TestReady(t *testing.T) {
	l := newLog(t)
	all := l.add("user", "*", event.Task{})
	mine := l.add("user", "Codex", event.Task{})
	l.add("user", "gemini", event.Task{})
	l.add("user", "codex", event.Question{})
	taken := l.add("user", "codex", event.Task{})
	l.add("codex", "user", event.Task{}, resolving(taken.ID))
	same(t, "ready", []string{all.ID, mine.ID}, ids(l.state.ready("codex")))
	l.add("codex", "*", event.Agent{Action: event.AgentEnded, Name: "CODEX"})
	same(t, "ready once its session has ended", []string{all.ID, mine.ID, taken.ID}, ids(l.state.ready("codex")))
}

func TestOldWordsThatSettle(t *testing.T) {
	for context, settles := range map[string]bool{
		"Resolves id000000": true, "Done. Resolves id000000, thanks": true, "Resolves  id000000": true,
		"Resolves id0000001": false, "resolves id000000": false, "Resolves": false, "": false,
	} {
		l := newLog(t)
		l.add("user", "*", event.Task{})
		l.add("codex", "*", event.Done{}, func(e *event.Event) { e.Context = context })
		if got := len(l.state.Pending()) == 0; got != settles {
			t.Errorf("%q: settled %v", context, got)
		}
	}
}

func TestFindTasks(t *testing.T) {
	l := newLog(t)
	for _, id := range []string{"abcdef", "abcxyz", "abcd"} {
		l.add("user", "*", event.Task{}, func(e *event.Event) { e.ID = id })
	}
	for word, want := range map[string][]string{
		"abcdef": {"abcdef"}, "abcd": {"abcd"}, "abcde": {"abcdef"}, "abcx": {"abcxyz"}, "abc": {}, "": {}, "#1": {"abcxyz"}, "#": {}, "#9": {}, "1": {}, "#01": {},
	} {
		same(t, word, want, ids(l.state.FindTasks(word)))
	}
	l.add("codex", "*", event.Done{}, resolving("abcdef"))
	same(t, "settled by its beginning", []string{"abcdef"}, ids(l.state.FindTasks("abcde")))
	l.add("user", "*", event.Task{}, func(e *event.Event) { e.ID = "abcdeg" })
	same(t, "an open one before a settled one", []string{"abcdeg"}, ids(l.state.FindTasks("abcde")))
}

func TestDecisions(t *testing.T) {
	l := newLog(t)
	decide := func(title, supersedes string) event.Event {
		return l.add("codex", "*", event.Decision{Title: title, Rationale: "r", Supersedes: supersedes, DiscussionID: "d"})
	}
	a := decide("cents", "")
	b := decide("decimals", a.ID)
	c := decide("minor units", "decimals")
	decide("other", "nothing")
	list := l.state.Decisions()
	same(t, "superseded by", []string{b.ID, c.ID, "", ""}, []string{list[0].SupersededBy, list[1].SupersededBy, list[2].SupersededBy, list[3].SupersededBy})
	got, ok := l.state.Decision(b.ID)
	same(t, "decision", Decision{
		ID: b.ID, Seq: 1, From: "codex", Title: "decimals", Rationale: "r", At: at(1), Supersedes: a.ID, SupersededBy: c.ID, DiscussionID: "d",
	}, got)
	if _, none := l.state.Decision("x"); none || !ok {
		t.Error("finds what is not there, or not what is")
	}
	for word, want := range map[string]int{a.ID: 1, "cents": 1, "#1": 1, "id00": 4, "x": 0, "": 0} {
		if got := l.state.FindDecisions(word); len(got) != want {
			t.Errorf("%q stands for %d", word, len(got))
		}
	}
}

func TestAgents(t *testing.T) {
	l := newLog(t)
	l.add("codex", "gemini", event.Status{})
	l.add("Codex", "*", event.Agent{Action: event.AgentRegistered, Name: "codex", Base: "codex", Human: "ada", Session: "s", PID: 7, Start: "1", Boot: "b", Host: "h"})
	l.add("gemini", "*", event.Ack{EventSeq: 1})
	l.add("gemini", "*", event.Ack{EventSeq: 0})
	want := Agent{
		Name: "codex", Registered: true, Base: "codex", Human: "ada", Session: "s", PID: 7, Start: "1", Boot: "b", Host: "h",
		Since: moment2(1), Cursor: -1, LastSeq: 1, LastAt: moment2(1), Unread: Unread{Exact: true},
	}
	got, _ := l.state.Agent("CODEX")
	same(t, "registered", want, got)
	got, _ = l.state.Agent("gemini")
	same(t, "seen", Agent{Name: "gemini", Cursor: 1, LastSeq: 3, LastAt: moment2(3), Unread: Unread{Exact: true}}, got)

	l.add("codex", "*", event.Agent{Action: event.AgentEnded, Name: "codex"})
	if got, _ = l.state.Agent("codex"); got.Registered || got.Ended == nil || !got.Ended.Equal(at(4)) {
		t.Errorf("ended %+v", got)
	}
	l.add("loadout", "*", event.Status{})
	l.add("codex", "loadout", event.Status{})
	if got, _ = l.state.Agent("codex"); got.Ended != nil {
		t.Error("who uses the name again is shown as ended")
	}
	l.add("user", "*", event.Agent{Action: event.AgentForgotten, Name: "gemini"})
	var names []string
	for _, a := range l.state.Agents() {
		names = append(names, a.Name)
	}
	same(t, "agents", []string{"codex", "user"}, names)
	l.add("gemini", "*", event.Status{})
	if got, ok := l.state.Agent("gemini"); !ok || got.Cursor != -1 {
		t.Errorf("taking part again: %+v", got)
	}
}

func TestRename(t *testing.T) {
	l := newLog(t)
	l.add("codex", "*", event.Agent{Action: event.AgentRegistered, Name: "codex"})
	l.add("codex", "*", claim(event.Exclusive, "src", "web"))
	task := l.add("user", "codex", event.Task{})
	l.add("codex", "user", event.Task{}, resolving(task.ID))
	l.add("user", "*", event.Contract{Name: "api", Revision: 1})
	l.add("codex", "*", event.Update{Consumes: []string{"api"}})
	l.add("codex", "*", event.Ack{EventSeq: 4})
	l.add("user", "*", event.Status{})
	l.add("codex", "*", event.Agent{Action: event.AgentRenamed, Name: "Builder", Previous: "codex"})
	same(t, "claims", []string{"src Builder exclusive 1", "web Builder exclusive 1"}, held(l.state.ClaimsOf("builder")))
	got := l.state.Pending()[0]
	if got.To != "Builder" || got.TakenBy != "Builder" {
		t.Errorf("task %+v", got)
	}
	if c, _ := l.state.Contract("api"); len(c.Readers) != 1 || c.Readers[0].Agent != "Builder" || !c.Readers[0].Declared {
		t.Errorf("readers %+v", c.Readers)
	}
	a, _ := l.state.Agent("builder")
	if !a.Registered || a.Cursor != 4 || a.Unread.Count != 1 {
		t.Errorf("agent %+v", a)
	}
	if _, known := l.state.Agent("codex"); known {
		t.Error("the old name is still known")
	}
}

func TestHalt(t *testing.T) {
	l := newLog(t)
	l.add("user", "*", event.Halt{Action: event.HaltSet, Reason: "test"})
	same(t, "halt", &Halt{By: "user", Reason: "test", At: at(0)}, l.state.Halt())
	l.add("user", "*", event.Halt{Action: event.HaltLifted})
	if l.state.Halt() != nil {
		t.Error("still halted")
	}
	same(t, "old news", int64(1), l.state.Recent(2)[0].SupersededBy)
}

func TestThreads(t *testing.T) {
	l := newLog(t)
	say := func(thread string, kind event.DiscussionKind, outcome string) {
		l.add("user", "*", event.Discussion{
			ThreadID: thread, Kind: kind, Role: "system", Content: "topic of " + thread, Participants: []string{"a", "b"}, Outcome: outcome,
		}, saying("decision of "+thread))
	}
	l.add("user", "*", event.Discussion{ThreadID: "never", Kind: event.KindProposal, Role: "proposer", Content: "c"})
	for _, thread := range []string{"one", "two", "three"} {
		say(thread, event.KindStarted, "")
	}
	say("one", event.KindProposal, "")
	say("one", event.KindSummary, "")
	say("one", event.KindClosed, "decided")
	say("two", event.KindClosed, "failed")
	want := []Thread{
		{ID: "three", Topic: "topic of three", Participants: []string{"a", "b"}, Status: "open", Statements: 1, Started: at(3), Updated: at(3), Seq: 3},
		{ID: "one", Topic: "topic of one", Participants: []string{"a", "b"}, Status: "closed", Decision: "decision of one", Statements: 4, Started: at(1), Updated: at(6), Seq: 6},
		{ID: "two", Topic: "topic of two", Participants: []string{"a", "b"}, Status: "failed", Statements: 2, Started: at(2), Updated: at(7), Seq: 7},
	}
	same(t, "threads", want, l.state.Threads())

	// One that failed and goes on is open, and however often it fails its first event is among those that stay.
	say("two", event.KindProposal, "")
	if got := l.state.Threads()[2]; got.ID != "two" || got.Status != "open" {
		t.Errorf("thread %+v", got)
	}
	// Failures one after the other push no statement out.
	for range maxStatements {
		say("two", event.KindClosed, "failed")
	}
	same(t, "statements", []int64{2, 7, 8, l.state.Head()}, l.state.Statements("two"))
	for range maxStatements {
		say("two", event.KindCritique, "")
		say("two", event.KindClosed, "failed")
	}
	seqs := l.state.Statements("two")
	if len(seqs) != maxStatements || seqs[0] != 2 || seqs[len(seqs)-1] != l.state.Head() {
		t.Errorf("statements %v", seqs)
	}
	// One that was decided stays so.
	say("one", event.KindProposal, "")
	if got := l.state.Threads()[2]; got.ID != "one" || got.Status != "closed" {
		t.Errorf("thread %+v", got)
	}
}

// Late news says what made it old.
func TestSupersededBy(t *testing.T) {
	l := newLog(t)
	first := func(body event.Body) event.Event { return l.add("a", "*", body) }
	contract := first(event.Contract{Name: "api", Revision: 1})
	decision := first(event.Decision{Title: "t", Rationale: "r"})
	task := first(event.Task{})
	held := first(claim(event.Exclusive, "src"))
	both := first(claim(event.Exclusive, "web", "docs"))
	plain := first(event.Status{})
	by := map[int64]int64{
		contract.Seq: first(event.Contract{Name: "api", Revision: 2}).Seq,
		decision.Seq: first(event.Decision{Title: "u", Rationale: "r", Supersedes: decision.ID}).Seq,
		task.Seq:     l.add("b", "*", event.Done{}, resolving(task.ID)).Seq,
		held.Seq:     first(claim(event.Release, "src")).Seq,
		plain.Seq:    0,
	}
	first(claim(event.Release, "web"))
	refs, omitted := l.state.News("reader", -1, 100)
	if omitted != 0 || int64(len(refs)) != l.state.Count() {
		t.Fatalf("%d news, %d omitted", len(refs), omitted)
	}
	for _, r := range refs {
		if want, ok := by[r.Seq]; ok && r.SupersededBy != want {
			t.Errorf("event %d is superseded by %d, want %d", r.Seq, r.SupersededBy, want)
		}
	}
	if refs[both.Seq].SupersededBy != 0 {
		t.Error("a claim of which a part still holds is old news")
	}
	last := first(claim(event.Release, "docs"))
	refs, _ = l.state.News("reader", -1, 100)
	same(t, "released in parts", last.Seq, refs[both.Seq].SupersededBy)
}

func TestNews(t *testing.T) {
	l := newLog(t)
	for range 4 {
		l.add("a", "*", event.Status{})
	}
	l.add("a", "codex", event.Question{}, saying(strings.Repeat("x", MaxRefDescription+1)))
	l.add("a", "gemini", event.Question{})
	l.add("codex", "*", event.Status{})
	l.add("a", "*", event.Ack{EventSeq: 2})
	l.add("a", "*", event.Agent{Action: event.AgentRegistered, Name: "a"})
	l.add("user", "*", event.Halt{Action: event.HaltSet})
	refs, omitted := l.state.News("Codex", 0, 3)
	same(t, "newest", []int64{2, 3, 4}, []int64{refs[0].Seq, refs[1].Seq, refs[2].Seq})
	same(t, "omitted", int64(1), omitted)
	if got := refs[2].Description; len(got) != MaxRefDescription-1+len("…") {
		t.Errorf("description of %d bytes", len(got))
	}
	same(t, "unread", Unread{Count: 5, Exact: true}, l.state.Unread("codex"))
	same(t, "unread of a stranger", Unread{Count: 5, Exact: true}, l.state.Unread("stranger"))
	refs, omitted = l.state.News("stranger", -1, 1)
	same(t, "news for a stranger", []int64{6, 4}, []int64{refs[0].Seq, omitted})
	l.add("codex", "*", event.Ack{EventSeq: 3})
	same(t, "unread after an acknowledgement", Unread{Count: 1, Exact: true}, l.state.Unread("codex"))
	same(t, "recent", []int64{9, 10}, []int64{l.state.Recent(2)[0].Seq, l.state.Recent(2)[1].Seq})
}

// Counts stay exact beyond what is remembered one by one, until an acknowledgement falls into the forgotten part.
func TestUnreadBeyondMemory(t *testing.T) {
	l := newLog(t)
	const n = MaxNews + 100
	for range n {
		l.add("a", "*", event.Status{})
	}
	l.add("early", "*", event.Ack{EventSeq: 10})
	l.add("late", "*", event.Ack{EventSeq: n - 8})
	same(t, "never acknowledged", Unread{Count: n, Exact: true}, l.state.Unread("never"))
	same(t, "acknowledged lately", Unread{Count: 7, Exact: true}, l.state.Unread("late"))
	same(t, "acknowledged what is forgotten", Unread{Count: n, Exact: false}, l.state.Unread("early"))
	refs, omitted := l.state.News("early", 10, 5)
	same(t, "news", []int64{5, n - 5}, []int64{int64(len(refs)), omitted})
	again, err := Unmarshal(marshal(t, l.state))
	if err != nil {
		t.Fatal(err)
	}
	same(t, "read again", l.state.Unread("early"), again.Unread("early"))
	l.add("early", "*", event.Ack{EventSeq: n})
	same(t, "caught up", Unread{Exact: true}, l.state.Unread("early"))
}

func TestSkips(t *testing.T) {
	l := newLog(t)
	l.add("a", "*", claim(event.Exclusive, "src"))
	for _, bad := range []string{`{"paths":["/etc"],"mode":"exclusive"}`, `{"mode":"exclusive"}`, `{}`} {
		e := event.Event{ID: "bad", Seq: 7, Type: event.TypeOwnership, From: "evil", To: "*", Description: "d", Payload: []byte(bad)}
		before := held(l.state.Claims())
		if err := l.state.ApplyLine(&e, 2); err == nil {
			t.Errorf("%s: accepted", bad)
		}
		same(t, bad, before, held(l.state.Claims()))
	}
	l.state.Skip(3, 9, "torn")
	l.state.Skip(4, -1, "not JSON")
	if l.state.Head() != 9 || l.state.Count() != 1 {
		t.Errorf("head %d, count %d", l.state.Head(), l.state.Count())
	}
	if _, known := l.state.Agent("evil"); known {
		t.Error("a bad event made its sender known")
	}
	skips := l.state.Skips()
	same(t, "bad", []int64{5, 5}, []int64{skips.Bad, int64(len(skips.Recent))})
	same(t, "first", BadRef{Line: 2, Seq: 7, Reason: "paths has one that is absolute: /etc"}, skips.Recent[0])
	for i := range int64(MaxBadRefs) {
		l.state.Skip(i, -1, "x")
	}
	skips = l.state.Skips()
	same(t, "newest of many", []int64{25, MaxBadRefs, 0}, []int64{skips.Bad, int64(len(skips.Recent)), skips.Recent[0].Line})

	again := l.events[0]
	if err := l.state.Apply(&again); err != nil || l.state.Skips().OutOfOrder != 0 || l.state.Skips().Duplicate != 1 {
		t.Errorf("a line twice: %v, %+v", err, l.state.Skips())
	}
	again.ID = "other"
	if err := l.state.Apply(&again); err != nil || l.state.Skips().OutOfOrder != 1 || l.state.Count() != 2 {
		t.Errorf("a number twice: %v, %+v", err, l.state.Skips())
	}
	task := l.add("a", "*", event.Task{}, func(e *event.Event) { e.Seq = 20 })
	if _, err := l.try("a", "*", event.Task{}, func(e *event.Event) { e.ID, e.Seq = task.ID, 21 }); err == nil {
		t.Error("a second open task with the same id")
	}
	if _, err := l.try("a", "*", event.Ack{EventSeq: 50}, func(e *event.Event) { e.Seq = 22 }); err == nil {
		t.Error("an acknowledgement of what is not stored")
	}
}

func TestSeenKeys(t *testing.T) {
	l := newLog(t)
	keyed := func(from, key string) int64 {
		return l.add(from, "*", event.Status{}, func(e *event.Event) { e.Key = key }).Seq
	}
	first := keyed("codex", "k")
	keyed("codex", "k")
	other := keyed("gemini", "k")
	for _, c := range []struct {
		from, key string
		want      int64
	}{{"codex", "k", first}, {"CODEX", "k", first}, {"gemini", "k", other}, {"codex", "K", -1}, {"nobody", "k", -1}, {"codex", "", -1}} {
		if got, _, ok := l.state.SeenRequest(c.from, c.key); got != c.want || ok != (c.want >= 0) {
			t.Errorf("%s %q: %d, %v", c.from, c.key, got, ok)
		}
	}
	for i := range MaxKeys {
		keyed("many", fmt.Sprint(i))
	}
	if _, _, ok := l.state.SeenRequest("codex", "k"); ok {
		t.Error("remembers more keys than it should")
	}
	if _, _, ok := l.state.SeenRequest("many", "0"); !ok {
		t.Error("remembers fewer keys than it should")
	}
}

// A log of thousands of names, tasks, decisions and discussions leaves a bounded state.
func TestMemoryIsBounded(t *testing.T) {
	l := newLog(t)
	l.add("holder", "*", claim(event.Exclusive, "src"))
	const n = 3_500
	for i := range n {
		name := fmt.Sprintf("stranger-%d", i)
		task := l.add(name, "*", event.Task{}, saying(strings.Repeat("long ", 1000)), func(e *event.Event) { e.Context = strings.Repeat("c", 1000) })
		l.add(name, "*", event.Done{}, resolving(task.ID))
		l.add(name, "*", event.Decision{Title: fmt.Sprint(i), Rationale: "r"})
		l.add(name, "*", event.Discussion{ThreadID: fmt.Sprint(i), Kind: event.KindStarted, Role: "system", Content: "c", Participants: []string{"a", "b"}})
	}
	s := l.state
	if a, ok := s.Agent("holder"); !ok || a.LastSeq != 0 {
		t.Error("who holds a claim was forgotten")
	}
	if got := len(s.Agents()); got > 3*MaxStrangers {
		t.Errorf("%d agents", got)
	}
	same(t, "tasks, decisions", []int{MaxSettled, MaxDecisions}, []int{len(s.Tasks()), len(s.Decisions())})
	if got := len(s.Threads()); got > 2*MaxThreads {
		t.Errorf("%d threads", got)
	}
	if got := len(marshal(t, s)); got > 4<<20 {
		t.Errorf("%d bytes marshalled", got)
	}
	newest, _ := s.Agent(fmt.Sprintf("stranger-%d", n-1))
	if newest.LastSeq != s.Head() || newest.Unread.Count != 4*(n-1)+1 {
		t.Errorf("newest %+v", newest)
	}
}

func TestEqualSaysWhatDiffers(t *testing.T) {
	base := func() *log {
		l := newLog(t)
		l.add("a", "*", claim(event.Exclusive, "src"))
		l.add("a", "b", event.Task{})
		return l
	}
	for what, change := range map[string]func(*log){
		"head":           func(l *log) { l.state.Skip(1, 99, "x") },
		"claim":          func(l *log) { l.state.claims.byPath["src"][0].Mode = event.Shared },
		"task":           func(l *log) { l.state.task("id000001").To = "c" },
		"agent":          func(l *log) { l.state.member("a").human = "ada" },
		"counts of news": func(l *log) { l.state.news.dropped = 5 },
		"retry keys":     func(l *log) { l.state.keys.push(keyed{seq: 1}, MaxKeys) },
		"kill switch":    func(l *log) { l.state.halt = &Halt{} },
		"decision":       func(l *log) { l.state.decisions.push(Decision{ID: "x"}, MaxDecisions) },
		"takings":        func(l *log) { l.state.task("id000001").takenSeq = 5 },
	} {
		a, b := base(), base()
		mustEqual(t, "before", a.state, b.state)
		change(b)
		if equal, difference := Equal(a.state, b.state); equal || !strings.HasPrefix(difference, what) {
			t.Errorf("%s: equal %v, difference %q", what, equal, difference)
		}
	}
}

func TestUnmarshalRefusesDamage(t *testing.T) {
	l := newLog(t)
	l.add("a", "b", claim(event.Exclusive, "src"))
	l.add("a", "*", event.Contract{Name: "n", Revision: 1, Body: "b"})
	data := marshal(t, l.state)
	for i := range data {
		if _, err := Unmarshal(data[:i]); err == nil {
			t.Errorf("accepts the first %d of %d bytes", i, len(data))
		}
	}
	if _, err := Unmarshal(append(data, 0)); err == nil {
		t.Error("accepts a byte too many")
	}
}
