package breaker_test

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"surehook.example/surehook/internal/delivery/breaker"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/memory"
	"surehook.example/surehook/internal/rule/admission"
	"surehook.example/surehook/internal/rule/circuit"
	"surehook.example/surehook/internal/rule/review"
	"surehook.example/surehook/internal/rule/stats"
)

// 5,000 endpoints are down, and no circuit check is queued. Each endpoint gets a probe within two
// cooldowns.
func TestTick_ProbesEveryEndpointOfAMassOutage(t *testing.T) {
	t.Parallel()

	if testing.Short() {
		t.Skip("thousands of endpoints")
	}

	const endpoints = 5000
	w := setup(t)
	cooldown := circuit.Settings{CircuitSettings: hook.CircuitSettings{}.WithDefaults()}
	for i := range endpoints {
		e := w.Endpoint(func(e *hook.Endpoint) { e.Tenant = hook.TenantID(fmt.Sprintf("tenant-%d", i%50)) })
		w.record(e, func(r admission.Record) admission.Record { return r.ExpectParked(start).Trip(cooldown, start) })
		w.park(e, time.Second)
	}
	w.Clock.Pass(cooldown.Cooldown)
	probed := make(map[hook.EndpointID]bool)
	for len(probed) < endpoints && w.Clock.Now().Before(start.Add(2*cooldown.Cooldown)) {
		if err := w.Breaker().Tick(w.Context()); err != nil {
			t.Fatalf("Tick() = %v; want nil", err)
		}
		for received := w.CircuitQueue.Receive(10); len(received) > 0; received = w.CircuitQueue.Receive(10) {
			for _, m := range received {
				if err := w.Breaker().Reconcile(w.Context(), m.CircuitCheck); err != nil {
					t.Fatalf("Reconcile() = %v; want nil", err)
				}
				w.CircuitQueue.Delete(m.ID)
			}
		}
		for _, line := range w.lines("circuit.reconciled") {
			if line["decision"] == "probe" {
				id, _ := line["endpoint_id"].(string)
				probed[hook.EndpointID(id)] = true
			}
		}
		w.Clock.Pass(time.Minute)
	}
	if len(probed) != endpoints {
		t.Errorf("%d of %d endpoints are probed within two cooldowns; want all", len(probed), endpoints)
	}
}

// The tick reconciles 200 endpoints itself and enqueues a check for each of the others. A
// repeated check sends no second probe.
func TestTick_EnqueuesChecksBeyondItsOwnEndpoints(t *testing.T) {
	t.Parallel()

	for _, more := range []int{0, 1} {
		w := setup(t)
		settings := circuit.Settings{CircuitSettings: hook.CircuitSettings{}.WithDefaults()}
		for range 200 + more {
			e := w.Endpoint(nil)
			w.record(e, func(r admission.Record) admission.Record { return r.ExpectParked(start).Trip(settings, start) })
			w.park(e, time.Second)
		}
		w.Clock.Pass(settings.Cooldown)
		if err := w.Breaker().Tick(w.Context()); err != nil {
			t.Fatalf("Tick() = %v; want nil", err)
		}
		received := w.CircuitQueue.Receive(10)
		if len(received) != more || len(w.lines("circuit.reconciled")) != 200 {
			t.Errorf("of %d endpoints the tick enqueues %d and reconciles %d; want %d and 200", 200+more, len(received), len(w.lines("circuit.reconciled")), more)
		}
		for _, m := range received {
			for range 2 {
				if err := w.Breaker().Reconcile(w.Context(), m.CircuitCheck); err != nil {
					t.Fatalf("Reconcile() = %v; want nil", err)
				}
			}
		}
		probes := 0
		for received := w.Queue.Receive(hook.QueueRetry, 10); len(received) > 0; received = w.Queue.Receive(hook.QueueRetry, 10) {
			probes += len(received)
		}
		if probes != 200+more {
			t.Errorf("%d probes; want %d", probes, 200+more)
		}
	}
}

