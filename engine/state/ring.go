package state

import "iter"

// ring is a list that keeps its newest items. Its memory is shared with clones until one of them changes it.
type ring[T any] struct {
	items  []T
	first  int // place of the oldest item
	shared bool
}

func (r *ring[T]) len() int { return len(r.items) }

// at returns an item, 0 being the oldest. It must not be changed unless own was called, and not be held.
func (r *ring[T]) at(i int) *T {
	if i += r.first; i >= len(r.items) {
		i -= len(r.items)
	}
	return &r.items[i]
}

// newest yields the items from the newest to the oldest, with their places.
func (r *ring[T]) newest() iter.Seq2[int, *T] {
	return func(yield func(int, *T) bool) {
		for i := len(r.items) - 1; i >= 0; i-- {
			if !yield(i, r.at(i)) {
				return
			}
		}
	}
}

// list copies the items, oldest first.
func (r *ring[T]) list() []T {
	list := make([]T, 0, len(r.items))
	return append(append(list, r.items[r.first:]...), r.items[:r.first]...)
}

// next makes room for the newest item and returns its place. When there are keep items already, that is the place of the oldest,
// which still is there and is to be overwritten: full then.
func (r *ring[T]) next(keep int) (item *T, full bool) {
	r.own()
	if len(r.items) < keep {
		var none T
		r.items = append(r.items, none)
		return &r.items[len(r.items)-1], false
	}
	item = &r.items[r.first]
	if r.first++; r.first == keep {
		r.first = 0
	}
	return item, true
}

// push adds the newest item.
func (r *ring[T]) push(item T, keep int) {
	place, _ := r.next(keep)
	*place = item
}

// own makes the items changeable in place.
func (r *ring[T]) own() {
	if r.shared {
		*r = ring[T]{items: r.list()}
	}
}

// clone shares the items.
func (r *ring[T]) clone() ring[T] {
	r.shared = true
	return *r
}

// keepIf drops items for good.
func (r *ring[T]) keepIf(wanted func(*T) bool) {
	kept := make([]T, 0, len(r.items))
	for i := range r.items {
		if item := r.at(i); wanted(item) {
			kept = append(kept, *item)
		}
	}
	*r = ring[T]{items: kept}
}
