package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/agentloadout/loadout/engine/event"
)

func revisionOf(r Receipt) int64 {
	for i := range r.Events {
		if body, err := r.Events[i].Body(); err == nil {
			if c, ok := body.(event.Contract); ok {
				return c.Revision
			}
		}
	}
	return 0
}

// claimModel is one path: "" or who holds it.
var claimModel = porcupine.Model{
	Init: func() any { return "" },
	Step: func(s, in, out any) (bool, any) {
		holder, op, result := s.(string), in.(operation), out.(operation)
		switch op.Kind {
		case "claim":
			if holder == "" || holder == op.Agent {
				return result.OK, op.Agent
			}
			return !result.OK, holder
		case "release":
			if holder == op.Agent {
				return result.OK, ""
			}
			return !result.OK, holder
		}
		return false, s
	},
	Equal: func(a, b any) bool { return a == b },
	DescribeOperation: func(in, out any) string {
		return fmt.Sprintf("%s by %s: %v", in.(operation).Kind, in.(operation).Agent, out.(operation).OK)
	},
}

// revisionModel is the latest revision of one contract.
var revisionModel = porcupine.Model{
	Init: func() any { return int64(0) },
	Step: func(s, _, out any) (bool, any) {
		return out.(operation).Revision == s.(int64)+1, out.(operation).Revision
	},
	Equal: func(a, b any) bool { return a == b },
}

// TestLinearizableAcrossProcesses lets processes contend for one path and one contract: there must be one order of all that they
// did, in keeping with the times at which they did it, in which each answer is right.
func TestLinearizableAcrossProcesses(t *testing.T) {
	s := newScene(t)
	const processes = 4
	var (
		wg     sync.WaitGroup
		mu     sync.Mutex
		claims []porcupine.Operation
		revs   []porcupine.Operation
	)
	for p := range processes {
		wg.Go(func() {
			cmd := role(ctxFor(t), "contender", s.dir, fmt.Sprintf("agent-%d", p), strconv.Itoa(rounds(t, 12)))
			cmd.Stderr = os.Stderr
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Error(err)
				return
			}
			if err := cmd.Start(); err != nil {
				t.Error(err)
				return
			}
			for dec := json.NewDecoder(out); ; {
				var op operation
				if err := dec.Decode(&op); errors.Is(err, io.EOF) {
					break
				} else if err != nil {
					t.Error(err)
					break
				}
				o := porcupine.Operation{ClientId: p, Input: op, Call: op.Call, Output: op, Return: op.Return}
				mu.Lock()
				if op.Kind == "publish" {
					revs = append(revs, o)
				} else {
					claims = append(claims, o)
				}
				mu.Unlock()
			}
			if err := cmd.Wait(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if len(claims) == 0 || len(revs) == 0 {
		t.Fatal("nothing was done")
	}
	for name, c := range map[string]struct {
		model porcupine.Model
		ops   []porcupine.Operation
	}{"claims": {claimModel, claims}, "revisions": {revisionModel, revs}} {
		if got := porcupine.CheckOperationsTimeout(c.model, c.ops, 30*time.Second); got != porcupine.Ok {
			t.Errorf("%s of %d operations: %v", name, len(c.ops), got)
		}
	}
	if v := s.view(); v.State.Skips().OutOfOrder+v.State.Skips().Bad > 0 {
		t.Errorf("skips %+v", v.State.Skips())
	}
}
