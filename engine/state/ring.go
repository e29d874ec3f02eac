package state

// ring is a list that keeps its newest items. Its memory is shared with clones until one of them changes it.
type ring[T any] struct {
	items  []T // up to twice as many as are kept, so that trimming is rare
	shared bool
}

// all is what is kept, oldest first. It must not be changed or held.
func (r *ring[T]) all(keep int) []T { return r.items[max(0, len(r.items)-keep):] }

// push adds the newest item and reports which one is no longer kept, if any.
func (r *ring[T]) push(item T, keep int) (dropped T, full bool) {
	if full = len(r.items) >= keep; full {
		dropped = r.items[len(r.items)-keep]
	}
	switch {
	case len(r.items) >= 2*keep:
		r.items = append(make([]T, 0, 2*keep), r.items[len(r.items)-keep+1:]...)
		r.shared = false
	case r.shared:
		r.own()
	}
	r.items = append(r.items, item)
	return dropped, full
}

// own makes the items changeable in place.
func (r *ring[T]) own() {
	if r.shared {
		r.items = append(make([]T, 0, len(r.items)+len(r.items)/2+1), r.items...)
		r.shared = false
	}
}

// clone shares the items.
func (r *ring[T]) clone() ring[T] {
	r.shared = true
	return *r
}

// keepIf drops items for good.
func (r *ring[T]) keepIf(keep int, wanted func(*T) bool) {
	items := r.all(keep)
	kept := make([]T, 0, len(items))
	for i := range items {
		if wanted(&items[i]) {
			kept = append(kept, items[i])
		}
	}
	r.items, r.shared = kept, false
}
