package admission_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
)

// held is a lease of the delivery evt_<name>, generation 1.
func held(name, nonce, run string, until time.Duration) admission.Held {
	return admission.Held{Key: name + "_1", Lease: admission.Lease{Nonce: nonce, Run: run, Until: start.Add(until)}}
}

// limitsOf returns limits with the leases.
func limitsOf(all ...admission.Held) admission.Limits {
	var l admission.Limits
	for _, h := range all {
		l = l.Begin(h)
	}
	return l
}

func TestLimits_Start(t *testing.T) {
	t.Parallel()

	own := held("own", "nonce", "run", admission.LeaseFor)
	tests := []struct {
		name   string
		before admission.Limits
		want   admission.Grant
	}{
		{name: "a free endpoint", want: admission.Started},
		{name: "a slot is left", before: limitsOf(held("a", "n", "r", time.Minute)), want: admission.Started},
		{name: "no slot is left", before: limitsOf(held("a", "n", "r", time.Minute), held("b", "n", "r", time.Minute)), want: admission.Full},
		{name: "an ended lease is a free slot", before: limitsOf(held("a", "n", "r", 0), held("b", "n", "r", time.Minute)), want: admission.Started},
		{name: "the sender claimed the slot", before: limitsOf(held("own", "nonce", "", time.Minute), held("b", "n", "r", time.Minute)), want: admission.Started},
		{name: "the slot is claimed for a later task", before: limitsOf(held("own", "other", "", time.Minute)), want: admission.Started},
		{name: "another task runs", before: limitsOf(held("own", "other", "run", time.Minute)), want: admission.Taken},
		{name: "a copy of the task runs", before: limitsOf(held("own", "nonce", "copy", time.Minute)), want: admission.Taken},
		{name: "the answer to the write was lost", before: limitsOf(own), want: admission.Running},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			after, got := tt.before.Start(own, 2, start)
			if got != tt.want {
				t.Errorf("Start() = %d; want %d", got, tt.want)
			}
			if has := after.Leases[own.Key] == own.Lease; has != (got == admission.Started || got == admission.Running) {
				t.Errorf("after the answer %d the limits hold the lease: %t", got, has)
			}
			if change := tt.before.To(after); got != admission.Started && !change.Empty() {
				t.Errorf("the answer %d changes %+v; want nothing", got, change)
			}
		})
	}
}

func TestLimits_Take(t *testing.T) {
	t.Parallel()

	a, b, c := held("a", "n", "", time.Minute), held("b", "n", "", time.Minute), held("c", "n", "", time.Minute)
	tests := []struct {
		name   string
		before admission.Limits
		want   []bool
		change bool
	}{
		{name: "two shares for three tasks", want: []bool{true, true, false}, change: true},
		{name: "a copy shares the share", before: limitsOf(b), want: []bool{true, true, false}, change: true},
		{name: "all shares are taken", before: limitsOf(held("x", "n", "", time.Minute), held("y", "n", "", time.Minute)), want: []bool{false, false, false}},
		{name: "an ended share is free", before: limitsOf(held("x", "n", "", 0), held("y", "n", "", time.Minute)), want: []bool{true, false, false}, change: true},
		{name: "copies alone need no write", before: limitsOf(a, b), want: []bool{true, true, false}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			after, got := tt.before, make([]bool, 3)
			for i, task := range []admission.Held{a, b, c} {
				after, got[i] = after.Take(task, 2, start)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("Take() differs (-want +got):\n%s", diff)
			}
			if change := tt.before.To(after); change.Empty() == tt.change {
				t.Errorf("Take() changes %+v; want a change: %t", change, tt.change)
			}
		})
	}
}

// parked is a parked delivery of the event, with attempts, parked at the time after start.
func parked(event string, attempts int, at time.Duration) hook.Delivery {
	return hook.Delivery{
		ID: hook.DeliveryID{Event: hook.EventID("evt_" + event), Endpoint: "ep", Generation: 1}, State: hook.StateParked, Attempts: attempts,
		CreatedAt: start.Add(at), UpdatedAt: start.Add(at),
	}
}

// events returns the events of the deliveries.
func events(all []hook.Delivery) string {
	text := ""
	for _, d := range all {
		text += string(d.ID.Event[len("evt_"):])
	}
	return text
}

