package redact

import "strings"

const (
	longestLabel = 80      // of a PEM boundary, between the dashes
	longestKey   = 1 << 14 // what lies between the boundaries of a key if it is not base64
	longestLine  = 1 << 9  // of a key; longer ones are taken in pieces
)

// privateKey finds a private key in PEM form (also PGP and SSH2 blocks) from its
// first dash to its last: whole, without its end, with line breaks as they are
// or written \n, or run together with blanks. Certificates and public keys stay.
func privateKey(c *scan, at int, r *rule) int {
	s := c.s
	head := at + len(r.prefix)
	labelEnd := strings.Index(s[head:min(len(s), head+longestLabel)], "----")
	dashes := at
	for dashes > 0 && (s[dashes-1] == '-' || s[dashes-1] == ' ') && at-dashes < 6 {
		dashes--
	}
	if at-dashes < 4 || labelEnd < 0 || !strings.Contains(s[head:head+labelEnd], "PRIVATE KEY") {
		return at
	}
	from := dashes
	for s[from] == ' ' {
		from++
	}
	body := dash.run(s[:min(len(s), head+labelEnd+5)], head+labelEnd)
	end := keyBody(s, body)

	// If the next boundary is an end, it is the end of this key.
	near := s[body:min(len(s), body+longestKey)]
	if next := strings.Index(near, "----"); next >= 0 {
		tail := strings.TrimLeft(near[next:], "- ")
		if strings.HasPrefix(tail, "END ") {
			end = len(s) - len(s[body:]) + len(near) - len(tail)
			tail = tail[:min(len(tail), longestLabel)]
			if stop := strings.Index(tail, "----"); stop >= 0 {
				end = dash.run(s, end+stop)
			} else {
				end += len(tail)
			}
		}
	}
	c.add(from, end)
	return end
}

// privateKeyTail finds the end of a private key whose start is not in the text.
func privateKeyTail(c *scan, at int, r *rule) int {
	s := c.s
	label := s[at+len(r.prefix):]
	label = label[:min(len(label), longestLabel)]
	stop := strings.Index(label, "-----")
	if stop < 0 || !strings.Contains(label[:stop], "PRIVATE KEY") {
		return at
	}
	floor := 0
	if n := len(c.spans); n > 0 {
		floor = c.spans[n-1].to
	}
	floor = max(floor, at-longestKey)
	from := at
	for from > floor {
		near := max(floor, from-longestLine)
		lo := near + strings.LastIndexByte(s[near:from-1], '\n') + 1
		if line := strings.TrimSuffix(s[lo:from], "\n"); !keyLine(line) {
			break
		}
		from = lo
	}
	if from == at {
		return at
	}
	end := at + len(r.prefix) + stop + len("-----")
	c.add(from, end)
	return end
}

// puttyKey finds the private lines of a PuTTY key and its authentication code.
func puttyKey(c *scan, at int, r *rule) int {
	from := skip(c.s, at+len(r.prefix))
	if r.prefix == "Private-MAC:" {
		end := anyHex.run(c.s, from)
		if end-from >= 32 {
			c.add(from, end)
		}
		return end
	}
	from = digit.run(c.s, from)
	end := keyBody(c.s, from)
	if end > from {
		for from < end && (isBlank(c.s[from]) || escapedBreak(c.s[from:]) > 0) {
			from += max(1, escapedBreak(c.s[from:]))
		}
		c.add(from, end)
	}
	return end
}

// keyBody returns the end of the lines after i that are part of a key: base64,
// blank lines between, and the headers of old PEM and of PGP.
func keyBody(s string, i int) int {
	const whole = 60 // length of a line that another, perhaps short, may follow
	end, full := i, true
	for i < len(s) {
		next, brk := nextBreak(s, i, i+longestLine)
		line := s[i:next]
		core := strings.Trim(line, decoration)
		switch {
		case core == "":
		case full && (b64 | dot).all(core), keyLine(line), keyHeader(line):
			end = i + len(strings.TrimRight(line, " \t\"'`,;"))
			full = len(core) >= whole
		default:
			return end
		}
		i = next + brk
	}
	return end
}

// decoration may surround a line of a key: indentation, quotation, diff and
// comment marks, string quotes and concatenation.
const decoration = " \t>|#*\"'`,;\\+-"

// keyLine reports whether a line has nothing but base64 of a length that no
// word has.
func keyLine(line string) bool {
	line = strings.Trim(line, decoration)
	if line == "" {
		return false
	}
	for line != "" {
		end := (b64 | dot).run(line, 0)
		if n := end; n < 16 && (n == 0 || line[n-1] != '=') {
			return false
		}
		line = line[end:]
		line = line[escapedBreak(line):]
		line = strings.TrimLeft(line, " \t")
	}
	return true
}

func keyHeader(line string) bool {
	line = strings.Trim(line, decoration)
	for _, name := range []string{"Proc-Type:", "DEK-Info:", "Version:", "Comment:", "Hash:", "Charset:", "Subject:"} {
		if strings.HasPrefix(line, name) {
			return true
		}
	}
	return false
}

// nextBreak returns where the line at i ends, within limit, and the length of its
// break, which may be written as an escape, once or twice.
func nextBreak(s string, i, limit int) (end, length int) {
	for stop := min(len(s), limit); i < stop; i++ {
		switch s[i] {
		case '\n', '\r':
			return i, 1
		case '\\':
			if n := escapedBreak(s[i:]); n > 0 {
				return i, n
			}
		}
	}
	return i, 0
}

// escapedBreak returns the length of the escapes \n, \r, \\n … that s starts
// with.
func escapedBreak(s string) int {
	n := 0
	for n < len(s) && s[n] == '\\' {
		n++
	}
	if n > 0 && n < len(s) && (s[n] == 'n' || s[n] == 'r') {
		return n + 1
	}
	return 0
}
