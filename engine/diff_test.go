package engine

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDiffTexts(t *testing.T) {
	long := strings.Repeat("same\n", 20)
	tests := []struct {
		name                    string
		from, to                string
		added, removed, changed int
		summary                 string
		unified                 string
	}{
		{"equal", "a\nb\n", "a\nb", 0, 0, 0, "No differences", ""},
		{"from nothing", "", "a\nb", 2, 0, 0, "2 added, 0 removed, 0 changed line(s)", "@@ -0,0 +1,2 @@\n+a\n+b\n"},
		{"to nothing", "a\n", "", 0, 1, 0, "0 added, 1 removed, 0 changed line(s)", "@@ -1,1 +0,0 @@\n-a\n"},
		{"replaced", "a\nb\nc", "a\nB\nc", 1, 1, 1, "1 added, 1 removed, 1 changed line(s)", "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n"},
		{"moved and doubled", "a\nb", "b\na\na", 2, 1, 0, "", ""},
		{
			"two hunks", "x\n" + long + "y\n", "X\n" + long + "Y\n", 2, 2, 2, "2 added, 2 removed, 2 changed line(s)",
			"@@ -1,4 +1,4 @@\n-x\n+X\n same\n same\n same\n@@ -19,4 +19,4 @@\n same\n same\n same\n-y\n+Y\n",
		},
		{
			"near changes share a hunk", "1\na\nb\nc\nd\ne\nf\n2", "I\na\nb\nc\nd\ne\nf\nII", 2, 2, 2, "",
			"@@ -1,8 +1,8 @@\n-1\n+I\n a\n b\n c\n d\n e\n f\n-2\n+II\n",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := diffTexts(ContractText{Name: "n", Revision: 1, Body: tt.from}, ContractText{Name: "n", Revision: 2, Body: tt.to})
			if len(d.Added) != tt.added || len(d.Removed) != tt.removed || tt.summary != "" && len(d.Changed) != tt.changed {
				t.Errorf("added %q, removed %q, changed %v; want %d, %d, %d", d.Added, d.Removed, d.Changed, tt.added, tt.removed, tt.changed)
			}
			if tt.summary != "" && d.Summary != tt.summary {
				t.Errorf("summary %q, want %q", d.Summary, tt.summary)
			}
			got := d.Unified()
			if head := "--- n rev1\n+++ n rev2\n"; tt.unified != "" {
				if diff := cmp.Diff(head+tt.unified, got); diff != "" {
					t.Errorf("unified (-want +got):\n%s", diff)
				}
			} else if tt.summary == "No differences" && got != "" {
				t.Errorf("unified of equal texts: %q", got)
			}
		})
	}
}

// TestDiffRebuilds proves that a difference holds the whole truth: the newer text comes out of the older one and the hunks.
func TestDiffRebuilds(t *testing.T) {
	from := splitLines("a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\nl\nm\nn\n")
	to := splitLines("a\nc\nb\nd\ne\nf\ng\nh\nI\nj\nk\nl\nl\nm\no\n")
	var rebuilt []string
	next := 1
	for _, h := range hunks(from, to) {
		for ; next < h.FromLine; next++ {
			rebuilt = append(rebuilt, from[next-1])
		}
		for _, l := range h.Lines {
			if l.Kind != DiffRemoved {
				rebuilt = append(rebuilt, l.Text)
			}
		}
		next += h.FromCount
	}
	rebuilt = append(rebuilt, from[next-1:]...)
	if diff := cmp.Diff(to, rebuilt); diff != "" {
		t.Errorf("rebuilt (-want +got):\n%s", diff)
	}
}
