// Package connect writes Loadout into the configuration of agent programs and takes it out again. It changes no other byte of a file,
// keeps its mode and links, refuses what it cannot read, and keeps a copy of what was there before it writes.
package connect