func TestOrder(t *testing.T) {
	t.Parallel()

	long := 10 * time.Minute
	tests := []struct {
		name   string
		leased []admission.Held
		listed []hook.Delivery
		want   string
	}{
		{name: "the oldest first", listed: []hook.Delivery{parked("b", 0, 2), parked("a", 0, 1)}, want: "ab"},
		{name: "the fewest attempts first", listed: []hook.Delivery{parked("a", 1, long-time.Second), parked("b", 0, long)}, want: "ba"},
		{name: "a minute per attempt is as good as none", listed: []hook.Delivery{parked("a", 1, long-time.Minute), parked("b", 0, long)}, want: "ab"},
		{name: "without the leased ones, each once", leased: []admission.Held{held("a", "n", "", 2*long)}, listed: []hook.Delivery{parked("a", 0, 1), parked("b", 0, 2), parked("b", 0, 2)}, want: "b"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			free := limitsOf(tt.leased...).Free(tt.listed)
			if admission.Order(free, start.Add(long)); events(free) != tt.want {
				t.Errorf("Order() = %s; want %s", events(free), tt.want)
			}
		})
	}
}

func TestLimits_Claim(t *testing.T) {
	t.Parallel()

	waiting := []hook.Delivery{parked("a", 0, 0), parked("b", 0, 0), parked("c", 0, 0)}
	tests := []struct {
		name   string
		free   int
		rate   float64
		want   []time.Duration // of the claims, after now
		waited time.Duration
	}{
		{name: "one free slot", free: 1, want: []time.Duration{0}},
		{name: "more slots than deliveries", free: 9, want: []time.Duration{0, 0, 0}},
		{name: "a delivery a second", free: 9, rate: 1, want: []time.Duration{0, time.Second, 2 * time.Second}},
		{name: "a far rate slot takes no slot", free: 9, rate: 0.5, want: []time.Duration{0, 2 * time.Second}, waited: 4 * time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			next, claims, waited := admission.Limits{}.Claim(waiting, tt.free, tt.rate, 2*time.Second, start)
			var got []time.Duration
			for _, c := range claims {
				got = append(got, c.At.Sub(start))
				if !next.Holds(c) || !c.Task.Slot || c.Task.Reserved != (tt.rate > 0) {
					t.Errorf("the claim %+v is not held, or its task does not say what it has", c)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" || waited != tt.waited || len(next.Leases) != len(claims) {
				t.Errorf("Claim() waits %s, with %d leases; want %s with %d (-want +got):\n%s", waited, len(next.Leases), tt.waited, len(claims), diff)
			}
		})
	}
}

// The slots of an endpoint that is not fast follow its answers.
func TestLimits_Answered(t *testing.T) {
	t.Parallel()

	const first = admission.FirstSlots
	ok, failed := admission.Answer{Timed: true, OK: true}, admission.Answer{Timed: true}
	refused := admission.Answer{} // no connection
	repeat := func(n int, a admission.Answer) []admission.Answer { return slices.Repeat([]admission.Answer{a}, n) }
	tests := []struct {
		name    string
		before  admission.Limits
		first   int
		answers []admission.Answer
		each    time.Duration // between two answers
		want    int
		score   admission.Score
	}{
		{name: "each success adds a slot", first: first, answers: repeat(3, ok), want: 8, score: 3},
		{name: "up to 100", first: first, answers: repeat(200, ok), want: 100, score: 115},
		{name: "after an outage each success doubles the slots", first: 1, answers: repeat(2, ok), want: 4, score: 2},
		{name: "up to the number of a new endpoint, and then adds one", first: 1, answers: repeat(4, ok), want: 6, score: 4},
		{name: "a failure halves them", first: first, answers: append(repeat(15, ok), failed), want: 10, score: 16},
		{name: "failures together halve them once", first: first, answers: append(repeat(15, ok), repeat(10, failed)...), want: 10, score: 25},
		{name: "one slot stays", first: 1, answers: repeat(9, failed), each: time.Minute, want: 1, score: 9},
		{name: "a failure later halves them again", first: first, answers: append(repeat(15, ok), failed, failed), each: hook.DefaultTimeout, want: 5, score: 17},
		{name: "a refused connection says nothing about the speed", first: first, answers: repeat(1, refused), want: 2},
		{name: "another class begins anew", before: admission.Limits{Slots: 70, Score: 9, ScoreAt: start.Add(-time.Hour)}, first: first, answers: repeat(1, ok), want: 6, score: 1},
		{name: "limits of an older build have no slots", before: admission.Limits{Score: 9, ScoreAt: start}, first: first, answers: repeat(1, ok), want: 6, score: 10},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			l := tt.before
			for i, a := range tt.answers {
				l = l.Answered(a, tt.first, start, start.Add(time.Duration(i)*tt.each))
			}
			if l.Slots != tt.want || l.Score != tt.score {
				t.Errorf("%d slots, score %d; want %d and %d", l.Slots, l.Score, tt.want, tt.score)
			}
		})
	}
}
