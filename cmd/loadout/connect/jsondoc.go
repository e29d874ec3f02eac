package connect

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// node is a JSON value and where it stands in its text.
type node struct {
	start, end int // of the value
	open       byte
	members    []member // of an object
	items      []*node  // of a list
}

// member is one of an object.
type member struct {
	key   string
	start int // of the key
	value *node
}

func (n *node) isObject() bool { return n.open == '{' }
func (n *node) isList() bool   { return n.open == '[' }

// get finds a member, nil when there is none.
func (n *node) get(key string) *node {
	for _, m := range n.members {
		if m.key == key {
			return m.value
		}
	}
	return nil
}

// document is the text of a JSON file that is edited in place.
type document struct {
	text     []byte
	root     *node
	comments bool // comments are allowed, as some programs do
}

const maxDepth = 200

var errEarly = errors.New("ends too early")

var bom = []byte("\xef\xbb\xbf")

// parseJSON reads a file whose value must be an object. An empty file is one without members.
func parseJSON(text []byte, comments bool) (*document, error) {
	d := &document{text: text, comments: comments}
	if !utf8.Valid(text) {
		return nil, errors.New("is not UTF-8")
	}
	if len(bytes.TrimSpace(bytes.TrimPrefix(text, bom))) == 0 {
		d.text = splice(text, len(bytes.TrimRight(text, " \t\r\n")), len(text), "{}\n")
	}
	return d, d.parse()
}

// parse reads the text again after an edit.
func (d *document) parse() error {
	p := parser{text: d.text, comments: d.comments}
	if bytes.HasPrefix(d.text, bom) {
		p.at = len(bom)
	}
	root, err := p.value(0)
	if err == nil {
		err = p.skip()
	}
	switch {
	case err != nil:
	case p.at < len(p.text):
		err = errors.New("there is something behind the value")
	case !root.isObject():
		err = errors.New("is not an object")
	}
	if err != nil {
		return fmt.Errorf("line %d: %w", 1+bytes.Count(d.text[:min(p.at, len(d.text))], []byte("\n")), err)
	}
	d.root = root
	return nil
}

type parser struct {
	text     []byte
	at       int
	comments bool
}

// skip goes on to the next token.
func (p *parser) skip() error {
	for p.at < len(p.text) {
		switch rest := p.text[p.at:]; {
		case strings.IndexByte(" \t\r\n", rest[0]) >= 0:
			p.at++
		case rest[0] == '/' && !p.comments:
			return errors.New("comments are not allowed in this file")
		case bytes.HasPrefix(rest, []byte("//")):
			if n := bytes.IndexByte(rest, '\n'); n >= 0 {
				p.at += n
			} else {
				p.at = len(p.text)
			}
		case bytes.HasPrefix(rest, []byte("/*")):
			n := bytes.Index(rest, []byte("*/"))
			if n < 0 {
				return errors.New("a comment does not end")
			}
			p.at += n + 2
		default:
			return nil
		}
	}
	return nil
}

// next is the next token's first byte, 0 at the end.
func (p *parser) next() (byte, error) {
	if err := p.skip(); err != nil {
		return 0, err
	}
	if p.at == len(p.text) {
		return 0, nil
	}
	return p.text[p.at], nil
}

func (p *parser) value(depth int) (*node, error) {
	c, err := p.next()
	if err != nil {
		return nil, err
	}
	if depth > maxDepth {
		return nil, errors.New("is nested too deeply")
	}
	n := &node{start: p.at}
	switch c {
	case 0:
		return nil, errEarly
	case '{', '[':
		n.open = c
		p.at++
		err = p.children(n, depth+1)
	case '"':
		_, err = p.quoted()
	default:
		for p.at < len(p.text) && strings.IndexByte(" \t\r\n,]}/", p.text[p.at]) < 0 {
			p.at++
		}
		if !json.Valid(p.text[n.start:p.at]) {
			err = errors.New("has a value that is not JSON")
		}
	}
	n.end = p.at
	return n, err
}

// children reads what stands in a list or object, with its end.
func (p *parser) children(n *node, depth int) error {
	for first := true; ; first = false {
		c, err := p.next()
		switch {
		case err != nil:
			return err
		case c == n.open+2: // ']' and '}' are two behind their openings
			if !first {
				return errors.New("has a trailing comma")
			}
			p.at++
			return nil
		}
		if err := p.child(n, depth); err != nil {
			return err
		}
		c, err = p.next()
		switch {
		case err != nil:
			return err
		case c == ',':
			p.at++
		case c == n.open+2:
			p.at++
			return nil
		default:
			return errors.New("a comma is missing")
		}
	}
}

func (p *parser) child(n *node, depth int) error {
	m := member{start: p.at}
	if n.isObject() {
		var err error
		if m.key, err = p.quoted(); err != nil {
			return err
		}
		if n.get(m.key) != nil {
			return fmt.Errorf("has %q twice", m.key)
		}
		if c, err := p.next(); err != nil || c != ':' {
			return errors.Join(errors.New("a colon is missing"), err)
		}
		p.at++
	}
	v, err := p.value(depth)
	if err != nil {
		return err
	}
	if m.value = v; n.isObject() {
		n.members = append(n.members, m)
	} else {
		n.items = append(n.items, v)
	}
	return nil
}

func (p *parser) quoted() (string, error) {
	start := p.at
	if p.at == len(p.text) {
		return "", errEarly
	}
	if p.text[p.at] != '"' {
		return "", errors.New("a name in quotes is missing")
	}
	for p.at++; p.at < len(p.text) && p.text[p.at] != '"'; p.at++ {
		if p.text[p.at] == '\\' {
			p.at++
		}
	}
	p.at = min(p.at+1, len(p.text))
	var s string
	if err := json.Unmarshal(p.text[start:p.at], &s); err != nil {
		return "", errors.New("has a text that is not JSON")
	}
	return s, nil
}