// A page that is received twice sends its notification once, with the time of the review. A page
// that is received after the next review is dropped.
func TestReviewPage_NotifiesOnceAndDropsLatePages(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name  string
		late  time.Duration
		calls int
		want  int // notifications
	}{
		{name: "once", late: 0, calls: 1, want: 1},
		{name: "twice", late: 0, calls: 2, want: 1},
		{name: "just in time", late: review.Every - 1, calls: 2, want: 1},
		{name: "after the next review", late: review.Every, calls: 2, want: 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			w := setup(t)
			e := w.Endpoint(nil)
			w.count(e, 0, slowly())
			page := hook.ReviewPage{At: w.Clock.Now(), Endpoints: []hook.CircuitCheck{{Tenant: e.Tenant, Endpoint: e.ID}}}
			w.Clock.Pass(tt.late)
			for range tt.calls {
				if err := w.Breaker().ReviewPage(w.Context(), page); err != nil {
					t.Fatalf("ReviewPage() = %v; want nil", err)
				}
			}
			if got := w.Notifications.Sent(); len(got) != tt.want || len(got) > 0 && !got[0].At.Equal(page.At) {
				t.Errorf("notifications = %+v; want %d, at the time of the review", got, tt.want)
			}
		})
	}
}

// After a crash the page comes again, here in the next quarter of an hour. It repeats the
// notification with the same key.
func TestReviewPage_RepeatsTheNotificationAfterACrash(t *testing.T) {
	t.Parallel()

	w := setup(t)
	w.Clock.Until(start.Truncate(review.Every).Add(review.Every - time.Second))
	e := w.Endpoint(nil)
	w.count(e, 0, slowly())
	page := hook.ReviewPage{At: w.Clock.Now(), Endpoints: []hook.CircuitCheck{{Tenant: e.Tenant, Endpoint: e.ID}}}
	w.Crash.Arm(1, true)
	if err := w.Breaker().ReviewPage(w.Context(), page); err == nil || !w.Crash.Restart() {
		t.Fatalf("ReviewPage() = %v; want a crash", err)
	}
	w.Clock.Pass(time.Minute)
	if err := w.Breaker().ReviewPage(w.Context(), page); err != nil {
		t.Fatalf("ReviewPage() = %v; want nil", err)
	}
	if sent := w.Notifications.Sent(); len(sent) != 2 || sent[0].Key != sent[1].Key || !w.Circuit(e).Review.Slow {
		t.Errorf("notifications = %+v; want two with one key, and a slow endpoint", sent)
	}
}

// If the queue refuses a page, the next review covers its endpoints.
func TestReview_CoversTheEndpointsOfARefusedPage(t *testing.T) {
	t.Parallel()

	w := setup(t)
	var all []hook.Endpoint
	for range 101 {
		e := w.Endpoint(nil)
		w.count(e, 0, slowly())
		all = append(all, e)
	}
	refused := true
	w.Calls.Fail = func(call string, _ hook.EndpointID) error {
		if call == "enqueue review" && refused {
			return errBroken
		}
		return nil
	}
	if err := w.Breaker().Review(w.Context()); err == nil || len(w.Notifications.Sent()) != 100 {
		t.Errorf("Review() = %v, %d notifications; want the error, and 100 endpoints judged", err, len(w.Notifications.Sent()))
	}
	refused = false
	w.review()
	w.pages()
	for _, e := range all {
		if !w.Circuit(e).Review.Slow {
			t.Errorf("endpoint %s is not judged", e.ID)
		}
	}
}

// What the virtual time of a mass review assumes.
const (
	readTime   = 10 * time.Millisecond // of one read of the store
	decodeTime = 20 * time.Millisecond // CPU time of an invocation for each endpoint: see BenchmarkStore_Hours
	atOnce     = 5                     // concurrent invocations of the circuits queue: the smallest cloud environment
)

