package store

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"time"
	"unicode/utf8"
)

// Owner describes who took a lock last, as the holder wrote it down for people
// to read. It decides nothing: only the operating system knows who holds it.
type Owner struct {
	Since   time.Time `json:"since"`
	PID     int       `json:"pid"`
	Host    string    `json:"host"`
	Command string    `json:"command"`
}

// String says who it is; since when is for those to say who know how the reader counts time.
func (o Owner) String() string {
	if o.PID == 0 {
		return "an unknown process"
	}
	return fmt.Sprintf("%s (process %d on %s)", o.Command, o.PID, o.Host)
}

// ownerBytes is the fixed size of the owner record. It is overwritten in place and
// never truncated, so that it costs one small write and no change of the size.
const ownerBytes = 512

// ownerTime is a format of fixed width, so that only the time is written anew. It
// is as fine as to be another one each time.
const ownerTime = "2006-01-02T15:04:05.000000000Z"

const ownerPrefix = `{"since":"`

// ownerRecord returns the record of this process with a placeholder of the time.
func ownerRecord(command string) []byte {
	host, _ := os.Hostname()
	rest, err := json.Marshal(struct {
		PID     int    `json:"pid"`
		Host    string `json:"host"`
		Command string `json:"command"`
	}{os.Getpid(), cutText(host, 32), cutText(command, 128)})
	if err != nil { // it has nothing that could fail
		rest = []byte("{}")
	}
	record := fmt.Appendf(nil, `%s%s",%s`, ownerPrefix, ownerTime, rest[1:])
	if len(record) >= ownerBytes { // a name that is mostly escapes
		return ownerRecord("")
	}
	record = append(record, bytes.Repeat([]byte{' '}, ownerBytes-len(record))...)
	record[ownerBytes-1] = '\n'
	return record
}

// readOwner returns who noted itself in a lock file last.
func (l *Log) readOwner(path string) (o Owner) {
	if json.Unmarshal(l.readRecord(path), &o) != nil {
		return Owner{}
	}
	o.Since = o.Since.Truncate(time.Millisecond) // as all times are told
	return o
}

// readRecord returns the owner record in a lock file, nil when it cannot be read.
func (l *Log) readRecord(path string) []byte {
	f, _, err := l.openSafe(path, os.O_RDONLY)
	if err != nil {
		return nil
	}
	record := make([]byte, ownerBytes)
	n, _ := f.ReadAt(record, ownerOffset)
	_ = f.Close() // it was only read
	return record[:n]
}

// cutText shortens s to at most n bytes of whole characters.
func cutText(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
