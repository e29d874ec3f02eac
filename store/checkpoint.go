package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

const (
	cacheName      = "cache"
	checkpointName = cacheName + "/checkpoint"
	markPrefix     = "mark-"
	maxMarks       = 128

	// maxCheckpointBytes bounds what is read into memory.
	maxCheckpointBytes = 1 << 30

	// samples is how many pieces of sampleBytes, spread over the log, are compared
	// before a checkpoint is used. Their number does not depend on the log's size.
	samples     = 16
	sampleBytes = 1 << 10
)

// Checkpoint is a state derived from the log up to a position. It saves reading
// the log again and may be lost at any time.
type Checkpoint struct {
	Version string   // of the program and the form of State; another one is not used
	Pos     Position // up to which State was derived
	Index   Index
	State   []byte
}

// header is the second line of a checkpoint file; the index and the state follow
// it, and the first line has the checksum of all that.
type header struct {
	Version string   `json:"version"`
	Pos     Position `json:"pos"`
	Samples string   `json:"samples"` // digest of pieces spread over the log
	Index   int      `json:"index"`   // bytes
	State   int      `json:"state"`   // bytes
}

const checkpointMagic = "loadout-checkpoint "

// SaveCheckpoint stores the checkpoint for LoadCheckpoint. It takes no lock: the
// last of several writers wins, and whichever it is, the file is whole. It is not
// synced, because what a crash damages its checksum reveals.
func (l *Log) SaveCheckpoint(c Checkpoint) error { return l.saveCheckpoint(checkpointName, c) }

// LoadCheckpoint returns the checkpoint if it is from this version and from the
// log as it is. The error says why it is not usable: ErrNoCheckpoint, ErrVersion,
// ErrDamaged, ErrReplaced or ErrMissing. The cost does not grow with the log.
func (l *Log) LoadCheckpoint(version string) (Checkpoint, error) {
	return l.loadCheckpoint(checkpointName, version)
}

func (l *Log) saveCheckpoint(name string, c Checkpoint) error {
	f, err := l.openLog(c.Pos)
	if err == nil && f == nil {
		err = ErrMissing
	}
	if err != nil {
		return fmt.Errorf("save checkpoint: %w", err)
	}
	sum, err := sampleLog(f, c.Pos)
	if err = also(err, f.Close()); err != nil {
		return fmt.Errorf("save checkpoint: %w", err)
	}
	index := c.Index.appendTo(nil)
	head, err := json.Marshal(header{Version: c.Version, Pos: c.Pos, Samples: sum, Index: len(index), State: len(c.State)})
	if err != nil {
		return fmt.Errorf("save checkpoint: %w", err)
	}
	first := checkpointMagic + checksum(nil) + "\n"
	data := slices.Concat([]byte(first), head, []byte{'\n'}, index, c.State)
	copy(data[len(checkpointMagic):], checksum(data[len(first):]))
	return l.replaceFile(name, data, false)
}

func (l *Log) loadCheckpoint(name, version string) (Checkpoint, error) {
	data, err := l.ReadFile(name, maxCheckpointBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return Checkpoint{}, ErrNoCheckpoint
	}
	if err != nil {
		return Checkpoint{}, err
	}
	c, sum, err := decodeCheckpoint(data, version)
	if err != nil {
		return Checkpoint{}, err
	}
	f, err := l.openLog(c.Pos)
	if err == nil && f == nil {
		err = ErrMissing
	}
	if err != nil {
		return Checkpoint{}, err
	}
	now, err := sampleLog(f, c.Pos)
	if err == nil && now != sum {
		err = fmt.Errorf("%w: its text differs from that of the checkpoint", ErrReplaced)
	}
	if err = also(err, f.Close()); err != nil {
		return Checkpoint{}, err
	}
	return c, nil
}

