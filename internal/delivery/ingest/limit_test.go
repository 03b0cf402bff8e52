package ingest_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"surehook.example/surehook/internal/delivery/ingest"
	"surehook.example/surehook/internal/hook"
)

func (w *bundle) limit(l hook.TenantLimits) {
	w.T.Helper()

	if err := w.Store.SetTenantLimits(w.T.Context(), "acme", l); err != nil {
		w.T.Fatal(err)
	}
}

// refused checks the error of a limit: its code, a part of its message, and when to try again.
func refused(t *testing.T, err error, code hook.Code, names string, wait time.Duration) {
	t.Helper()

	e, ok := errors.AsType[*hook.Error](err)
	if !ok || e.Code != code || !strings.Contains(e.Message, names) || e.RetryAfter != wait {
		t.Errorf("error = %+v; want %s with %q and a wait of %v", err, code, names, wait)
	}
}

func batch(n int) []ingest.Request {
	requests := make([]ingest.Request, n)
	for i := range requests {
		requests[i] = paid(fmt.Sprint("k", i))
	}
	return requests
}

func TestAccept_EventsPerSecond(t *testing.T) {
	t.Parallel()

	w := setup(t)
	w.endpoint("acme", "*")
	w.limit(hook.TenantLimits{EventsPerSecond: 2})
	for range 2 {
		if _, err := w.acceptor.Accept(t.Context(), "acme", paid("")); err != nil {
			t.Fatal(err)
		}
	}
	_, err := w.acceptor.Accept(t.Context(), "acme", paid("late"))
	refused(t, err, hook.CodeThrottled, "2 events per second (events_per_second)", 500*time.Millisecond)
	if _, err := w.acceptor.Accept(t.Context(), "other", paid("")); err != nil {
		t.Errorf("Accept(another tenant) = %v", err)
	}
	if _, err := w.Store.Event(t.Context(), hook.KeyedEventID("acme", "late")); hook.CodeOf(err) != hook.CodeNotFound || len(w.tasks()) != 2 {
		t.Errorf("Event(refused) = %v; want no event and no task", err)
	}
	w.Clock.Until(start.Add(500 * time.Millisecond))
	if result, err := w.acceptor.Accept(t.Context(), "acme", paid("late")); err != nil || result.Duplicate {
		t.Errorf("Accept(after the wait) = %+v, %v; want a new event", result, err)
	}
	w.limit(hook.TenantLimits{})
	if _, err := w.acceptor.Accept(t.Context(), "acme", paid("")); err != nil {
		t.Errorf("Accept(without the limit) = %v", err)
	}
}

// TestAccept_EventsPerSecond_repeats checks that a repeated post counts like a new one, and that
// it sends the missing tasks after the wait.
func TestAccept_EventsPerSecond_repeats(t *testing.T) {
	t.Parallel()

	w := setup(t)
	w.endpoint("acme", "*")
	w.limit(hook.TenantLimits{EventsPerSecond: 1})
	if _, err := w.acceptor.Accept(t.Context(), "acme", paid("k")); err != nil {
		t.Fatal(err)
	}
	w.tasks() // lost
	_, err := w.acceptor.Accept(t.Context(), "acme", paid("k"))
	refused(t, err, hook.CodeThrottled, "events_per_second", time.Second)
	w.Clock.Until(start.Add(time.Second))
	result, err := w.acceptor.Accept(t.Context(), "acme", paid("k"))
	w.Clock.Until(start.Add(time.Second + time.Minute))
	if err != nil || !result.Duplicate || len(w.tasks()) != 1 {
		t.Errorf("Accept(repeat) = %+v, %v; want a duplicate and the lost task", result, err)
	}
}

func TestAcceptBatch_EventsPerSecondTakeAllOrNone(t *testing.T) {
	t.Parallel()

	w := setup(t)
	w.endpoint("acme", "*")
	w.limit(hook.TenantLimits{EventsPerSecond: 10})
	accept := func(requests []ingest.Request) (failed int) {
		for _, r := range w.acceptor.AcceptBatch(t.Context(), "acme", requests) {
			if r.Err != nil {
				failed++
				refused(t, r.Err, hook.CodeThrottled, "10 events per second", 300*time.Millisecond)
			}
		}
		return failed
	}
	if failed := accept(batch(7)); failed != 0 {
		t.Errorf("%d of 7 events refused; want none", failed)
	}
	if failed := accept(batch(6)); failed != 6 {
		t.Errorf("%d of 6 events refused; want all", failed)
	}
	// Invalid events cost no units: 3 are left.
	invalid := []ingest.Request{{Type: "no spaces please"}, {Type: ""}}
	results := w.acceptor.AcceptBatch(t.Context(), "acme", append(batch(3), invalid...))
	for i, r := range results {
		if want := map[bool]hook.Code{true: hook.CodeInvalid}[i >= 3]; want == 0 && r.Err != nil || want != 0 && hook.CodeOf(r.Err) != want {
			t.Errorf("result %d = %v; want only the invalid events refused", i, r.Err)
		}
	}
}

func TestAccept_EventsPerSecond_race(t *testing.T) {
	t.Parallel()

	w := setup(t)
	w.endpoint("acme", "*")
	w.limit(hook.TenantLimits{EventsPerSecond: 5})
	errs := make([]error, 20)
	var racers sync.WaitGroup
	for i := range errs {
		racers.Go(func() { _, errs[i] = w.acceptor.Accept(t.Context(), "acme", paid("")) })
	}
	racers.Wait()
	accepted := 0
	for _, err := range errs {
		if err == nil {
			accepted++
			continue
		}
		refused(t, err, hook.CodeThrottled, "5 events per second", 200*time.Millisecond)
	}
	if accepted != 5 || len(w.tasks()) != 5 {
		t.Errorf("%d events accepted; want 5, with a task each", accepted)
	}
}

