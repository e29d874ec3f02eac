package settings

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/agentloadout/loadout/engine/turn"
	"github.com/agentloadout/loadout/engine/words"
)

// Bytes is a size, written as 512MiB or as a number of bytes. Negative is never.
type Bytes int64

var units = []struct {
	name string
	size int64
}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"", 1}}

// Allowed says how a size is written.
func (*Bytes) Allowed() string { return "a size such as 512MiB or 1GiB, a number of bytes, or never" }

// UnmarshalText reads a size.
func (b *Bytes) UnmarshalText(text []byte) error {
	s := string(text)
	if s == "never" {
		*b = -1
		return nil
	}
	for _, u := range units {
		digits, ok := strings.CutSuffix(s, u.name)
		if !ok {
			continue
		}
		n, err := strconv.ParseInt(digits, 10, 64)
		if err != nil || n <= 0 || n > math.MaxInt64/u.size {
			break
		}
		*b = Bytes(n * u.size)
		return nil
	}
	return errors.New("no size")
}

// String writes a size as UnmarshalText reads it.
func (b Bytes) String() string {
	if b < 0 {
		return "never"
	}
	for _, u := range units {
		if int64(b)%u.size == 0 && int64(b) >= u.size {
			return fmt.Sprintf("%d%s", int64(b)/u.size, u.name)
		}
	}
	return "0"
}

// Depth is the length of a chain of turns. Of a chain of none, no turn would be made.
type Depth int

// Allowed says which lengths there are.
func (*Depth) Allowed() string { return "a whole number from 1 on" }

// UnmarshalText reads a length.
func (d *Depth) UnmarshalText(text []byte) error {
	n, err := strconv.ParseInt(string(text), 10, 32)
	if err != nil || n < 1 {
		return errors.New("no length of a chain")
	}
	*d = Depth(n)
	return nil
}

// TurnTime is how long a turn of an agent program may take, written as 30s or 5m.
type TurnTime time.Duration

// Allowed says how it is written, and its bounds, which are those of turns.
func (*TurnTime) Allowed() string {
	return fmt.Sprintf("a length of time from %s to %s, such as 90s", words.Span(turn.MinDeadline), words.Span(turn.MaxDeadline))
}

// UnmarshalText reads a length of time.
func (t *TurnTime) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	if err != nil || v < turn.MinDeadline || v > turn.MaxDeadline {
		return errors.New("no time that a turn may take")
	}
	*t = TurnTime(v)
	return nil
}

// String writes a length of time.
func (t TurnTime) String() string { return time.Duration(t).String() }
