package porttest

import (
	"context"
	"testing"

	"surehook/internal/delivery/replay"
	"surehook/internal/hook"
)

func tallyCases() []storeCase {
	return []storeCase{
		{name: "settled deliveries are counted for their job", run: tallyCounts},
		{name: "a delivery that is counted again counts once", run: tallyOnce},
		{name: "a slot counts as delivered before dead, and as dead before cancelled", run: tallyPrecedence},
		{name: "a job's deliveries are counted over many slots", run: tallyManySlots},
		{name: "50 racing tallies of a job all count", run: tallyRace},
		{name: "a delivery of no job, or one that is not settled, is not counted", run: tallyRefuses},
	}
}

// settled returns a delivery that settled in the state, as slot of the job.
func settled(t *testing.T, job hook.JobID, slot int, state hook.State) hook.Delivery {
	t.Helper()

	d := sampleDelivery(newEventID(t), hook.NewEndpointID(), 2)
	d.Job, d.JobIndex, d.State = job, slot, state
	return d
}

func tally(t *testing.T, s StoreUnderTest, job hook.JobID, slot int, states ...hook.State) {
	t.Helper()

	for _, state := range states {
		check(t, s.RecordOutcome(t.Context(), settled(t, job, slot, state)))
	}
}

func wantTally(t *testing.T, s StoreUnderTest, job hook.JobID, want replay.Outcomes) {
	t.Helper()

	got, err := s.JobOutcomes(t.Context(), job)
	wantSame(t, "Tallied()", want, got, err)
}

func tallyCounts(t *testing.T, s StoreUnderTest) {
	job, other := newJobID(t), newJobID(t)
	wantTally(t, s, job, replay.Outcomes{})
	tally(t, s, job, 0, hook.StateDelivered)
	tally(t, s, job, 1, hook.StateDelivered)
	tally(t, s, job, 2, hook.StateDelivered)
	tally(t, s, job, 3, hook.StateDead)
	tally(t, s, job, 4, hook.StateDead)
	tally(t, s, job, 5, hook.StateCancelled)
	tally(t, s, job, 6, hook.StateDiscarded)
	tally(t, s, other, 0, hook.StateDead)
	wantTally(t, s, job, replay.Outcomes{Delivered: 3, Dead: 2, Cancelled: 2})
	wantTally(t, s, other, replay.Outcomes{Dead: 1})
}

func tallyOnce(t *testing.T, s StoreUnderTest) {
	job := newJobID(t)
	for slot, state := range []hook.State{hook.StateDelivered, hook.StateDead, hook.StateCancelled} {
		d := settled(t, job, slot, state)
		for range 3 {
			check(t, s.RecordOutcome(t.Context(), d))
		}
	}
	wantTally(t, s, job, replay.Outcomes{Delivered: 1, Dead: 1, Cancelled: 1})
}

func tallyPrecedence(t *testing.T, s StoreUnderTest) {
	const delivered, dead, cancelled, discarded = hook.StateDelivered, hook.StateDead, hook.StateCancelled, hook.StateDiscarded
	tests := []struct {
		states []hook.State
		want   replay.Outcomes
	}{
		{states: []hook.State{dead, delivered}, want: replay.Outcomes{Delivered: 1}},
		{states: []hook.State{delivered, dead}, want: replay.Outcomes{Delivered: 1}},
		{states: []hook.State{cancelled, delivered}, want: replay.Outcomes{Delivered: 1}},
		{states: []hook.State{delivered, cancelled, dead}, want: replay.Outcomes{Delivered: 1}},
		{states: []hook.State{dead, discarded}, want: replay.Outcomes{Dead: 1}},
		{states: []hook.State{cancelled, dead}, want: replay.Outcomes{Dead: 1}},
		{states: []hook.State{cancelled, discarded}, want: replay.Outcomes{Cancelled: 1}},
	}
	for _, tt := range tests {
		job := newJobID(t)
		tally(t, s, job, 7, tt.states...)
		wantTally(t, s, job, tt.want)
	}
}

func tallyManySlots(t *testing.T, s StoreUnderTest) {
	job := newJobID(t)
	// Neighbors, and slots that look alike in their last or first digits.
	for i, slot := range []int{0, 1, 99, 100, 101, 199, 200, 1000, 10_000, 10_099, 99_999, 100_000, 1_000_000} {
		tally(t, s, job, slot, []hook.State{hook.StateDelivered, hook.StateDead, hook.StateCancelled}[i%3])
	}
	wantTally(t, s, job, replay.Outcomes{Delivered: 5, Dead: 4, Cancelled: 4})
}

func tallyRace(t *testing.T, s StoreUnderTest) {
	job := newJobID(t)
	all := make([]hook.Delivery, 50)
	for i := range all {
		all[i] = settled(t, job, i/2, hook.StateDelivered) // each slot twice
	}
	winners := race(t, len(all), func(ctx context.Context, i int) error { return s.RecordOutcome(ctx, all[i]) })
	if len(winners) != len(all) {
		t.Errorf("racing tallies that succeeded: %d; want all %d", len(winners), len(all))
	}
	wantTally(t, s, job, replay.Outcomes{Delivered: len(all) / 2})
}

func tallyRefuses(t *testing.T, s StoreUnderTest) {
	job := newJobID(t)
	for _, state := range []hook.State{hook.StateQueued, hook.StateRetrying, hook.StateParked} {
		wantCode(t, "Tally("+state.String()+")", s.RecordOutcome(t.Context(), settled(t, job, 0, state)), hook.CodeInternal)
	}
	wantCode(t, "Tally(of no job)", s.RecordOutcome(t.Context(), settled(t, "", 0, hook.StateDelivered)), hook.CodeInternal)
	wantTally(t, s, job, replay.Outcomes{})
}
