package status_test

import (
	"slices"
	"testing"
	"time"

	"surehook.example/surehook/internal/admin/page"
	"surehook.example/surehook/internal/admin/status"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
	"surehook.example/surehook/internal/rule/retry"
)

// past is an event for three endpoints: delivered at once, retrying after two attempts, queued.
type past struct {
	*bundle
	event                       hook.Event
	delivered, retrying, queued hook.DeliveryID
	endpoint                    hook.Endpoint // of the retrying delivery
}

func newPast(t *testing.T) past {
	t.Helper()

	b := setup(t)
	p := past{bundle: b, event: hook.Event{
		ID: hook.KeyedEventID(tenant, "k"), Tenant: tenant, Type: "order.paid", Payload: []byte("{}"),
		AcceptedAt: b.now, ExpiresAt: b.now.Add(15 * 24 * time.Hour),
	}}
	var ids []hook.DeliveryID
	for range 3 {
		e := b.create(t)
		p.event.Targets = append(p.event.Targets, e.Target())
		ids = append(ids, hook.DeliveryID{Event: p.event.ID, Endpoint: e.ID, Generation: 1})
		p.endpoint = e
	}
	p.delivered, p.queued, p.retrying = ids[0], ids[1], ids[2]
	if err := b.store.PutEvent(t.Context(), p.event); err != nil {
		t.Fatalf("PutEvent = %v", err)
	}

	done := hook.QueuedDelivery(p.event, hook.Target{Endpoint: p.delivered.Endpoint, Shards: 1})
	done.State, done.Attempts, done.UpdatedAt = hook.StateDelivered, 1, b.now.Add(time.Second)
	done.Last = hook.Outcome{Class: hook.ClassDelivered, Status: 204, Duration: 300 * time.Millisecond}
	p.save(t, done, nil)

	again := hook.QueuedDelivery(p.event, hook.Target{Endpoint: p.retrying.Endpoint, Shards: 1})
	for n := 1; n <= 2; n++ {
		again.State, again.Attempts = hook.StateRetrying, n
		again.UpdatedAt = b.now.Add(time.Duration(n) * time.Minute)
		again.NextAttemptAt = b.now.Add(time.Duration(n+1) * time.Minute)
		again.Last = hook.Outcome{Class: hook.ClassUnavailable, Status: 503, Error: "the endpoint answered 503"}
		p.save(t, again, &hook.Attempt{
			Delivery: again.Ref(), Number: n, Trigger: hook.TriggerOf(again.ID, n), StartedAt: again.UpdatedAt,
			NextAttemptAt: again.NextAttemptAt, Outcome: again.Last,
		})
		stored, err := p.store.Delivery(t.Context(), again.Ref())
		if err != nil {
			t.Fatalf("Delivery = %v", err)
		}
		again = stored
	}
	return p
}

func (p past) save(t *testing.T, d hook.Delivery, a *hook.Attempt) {
	t.Helper()

	if err := p.store.SaveDelivery(t.Context(), d, a); err != nil {
		t.Fatalf("SaveDelivery = %v", err)
	}
}

func TestReader_EventDeliveries(t *testing.T) {
	t.Parallel()

	p := newPast(t)
	list, err := p.EventDeliveries(t.Context(), tenant, p.event.ID, page.Request{Limit: 100})
	if err != nil {
		t.Fatalf("EventDeliveries = %v", err)
	}
	got := make(map[hook.DeliveryID]hook.State)
	for _, d := range list.Data {
		got[d.ID] = d.State
	}
	if len(list.Data) != 3 || got[p.delivered] != hook.StateDelivered || got[p.retrying] != hook.StateRetrying || got[p.queued] != hook.StateQueued {
		t.Errorf("EventDeliveries = %v; want one delivered, one retrying, one queued", got)
	}
	if !slices.IsSortedFunc(list.Data, func(a, b hook.Delivery) int { return slices.Compare([]byte(a.ID.Endpoint), []byte(b.ID.Endpoint)) }) {
		t.Errorf("EventDeliveries = %v; want the order of endpoints", list.Data)
	}

	first, err := p.EventDeliveries(t.Context(), tenant, p.event.ID, page.Request{Limit: 2})
	if err != nil || len(first.Data) != 2 || first.Next == "" {
		t.Fatalf("EventDeliveries(2) = %d, %q, %v; want two and a cursor", len(first.Data), first.Next, err)
	}
	rest, err := p.EventDeliveries(t.Context(), tenant, p.event.ID, page.Request{Limit: 2, Cursor: first.Next})
	if err != nil || len(rest.Data) != 1 || rest.Next != "" || rest.Data[0].ID != list.Data[2].ID {
		t.Errorf("EventDeliveries(2, cursor) = %v, %q, %v; want the third", rest.Data, rest.Next, err)
	}
}

