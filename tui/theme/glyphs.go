package theme

// Glyphs are the marks that the cockpit draws. Each is one cell wide on every terminal, except the words of the ASCII set.
type Glyphs struct {
	TopLeft, TopRight, BottomLeft, BottomRight string
	Horizontal, Vertical                       string
	Branch, LastBranch, Trunk                  string // of trees, two cells each
	Open, Closed                               string // a directory that shows or hides what is below it
	Pointer                                    string // beside the selected row
	Exclusive, Shared                          string
	Yes, No                                    string
	Live, Idle, Gone                           string
	Warning, Stop, Time                        string
	Drift                                      string // changed where another agent works
	Ellipsis, Dot, Arrow, GitBranch            string
	Up, Down                                   string
	Spin                                       string // the faces of something that is under way, one after the other
}

var unicodeGlyphs = Glyphs{
	TopLeft: "╭", TopRight: "╮", BottomLeft: "╰", BottomRight: "╯",
	Horizontal: "─", Vertical: "│",
	Branch: "├ ", LastBranch: "└ ", Trunk: "│ ",
	Open: "▾", Closed: "▸",
	Pointer:   "▌",
	Exclusive: "■", Shared: "□",
	Yes: "✓", No: "✗",
	Live: "●", Idle: "○", Gone: "×",
	Warning: "!", Stop: "■", Time: "◷", Drift: "≠",
	Ellipsis: "…", Dot: "·", Arrow: "→", GitBranch: "⎇",
	Up: "↑", Down: "↓",
	Spin: "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏",
}

var asciiGlyphs = Glyphs{
	TopLeft: "+", TopRight: "+", BottomLeft: "+", BottomRight: "+",
	Horizontal: "-", Vertical: "|",
	Branch: "|-", LastBranch: "`-", Trunk: "| ",
	Open: "v", Closed: ">",
	Pointer:   ">",
	Exclusive: "#", Shared: "o",
	Yes: "+", No: "-",
	Live: "*", Idle: "o", Gone: "x",
	Warning: "!", Stop: "#", Time: "@", Drift: "%",
	Ellipsis: "~", Dot: "-", Arrow: ">", GitBranch: "@",
	Up: "^", Down: "v",
	Spin: `|/-\`,
}
