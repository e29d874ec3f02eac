package state

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/store/jsonline"
)

// readLog folds a log of testdata/logs as a reader of complete lines does, and says how many lines it has that are not blank.
func readLog(t *testing.T, name string) (*State, int64) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "testdata", "logs", name))
	if err != nil {
		t.Fatal(err)
	}
	var lines []Line
	for number := int64(1); ; number++ {
		raw, rest, complete := bytes.Cut(data, []byte("\n"))
		if !complete {
			break
		}
		data = rest
		if len(bytes.TrimSpace(raw)) == 0 {
			continue
		}
		o := new(jsonline.Object)
		l := Line{Number: number, Seq: -1, Object: o}
		if err := o.Parse(raw); err != nil {
			l.Object, l.Reason, l.Seq = nil, err.Error(), jsonline.LenientSeq(raw)
		} else if seq, ok := o.Get("seq"); ok {
			if n, err := jsonline.Int(seq); err == nil && n >= 0 {
				l.Seq = n
			}
		}
		lines = append(lines, l)
	}
	s := New()
	s.ApplyLines(len(lines), func(i int) Line { return lines[i] }, nil)
	return s, int64(len(lines))
}

// Every line of every log is an event, a reported bad line or a reported repetition: none is lost.
func TestLogsOfOtherPrograms(t *testing.T) {
	for _, c := range []struct {
		name                     string
		bad, duplicate, disorder int64
		head                     int64
		claims                   []string
		open                     []string // descriptions
		contract                 int64    // latest revision of invoice-api
		decisions                int
	}{
		{
			name: "v0.9.0.jsonl", bad: 1, head: 24,
			claims: []string{
				"db/migrations claude-code exclusive 4", "docs claude-code shared 10", "docs codex shared 9", "web codex exclusive 23",
			},
			open:     []string{"Cents or decimal amounts?", "Write the changelog"},
			contract: 2, decisions: 1,
		},
		{
			name: "v0.9.0-compacted.jsonl", head: 25,
			claims: []string{"web codex exclusive 23"}, open: []string{"Write the changelog"},
		},
		{
			name: "v0.9.1-compacted.jsonl", disorder: 4, head: 26,
			claims: []string{
				"db/migrations claude-code exclusive 4", "docs codex shared 9", "src/api claude-code exclusive 4", "web codex exclusive 23",
			},
			open:     []string{"Write the changelog"},
			contract: 3, decisions: 1,
		},
		{
			name: "v0.9.2-compacted.jsonl", head: 25,
			claims: []string{
				"db/migrations claude-code exclusive 4", "docs codex shared 9", "src/api claude-code exclusive 4", "web codex exclusive 23",
			},
			open:     []string{"Write the changelog"},
			contract: 2, decisions: 1,
		},
		{
			name: "prerelease.jsonl", bad: 1, head: 4,
			claims: []string{"db/migrations claude-code exclusive 4", "src/api claude-code exclusive 4"},
			open:   []string{"Build the invoice endpoint"},
		},
		{
			name: "damaged.jsonl", bad: 9, duplicate: 2, disorder: 2, head: 45,
			claims: []string{}, open: []string{"Build the invoice endpoint", "the number of another event", "a number twice"},
			decisions: 1,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, lines := readLog(t, c.name)
			skips := s.Skips()
			if s.Count()+skips.Bad+skips.Duplicate != lines {
				t.Errorf("%d events, %d bad and %d repeated of %d lines", s.Count(), skips.Bad, skips.Duplicate, lines)
			}
			same(t, "bad, repeated, out of order, head", []int64{c.bad, c.duplicate, c.disorder, c.head},
				[]int64{skips.Bad, skips.Duplicate, skips.OutOfOrder, s.Head()})
			same(t, "claims", c.claims, held(s.Claims()))
			open := []string{}
			for _, task := range s.Pending() {
				open = append(open, task.Description)
			}
			same(t, "open", c.open, open)
			contract, _ := s.Contract("invoice-api")
			same(t, "revision", c.contract, contract.Revision)
			same(t, "decisions", c.decisions, len(s.Decisions()))
			for _, bad := range skips.Recent {
				if bad.Line == 0 || bad.Reason == "" {
					t.Errorf("bad line %+v", bad)
				}
			}
			again, err := Unmarshal(marshal(t, s))
			if err != nil {
				t.Fatal(err)
			}
			mustEqual(t, "read again", again, s)
		})
	}
}

func TestOldLogInDetail(t *testing.T) {
	s, _ := readLog(t, "v0.9.0.jsonl")
	same(t, "skipped", []BadRef{{Line: 23, Seq: 22, Reason: "paths has one that is absolute: /etc/passwd"}}, s.Skips().Recent)
	changelog := s.Pending()[1]
	if changelog.Status != TaskTaken || changelog.TakenBy != "codex" {
		t.Errorf("claimed task %+v", changelog)
	}
	contract, _ := s.Contract("invoice-api")
	if len(contract.History) != 2 || contract.Format != "openapi-yaml" || contract.Publisher != "claude-code" {
		t.Errorf("contract %+v", contract)
	}
	same(t, "readers", []Reader{{Agent: "codex", Revision: 1, Behind: 1}}, contract.Readers)
	if threads := s.Threads(); len(threads) != 1 || threads[0].Status != "failed" || threads[0].Statements != 3 {
		t.Errorf("discussions %+v", threads)
	}
	codex, _ := s.Agent("codex")
	if codex.Cursor != 5 || codex.Registered {
		t.Errorf("codex %+v", codex)
	}
	if want := "2026-09-10T08:24:00.000Z"; event.FormatTime(*codex.LastAt) != want {
		t.Errorf("last heard of at %v, want %s", codex.LastAt, want)
	}
}

func TestUnknownTypeIsShown(t *testing.T) {
	s, _ := readLog(t, "damaged.jsonl")
	for _, r := range s.Recent(10) {
		if r.Type == "skill" {
			if r.Seq != 43 || r.From != "codex" || r.Description != "a type of the future \x1b[31m" {
				t.Errorf("shown as %+v", r)
			}
			return
		}
	}
	t.Error("the event of an unknown type is not among the recent ones")
}
