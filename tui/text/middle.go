package text

// TruncateMiddle shortens plain text to at most w cells and keeps both ends, as names want that differ in their last letters; mid
// stands for what is missing.
func TruncateMiddle(s string, w int, mid string) string {
	if w <= 0 || Width(s) <= w {
		return Truncate(s, w, mid)
	}
	room := w - Width(mid)
	if room < 2 {
		return Truncate(s, w, mid)
	}
	head := Truncate(s, room/2, "")
	return head + mid + TruncateLeft(s, room-Width(head), "")
}

// FitMiddle is TruncateMiddle to exactly w cells.
func FitMiddle(s string, w int, mid string) string { return Pad(TruncateMiddle(s, w, mid), w) }
