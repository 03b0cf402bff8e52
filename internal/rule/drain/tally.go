package drain

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Spans is the number of equal spans of age in which parked deliveries are counted.
const Spans = 8

// Tally is what was counted of an endpoint whose deliveries are too many for each look. Of a state with
// few deliveries it has none. Values compare with ==.
type Tally struct {
	At       time.Time `stored:"counted_at"` // zero: nothing was counted
	Partial  bool      `stored:"counted_partly"`
	Retrying int       `stored:"counted_retrying"`
	Dead     int       `stored:"counted_dead"`
	Parked   ByAge     `stored:"counted_parked"` // in equal spans from Oldest to Newest, the oldest first
	Oldest   time.Time `stored:"counted_from"`   // creation of the oldest parked delivery
	Newest   time.Time `stored:"counted_to"`     // of the newest one
}

// Total returns how many deliveries were counted.
func (t *Tally) Total() int { return t.Retrying + t.Dead + t.Parked.Sum() }

// Slices returns the parked deliveries for Of.
func (t *Tally) Slices() []Slice {
	all := []Slice{{Newest: t.Oldest, N: 1}}
	for i, n := range t.Parked {
		if i == 0 {
			n = max(n-1, 0)
		}
		all = append(all, Slice{Newest: t.End(i), N: n})
	}
	return all
}

// End returns the end of the span.
func (t *Tally) End(span int) time.Time {
	if span == Spans-1 {
		return t.Newest
	}
	return t.Oldest.Add(t.Newest.Sub(t.Oldest) / Spans * time.Duration(span+1)).Truncate(time.Millisecond)
}

// ByAge is a number of deliveries in each span. Its text has the numbers with spaces between them.
type ByAge [Spans]int

// Sum returns the number of all.
func (b ByAge) Sum() (sum int) {
	for _, n := range b {
		sum += n
	}
	return sum
}

// MarshalText never fails.
func (b ByAge) MarshalText() ([]byte, error) {
	return []byte(strings.Trim(fmt.Sprint([Spans]int(b)), "[]")), nil
}

var errSpans = errors.New("not a number for each span")

// UnmarshalText takes what MarshalText makes.
func (b *ByAge) UnmarshalText(text []byte) error {
	fields := strings.Fields(string(text))
	if len(fields) != Spans {
		return fmt.Errorf("read counts by age: %d numbers: %w", len(fields), errSpans)
	}
	for i, f := range fields {
		n, err := strconv.Atoi(f)
		if err != nil {
			return fmt.Errorf("read counts by age: %w", err)
		}
		b[i] = n
	}
	return nil
}
