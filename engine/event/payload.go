package event

import (
	"encoding/json"
	"math"
)

// Reader decodes payloads and reuses its memory. It is not safe for concurrent use.
type Reader struct {
	fields fields
	blank  Body // an Update without anything
}

// Body decodes the payload and checks it against the rules of its type; the error is an *InvalidError. Keys that the type
// does not have are ignored. The paths of a claim are in the form of CleanPath.
func (e *Event) Body() (Body, error) {
	var r Reader
	return r.Body(e)
}

// Body is Event.Body.
func (r *Reader) Body(e *Event) (Body, error) { return r.read(e, fields{}) }

// Brief is Body for who builds state out of decoded events, whose payloads are known to be valid JSON: it checks everything else,
// and leaves out what an Update reports, except Consumes.
func (r *Reader) Brief(e *Event) (Body, error) { return r.read(e, fields{brief: true}) }

func (r *Reader) read(e *Event, how fields) (Body, error) {
	form := e.Type.form()
	if form == formUnknown {
		return Unknown{Raw: e.Payload}, nil
	}
	f := &r.fields
	f.prefix, f.brief, f.strict, f.err = "payload.", how.brief, how.strict, nil
	if len(e.Payload) == 0 {
		if form == formTyped {
			return nil, invalid("payload", "is missing")
		}
		return readBody(e.Type, nil), nil
	}
	if ok := f.brief && f.split(e.Payload) || f.parse(e.Payload); !ok {
		return nil, f.err
	}
	if f.brief && e.Type == TypeUpdate {
		return r.briefUpdate()
	}
	body := readBody(e.Type, f)
	if f.err != nil {
		return nil, f.err
	}
	return body, nil
}

// briefUpdate checks an update and reads what it consumes. Most consume nothing and share one body.
func (r *Reader) briefUpdate() (Body, error) {
	u := readUpdate(&r.fields)
	switch {
	case r.fields.err != nil:
		return nil, r.fields.err
	case u.Consumes != nil:
		return u, nil
	case r.blank == nil:
		r.blank = Update{}
	}
	return r.blank, nil
}

// readBody reads the payload of a known type. f is nil when an open type has none.
func readBody(t Type, f *fields) Body {
	switch t {
	case TypeTask:
		return readTask(f)
	case TypeHandoff:
		return Handoff{}
	case TypeQuestion:
		return Question{}
	case TypeDone:
		return readDone(f)
	case TypeStatus:
		return readStatus(f)
	case TypeError:
		return Error{}
	case TypeCancel:
		return Cancel{}
	case TypeContract:
		return readContract(f)
	case TypeOwnership:
		return readOwnership(f)
	case TypeDecision:
		return readDecision(f)
	case TypeUpdate:
		return readUpdate(f)
	case TypeAck:
		return Ack{EventSeq: f.integer("eventSeq", 0, MaxSeq), Note: f.remark("note", MaxAckNote)}
	case TypeDiscussion:
		return readDiscussion(f)
	case TypeAgent:
		return readAgent(f)
	case TypeTurn:
		return readTurn(f)
	case TypeWork:
		return readWork(f)
	case TypeGate:
		return readGate(f)
	case TypeWave:
		return readWave(f)
	case TypeHalt:
		return Halt{Action: choice(f, "action", HaltSet, HaltLifted), Reason: f.optionalText("reason", MaxReason)}
	}
	return Unknown{}
}

// lenient reads keys of ours from the payload of an open type. Other programs may put anything there, so what has another form
// than ours is none of ours and reads as absent, unless it is we who write.
func lenient[T any](f *fields, read func() T) (value T) {
	if f == nil {
		return value
	}
	got := read()
	if f.err == nil || f.strict {
		return got
	}
	f.err = nil
	return value
}

func readTask(f *fields) Task {
	return Task{
		Needs:   lenient(f, func() []string { return f.names("needs", MaxNeeds, MaxName) }),
		Handoff: lenient(f, func() bool { return f.flag("handoff") }),
	}
}

func readDone(f *fields) Done {
	return Done{Evidence: lenient(f, func() string { return f.optionalText("evidence", MaxEvidence) })}
}

func readStatus(f *fields) Status {
	if f == nil || !f.has("compactedCount") {
		return Status{}
	}
	return lenient(f, func() Status {
		s := Status{
			CompactedCount: f.integer("compactedCount", 0, MaxSeq),
			Agents:         f.names("agents", math.MaxInt, MaxName),
			CompactedAt:    f.optionalText("compactedAt", MaxName),
			Carried:        json.RawMessage(f.get("carried")),
		}
		if raw := f.get("compactedRange"); raw != nil {
			f.nested("compactedRange", raw, func(n *fields) {
				s.CompactedRange = &SeqRange{From: n.integer("from", -1, MaxSeq), To: n.integer("to", -1, MaxSeq)}
			})
		}
		if raw := f.get("typeCounts"); raw != nil {
			f.nested("typeCounts", raw, func(n *fields) {
				s.TypeCounts = map[Type]int64{}
				for _, field := range n.object.Fields() {
					s.TypeCounts[Type(field.Key)] = n.number(string(field.Key), field.Value, 0, MaxSeq)
				}
			})
		}
		return s
	})
}