// TestReader_queuedReplay checks that a replay is listed from the moment of the
// request, and not twice after the first record.
func TestReader_queuedReplay(t *testing.T) {
	t.Parallel()

	p := newPast(t)
	old, err := p.store.Delivery(t.Context(), hook.QueuedDelivery(p.event, p.event.Targets[0]).Ref())
	if err != nil {
		t.Fatalf("Delivery = %v", err)
	}
	replayed, err := old.Replay(hook.ReplayRequest{By: "key_1", Job: "rpl_1"}, p.now.Add(time.Hour))
	if err != nil {
		t.Fatalf("Replay = %v", err)
	}
	p.save(t, replayed, nil)

	next := replayed.Successor()
	got, err := p.Delivery(t.Context(), tenant, next.DeliveryID)
	d := got.Delivery
	if err != nil || d.Ref() != next || d.State != hook.StateQueued || d.Attempts != 0 || d.By != "key_1" || d.Job != "rpl_1" || !d.CreatedAt.Equal(p.now.Add(time.Hour)) {
		t.Errorf("Delivery(%s) = %+v, %v; want it queued by the order", next, d, err)
	}
	count := func() int {
		t.Helper()
		list, err := p.EventDeliveries(t.Context(), tenant, p.event.ID, page.Request{Limit: 100})
		if err != nil {
			t.Fatalf("EventDeliveries = %v", err)
		}
		return len(list.Data)
	}
	if n := count(); n != 4 {
		t.Errorf("EventDeliveries = %d; want three and the replay", n)
	}
	d.State = hook.StateDead
	p.save(t, d, nil)
	if n := count(); n != 4 {
		t.Errorf("EventDeliveries after the replay's first attempt = %d; want four still", n)
	}
	beyond := d.Successor()
	if _, err := p.Delivery(t.Context(), tenant, beyond.DeliveryID); err == nil || err.Error() != "no such delivery" {
		t.Errorf("Delivery(%s) = %v; want no such delivery", beyond, err)
	}
}

func TestReader_EventAttempts(t *testing.T) {
	t.Parallel()

	p := newPast(t)
	list, err := p.EventAttempts(t.Context(), tenant, p.event.ID, page.Request{Limit: 100})
	if err != nil || len(list.Data) != 3 {
		t.Fatalf("EventAttempts = %v, %v; want three", list.Data, err)
	}
	for _, a := range list.Data {
		if a.Delivery.DeliveryID != p.delivered {
			continue
		}
		want := p.now.Add(700 * time.Millisecond)
		if a.Number != 1 || a.Trigger != hook.TriggerEvent || !a.StartedAt.Equal(want) || a.Outcome.Status != 204 {
			t.Errorf("the first try is shown as number %d by %s at %v with %d; want 1 by event at %v with 204",
				a.Number, a.Trigger, a.StartedAt, a.Outcome.Status, want)
		}
	}
}

