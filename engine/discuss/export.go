package discuss

import (
	"fmt"
	"html"
	"regexp"
	"strings"
	"time"

	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/safetext"
)

// Markdown is the thread as a document. What was said is quoted, so that no statement can end its own part or begin another's.
func Markdown(t *Thread) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Discussion %s\n\n", inline(t.ThreadID))
	b.WriteString(quote(t.Topic) + "\n")
	fmt.Fprintf(&b, "- Proposer: %s\n- Reviewer: %s\n- Status: %s\n- Begun: %s\n- Last statement: %s\n",
		inline(t.Participants[0]), inline(t.Participants[1]), t.Status, stamp(t.StartedAt), stamp(t.UpdatedAt))
	for _, s := range t.Statements {
		switch s.Kind {
		case event.KindProposal, event.KindCritique, event.KindRevision:
			fmt.Fprintf(&b, "\n## Round %d: %s by %s\n\n%s", s.Round, s.Kind, inline(s.From), quote(s.Content))
		case event.KindStarted, event.KindSummary, event.KindClosed:
		}
	}
	if c := t.Conclusion(); c != nil {
		fmt.Fprintf(&b, "\n## Decision\n\n%s", quote(c.Decision))
		if c.Rationale != "" {
			fmt.Fprintf(&b, "\n### Why\n\n%s", quote(c.Rationale))
		}
		for _, l := range c.Lists() {
			fmt.Fprintf(&b, "\n### %s\n\n", l.Head)
			for _, item := range l.Items {
				b.WriteString("- " + strings.ReplaceAll(strings.TrimSuffix(quote(item), "\n"), "\n", "\n  ") + "\n")
			}
		}
	} else if t.Failure != "" {
		fmt.Fprintf(&b, "\n## Stopped\n\n%s", quote(t.Failure))
	}
	return b.String()
}

// inline makes a name one that Markdown leaves alone.
func inline(s string) string {
	return "`" + strings.ReplaceAll(safetext.Line(s), "`", "'") + "`"
}

// What acts in a document: the beginning of HTML, and what makes a link or a picture of the brackets before it.
var (
	tag  = regexp.MustCompile(`<([A-Za-z/!?])`)
	link = strings.NewReplacer("](", `]\(`, "]:", `]\:`)
)

// quote puts a text behind marks of a quotation. It stays Markdown but for HTML, links and pictures, which are shown as they were written.
func quote(text string) string {
	text = link.Replace(tag.ReplaceAllString(strings.TrimSpace(safetext.Block(text)), "&lt;$1"))
	return "> " + strings.ReplaceAll(text, "\n", "\n> ") + "\n"
}

// stamp writes a moment for people who may be anywhere.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }

const page = `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>%s</title>
<style>
:root{color-scheme:light dark}
body{font:16px/1.5 system-ui,sans-serif;max-width:46rem;margin:2rem auto;padding:0 1rem}
article{border-left:3px solid #888;margin:1.5rem 0;padding:.1rem 1rem}
article.reviewer{border-color:#c80}article.proposer{border-color:#07c}section{border:1px solid #888;border-radius:6px;padding:0 1rem}
header{font-size:.9rem;opacity:.8}pre{white-space:pre-wrap;overflow-wrap:anywhere;font:inherit}
</style>
</head>
<body>
`

// HTML is the thread as one page that loads nothing. Everything that was written by anybody is escaped.
func HTML(t *Thread) string {
	var b strings.Builder
	text := func(s string) string { return html.EscapeString(strings.TrimSpace(safetext.Block(s))) }
	fmt.Fprintf(&b, page, text(safetext.Line("Discussion "+t.ThreadID)))
	fmt.Fprintf(&b, "<h1>Discussion %s</h1>\n<pre>%s</pre>\n<p>%s (proposer) and %s (reviewer), %s, %s to %s</p>\n",
		text(t.ThreadID), text(t.Topic), text(t.Participants[0]), text(t.Participants[1]), text(t.Status), stamp(t.StartedAt), stamp(t.UpdatedAt))
	for _, s := range t.Statements {
		switch s.Kind {
		case event.KindProposal, event.KindCritique, event.KindRevision:
			fmt.Fprintf(&b, "<article class=\"%s\">\n<header>Round %d, %s by %s, %s</header>\n<pre>%s</pre>\n</article>\n",
				text(s.Role), s.Round, text(string(s.Kind)), text(s.From), stamp(s.At), text(s.Content))
		case event.KindStarted, event.KindSummary, event.KindClosed:
		}
	}
	if c := t.Conclusion(); c != nil {
		fmt.Fprintf(&b, "<section>\n<h2>Decision</h2>\n<pre><strong>%s</strong></pre>\n", text(c.Decision))
		if c.Rationale != "" {
			fmt.Fprintf(&b, "<h3>Why</h3>\n<pre>%s</pre>\n", text(c.Rationale))
		}
		for _, l := range c.Lists() {
			fmt.Fprintf(&b, "<h3>%s</h3>\n<ul>\n", l.Head)
			for _, item := range l.Items {
				fmt.Fprintf(&b, "<li><pre>%s</pre></li>\n", text(item))
			}
			b.WriteString("</ul>\n")
		}
		b.WriteString("</section>\n")
	} else if t.Failure != "" {
		fmt.Fprintf(&b, "<section>\n<h2>Stopped</h2>\n<pre>%s</pre>\n</section>\n", text(t.Failure))
	}
	b.WriteString("</body>\n</html>\n")
	return b.String()
}
