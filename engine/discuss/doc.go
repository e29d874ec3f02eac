// Package discuss lets two agents compare approaches before either claims a file: a bounded discussion of strictly alternating
// statements that ends with a decision and everything that speaks against it.
//
// Each statement is a turn of an agent program with everything forbidden but answering. The turn is on record before it is submitted, and
// its end and the statement are one write: a discussion never has half of a step, and whoever goes on with one after a crash sees which
// turn was paid for and left nothing. What the other side is told is what was stored.
//
// The rules of the order, the prompts, the synthesis and the plan of an implementation are pure. Discussion runs them.
package discuss
