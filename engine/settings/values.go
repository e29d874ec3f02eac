package settings

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
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

// Duration is a length of time, written as 30s, 10m or 2h.
type Duration time.Duration

// Allowed says how a length of time is written.
func (*Duration) Allowed() string { return "a length of time such as 30s, 10m or 2h" }

// UnmarshalText reads a length of time.
func (d *Duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	if err != nil || v <= 0 {
		return errors.New("no length of time")
	}
	*d = Duration(v)
	return nil
}

// String writes a length of time.
func (d Duration) String() string { return time.Duration(d).String() }
