package porttest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"surehook.example/surehook/internal/delivery/admit"
	"surehook.example/surehook/internal/hook"
)

func parkedCases() []storeCase {
	return []storeCase{
		{name: "parked deliveries are listed the oldest first", run: parkedOldestFirst},
		{name: "more parked deliveries than fit into one request are listed", run: parkedMany},
		{name: "deliveries are left out of the list of parked ones", run: parkedExcept},
		{name: "a delivery in another state is not listed", run: parkedNoMore},
		{name: "overdue deliveries are listed by the time of the next attempt", run: overdueEarliestFirst},
		{name: "a retry of the first hour is listed under its creation, and overdue at its time", run: overdueEarlyRetry},
		{name: "only retrying deliveries are overdue", run: overdueRetryingOnly},
		{name: "recorded queued deliveries are overdue in a list of their own, and parked in none", run: overdueQueued},
		{name: "deliveries without a record are found in their order", run: unrecorded},
		{name: "a swept delivery is overdue after the pause", run: overdueAfterSweep},
	}
}

// park saves n parked deliveries of the endpoint, a second apart, and returns the
// stored deliveries oldest first.
func park(t *testing.T, s StoreUnderTest, endpoint hook.EndpointID, n int) []hook.Delivery {
	t.Helper()

	var all []hook.Delivery
	for i := range n {
		d := sampleDelivery(newEventID(t), endpoint, 1)
		d.State, d.Reason = hook.StateParked, hook.ReasonCircuit
		d.CreatedAt = storeEpoch().Add(time.Duration(i) * time.Second)
		check(t, s.SaveDelivery(t.Context(), d, nil))
		all = append(all, saved(d))
	}
	return all
}

func wantParked(t *testing.T, s StoreUnderTest, endpoint hook.EndpointID, limit int, want []hook.Delivery) {
	t.Helper()

	got, err := s.Parked(t.Context(), wide(endpoint), time.Time{}, limit, admit.Except{})
	wantSame(t, fmt.Sprintf("Parked(limit %d)", limit), want, got, err)
}

func parkedOldestFirst(t *testing.T, s StoreUnderTest) {
	endpoint := hook.NewEndpointID()
	wantParked(t, s, endpoint, 10, nil)
	parked := park(t, s, endpoint, 5)
	park(t, s, hook.NewEndpointID(), 2)
	saveDead(t, s, endpoint, storeEpoch(), 2)
	for _, limit := range []int{1, 2, 4, 5, 6, 1 << 40} {
		wantParked(t, s, endpoint, limit, parked[:min(limit, len(parked))])
	}
	for since, first := range map[time.Duration]int{-time.Hour: 0, 0: 0, 1: 1, time.Second: 1, 3500 * time.Millisecond: 4, 4 * time.Second: 4, 4001 * time.Millisecond: 5} {
		got, err := s.Parked(t.Context(), wide(endpoint), storeEpoch().Add(since), 2, admit.Except{})
		wantSame(t, fmt.Sprintf("Parked(since %s)", since), parked[first:min(first+2, len(parked))], got, err)
	}
}

func parkedMany(t *testing.T, s StoreUnderTest) {
	endpoint := hook.NewEndpointID()
	parked := park(t, s, endpoint, 230)
	for _, limit := range []int{100, 101, 229, 500} {
		wantParked(t, s, endpoint, limit, parked[:min(limit, len(parked))])
	}
}

// A list looks behind the deliveries that it leaves out, whether it expects them or not.
func parkedExcept(t *testing.T, s StoreUnderTest) {
	endpoint := hook.NewEndpointID()
	parked := park(t, s, endpoint, 130)
	for out, limit := range map[int]int{0: 3, 1: 3, 3: 3, 110: 15, 128: 15, 130: 1} {
		for _, about := range []int{0, out, 200} {
			got, err := s.Parked(t.Context(), wide(endpoint), time.Time{}, limit, admit.Except{About: about, Has: func(d hook.DeliveryID) bool {
				return slices.ContainsFunc(parked[:out], func(p hook.Delivery) bool { return p.ID == d })
			}})
			wantSame(t, fmt.Sprintf("Parked(limit %d) without the first %d, of which %d are expected", limit, out, about), parked[out:min(out+limit, len(parked))], got, err)
		}
	}
}

