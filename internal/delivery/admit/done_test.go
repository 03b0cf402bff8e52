package admit_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"surehook.example/surehook/internal/delivery/admit"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
	"surehook.example/surehook/internal/rule/circuit"
	"surehook.example/surehook/internal/rule/stats"
)

// slowStore takes a second of virtual time to count, and to give a share back, and records when leases end, and how often it
// lists parked deliveries.
type slowStore struct {
	admit.Store

	ended  time.Time
	listed int
}

func (s *slowStore) Count(ctx context.Context, tenant hook.TenantID, id hook.EndpointID, add *stats.Counts, at time.Time) (circuit.Counts, error) {
	time.Sleep(time.Second)
	return s.Store.Count(ctx, tenant, id, add, at)
}

func (s *slowStore) ChangeLimits(ctx context.Context, id hook.EndpointID, before, after admission.Limits) error {
	if len(after.Leases) < len(before.Leases) {
		s.ended = time.Now()
	}
	return s.Store.ChangeLimits(ctx, id, before, after)
}

func (s *slowStore) ChangeShares(ctx context.Context, tenant hook.TenantID, before, after admission.Limits) error {
	if len(after.Leases) < len(before.Leases) {
		time.Sleep(time.Second)
	}
	return s.Store.ChangeShares(ctx, tenant, before, after)
}

func (s *slowStore) Parked(ctx context.Context, target hook.Target, since time.Time, limit int, but admit.Except) ([]hook.Delivery, error) {
	s.listed++
	return s.Store.Parked(ctx, target, since, limit, but)
}

// After a success, a slot is handed over while share and counts are written. After any other attempt it
// is handed over afterwards, because the counts may open the circuit or begin a throttle.
func TestDone_HandOverWaitsForAFailure(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name  string
		class hook.Class
		want  time.Duration
	}{
		{"a success hands over at once", hook.ClassDelivered, 0},
		{"a failure hands over after the counts", hook.ClassUnavailable, 2 * time.Second},
		{"a throttle hands over after the counts", hook.ClassThrottled, 2 * time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			synctest.Test(t, func(t *testing.T) {
				w := setup(t)
				e := active()
				e.MaxInFlight = 1
				store := &slowStore{Store: w.Gate.Store}
				w.Gate.Store = store
				task := hook.NewTask(tenant, hook.DeliveryRef{DeliveryID: delivery(1)}, 1)
				q := admission.Query{Endpoint: e, State: admission.State{Record: w.record()}, Queue: hook.QueueLive, Due: []admission.Due{admit.DueOf(task)}}
				w.admit(q) // moved, with a share
				q.Queue = hook.QueueSlot
				p, err := w.Gate.Ask(w.Context(), q)
				if err != nil || p.Answer.Verdicts[0].Decision != admission.Admit {
					t.Fatalf("Ask() = %+v, %v; want admit", p, err)
				}
				began := time.Now()
				err = w.Gate.Done(w.Context(), p, []admit.Ended{{Task: task, Verdict: p.Answer.Verdicts[0], Result: admission.Result{Attempt: stats.Attempt{Class: tt.class, Number: 1}}}})
				if err != nil || store.ended.Sub(began) != tt.want {
					t.Errorf("Done() = %v; the slot was handed over %s later; want %s", err, store.ended.Sub(began), tt.want)
				}
				if store.listed > 0 {
					t.Errorf("parked deliveries were listed %d times; want 0, because none waits", store.listed)
				}
			})
		})
	}
}
