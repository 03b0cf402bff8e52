package gate_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook/internal/delivery/gate"
	"surehook/internal/proof/world"
)

var start = world.Start()

func TestLimits_Reserve(t *testing.T) {
	t.Parallel()

	const tenth = 100 * time.Millisecond
	tests := []struct {
		name string
		slot time.Duration // from start
		n    int
		want []time.Duration
		next time.Duration
	}{
		{name: "an idle endpoint has room now", slot: -time.Hour, n: 1, want: []time.Duration{0}, next: tenth},
		{name: "the second waits for its slot", slot: -time.Hour, n: 3, want: []time.Duration{0, tenth, 2 * tenth}, next: 3 * tenth},
		{name: "a busy endpoint has room later", slot: time.Second, n: 2, want: []time.Duration{time.Second, time.Second + tenth}, next: time.Second + 2*tenth},
		{name: "exactly now is now", slot: 0, n: 1, want: []time.Duration{0}, next: tenth},
		{name: "zero slots", slot: time.Second, n: 0, want: nil, next: time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			next, slots := gate.Limits{RateSlot: start.Add(tt.slot)}.Reserve(tt.n, 10, start)
			var got []time.Duration
			for _, at := range slots {
				got = append(got, at.Sub(start))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" || next.RateSlot.Sub(start) != tt.next {
				t.Errorf("Reserve(%d) leaves %v; want %v; slots differ (-want +got):\n%s", tt.n, next.RateSlot.Sub(start), tt.next, diff)
			}
		})
	}
}

// A thousand waiting deliveries arrive at the rate, each delayed once.
func TestLimits_ReservePaces(t *testing.T) {
	t.Parallel()

	var l gate.Limits
	perSecond := map[int]int{}
	for range 100 {
		var slots []time.Time
		l, slots = l.Reserve(10, 10, start)
		for _, at := range slots {
			perSecond[int(at.Sub(start)/time.Second)]++
		}
	}
	for second := range 30 {
		if got := perSecond[second]; got < 9 || got > 11 {
			t.Errorf("%d slots in second %d; want 10 +- 1", got, second)
		}
	}
}

func TestLimits_Lease(t *testing.T) {
	t.Parallel()

	held := gate.Limits{Leases: map[string]time.Time{"a": start.Add(time.Second), "gone": start}}
	tests := []struct {
		name    string
		holders []string
		limit   int
		granted int
		flight  int
	}{
		{name: "room for one more", holders: []string{"b"}, limit: 2, granted: 1, flight: 2},
		{name: "the first holders get the slots", holders: []string{"b", "c", "d"}, limit: 3, granted: 2, flight: 3},
		{name: "no slot is free", holders: []string{"b"}, limit: 1, granted: 0, flight: 1},
		{name: "a holder keeps its slot", holders: []string{"a"}, limit: 1, granted: 1, flight: 1},
		{name: "a lowered limit ends no lease", holders: []string{"b"}, limit: 0, granted: 0, flight: 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			next, granted := held.Lease(tt.holders, tt.limit, start)
			if granted != tt.granted || next.InFlight(start) != tt.flight {
				t.Errorf("Lease(%v, %d) grants %d of %d in flight; want %d of %d", tt.holders, tt.limit, granted, next.InFlight(start), tt.granted, tt.flight)
			}
			if len(held.Leases) != 2 {
				t.Errorf("Lease() changed its receiver to %v", held.Leases)
			}
		})
	}
}

func TestLimits_Reserved(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name string
		n    int           // reserved at the start, at 10 per second
		rate float64       // when asked
		at   time.Duration // when asked
		want int
	}{
		{name: "no slot", n: 0, rate: 10, at: 0, want: 0},
		{name: "the slot of now waits no more", n: 1, rate: 10, at: 0, want: 0},
		{name: "two of three wait", n: 3, rate: 10, at: 0, want: 2},
		{name: "just before the next slot", n: 3, rate: 10, at: 100*time.Millisecond - 1, want: 2},
		{name: "at the next slot", n: 3, rate: 10, at: 100 * time.Millisecond, want: 1},
		{name: "at the last slot", n: 3, rate: 10, at: 200 * time.Millisecond, want: 0},
		{name: "long afterwards", n: 3, rate: 10, at: time.Hour, want: 0},
		{name: "without a limit", n: 3, rate: 0, at: 0, want: 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			l := gate.Limits{}
			if tt.n > 0 {
				l, _ = l.Reserve(tt.n, 10, start)
			}
			if got := l.Reserved(tt.rate, start.Add(tt.at)); got != tt.want {
				t.Errorf("Reserved(%v, %s later) = %d; want %d", tt.rate, tt.at, got, tt.want)
			}
		})
	}
}

func TestLimits_LeasesExpire(t *testing.T) {
	t.Parallel()

	l, _ := gate.Limits{}.Lease([]string{"a", "b"}, 2, start)
	if got := l.InFlight(start.Add(gate.LeaseFor - 1)); got != 2 {
		t.Errorf("InFlight() just before the end = %d; want 2", got)
	}
	if got := l.InFlight(start.Add(gate.LeaseFor)); got != 0 {
		t.Errorf("InFlight() at the end = %d; want 0", got)
	}
	if got := l.Release([]string{"a"}).InFlight(start); got != 1 {
		t.Errorf("InFlight() after a release = %d; want 1", got)
	}
}