func parkedNoMore(t *testing.T, s StoreUnderTest) {
	endpoint := hook.NewEndpointID()
	parked := park(t, s, endpoint, 4)
	for i, state := range []hook.State{hook.StateRetrying, hook.StateDead} {
		d := parked[i]
		d.State = state
		check(t, s.SaveDelivery(t.Context(), d, nil))
	}
	wantParked(t, s, endpoint, 1, parked[2:3])
	wantParked(t, s, endpoint, 10, parked[2:])

	back := saved(parked[0])
	check(t, s.SaveDelivery(t.Context(), back, nil)) // parked again
	wantParked(t, s, endpoint, 2, []hook.Delivery{saved(back), parked[2]})
}

// waiting saves n retrying deliveries, each of another endpoint, created a second apart, with next
// attempts half a minute later, and returns the stored deliveries earliest first.
func waiting(t *testing.T, s StoreUnderTest, n int) []hook.Delivery {
	t.Helper()

	all := make([]hook.Delivery, n)
	for i := range n {
		d := sampleDelivery(newEventID(t), hook.NewEndpointID(), 1)
		d.CreatedAt = storeEpoch().Add(time.Duration(n-i) * time.Second)
		d.NextAttemptAt = d.CreatedAt.Add(30 * time.Second)
		check(t, s.SaveDelivery(t.Context(), d, nil))
		all[n-1-i] = saved(d)
	}
	return all
}

func wantOverdue(t *testing.T, s StoreUnderTest, before time.Time, limit int, want []hook.Delivery) {
	t.Helper()

	got, err := s.Overdue(t.Context(), hook.StateRetrying, time.Time{}, before, limit)
	wantSame(t, fmt.Sprintf("Overdue(%s, limit %d)", before, limit), want, got, err)
}

func overdueEarliestFirst(t *testing.T, s StoreUnderTest) {
	wantOverdue(t, s, storeExpiry(), 10, nil)
	all := waiting(t, s, 150)
	for _, limit := range []int{1, 2, 100, 149, 150, 1 << 40} {
		wantOverdue(t, s, storeExpiry(), limit, all[:min(limit, len(all))])
	}
	wantOverdue(t, s, all[0].NextAttemptAt, 10, nil)
	wantOverdue(t, s, all[0].NextAttemptAt.Add(1), 10, all[:1])
	wantOverdue(t, s, all[7].NextAttemptAt.In(time.FixedZone("", 3600)), 10, all[:7])
	for _, first := range []int{0, 1, 7, 149} {
		from := all[first].ListedAt()
		got, err := s.Overdue(t.Context(), hook.StateRetrying, from, storeExpiry(), 2)
		wantSame(t, fmt.Sprintf("Overdue(from %s)", from), all[first:min(first+2, len(all))], got, err)
	}
	got, err := s.Overdue(t.Context(), hook.StateRetrying, storeExpiry(), all[7].NextAttemptAt, 10)
	wantSame(t, "Overdue(from after before)", []hook.Delivery(nil), got, err)
}

// overdueEarlyRetry: the table lists a retry of the first hour under its creation, before deliveries
// that are overdue longer.
func overdueEarlyRetry(t *testing.T, s StoreUnderTest) {
	all := waiting(t, s, 3)
	retry := all[0]
	for _, after := range []time.Duration{time.Minute, 40 * time.Minute, time.Hour - time.Millisecond} {
		retry.NextAttemptAt = retry.CreatedAt.Add(after + 999*time.Microsecond)
		check(t, s.SaveDelivery(t.Context(), retry, nil))
		retry.NextAttemptAt = retry.CreatedAt.Add(after)
		retry = saved(retry)
		wantOverdue(t, s, retry.NextAttemptAt, 10, all[1:])
		wantOverdue(t, s, retry.NextAttemptAt.Add(1), 10, []hook.Delivery{retry, all[1], all[2]})
	}
	retry.NextAttemptAt = retry.CreatedAt.Add(time.Hour)
	check(t, s.SaveDelivery(t.Context(), retry, nil))
	wantOverdue(t, s, storeExpiry(), 10, []hook.Delivery{all[1], all[2], saved(retry)})
}

