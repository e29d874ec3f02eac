package event

import (
	"bytes"
	"strings"
	"time"
	"unsafe"

	"github.com/agentloadout/loadout/store/jsonline"
)

// Decode reads the envelope of a line that o was parsed from and checks every rule that the format has for readers; the error
// is an *InvalidError. Keys that the envelope does not have are ignored, and so are a "key" and a "by" of another form: they are
// not part of the format that other programs write. The payload is checked by Body, not here.
func Decode(o *jsonline.Object, raw []byte) (Event, error) {
	var e Event
	d := decoder{event: &e, line: bytes.Clone(raw)}
	if err := d.decode(o); err != nil {
		return Event{}, err
	}
	return e, nil
}

// Borrow is Decode without a copy of the line: the event is good until the line that o was parsed from changes.
func Borrow(o *jsonline.Object) (Event, error) {
	var e Event
	_, err := BorrowInto(&e, o)
	return e, err
}

// BorrowInto is Borrow that sets e, and also returns the time that the event has. After an error e is of no use.
func BorrowInto(e *Event, o *jsonline.Object) (time.Time, error) {
	*e = Event{}
	d := decoder{event: e, borrow: true}
	err := d.decode(o)
	return d.time, err
}

// decoder reads the fields of one line and keeps the first error.
type decoder struct {
	event  *Event
	time   time.Time
	borrow bool
	line   []byte // unless borrowing, a copy of the line; strings and payload of the event are cut from it
	at     int    // where the value at hand starts in it, if the line is written without blanks
	err    error
}

func (d *decoder) decode(o *jsonline.Object) error {
	d.event.Seq = -1
	fields := o.Fields()
	for i := range fields {
		f := &fields[i]
		d.at += len(f.Key) + len(`,"":`)
		d.field(f)
		d.at += len(f.Value)
	}
	if d.err == nil {
		d.err = d.event.checkComplete()
	}
	return d.err
}

func (d *decoder) field(f *jsonline.Field) {
	e := d.event
	switch string(f.Key) {
	case "id":
		e.ID = d.trimmed("id", f.Value, MaxName)
	case "seq":
		e.Seq = d.seq(f.Value)
	case "type":
		e.Type = d.eventType(f.Value)
	case "from":
		e.From = d.trimmed("from", f.Value, MaxName)
	case "to":
		e.To = d.trimmed("to", f.Value, MaxName)
	case "description":
		e.Description = d.trimmed("description", f.Value, MaxDescription)
	case "context":
		e.Context = d.limited("context", f.Value, MaxContext)
	case "timestamp":
		e.Timestamp = d.timestamp(f.Value)
	case "resolves":
		e.Resolves = d.trimmed("resolves", f.Value, MaxName)
	case "payload":
		e.Payload = d.payload(f.Value)
	case "key":
		e.Key = d.own(f.Value)
	case "by":
		e.By = d.own(f.Value)
	}
}

func (d *decoder) fail(field, reason string) {
	if d.err == nil {
		d.err = invalid(field, reason)
	}
}

// string decodes a JSON string.
func (d *decoder) string(key string, value []byte) string {
	if value[0] != '"' {
		d.fail(key, "is not a string")
		return ""
	}
	if bytes.IndexByte(value, '\\') < 0 {
		inside := d.cut(value[1:len(value)-1], 1)
		// Nobody writes to these bytes again: what Event hands out for writing, the payload, is another part of the line.
		return unsafe.String(unsafe.SliceData(inside), len(inside)) //nolint:gosec // see above
	}
	s, err := jsonline.String(value)
	if err != nil {
		d.fail(key, "is not a string")
	}
	return s
}

// cut returns the part of the line's copy that the value at hand stands in, skip bytes after its start, or a copy of its own where
// blanks have shifted it.
func (d *decoder) cut(part []byte, skip int) []byte {
	if d.borrow {
		return part
	}
	start := d.at + skip
	if end := start + len(part); end <= len(d.line) && bytes.Equal(d.line[start:end], part) {
		return d.line[start:end:end]
	}
	return bytes.Clone(part)
}

// trimmed decodes a text whose blanks at both ends do not count.
func (d *decoder) trimmed(key string, value []byte, limit int) string {
	s := trim(d.string(key, value))
	if !fits(s, limit) {
		d.err = tooLong(key, limit)
	}
	return s
}

// limited decodes a text in which every character counts.
func (d *decoder) limited(key string, value []byte, limit int) string {
	s := d.string(key, value)
	if !fits(s, limit) {
		d.err = tooLong(key, limit)
	}
	return s
}

// own decodes a field that only this program writes.
func (d *decoder) own(value []byte) string {
	if value[0] != '"' {
		return ""
	}
	if s := trim(d.string("", value)); fits(s, MaxName) {
		return s
	}
	return ""
}

func (d *decoder) seq(value []byte) int64 {
	n, err := jsonline.Int(value)
	if err != nil || n < 0 {
		d.fail("seq", "is not a whole number from 0 to 2^53-1")
		return -1
	}
	return n
}

// eventType decodes the type, which does not hold on to the line.
func (d *decoder) eventType(value []byte) Type {
	if known := internType(value); known != "" {
		return known
	}
	t := Type(d.trimmed("type", value, MaxName))
	for _, known := range Types() {
		if known == t {
			return known
		}
	}
	return Type(strings.Clone(string(t)))
}

func internType(quoted []byte) Type {
	switch string(quoted) {
	case `"task"`:
		return TypeTask
	case `"handoff"`:
		return TypeHandoff
	case `"question"`:
		return TypeQuestion
	case `"done"`:
		return TypeDone
	case `"status"`:
		return TypeStatus
	case `"error"`:
		return TypeError
	case `"cancel"`:
		return TypeCancel
	case `"contract"`:
		return TypeContract
	case `"ownership"`:
		return TypeOwnership
	case `"decision"`:
		return TypeDecision
	case `"update"`:
		return TypeUpdate
	case `"ack"`:
		return TypeAck
	case `"discussion"`:
		return TypeDiscussion
	case `"agent"`:
		return TypeAgent
	case `"halt"`:
		return TypeHalt
	case `"turn"`:
		return TypeTurn
	case `"work"`:
		return TypeWork
	case `"gate"`:
		return TypeGate
	case `"wave"`:
		return TypeWave
	}
	return ""
}

func (d *decoder) timestamp(value []byte) string {
	s := d.string("timestamp", value)
	t, ok := ParseTime(s)
	if !ok {
		d.fail("timestamp", "is not an ISO 8601 date and time with seconds and a zone")
	}
	d.time = t
	return s
}

func (d *decoder) payload(value []byte) []byte {
	if value[0] != '{' {
		d.fail("payload", "is not an object")
		return nil
	}
	return d.cut(value, 0)
}

// checkComplete refuses an event that lacks a required field.
func (e *Event) checkComplete() error {
	var missing string
	switch {
	case e.ID == "":
		missing = "id"
	case e.Seq < 0:
		missing = "seq"
	case e.Type == "":
		missing = "type"
	case e.From == "":
		missing = "from"
	case e.To == "":
		missing = "to"
	case e.Description == "":
		missing = "description"
	case e.Timestamp == "":
		missing = "timestamp"
	default:
		return nil
	}
	return invalid(missing, "is missing or empty")
}