func TestReader_Delivery(t *testing.T) {
	t.Parallel()

	p := newPast(t)
	next := p.now.Add(3 * time.Minute)
	want := append([]time.Time{next}, retry.Planned(p.endpoint.Retry, p.retrying, 3, next)...)
	if len(want) != 5 {
		t.Fatalf("%d planned times; want attempts 3 to 7", len(want))
	}
	planned := func() []time.Time {
		t.Helper()
		got, err := p.Delivery(t.Context(), tenant, p.retrying)
		if err != nil || len(got.Attempts) != 2 || got.Attempts[0].Number != 1 || got.Attempts[1].Number != 2 {
			t.Fatalf("Delivery = %v, %v; want two attempts", got.Attempts, err)
		}
		return got.Planned
	}
	if got := planned(); !slices.EqualFunc(got, want, time.Time.Equal) {
		t.Errorf("planned = %v; want %v", got, want)
	}

	// The last time within max_age is kept, the following time is not.
	e := p.stored(t, p.endpoint.ID)
	e.MaxAge = want[1].Sub(p.now)
	if err := p.store.UpdateEndpoint(t.Context(), e); err != nil {
		t.Fatalf("UpdateEndpoint = %v", err)
	}
	if got := planned(); !slices.EqualFunc(got, want[:2], time.Time.Equal) {
		t.Errorf("planned = %v; want %v, up to max_age", got, want[:2])
	}
	if err := p.admin.Delete(t.Context(), tenant, string(e.ID), 0); err != nil {
		t.Fatalf("Delete = %v", err)
	}
	if got := planned(); got != nil {
		t.Errorf("planned = %v; want none for a deleted endpoint", got)
	}

	var list []hook.Delivery
	for _, d := range []hook.DeliveryID{p.retrying, p.queued, p.delivered} {
		got, err := p.Delivery(t.Context(), tenant, d)
		if err != nil {
			t.Fatalf("Delivery = %v", err)
		}
		list = append(list, got.Delivery)
	}
	ahead, err := p.Outlooks(t.Context(), tenant, list)
	if _, deleted := ahead[p.retrying]; err != nil || deleted || ahead[p.queued] != (status.Outlook{GivesUpAt: list[1].CreatedAt.Add(hook.DefaultMaxAge)}) || len(ahead) != 1 {
		t.Errorf("Outlooks = %v, %v; want the max_age of the queued delivery alone", ahead, err)
	}

	if got, err := p.Delivery(t.Context(), tenant, p.queued); err != nil || got.Delivery.State != hook.StateQueued || got.Planned != nil {
		t.Errorf("Delivery(queued) = %v, %v, %v; want it queued without times", got.Delivery.State, got.Planned, err)
	}
	other := p.queued
	other.Generation = 2
	stranger := hook.DeliveryID{Event: p.event.ID, Endpoint: hook.NewEndpointID(), Generation: 1}
	for _, id := range []hook.DeliveryID{other, stranger, {Event: hook.KeyedEventID(tenant, "other"), Endpoint: e.ID, Generation: 1}} {
		if _, err := p.Delivery(t.Context(), tenant, id); err == nil || err.Error() != "no such delivery" {
			t.Errorf("Delivery(%s) = %v; want no such delivery", id, err)
		}
	}
	if _, err := p.Delivery(t.Context(), "globex", p.retrying); err == nil || err.Error() != "no such delivery" {
		t.Errorf("Delivery by another tenant = %v; want no such delivery", err)
	}
}

// TestReader_Outlooks_probe has deliveries of an open circuit, of a paused endpoint with an open circuit,
// and of a closed one.
func TestReader_Outlooks_probe(t *testing.T) {
	t.Parallel()

	b := setup(t)
	open, paused, closed := b.createAt(t, "open"), b.createAt(t, "paused"), b.createAt(t, "closed")
	record := b.keepOpen(t, open, func(*admission.Record) {})
	b.keepOpen(t, paused, func(*admission.Record) {})
	if _, err := b.admin.Pause(t.Context(), tenant, "paused"); err != nil {
		t.Fatalf("Pause = %v", err)
	}
	parked, retrying := b.wait(t, open, hook.StateParked, hook.ReasonCircuit, b.now), b.wait(t, open, hook.StateRetrying, hook.ReasonNone, b.now)
	list := []hook.Delivery{parked, retrying, b.wait(t, paused, hook.StateParked, hook.ReasonPaused, b.now), b.wait(t, closed, hook.StateParked, hook.ReasonRate, b.now)}
	ahead, err := b.Outlooks(t.Context(), tenant, list)
	if err != nil || len(ahead) != len(list) {
		t.Fatalf("Outlooks = %v, %v; want one for each", ahead, err)
	}
	for _, d := range list {
		want := time.Time{}
		if d.ID == parked.ID {
			want = record.NextProbe()
		}
		if got := ahead[d.ID]; !got.NextProbeAt.Equal(want) || got.GivesUpAt.IsZero() {
			t.Errorf("%s of %s = %+v; want the probe %v, and an end", d.State, d.ID.Endpoint, got, want)
		}
	}
}
