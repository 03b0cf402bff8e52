package stats

import (
	"iter"
	"slices"
	"strings"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/latency"
)

// MaxTypes bounds the event types with counts of their own, per endpoint and hour. The first
// types of the hour get counts of their own, and all others count as other. With 8 types the item
// of an hour stays below 1,024 bytes, one write unit.
const MaxTypes = 8

// TypeCounts are the counters of one event type. Values compare with ==.
type TypeCounts struct {
	Type      string                    // empty for the other types
	Succeeded [hook.MaxRequests + 1]int // successful attempts by number, from 1
	Failed    [hook.MaxRequests + 1]int // all other attempts by number, from 1
	Dead      int                       // see Counts.Dead
	Latency   latency.Coarse            // like Counts.Latency
}

// count adds an attempt, without the latency.
func (t *TypeCounts) count(a Attempt) {
	switch {
	case a.Number < 1 || a.Number >= len(t.Failed) || a.Class == 0:
	case a.Class == hook.ClassDelivered:
		t.Succeeded[a.Number]++
	default:
		t.Failed[a.Number]++
	}
	if a.State == hook.StateDead {
		t.Dead++
	}
}

// Add adds other counts. The type stays.
func (t *TypeCounts) Add(other *TypeCounts) {
	latency.AddEach(t.Succeeded[:], other.Succeeded[:])
	latency.AddEach(t.Failed[:], other.Failed[:])
	t.Dead += other.Dead
	t.Latency.Merge(other.Latency)
}

// Delivered returns the number of successful attempts.
func (t *TypeCounts) Delivered() int { return latency.Total(t.Succeeded[:]) }

// Attempts returns the number of attempts.
func (t *TypeCounts) Attempts() int { return t.Delivered() + latency.Total(t.Failed[:]) }

// Types holds the counts of the event types of one endpoint and hour. The zero value
// is empty. Values compare with ==.
type Types struct {
	Named [MaxTypes]TypeCounts // by type; unused entries at the end
	Other TypeCounts           // types without an entry, and an unknown type
}

// Of returns the counts of the type, for the caller to change. It adds an entry for a new type.
// It returns Other for the empty type, and if there is no room for another type.
func (t *Types) Of(eventType string) *TypeCounts {
	if eventType == "" {
		return &t.Other
	}
	used := t.Len()
	i, found := slices.BinarySearchFunc(t.Named[:used], eventType, func(c TypeCounts, name string) int { return strings.Compare(c.Type, name) })
	switch {
	case found:
	case used == MaxTypes:
		return &t.Other
	default:
		copy(t.Named[i+1:], t.Named[i:used])
		t.Named[i] = TypeCounts{Type: eventType}
	}
	return &t.Named[i]
}

// Len returns the number of types with counts of their own.
func (t *Types) Len() int {
	used := 0
	for used < MaxTypes && t.Named[used].Type != "" {
		used++
	}
	return used
}

// Add adds other counts. Types for which there is no room count as other.
func (t *Types) Add(other *Types) {
	for _, c := range other.All() {
		t.Of(c.Type).Add(c)
	}
}

// Keep moves the counts of all types that are not kept to Other.
func (t *Types) Keep(kept func(eventType string) bool) {
	all := *t
	*t = Types{Other: all.Other}
	for i := range all.Len() {
		to, c := &t.Other, &all.Named[i]
		if kept(c.Type) {
			to = t.Of(c.Type)
		}
		to.Add(c)
	}
}

// All returns the counts in the order of types, then Other with an empty type. Other
// without counts is left out.
func (t *Types) All() iter.Seq2[string, *TypeCounts] {
	return func(yield func(string, *TypeCounts) bool) {
		for i := range t.Len() {
			if !yield(t.Named[i].Type, &t.Named[i]) {
				return
			}
		}
		if t.Other != (TypeCounts{}) {
			yield("", &t.Other)
		}
	}
}

// ByAttempts returns the delivered deliveries of all types by the number of the
// successful attempt, from 1.
func (t *Types) ByAttempts() [hook.MaxRequests + 1]int {
	var all TypeCounts
	for _, c := range t.All() {
		all.Add(c)
	}
	return all.Succeeded
}
