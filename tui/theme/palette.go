package theme

import "github.com/charmbracelet/lipgloss"

// color gives one hue for dark and light backgrounds, each in true colour, in the 256-colour palette, and in the sixteen colours that
// every terminal lets its user choose.
func color(dark, dark256, dark16, light, light256, light16 string) lipgloss.CompleteAdaptiveColor {
	return lipgloss.CompleteAdaptiveColor{
		Dark:  lipgloss.CompleteColor{TrueColor: dark, ANSI256: dark256, ANSI: dark16},
		Light: lipgloss.CompleteColor{TrueColor: light, ANSI256: light256, ANSI: light16},
	}
}

var (
	grey   = color("#8b949e", "245", "7", "#656d76", "242", "8")
	line   = color("#3d444d", "238", "8", "#d0d7de", "252", "7")
	band   = color("#262c36", "236", "8", "#eaeef2", "254", "7")
	blue   = color("#6cb6ff", "75", "12", "#0969da", "26", "4")
	green  = color("#6bc46d", "114", "10", "#1a7f37", "28", "2")
	yellow = color("#daaa3f", "179", "11", "#9a6700", "94", "3")
	red    = color("#f47067", "203", "9", "#cf222e", "160", "1")

	onRed    = color("#0d1117", "233", "0", "#ffffff", "231", "15")
	onYellow = onRed
)

// ownerColors tell agents apart. They keep away from green, yellow and red, which mean something.
var ownerColors = []lipgloss.CompleteAdaptiveColor{
	color("#f69d50", "215", "3", "#bc4c00", "130", "3"),  // orange
	color("#39c5cf", "80", "14", "#1b7c83", "30", "6"),   // teal
	color("#dcbdfb", "183", "13", "#8250df", "98", "5"),  // violet
	color("#96d0ff", "117", "12", "#0550ae", "25", "4"),  // sky
	color("#fc8dc7", "212", "5", "#bf3989", "162", "13"), // pink
	color("#d6cfa7", "187", "15", "#57606a", "240", "0"), // sand
}
