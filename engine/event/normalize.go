package event

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Normalize makes a draft ready to be stored, or says with an *InvalidError why it cannot be: it trims, drops what is optional
// and empty, brings the payload into its one form without the keys that its type does not have, and checks every limit. ID,
// Seq and Timestamp may still be unset.
func (e *Event) Normalize() error {
	for _, s := range [...]*string{&e.ID, &e.From, &e.To, &e.Description, &e.Resolves, &e.Key, &e.By} {
		*s = trim(strings.ToValidUTF8(*s, "\uFFFD"))
	}
	e.Context = strings.ToValidUTF8(e.Context, "\uFFFD")
	if err := e.checkEnvelope(); err != nil {
		return err
	}
	payload, err := e.normalPayload()
	if err != nil {
		return err
	}
	if len(payload) > MaxPayloadBytes {
		return invalid("payload", "is larger than 131072 bytes")
	}
	e.Payload = payload
	return nil
}

func (e *Event) checkEnvelope() error {
	if !KnownType(e.Type) {
		return invalid("type", "is none of "+joined(Types()))
	}
	for _, f := range [...]struct {
		name, value string
		optional    bool
	}{
		{"id", e.ID, true},
		{"from", e.From, false},
		{"to", e.To, false},
		{"resolves", e.Resolves, true},
		{"key", e.Key, true},
		{"by", e.By, true},
	} {
		if f.value == "" && f.optional {
			continue
		}
		if err := checkName(f.name, f.value); err != nil {
			return err
		}
	}
	if e.From == Broadcast {
		return invalid("from", "is everybody, not somebody")
	}
	if err := checkText("description", e.Description, MaxDescription); err != nil {
		return err
	}
	if !fits(e.Context, MaxContext) {
		return tooLong("context", MaxContext)
	}
	if e.Seq < 0 || e.Seq > MaxSeq {
		return invalid("seq", "is not a whole number from 0 to 2^53-1")
	}
	if _, ok := ParseTime(e.Timestamp); e.Timestamp != "" && !ok {
		return invalid("timestamp", "is not an ISO 8601 date and time with seconds and a zone")
	}
	return nil
}

// checkName refuses what cannot be typed or shown as a name: two names that look the same on every screen must be the same.
func checkName(field, name string) error {
	if hasUnprintable(name) {
		return invalid(field, unprintable)
	}
	return checkText(field, name, MaxName)
}

const unprintable = "has a control character, an invisible one, or one that is not valid"

func hasUnprintable(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool {
		plain := ' ' <= r && r <= '~'
		return !plain && (unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) || r == utf8.RuneError)
	})
}

// CheckName refuses a name that an agent cannot have, with an *InvalidError.
func CheckName(name string) error {
	if name == Broadcast {
		return invalid("name", "is everybody, not somebody")
	}
	return checkName("name", name)
}

// normalPayload is the payload in its one form, nil when there is none.
func (e *Event) normalPayload() ([]byte, error) {
	var r Reader
	body, err := r.read(e, fields{strict: true})
	if err != nil {
		return nil, err
	}
	if e.Type.form() == formTyped {
		_, raw, err := encodeBody(body)
		return raw, err
	}
	if len(r.fields.object.Fields()) == 0 {
		return nil, nil
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, e.Payload); err != nil {
		return nil, invalid("payload", "is not a valid object")
	}
	return compact.Bytes(), nil
}

// encodeBody is the type of a body and the payload that stands for it, nil when an open type has nothing to say.
func encodeBody(body Body) (Type, json.RawMessage, error) {
	t := typeOf(body)
	if t == "" {
		return "", nil, invalid("type", "is not known")
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(body); err != nil {
		return "", nil, invalid("payload", "cannot be encoded: "+err.Error())
	}
	raw := bytes.TrimSuffix(b.Bytes(), []byte("\n"))
	if t.form() == formOpen && string(raw) == "{}" {
		return t, nil, nil
	}
	return t, raw, nil
}