// decodeCheckpoint reads a checkpoint file and returns the digest of the samples.
func decodeCheckpoint(data []byte, version string) (c Checkpoint, sum string, err error) {
	h, rest, ok := readHeader(data)
	if !ok || h.Index < 0 || h.State < 0 || h.Index+h.State != len(rest) {
		return c, "", ErrDamaged
	}
	if h.Version != version {
		return c, "", fmt.Errorf("%w: %s", ErrVersion, h.Version)
	}
	c = Checkpoint{Version: h.Version, Pos: h.Pos, State: rest[h.Index:]}
	if c.Index.decode(h.Pos.File, rest[:h.Index]) != nil {
		return c, "", ErrDamaged
	}
	return c, h.Samples, nil
}

// readHeader reads the header of an undamaged checkpoint file of any version and
// returns what follows it.
func readHeader(data []byte) (h header, rest []byte, ok bool) {
	first, body, ok := bytes.Cut(data, []byte{'\n'})
	if !ok || string(first) != checkpointMagic+checksum(body) {
		return h, nil, false
	}
	head, rest, _ := bytes.Cut(body, []byte{'\n'})
	return h, rest, json.Unmarshal(head, &h) == nil
}

func checksum(b []byte) string {
	return fmt.Sprintf("%08x", crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)))
}

// sampleLog checks that pos fits f and digests pieces spread evenly before it.
func sampleLog(f *source, pos Position) (string, error) {
	if _, err := pos.fits(f, true); err != nil {
		return "", err
	}
	pieces := make([]byte, 0, samples*sampleBytes)
	for i := range int64(samples) {
		from := pos.Offset / samples * i
		n := len(pieces)
		pieces = pieces[:n+int(min(sampleBytes, pos.Offset-from))]
		if err := readFull(f, pieces[n:], from); err != nil {
			return "", err
		}
	}
	return digest(pieces), nil
}

// SaveMark stores a checkpoint as the state at seq, for LoadMark. At most 128 are
// kept; those that lie closest to their neighbours go first.
func (l *Log) SaveMark(seq int64, c Checkpoint) error {
	if err := l.saveCheckpoint(markName(seq), c); err != nil {
		return err
	}
	marks, err := l.markSeqs()
	for err == nil && len(marks) > maxMarks {
		drop := 1
		for i := 2; i < len(marks)-1; i++ {
			if marks[i+1]-marks[i-1] < marks[drop+1]-marks[drop-1] {
				drop = i
			}
		}
		err = l.Remove(markName(marks[drop]))
		marks = slices.Delete(marks, drop, drop+1)
	}
	return err
}

// LoadMark returns the usable state mark with the highest seq up to maxSeq; it
// tries lower ones when that one is not usable. The error is that of the highest,
// ErrNoCheckpoint when there is none.
func (l *Log) LoadMark(maxSeq int64, version string) (Checkpoint, error) {
	marks, err := l.markSeqs()
	if err != nil {
		return Checkpoint{}, err
	}
	first := ErrNoCheckpoint
	for _, seq := range slices.Backward(marks) {
		if seq > maxSeq {
			continue
		}
		c, err := l.loadCheckpoint(markName(seq), version)
		if err == nil {
			return c, nil
		}
		if errors.Is(first, ErrNoCheckpoint) {
			first = err
		}
	}
	return Checkpoint{}, first
}

func markName(seq int64) string { return cacheName + "/" + markPrefix + strconv.FormatInt(seq, 10) }

// markSeqs returns the numbers of the state marks, ascending.
func (l *Log) markSeqs() ([]int64, error) {
	entries, err := l.fs.ReadDir(filepath.Join(l.dir, cacheName))
	if err != nil {
		return nil, ignoreMissing(err)
	}
	var marks []int64
	for _, entry := range entries {
		digits, ok := strings.CutPrefix(entry.Name(), markPrefix)
		if seq, err := strconv.ParseInt(digits, 10, 64); ok && err == nil && markName(seq) == cacheName+"/"+entry.Name() {
			marks = append(marks, seq)
		}
	}
	slices.Sort(marks)
	return marks, nil
}

// removeMarks drops the state marks of a log that was rewritten: no position in
// it is valid any more. What stays behind is not used either.
func (l *Log) removeMarks() {
	marks, _ := l.markSeqs()
	for _, seq := range marks {
		_ = l.fs.Remove(filepath.Join(l.dir, filepath.FromSlash(markName(seq))))
	}
}
