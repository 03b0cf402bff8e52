package deadletter

import (
	"cmp"
	"maps"
	"slices"
)

// tally counts keys in bounded memory. Counts are exact up to limit distinct keys.
// Beyond limit, each count may be too low by up to 1/(limit+1) of all additions,
// and rarer keys may be missing (Misra and Gries: Finding repeated elements,
// Science of Computer Programming 2, 1982).
type tally[K cmp.Ordered] map[K]int

// add counts the key. A new key in a full tally is dropped and decrements every
// other count, so frequent keys remain.
func (t tally[K]) add(key K, limit int) {
	if _, known := t[key]; known || len(t) < limit {
		t[key]++
		return
	}
	for other := range t {
		if t[other]--; t[other] == 0 {
			delete(t, other)
		}
	}
}

// most returns the key with the highest count, the smallest key in a tie, and the
// zero value for an empty tally.
func (t tally[K]) most() K {
	var most K
	for _, key := range slices.Sorted(maps.Keys(t)) {
		if t[key] > t[most] {
			most = key
		}
	}
	return most
}

// densest returns the largest sum of counts over keys within a range shorter than
// width.
func densest(t tally[int64], width int64) int {
	keys := slices.Sorted(maps.Keys(t))
	densest, sum, first := 0, 0, 0
	for _, key := range keys {
		sum += t[key]
		for key-keys[first] >= width {
			sum -= t[keys[first]]
			first++
		}
		densest = max(densest, sum)
	}
	return densest
}