func TestAccept_DeliveriesPerEvent(t *testing.T) {
	t.Parallel()

	w := setup(t)
	w.endpoint("acme", "order.*")
	w.endpoint("acme", "order.paid")
	w.limit(hook.TenantLimits{DeliveriesPerEvent: 1})
	results := w.acceptor.AcceptBatch(t.Context(), "acme", []ingest.Request{
		paid("k"), paid(""), {Type: "order.sent", Payload: []byte("1")}, {Type: "user.new", Payload: []byte("1")},
	})
	for i, r := range results {
		if i < 2 {
			refused(t, r.Err, hook.CodeForbidden, "matches 2 endpoints, and the tenant is limited to 1 deliveries per event (deliveries_per_event)", 0)
		} else if r.Err != nil {
			t.Errorf("result %d = %v; want an accepted event", i, r.Err)
		}
	}
	if _, err := w.Store.Event(t.Context(), hook.KeyedEventID("acme", "k")); hook.CodeOf(err) != hook.CodeNotFound || len(w.tasks()) != 1 {
		t.Errorf("Event(refused) = %v; want no event, and the task of order.sent", err)
	}
	w.limit(hook.TenantLimits{DeliveriesPerEvent: 2})
	if result, err := w.acceptor.Accept(t.Context(), "acme", paid("k")); err != nil || result.Deliveries != 2 {
		t.Errorf("Accept(at the limit) = %+v, %v; want 2 deliveries", result, err)
	}
}

// TestAccept_DeliveriesPerEvent_repeats repeats a post from before the limit: it still sends the
// missing tasks, and other content is still a conflict.
func TestAccept_DeliveriesPerEvent_repeats(t *testing.T) {
	t.Parallel()

	w := setup(t)
	w.endpoint("acme", "*")
	w.endpoint("acme", "*")
	if _, err := w.acceptor.Accept(t.Context(), "acme", paid("k")); err != nil {
		t.Fatal(err)
	}
	w.tasks() // lost
	w.limit(hook.TenantLimits{DeliveriesPerEvent: 1})
	result, err := w.acceptor.Accept(t.Context(), "acme", paid("k"))
	w.Clock.Until(start.Add(time.Minute))
	if err != nil || !result.Duplicate || len(w.tasks()) != 2 {
		t.Errorf("Accept(repeat) = %+v, %v; want a duplicate and both tasks", result, err)
	}
	other := ingest.Request{Type: "order.paid", Payload: []byte("2"), IdempotencyKey: "k"}
	if _, err := w.acceptor.Accept(t.Context(), "acme", other); hook.CodeOf(err) != hook.CodeConflict {
		t.Errorf("Accept(other content) = %v; want a conflict", err)
	}
}

// TestAccept_limitsOfOurs checks that test events count for the rate, and that Surehook's own
// events have no limits.
func TestAccept_limitsOfOurs(t *testing.T) {
	t.Parallel()

	w := setup(t)
	e := w.endpoint("acme", "webhook.*")
	w.endpoint("acme", "webhook.*")
	w.limit(hook.TenantLimits{EventsPerSecond: 1, DeliveriesPerEvent: 1})
	if _, err := w.acceptor.AcceptFor(t.Context(), e, "webhook.test", []byte(`{}`), false); err != nil {
		t.Fatal(err)
	}
	_, err := w.acceptor.AcceptFor(t.Context(), e, "webhook.test", []byte(`{}`), false)
	refused(t, err, hook.CodeThrottled, "events_per_second", time.Second)
	if result, err := w.acceptor.AcceptOurs(t.Context(), "acme", failing, []byte(`{}`), "k"); err != nil || result.Deliveries != 2 {
		t.Errorf("AcceptOurs() = %+v, %v; want 2 deliveries", result, err)
	}
}

// A tenant can send some test events at once, and then one every few seconds.
func TestAcceptFor_limitsTestEvents(t *testing.T) {
	t.Parallel()

	w := setup(t)
	e := w.endpoint("acme", "*")
	for range ingest.TestsPerMinute {
		if _, err := w.acceptor.AcceptFor(t.Context(), e, "webhook.test", []byte(`{}`), false); err != nil {
			t.Fatal(err)
		}
	}
	_, err := w.acceptor.AcceptFor(t.Context(), e, "webhook.test", []byte(`{}`), false)
	refused(t, err, hook.CodeThrottled, "10 test events a minute", 6*time.Second)
}

// limitless is a store that cannot count events.
type limitless struct{ ingest.Store }

var errLimits = &hook.Error{Code: hook.CodeUnavailable, Message: "the store did not answer; try again"}

func (limitless) Spend(context.Context, hook.TenantID, hook.Spend) (time.Duration, error) {
	return 0, errLimits
}

// TestAccept_withoutItsLimitsIsUnavailable checks that an event is refused for now if the limit
// cannot be applied.
func TestAccept_withoutItsLimitsIsUnavailable(t *testing.T) {
	t.Parallel()

	w := setup(t)
	w.endpoint("acme", "*")
	w.acceptor.Store = limitless{w.Store}
	if _, err := w.acceptor.Accept(t.Context(), "acme", paid("")); err != nil {
		t.Fatalf("Accept(without limits) = %v; want no write for the limit", err)
	}
	w.limit(hook.TenantLimits{EventsPerSecond: 1})
	_, err := w.acceptor.Accept(t.Context(), "acme", paid(""))
	if hook.CodeOf(err) != hook.CodeUnavailable || len(w.tasks()) != 1 {
		t.Errorf("Accept() = %v; want unavailable, and only the first task", err)
	}
}
