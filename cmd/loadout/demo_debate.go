package main

import (
	"strings"
	"time"

	"github.com/agentloadout/loadout/engine/turn"
	"github.com/agentloadout/loadout/providers/sim"
)

// demoThread is the discussion of the demonstration.
const demoThread = "rest-or-graphql"

// demoSynthesis is what the discussion of the demonstration comes to.
const demoSynthesis = `{
  "decision": "[scripted] REST for checkout, one endpoint that answers with all the page needs",
  "rationale": "[scripted] The mobile client caches by URL, and one endpoint in src/api/checkout.ts takes away the second request that GraphQL would have saved.",
  "alternatives": ["[scripted] GraphQL with persisted queries, once a second client needs other fields"],
  "unresolved": ["[scripted] Who invalidates the cache when a price changes"]
}`

// demoScript is what the stand-ins say, by what they are asked for.
var demoScript = []struct{ asked, said string }{
	{"Your statement: a proposal", `**REST**, with one endpoint a page.

- The mobile client caches by URL already.
- src/api/checkout.ts stays small.

What would change my mind: a client that needs half of the fields.`},
	{"Your statement: a critique", `The strongest part is the cache. The risk is the order page: it asks for each line on its own, so that ten lines are
eleven requests.

Let the endpoint answer with the lines, or take GraphQL for that page alone.`},
	{"Your statement: a revision", `Right: eleven requests are ten too many. Revised:

1. GET /api/checkout answers with the order *and* its lines.
2. src/web/checkout.tsx asks once.

GraphQL stays an alternative for a second client.`},
}

// demoCast are the scripted stand-ins of the demonstration, which bear the names of the programs that they stand for. pace is the time
// between two words.
func demoCast(pace time.Duration) []turn.Provider {
	critiques := 0
	script := func(_ int, t turn.Turn) sim.Step {
		step := sim.Step{Pace: pace, Delay: 10 * pace, Usage: turn.Usage{Input: int64(len(t.Prompt)) / 4, Output: 60, Known: true}}
		for _, line := range demoScript {
			if strings.Contains(t.Prompt, line.asked) {
				step.Text = line.said
			}
		}
		switch {
		case t.Schema != nil:
			step.Text, step.Data = "The synthesis.", []byte(demoSynthesis)
		case strings.Contains(t.Prompt, demoScript[1].asked):
			if critiques++; critiques > 1 {
				step.Text = "Agreed on one request. Still open: who invalidates the cache when a price changes? A test of that belongs to the endpoint."
			}
		}
		return step
	}
	return []turn.Provider{sim.New(sim.Options{Name: demoBackend, Script: script}), sim.New(sim.Options{Name: demoFrontend, Script: script})}
}