// busy is a store with 50,000 active endpoints. Reads take time, and decoding the counts takes
// CPU time of the invocation.
type busy struct {
	*memory.Store

	checks []hook.CircuitCheck
	judged atomic.Int64
}

// cpu is the context key of an invocation's CPU, which decodes for one endpoint at a time.
type cpu struct{}

func (b *busy) Active(_ context.Context, at time.Time, after hook.CircuitCheck, limit int) ([]hook.CircuitCheck, error) {
	time.Sleep(readTime)
	if at.Truncate(time.Hour) != time.Now().Truncate(time.Hour) {
		return nil, nil
	}
	first := 0
	if after.Endpoint != "" {
		if _, err := fmt.Sscanf(string(after.Endpoint), "ep_%d", &first); err != nil {
			return nil, err
		}
		first++
	}
	return b.checks[first:min(first+limit, len(b.checks))], nil
}

func (b *busy) Endpoint(_ context.Context, tenant hook.TenantID, id hook.EndpointID) (hook.Endpoint, error) {
	time.Sleep(readTime)
	return hook.Endpoint{Tenant: tenant, ID: id, Status: hook.StatusActive}, nil
}

func (b *busy) Circuit(_ context.Context, tenant hook.TenantID, id hook.EndpointID) (admission.Record, error) {
	time.Sleep(readTime)
	return admission.NewRecord(tenant, id), nil
}

func (b *busy) Hours(ctx context.Context, _ hook.EndpointID, _ time.Time) ([]stats.Hour, error) {
	time.Sleep(readTime)
	turn, ok := ctx.Value(cpu{}).(chan struct{})
	if !ok {
		return nil, errBroken
	}
	turn <- struct{}{}
	time.Sleep(decodeTime)
	<-turn
	b.judged.Add(1)
	return nil, nil
}

// The review of 50,000 active endpoints finishes within a quarter of an hour, and every
// invocation within the timeout of the function.
func TestReview_FinishesFiftyThousandEndpointsInTime(t *testing.T) {
	t.Parallel()

	if testing.Short() {
		t.Skip("thousands of endpoints")
	}

	synctest.Test(t, func(t *testing.T) {
		const endpoints = 50_000
		store := &busy{Store: memory.NewStore()}
		for i := range endpoints {
			store.checks = append(store.checks, hook.CircuitCheck{Tenant: "acme", Endpoint: hook.EndpointID(fmt.Sprintf("ep_%016d", i))})
		}
		queue := memory.NewCircuitQueue(time.Now)
		queue.Visibility = 6 * time.Minute
		b := &breaker.Breaker{Store: store, CircuitQueue: queue, Log: slog.New(slog.DiscardHandler), Now: time.Now}
		begin := time.Now()
		invoke := func(work func(ctx context.Context) error) {
			ctx, cancel := context.WithTimeout(context.WithValue(t.Context(), cpu{}, make(chan struct{}, 1)), time.Minute)
			defer cancel()
			if err := work(ctx); err != nil {
				t.Errorf("after %s: %v; want nil", time.Since(begin), err)
			}
		}
		invoke(b.Review)
		var workers sync.WaitGroup
		for range atOnce {
			workers.Go(func() {
				for received := queue.Receive(10); len(received) > 0; received = queue.Receive(10) {
					invoke(func(ctx context.Context) error {
						var pages sync.WaitGroup
						for _, m := range received {
							pages.Go(func() {
								if err := b.ReviewPage(ctx, *m.Review); err != nil {
									t.Errorf("ReviewPage() = %v; want nil", err)
								}
								queue.Delete(m.ID)
							})
						}
						pages.Wait()
						return nil
					})
				}
			})
		}
		workers.Wait()
		if took := time.Since(begin); took > review.Every || store.judged.Load() != endpoints {
			t.Errorf("%d endpoints judged in %s; want %d within %s", store.judged.Load(), took, endpoints, review.Every)
		}
	})
}
