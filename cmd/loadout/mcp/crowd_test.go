package mcp

import (
	"fmt"
	"sync"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/agentloadout/loadout/engine/event"
)

// Fifty clients at once, each with a server of its own on one project: nobody shares a name, a path or a number, and nothing that was
// answered is lost.
func TestCrowd(t *testing.T) {
	const crowd = 50
	s := newScene(t)
	clients := make([]*client, crowd)
	for i := range clients {
		clients[i] = s.connect("codex", usual2025, s.engine(nil), Options{})
	}
	var wg sync.WaitGroup
	seqs := make([][]int64, crowd)
	won := make([]bool, crowd)
	for i, c := range clients {
		wg.Go(func() {
			for _, call := range []*sdk.CallToolParams{
				{Name: "claim_task", Arguments: args{"description": "mine", "ownPaths": []string{fmt.Sprintf("part%d", i)}}},
				{Name: "publish_contract", Arguments: args{"name": "shared", "body": fmt.Sprint(i)}},
				{Name: "publish_update", Arguments: args{"note": "x"}},
			} {
				r, err := c.CallTool(t.Context(), call)
				if err != nil || r.IsError {
					t.Errorf("client %d, %s: %v %v", i, call.Name, err, r)
					return
				}
				var about stored
				c.decode(r, &about)
				seqs[i] = append(seqs[i], about.Seq)
			}
			r, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: "claim_task", Arguments: args{"description": "ours", "ownPaths": []string{"one"}}})
			if err != nil {
				t.Errorf("client %d: %v", i, err)
				return
			}
			won[i] = !r.IsError
		})
	}
	wg.Wait()
	winners, seen := 0, map[int64]bool{}
	for i := range clients {
		if won[i] {
			winners++
		}
		for _, seq := range seqs[i] {
			if seen[seq] {
				t.Errorf("seq %d was answered twice", seq)
			}
			seen[seq] = true
		}
	}
	st := s.state()
	c, _ := st.Contract("shared")
	names := map[string]bool{}
	for _, a := range st.Agents() {
		if a.Registered {
			names[event.FoldName(a.Name)] = true
		}
	}
	if winners != 1 || len(seen) != 3*crowd || c.Revision != crowd || len(names) != crowd {
		t.Errorf("%d got the one path, %d receipts, revision %d, %d names", winners, len(seen), c.Revision, len(names))
	}
}
