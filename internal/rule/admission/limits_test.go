package admission_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/rule/admission"
)

var start = time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)

// reserve reserves n rate slots at the start, and returns how long after the start they are.
func reserve(l admission.Limits, n int, perSecond float64) (next admission.Limits, slots []time.Duration) {
	for range n {
		var at time.Time
		l, at = l.Reserve(perSecond, start)
		slots = append(slots, at.Sub(start))
	}
	return l, slots
}

func TestLimits_Reserve(t *testing.T) {
	t.Parallel()

	const tenth = 100 * time.Millisecond
	tests := []struct {
		name string
		slot time.Duration // the first free slot, from start
		rate float64       // of the slots reserved before
		n    int           // slots to reserve, at 10 per second
		want []time.Duration
	}{
		{name: "an idle endpoint has room now", slot: -time.Hour, rate: 10, n: 1, want: []time.Duration{0}},
		{name: "slots less than half a second away are now", slot: -time.Hour, rate: 10, n: 7, want: []time.Duration{0, 0, 0, 0, 0, 5 * tenth, 6 * tenth}},
		{name: "a slot just less than half a second away is now", slot: 5*tenth - 1, rate: 10, n: 1, want: []time.Duration{0}},
		{name: "a slot half a second away is later", slot: 5 * tenth, rate: 10, n: 1, want: []time.Duration{5 * tenth}},
		{name: "a busy endpoint has room later", slot: time.Second, rate: 10, n: 2, want: []time.Duration{time.Second, time.Second + tenth}},
		{name: "a slot at the start is now", slot: 0, rate: 10, n: 1, want: []time.Duration{0}},
		{name: "36 slots reserved at a lower rate come first, at this one", slot: time.Hour, rate: 0.01, n: 2, want: []time.Duration{36 * tenth, 37 * tenth}},
		{name: "slots reserved at a higher rate keep their times", slot: time.Second, rate: 20, n: 2, want: []time.Duration{10 * tenth, 11 * tenth}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			next, got := reserve(admission.Limits{RateSlot: start.Add(tt.slot), Rate: tt.rate}, tt.n, 10)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("Reserve() differs (-want +got):\n%s", diff)
			}
			first := max(0, time.Duration(float64(tt.slot)*min(1, tt.rate/10)))
			if want := first + time.Duration(tt.n)*tenth; next.RateSlot.Sub(start) != want || next.Rate != 10 {
				t.Errorf("the next slot is %s at %v; want %s at 10", next.RateSlot.Sub(start), next.Rate, want)
			}
		})
	}
}

// The slots of a thousand waiting deliveries follow the rate, second by second.
func TestLimits_ReservePaces(t *testing.T) {
	t.Parallel()

	perSecond := map[int]int{}
	_, slots := reserve(admission.Limits{}, 1000, 10)
	for _, at := range slots {
		perSecond[int(at/time.Second)]++
	}
	for second := range 100 {
		if got := perSecond[second]; got < 9 || got > 11 {
			t.Errorf("%d slots in second %d; want 9 to 11", got, second)
		}
	}
}

func TestLimits_Reserved(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name string
		n    int           // reserved at the start, at 10 per second
		at   time.Duration // of the call, from the start
		want int           // deliveries that wait
	}{
		{name: "no reserved slot", n: 0, at: 0, want: 0},
		{name: "the slot of now does not wait", n: 1, at: 0, want: 0},
		{name: "two of three slots wait", n: 3, at: 0, want: 2},
		{name: "just before the next slot", n: 3, at: 100*time.Millisecond - 1, want: 2},
		{name: "at the next slot", n: 3, at: 100 * time.Millisecond, want: 1},
		{name: "at the last slot", n: 3, at: 200 * time.Millisecond, want: 0},
		{name: "long afterwards", n: 3, at: time.Hour, want: 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			l, _ := reserve(admission.Limits{}, tt.n, 10)
			if got := l.Reserved(start.Add(tt.at)); got != tt.want {
				t.Errorf("Reserved(%s later) = %d; want %d", tt.at, got, tt.want)
			}
		})
	}
}

func TestLimits_Leases(t *testing.T) {
	t.Parallel()

	held := func(key, nonce string) admission.Held {
		return admission.Held{Key: key, Lease: admission.Lease{Nonce: nonce, Until: start.Add(admission.LeaseFor)}}
	}
	one := admission.Limits{}.Begin(held("a", "1"))
	two := one.Begin(held("b", "2"))
	if one.InFlight(start) != 1 || two.InFlight(start) != 2 {
		t.Errorf("InFlight() = %d, then %d; want 1, then 2, because Begin does not change its receiver", one.InFlight(start), two.InFlight(start))
	}
	for at, want := range map[time.Duration]int{admission.LeaseFor - 1: 2, admission.LeaseFor: 0} {
		if got := two.InFlight(start.Add(at)); got != want || len(two.Live(start.Add(at)).Leases) != want {
			t.Errorf("InFlight(%s later) = %d, and %d leases live; want %d", at, got, len(two.Live(start.Add(at)).Leases), want)
		}
	}
	if got := two.End(held("a", "1"), held("b", "of another task"), held("c", "3")); got.InFlight(start) != 1 || got.Leases["b"].Nonce != "2" {
		t.Errorf("End() = %+v; want only the lease of b, which another task holds", got)
	}
	if len(two.Leases) != 2 {
		t.Errorf("End() changed its receiver to %+v; want two leases", two)
	}
}

func TestLimits_CountLate(t *testing.T) {
	t.Parallel()

	start := start.Truncate(time.Minute)
	l := admission.Limits{}.CountLate(2, start).CountLate(3, start.Add(time.Minute-1))
	if l.Late != 5 || !l.LateAt.Equal(start) {
		t.Errorf("late in one minute: %d since %s; want 5 since %s", l.Late, l.LateAt, start)
	}
	if l = l.CountLate(1, start.Add(time.Minute)); l.Late != 1 {
		t.Errorf("late in the next minute: %d; want 1", l.Late)
	}
}

// A process that did not get the lease of a task does not end the lease of a copy of the task.
func TestLimits_EndLeavesTheLeaseOfACopy(t *testing.T) {
	t.Parallel()

	lease := admission.Lease{Nonce: "n", Until: start.Add(admission.LeaseFor), Run: "of the copy"}
	l := admission.Limits{}.Begin(admission.Held{Key: "a", Lease: lease})
	for _, run := range []string{"", "own"} {
		other := lease
		other.Run = run
		if got := l.End(admission.Held{Key: "a", Lease: other}); got.InFlight(start) != 1 {
			t.Errorf("End() of run %q = %+v; want the lease of the copy kept", run, got)
		}
	}
	if got := l.End(admission.Held{Key: "a", Lease: lease}); got.InFlight(start) != 0 {
		t.Errorf("End() of the same lease = %+v; want no lease", got)
	}
}
