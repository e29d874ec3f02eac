// Package process runs an agent's program for one turn and leaves nothing of it behind.
//
// A program gets a process group of its own, its input on stdin, and a deadline. It is stopped by an interrupt of the group
// and, after a grace period, by a kill of the group and of all descendants, those included that left the group for a session of
// their own. A second signal to end this process ends the grace. What it still has running when it ends by itself is killed too: Wait returns when the whole family is gone.
//
// Descendants are found in three ways, since each alone has gaps: by their parent, looked at while the program runs, so that one
// whose parent died is known already; by the program's group; and on Linux by a mark in the environment, which children
// inherit. A process is remembered with its time of start, so that a number that the system gave to another process is never
// hit. On Windows a job object holds the family.
//
// Memory is bounded whatever the program writes: lines of stdout by MaxLine, stdout in all by MaxOutput, of stderr the
// last MaxStderr bytes are kept.
package process
