// Package mcp serves the coordination engine to one agent over the Model Context Protocol.
//
// It is an adapter: it turns tool calls into engine commands, and receipts, refusals and snapshots into tool results. The rules are
// the engine's. What is its own is who the server speaks for (speaker.go), that a bad line ends no connection (lines.go), that
// answers are bounded and say what they leave out, and that text which others wrote arrives cleaned and labelled as data.
//
// A Server is built when it is wanted, with all its schemas; the package does nothing when it is linked.
package mcp
