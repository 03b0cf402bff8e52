package porttest

import (
	"context"
	"testing"

	"surehook.example/surehook/internal/delivery/replay"
	"surehook.example/surehook/internal/hook"
)

func outcomeCases() []storeCase {
	return []storeCase{
		{name: "settled deliveries are counted for their job", run: outcomesCount},
		{name: "a delivery recorded twice counts once", run: outcomeCountsOnce},
		{name: "delivered takes precedence over dead, and dead over cancelled", run: outcomePrecedence},
		{name: "deliveries are counted over many job indexes", run: outcomesOfManyIndexes},
		{name: "50 racing outcomes of a job all count", run: outcomeRace},
		{name: "a delivery without job and an unsettled delivery are rejected", run: outcomeRejected},
	}
}

// settled returns a delivery settled in the state, with the index in the job.
func settled(t *testing.T, job hook.JobID, index int, state hook.State) hook.Delivery {
	t.Helper()

	d := sampleDelivery(newEventID(t), hook.NewEndpointID(), 2)
	d.Job, d.JobIndex, d.State = job, index, state
	return d
}

func record(t *testing.T, s StoreUnderTest, job hook.JobID, index int, states ...hook.State) {
	t.Helper()

	for _, state := range states {
		check(t, s.RecordOutcome(t.Context(), settled(t, job, index, state)))
	}
}

func wantOutcomes(t *testing.T, s StoreUnderTest, job hook.JobID, want replay.Outcomes) {
	t.Helper()

	got, err := s.JobOutcomes(t.Context(), job)
	wantSame(t, "JobOutcomes()", want, got, err)
}

func outcomesCount(t *testing.T, s StoreUnderTest) {
	job, other := newJobID(t), newJobID(t)
	wantOutcomes(t, s, job, replay.Outcomes{})
	record(t, s, job, 0, hook.StateDelivered)
	record(t, s, job, 1, hook.StateDelivered)
	record(t, s, job, 2, hook.StateDelivered)
	record(t, s, job, 3, hook.StateDead)
	record(t, s, job, 4, hook.StateDead)
	record(t, s, job, 5, hook.StateCancelled)
	record(t, s, job, 6, hook.StateDiscarded)
	record(t, s, other, 0, hook.StateDead)
	wantOutcomes(t, s, job, replay.Outcomes{Delivered: 3, Dead: 2, Cancelled: 2})
	wantOutcomes(t, s, other, replay.Outcomes{Dead: 1})
}

func outcomeCountsOnce(t *testing.T, s StoreUnderTest) {
	job := newJobID(t)
	for index, state := range []hook.State{hook.StateDelivered, hook.StateDead, hook.StateCancelled} {
		d := settled(t, job, index, state)
		for range 3 {
			check(t, s.RecordOutcome(t.Context(), d))
		}
	}
	wantOutcomes(t, s, job, replay.Outcomes{Delivered: 1, Dead: 1, Cancelled: 1})
}

func outcomePrecedence(t *testing.T, s StoreUnderTest) {
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
		record(t, s, job, 7, tt.states...)
		wantOutcomes(t, s, job, tt.want)
	}
}

func outcomesOfManyIndexes(t *testing.T, s StoreUnderTest) {
	job := newJobID(t)
	// Neighbors, and indexes with the same first or last digits.
	for i, index := range []int{0, 1, 99, 100, 101, 199, 200, 1000, 10_000, 10_099, 99_999, 100_000, 1_000_000} {
		record(t, s, job, index, []hook.State{hook.StateDelivered, hook.StateDead, hook.StateCancelled}[i%3])
	}
	wantOutcomes(t, s, job, replay.Outcomes{Delivered: 5, Dead: 4, Cancelled: 4})
}

func outcomeRace(t *testing.T, s StoreUnderTest) {
	job := newJobID(t)
	all := make([]hook.Delivery, 50)
	for i := range all {
		all[i] = settled(t, job, i/2, hook.StateDelivered) // each index twice
	}
	winners := race(t, len(all), func(ctx context.Context, i int) error { return s.RecordOutcome(ctx, all[i]) })
	if len(winners) != len(all) {
		t.Errorf("successful racing calls: %d; want all %d", len(winners), len(all))
	}
	wantOutcomes(t, s, job, replay.Outcomes{Delivered: len(all) / 2})
}

func outcomeRejected(t *testing.T, s StoreUnderTest) {
	job := newJobID(t)
	for _, state := range []hook.State{hook.StateQueued, hook.StateRetrying, hook.StateParked} {
		wantCode(t, "RecordOutcome("+state.String()+")", s.RecordOutcome(t.Context(), settled(t, job, 0, state)), hook.CodeInternal)
	}
	wantCode(t, "RecordOutcome(no job)", s.RecordOutcome(t.Context(), settled(t, "", 0, hook.StateDelivered)), hook.CodeInternal)
	wantOutcomes(t, s, job, replay.Outcomes{})
}
