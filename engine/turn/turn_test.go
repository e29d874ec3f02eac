package turn

import (
	"errors"
	"strings"
	"testing"
)

func TestFailureTellsItsKindInWords(t *testing.T) {
	kinds := []Kind{
		NotInstalled, NotSignedIn, UnknownSession, SessionBusy, Quota, Overloaded, Unreachable, TooLong, Timeout, Cancelled, Forbidden, Nonsense,
		Rejected, Crashed,
	}
	seen := map[string]bool{}
	for _, kind := range kinds {
		text := (&Failure{Provider: "p", Kind: kind}).Error()
		if seen[text] || !strings.HasPrefix(text, "p: ") || strings.Contains(text, "_") {
			t.Errorf("%s: %q", kind, text)
		}
		seen[text] = true
	}
	cause := errors.New("cause")
	failure := &Failure{Provider: "p", Kind: Timeout, Message: "after 2s", Hints: []string{"wait"}, Err: cause}
	if failure.Error() != "p: no answer in time: after 2s" || !errors.Is(failure, cause) || failure.Hint()[0] != "wait" {
		t.Errorf("%v", failure)
	}
}

func TestUsageAddsUp(t *testing.T) {
	sum := Usage{Input: 1, Cached: 2, Output: 3, Cost: 0.5, Priced: true}.Add(Usage{Input: 10, Cached: 20, Output: 30, Known: true})
	if want := (Usage{Input: 11, Cached: 22, Output: 33, Cost: 0.5, Priced: true, Known: true}); sum != want || sum.Tokens() != 44 {
		t.Errorf("sum %+v", sum)
	}
}
