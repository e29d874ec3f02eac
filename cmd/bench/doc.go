// Command bench measures loadout beside the least programs that could do the same, in one run on one machine, and prints the
// ratios as a Markdown table. Run it with `make bench`; `make bench WRITE=1` also records docs/benchmarks.md.
//
// Contenders take turns, so that a slow minute of a shared machine slows them all; medians are compared with medians and
// percentiles with percentiles. The programs below bare/ are separate binaries because a role of this one would start with
// every package of loadout linked in.
package main
