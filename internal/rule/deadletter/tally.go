package deadletter

import (
	"cmp"
	"maps"
	"slices"
)

// tally counts keys in bounded memory. It is exact up to its limit of different
// keys; beyond, every count may be short by 1/(limit+1) of all that was added,
// and keys rarer than that may be missing (Misra and Gries: Finding repeated
// elements, Science of Computer Programming 2, 1982).
type tally[K cmp.Ordered] map[K]int

// add counts the key. When there is no place for it, it takes one from every
// other key with it, so that what is frequent stays.
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

// most returns the key that was counted most often, the smallest one of equals,
// or the zero value when there is none.
func (t tally[K]) most() K {
	var most K
	for _, key := range slices.Sorted(maps.Keys(t)) {
		if t[key] > t[most] {
			most = key
		}
	}
	return most
}

// densest returns the largest sum over keys of which the first and the last are
// less than width apart.
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
