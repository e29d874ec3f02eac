package state

import (
	"encoding/binary"
	"errors"
	"math"
	"time"
)

// errDamaged says that marshalled bytes are not what AppendBinary wrote.
var errDamaged = errors.New("marshalled state is damaged")

// wire carries values to or from bytes. One description of a value serves both ways, so that reading cannot drift from writing:
// when decoding, a method sets what its argument points to, else it reads that.
//
// Numbers are variable-length, sequence numbers and times as differences to the one before, and a name that comes again is a
// reference. Decoded strings share the memory of the whole.
type wire struct {
	decoding bool
	out      []byte
	in       string // what is decoded
	pos      int    // how far
	err      error

	seq    int64 // the sequence number before
	milli  int64 // the time before, in Unix milliseconds
	names  []string
	places map[string]int // name → place in names, encoding only
}

func newEncoder() *wire { return &wire{places: map[string]int{}} }

// fail notes the damage. Nothing is left to decode then.
func (w *wire) fail() {
	w.err = errDamaged
	w.pos = len(w.in)
}

func (w *wire) uint(p *uint64) {
	switch {
	case !w.decoding:
		w.out = binary.AppendUvarint(w.out, *p)
	case w.pos < len(w.in) && w.in[w.pos] < 0x80: // one byte, as most are
		*p = uint64(w.in[w.pos])
		w.pos++
	default:
		*p = w.longUint()
	}
}

func (w *wire) longUint() (v uint64) {
	for i := 0; w.pos < len(w.in) && i < binary.MaxVarintLen64; i++ {
		b := w.in[w.pos]
		w.pos++
		v |= uint64(b&0x7f) << (7 * i)
		if b < 0x80 {
			return v
		}
	}
	w.fail()
	return 0
}

// int carries a number that may be negative.
func (w *wire) int(p *int64) {
	zigzag := uint64(*p<<1) ^ uint64(*p>>63)
	w.uint(&zigzag)
	if w.decoding {
		*p = int64(zigzag>>1) ^ -int64(zigzag&1)
	}
}

// small carries an int.
func (w *wire) small(p *int) {
	v := int64(*p)
	if w.int(&v); w.decoding {
		*p = int(v)
	}
}

func (w *wire) bool(p *bool) {
	var v uint64
	if *p {
		v = 1
	}
	if w.uint(&v); w.decoding {
		*p = v != 0
	}
}

// number carries a sequence number.
func (w *wire) number(p *int64) {
	step := *p - w.seq
	w.int(&step)
	if w.decoding {
		*p = w.seq + step
	}
	w.seq = *p
}

// time carries a time of UTC, the zero one as such. Milliseconds are what timestamps usually have; the rest goes apart.
func (w *wire) time(p *time.Time) {
	const zero, exact, finer = 0, 1, 2
	form, milli, nanos := uint64(exact), int64(0), uint64(0)
	if !w.decoding {
		milli, nanos = p.UnixMilli(), uint64(p.Nanosecond()%1e6)
		switch {
		case p.IsZero():
			form = zero
		case nanos != 0:
			form = finer
		}
	}
	w.uint(&form)
	if form == zero {
		if w.decoding {
			*p = time.Time{}
		}
		return
	}
	step := milli - w.milli
	w.int(&step)
	if form == finer {
		w.uint(&nanos)
	}
	w.milli += step
	if w.decoding {
		*p = time.Unix(w.milli/1000, w.milli%1000*1e6+int64(nanos%1e6)).UTC()
	}
}

// moment carries a time that may be absent.
func (w *wire) moment(p **time.Time) {
	present := *p != nil
	w.bool(&present)
	switch {
	case !present:
	case w.decoding:
		*p = new(time.Time)
		w.time(*p)
	default:
		w.time(*p)
	}
}

// text carries a string.
func (w *wire) text(p *string) {
	n := uint64(len(*p))
	w.uint(&n)
	if !w.decoding {
		w.out = append(w.out, *p...)
		return
	}
	if n > uint64(len(w.in)-w.pos) {
		w.fail()
		*p = ""
		return
	}
	end := w.pos + int(n)
	*p = w.in[w.pos:end]
	w.pos = end
}

// name carries a string that often comes again.
func (w *wire) name(p *string) {
	if !w.decoding {
		place, known := w.places[*p]
		if known {
			v := uint64(place) + 1
			w.uint(&v)
			return
		}
		w.places[*p] = len(w.places)
		v := uint64(0)
		w.uint(&v)
		w.text(p)
		return
	}
	var v uint64
	w.uint(&v)
	switch {
	case v == 0:
		w.text(p)
		w.names = append(w.names, *p)
	case v <= uint64(len(w.names)):
		*p = w.names[v-1]
	default:
		w.fail()
	}
}

// word is name for a type of strings.
func word[T ~string](w *wire, p *T) {
	s := string(*p)
	if w.name(&s); w.decoding {
		*p = T(s)
	}
}

// length carries the length of a list. Each element takes at least a byte, so that damage cannot ask for much memory.
func (w *wire) length(n int) int {
	v := uint64(n)
	w.uint(&v)
	if w.decoding && v > uint64(len(w.in)-w.pos) {
		w.fail()
		return 0
	}
	return int(min(v, math.MaxInt32))
}

// list carries a slice. An empty one decodes to nil.
func list[T any](w *wire, p *[]T, each func(*wire, *T)) {
	n := w.length(len(*p))
	if w.decoding {
		*p = nil
		if n > 0 {
			*p = make([]T, n)
		}
	}
	for i := range *p {
		each(w, &(*p)[i])
	}
}

// strings carries a list of strings.
func (w *wire) strings(p *[]string) { list(w, p, (*wire).name) }