func overdueRetryingOnly(t *testing.T, s StoreUnderTest) {
	all := waiting(t, s, 6)
	for i, state := range []hook.State{hook.StateParked, hook.StateDelivered, hook.StateDead, hook.StateCancelled} {
		d := all[i]
		d.State = state
		check(t, s.SaveDelivery(t.Context(), d, nil))
	}
	later := all[4]
	later.NextAttemptAt = later.NextAttemptAt.Add(time.Hour)
	check(t, s.SaveDelivery(t.Context(), later, nil))
	wantOverdue(t, s, storeExpiry(), 10, []hook.Delivery{all[5], saved(later)})
	wantOverdue(t, s, later.NextAttemptAt, 10, all[5:])
}

func overdueAfterSweep(t *testing.T, s StoreUnderTest) {
	all := waiting(t, s, 3)
	swept := all[0]
	swept.SweptAt = all[2].NextAttemptAt.Add(15 * time.Minute)
	check(t, s.SaveDelivery(t.Context(), swept, nil))
	again := swept.SweptAt.Add(hook.SweepPause)
	wantOverdue(t, s, again, 10, all[1:])
	wantOverdue(t, s, again.Add(time.Millisecond), 10, []hook.Delivery{all[1], all[2], saved(swept)})
	wantCode(t, "SaveDelivery(as read before the sweep)", s.SaveDelivery(t.Context(), swept, nil), hook.CodeConflict)

	later := saved(swept)
	later.NextAttemptAt = again.Add(time.Minute) // a planned time after the pause counts
	check(t, s.SaveDelivery(t.Context(), later, nil))
	wantOverdue(t, s, later.NextAttemptAt, 10, all[1:])
	wantOverdue(t, s, later.NextAttemptAt.Add(time.Millisecond), 10, []hook.Delivery{all[1], all[2], saved(later)})
}

func overdueQueued(t *testing.T, s StoreUnderTest) {
	endpoint := hook.NewEndpointID()
	all := make([]hook.Delivery, 4)
	for i := range all {
		d := sampleDelivery(newEventID(t), endpoint, 1)
		d.State, d.Attempts, d.DecidedBy, d.NextAttemptAt, d.Last = hook.StateQueued, 0, "", time.Time{}, hook.Outcome{}
		d.CreatedAt = storeEpoch().Add(time.Duration(i) * time.Second)
		check(t, s.SaveDelivery(t.Context(), d, nil))
		all[i] = saved(d)
	}
	want := func(before time.Time, want ...hook.Delivery) {
		t.Helper()

		got, err := s.Overdue(t.Context(), hook.StateQueued, time.Time{}, before, 10)
		wantSame(t, fmt.Sprintf("Overdue(queued, %s)", before), want, got, err)
	}
	want(all[3].CreatedAt, all[:3]...)
	wantOverdue(t, s, storeExpiry(), 10, nil)
	wantParked(t, s, endpoint, 10, nil)

	swept := all[0]
	swept.SweptAt = all[3].CreatedAt.Add(15 * time.Minute)
	check(t, s.SaveDelivery(t.Context(), swept, nil))
	parked := all[1]
	parked.State, parked.Reason, parked.Parks = hook.StateParked, hook.ReasonPaused, 1
	check(t, s.SaveDelivery(t.Context(), parked, nil))
	want(storeExpiry(), all[2], all[3], saved(swept))
	wantParked(t, s, endpoint, 10, []hook.Delivery{saved(parked)})
}

func unrecorded(t *testing.T, s StoreUnderTest) {
	var refs, want []hook.DeliveryRef
	for i := range 130 {
		d := sampleDelivery(newEventID(t), hook.NewEndpointID(), 1+i%3)
		refs = append(refs, d.Ref())
		if i%2 == 0 {
			want = append(want, d.Ref())
			continue
		}
		check(t, s.SaveDelivery(t.Context(), d, nil))
	}
	got, err := s.Unrecorded(t.Context(), append(refs, refs[0]))
	check(t, err)
	if want = append(want, refs[0]); !slices.Equal(got, want) {
		t.Errorf("Unrecorded() = %v; want %v", got, want)
	}
}
