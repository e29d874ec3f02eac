package pane

import (
	"fmt"
	"strconv"

	"github.com/agentloadout/loadout/engine/state"
)

// Thousands writes a count in about three digits: 950, 41k, 1.2M.
func Thousands(n int64) string {
	switch {
	case n < 1000:
		return strconv.FormatInt(n, 10)
	case n < 1_000_000:
		return fmt.Sprintf("%dk", n/1000)
	}
	return fmt.Sprintf("%.1fM", float64(n)/1e6)
}

// Usage says what turns used in tokens and money, as far as it is known: "41k tok $0.38".
func Usage(u state.Usage) string {
	said := ""
	if u.Known {
		said = Thousands(u.Tokens()) + " tok"
	}
	if u.Priced {
		if said != "" {
			said += " "
		}
		said += fmt.Sprintf("$%.2f", float64(u.CostMicros)/1e6)
	}
	return said
}