func readContract(f *fields) Contract {
	return Contract{
		Name:     f.newLabel("name", f.name("name", MaxContractName)),
		Revision: f.integer("revision", 1, MaxSeq),
		Body:     f.text("body", MaxContractBody),
		Format:   f.newLabel("format", f.optionalName("format", MaxFormat)),
	}
}

func readOwnership(f *fields) Ownership {
	o := Ownership{
		Mode:   choice(f, "mode", Exclusive, Shared, Release),
		Reason: f.optionalText("reason", MaxReason),
		Cause:  optionalChoice(f, "cause", CauseExpired, CauseForced, CauseTakeover),
		Holder: f.optionalName("holder", MaxName),
	}
	o.Paths = f.names("paths", MaxPaths, MaxPath)
	for i := range o.Paths {
		o.Paths[i] = f.path("paths", o.Paths[i])
	}
	if len(o.Paths) == 0 {
		f.fail("paths", "is missing or empty")
	}
	if raw := f.get("expiresAt"); raw != nil {
		o.ExpiresAt = f.string("expiresAt", raw, MaxName)
		if _, ok := ParseTime(o.ExpiresAt); !ok {
			f.fail("expiresAt", "is not an ISO 8601 date and time with seconds and a zone")
		}
	}
	f.list("displaced", MaxDisplaced, func(raw []byte) {
		f.nested("displaced", raw, func(n *fields) {
			o.Displaced = append(o.Displaced, Displaced{
				Agent: n.name("agent", MaxName),
				Path:  n.path("path", n.name("path", MaxPath)),
				Mode:  choice(n, "mode", Exclusive, Shared),
				Fence: n.integer("fence", 0, MaxSeq),
			})
		})
	})
	return o
}

func readDecision(f *fields) Decision {
	return Decision{
		Title:        f.name("title", MaxTitle),
		Rationale:    f.text("rationale", MaxRationale),
		Supersedes:   f.optionalName("supersedes", MaxName),
		DiscussionID: f.optionalName("discussionId", MaxName),
	}
}

func readUpdate(f *fields) Update {
	u := Update{
		Files:    f.remarks("files", MaxFiles, MaxPath),
		Note:     f.remark("note", MaxUpdateNote),
		Blockers: f.remarks("blockers", MaxBlockers, MaxBlocker),
		Next:     f.remark("next", MaxNext),
		Consumes: f.names("consumes", MaxConsumes, MaxContractName),
	}
	f.list("commands", MaxCommands, func(raw []byte) {
		f.nested("commands", raw, func(n *fields) {
			n.required("command")
			run := CommandRun{
				Command:  n.remark("command", MaxCommand),
				ExitCode: n.optionalInteger("exitCode", -MaxSeq, MaxSeq),
				Summary:  n.remark("summary", MaxCommandSummary),
			}
			if !f.brief {
				u.Commands = append(u.Commands, run)
			}
		})
	})
	return u
}

func readDiscussion(f *fields) Discussion {
	d := Discussion{
		ThreadID: f.name("threadId", MaxName),
		Kind: choice(f, "kind", KindStarted, KindProposal, KindCritique, KindRevision,
			KindSummary, KindClosed),
		Round:        f.integer("round", 0, MaxRound),
		Role:         choice(f, "role", "system", "proposer", "reviewer"),
		Content:      f.name("content", MaxContent),
		Participants: f.names("participants", 2, MaxName),
		ReplyTo:      f.optionalName("replyTo", MaxName),
		Alternatives: f.names("alternatives", MaxAlternatives, MaxAlternative),
		Unresolved:   f.names("unresolved", MaxAlternatives, MaxAlternative),
		Outcome:      optionalChoice(f, "outcome", "decided", "failed"),
	}
	if f.has("participants") && len(d.Participants) != 2 {
		f.fail("participants", "are not two")
	}
	if f.strict {
		f.only("threadId", "kind", "round", "role", "content", "participants", "replyTo", "alternatives", "unresolved", "outcome")
	}
	return d
}

func readAgent(f *fields) Agent {
	a := Agent{
		Action:   choice(f, "action", AgentRegistered, AgentRenamed, AgentEnded, AgentForgotten),
		Name:     f.name("name", MaxName),
		Previous: f.optionalName("previous", MaxName),
		Base:     f.optionalName("base", MaxName),
		Human:    f.optionalName("human", MaxName),
		Session:  f.newLabel("session", f.optionalName("session", MaxSession)),
		Start:    f.optionalName("start", MaxName),
		Boot:     f.optionalName("boot", MaxName),
		Host:     f.optionalName("host", MaxHost),
		Reason:   f.optionalText("reason", MaxReason),
	}
	if pid := f.optionalInteger("pid", 0, math.MaxInt32); pid != nil {
		a.PID = int(*pid)
	}
	if a.Action == AgentRenamed && a.Previous == "" {
		f.fail("previous", "is missing")
	}
	return a
}

// path is p in its stored form.
func (f *fields) path(key, p string) string {
	clean, err := CleanPath(p)
	if err != nil && f.err == nil {
		f.err = invalid(f.prefix+key, "has one that "+err.(*InvalidError).Reason) //nolint:errorlint,errcheck // CleanPath says so
	}
	return clean
}

// flag is an optional true or false.
func (f *fields) flag(key string) bool {
	switch string(f.get(key)) {
	case "true":
		return true
	case "", "false":
		return false
	}
	f.fail(key, "is neither true nor false")
	return false
}
