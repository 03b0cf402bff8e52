package porttest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"surehook.example/surehook/internal/hook"
)

func deliveryCases() []storeCase {
	return []storeCase{
		{name: "a delivery comes back as its next version", run: deliveryComesBack},
		{name: "a minimal delivery comes back", run: smallDeliveryComesBack},
		{name: "an unknown delivery is not found", run: deliveryNotFound},
		{name: "a delivery of another version conflicts and nothing is written", run: deliveryConflict},
		{name: "of 50 racing first saves of a delivery exactly one wins", run: firstSaveRace},
		{name: "of 50 racing saves of a version with attempts exactly one wins", run: saveRace},
		{name: "an event's deliveries are listed with all generations", run: deliveriesOfEvent},
		{name: "an event of a reused idempotency key has deliveries of its own", run: reusedIdempotencyKey},
		{name: "attempts are listed in the order of endpoint, generation and number", run: attemptsInOrder},
		{name: "an attempt comes back unchanged", run: attemptComesBack},
	}
}

// sampleDelivery returns an unsaved delivery after a failed first attempt.
func sampleDelivery(event hook.EventID, endpoint hook.EndpointID, generation int) hook.Delivery {
	d := hook.Delivery{
		Tenant:        "acme",
		EventType:     "order.paid",
		State:         hook.StateRetrying,
		Attempts:      1,
		DecidedBy:     hook.NewNonce(),
		Parks:         2,
		CreatedAt:     storeEpoch(),
		UpdatedAt:     storeEpoch().Add(time.Second),
		NextAttemptAt: storeEpoch().Add(time.Minute),
		ExpiresAt:     storeExpiry(),
		Last:          sampleOutcome(),
	}
	return d.At(placeOf(event, endpoint, generation))
}

// wide returns the endpoint with the shards of the suite's deliveries.
func wide(endpoint hook.EndpointID) hook.Target { return hook.Target{Endpoint: endpoint, Shards: 3} }

// placeOf returns the place of a delivery of an event accepted at storeEpoch.
func placeOf(event hook.EventID, endpoint hook.EndpointID, generation int) hook.DeliveryRef {
	e := hook.Event{ID: event, AcceptedAt: storeEpoch(), Targets: []hook.Target{wide(endpoint)}}
	ref, _ := e.Ref(endpoint, generation)
	return ref
}

func sampleOutcome() hook.Outcome {
	return hook.Outcome{
		Shape:      "standard",
		Headers:    map[string]string{"Server": "nginx"},
		Phases:     hook.Phases{DNS: 1, Connect: 2, TLS: 3, FirstByte: time.Second},
		Sent:       map[string]string{"Webhook-Id": "evt_1", "X-Key": hook.Masked},
		Class:      hook.ClassThrottled,
		Status:     429,
		Error:      `429 "slow down" <é>`,
		URL:        "https://example.com/hooks?a=1&b=2",
		Body:       []byte{'n', 'o', 0, 0xff},
		Duration:   1234567 * time.Microsecond,
		Region:     "us-east-1",
		RetryAfter: 2 * time.Minute,
	}
}

func sampleAttempt(d hook.DeliveryRef, number int) hook.Attempt {
	return hook.Attempt{
		Delivery:      d,
		Number:        number,
		Trigger:       hook.TriggerOf(d.DeliveryID, number),
		StartedAt:     storeEpoch(),
		NextAttemptAt: storeEpoch().Add(time.Minute),
		ExpiresAt:     storeExpiry(),
		Outcome:       sampleOutcome(),
	}
}

// noise returns bytes that no compression shortens, others for each attempt.
func noise(attempt, n int) []byte {
	b := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{byte(attempt)}).Read(b)
	return b
}

// saved returns the stored form of a saved delivery.
func saved(d hook.Delivery) hook.Delivery {
	d.Version++
	return d
}

func deliveryComesBack(t *testing.T, s StoreUnderTest) {
	d := sampleDelivery(newEventID(t), hook.NewEndpointID(), 1)
	d.Reason = hook.ReasonPaused
	for range 3 {
		given := d
		given.UpdatedAt = d.UpdatedAt.Add(999 * time.Microsecond).In(time.FixedZone("", 3600))
		check(t, s.SaveDelivery(t.Context(), given, nil))
		d = saved(d)
		got, err := s.Delivery(t.Context(), d.Ref())
		wantSame(t, fmt.Sprintf("Delivery(saved %d times)", d.Version), d, got, err)
	}
}

func smallDeliveryComesBack(t *testing.T, s StoreUnderTest) {
	d := hook.Delivery{
		Tenant: "acme", EventType: "a", State: hook.StateParked, CreatedAt: storeEpoch(), UpdatedAt: storeEpoch(),
	}.At(placeOf(newEventID(t), hook.NewEndpointID(), hook.MaxGeneration))
	check(t, s.SaveDelivery(t.Context(), d, nil))
	got, err := s.Delivery(t.Context(), d.Ref())
	wantSame(t, "Delivery(saved)", saved(d), got, err)
}

func deliveryNotFound(t *testing.T, s StoreUnderTest) {
	d := sampleDelivery(newEventID(t), hook.NewEndpointID(), 1)
	check(t, s.SaveDelivery(t.Context(), d, nil))
	d.ID.Generation = 2
	_, err := s.Delivery(t.Context(), d.Ref())
	wantCode(t, "Delivery(next generation)", err, hook.CodeNotFound)
}

func deliveryConflict(t *testing.T, s StoreUnderTest) {
	d := sampleDelivery(newEventID(t), hook.NewEndpointID(), 1)
	attempt := sampleAttempt(d.Ref(), 1)

	d.Version = 1
	wantCode(t, "SaveDelivery(version 1, none stored)", s.SaveDelivery(t.Context(), d, &attempt), hook.CodeConflict)
	_, err := s.Delivery(t.Context(), d.Ref())
	wantCode(t, "Delivery(refused)", err, hook.CodeNotFound)

	d.Version = 0
	check(t, s.SaveDelivery(t.Context(), d, nil))
	d = saved(d)
	check(t, s.SaveDelivery(t.Context(), d, nil))
	d = saved(d)
	for _, version := range []int64{0, 1, 3} {
		stale := d
		stale.Version = version
		stale.State = hook.StateDead
		for name, a := range map[string]*hook.Attempt{"alone": nil, "with an attempt": &attempt} {
			call := fmt.Sprintf("SaveDelivery(version %d, 2 stored) %s", version, name)
			wantCode(t, call, s.SaveDelivery(t.Context(), stale, a), hook.CodeConflict)
		}
	}
	got, err := s.Delivery(t.Context(), d.Ref())
	wantSame(t, "Delivery(after refused saves)", d, got, err)
	attempts, err := s.Attempts(t.Context(), []hook.Delivery{d})
	wantSame(t, "Attempts(after refused saves)", []hook.Attempt(nil), attempts, err)

	// Nor does a delivery that was not read replace the attempt in the record.
	unread := attempted(t, s, d, attempt)
	unread.Recent = nil
	second := sampleAttempt(d.Ref(), 2)
	wantCode(t, "SaveDelivery(not as read)", s.SaveDelivery(t.Context(), unread, &second), hook.CodeConflict)
	wantCode(t, "SaveDelivery(not as read, without an attempt)", s.SaveDelivery(t.Context(), unread, nil), hook.CodeConflict)
}

func firstSaveRace(t *testing.T, s StoreUnderTest) {
	d := sampleDelivery(newEventID(t), hook.NewEndpointID(), 1)
	writer := func(i int) hook.Delivery {
		w := d
		w.DecidedBy = fmt.Sprintf("writer-%d", i)
		return w
	}
	winners := race(t, 50, func(ctx context.Context, i int) error { return s.SaveDelivery(ctx, writer(i), nil) })
	want := saved(writer(wantOne(t, winners)))
	got, err := s.Delivery(t.Context(), d.Ref())
	wantSame(t, "Delivery(raced for)", want, got, err)
}

// attempted saves the delivery with the attempt, and returns it as the store has it then.
func attempted(t *testing.T, s StoreUnderTest, d hook.Delivery, a hook.Attempt) hook.Delivery {
	t.Helper()
	d.Attempts = a.Number
	check(t, s.SaveDelivery(t.Context(), d, &a))
	got, err := s.Delivery(t.Context(), d.Ref())
	check(t, err)
	return got
}

func saveRace(t *testing.T, s StoreUnderTest) {
	d := sampleDelivery(newEventID(t), hook.NewEndpointID(), 1)
	check(t, s.SaveDelivery(t.Context(), d, nil))
	d = saved(d)
	writer := func(i int) (hook.Delivery, hook.Attempt) {
		w := d
		w.DecidedBy = fmt.Sprintf("writer-%d", i)
		w.Attempts = i%hook.MaxAttempts + 1
		return w, sampleAttempt(d.Ref(), w.Attempts)
	}
	winners := race(t, 50, func(ctx context.Context, i int) error {
		w, attempt := writer(i)
		return s.SaveDelivery(ctx, w, &attempt)
	})
	want, attempt := writer(wantOne(t, winners))
	want.Recent = []hook.Attempt{attempt}
	got, err := s.Delivery(t.Context(), d.Ref())
	wantSame(t, "Delivery(raced for)", saved(want), got, err)
	attempts, err := s.Attempts(t.Context(), []hook.Delivery{got})
	wantSame(t, "Attempts(raced for)", []hook.Attempt{attempt}, attempts, err)
}

func deliveriesOfEvent(t *testing.T, s StoreUnderTest) {
	e := hook.Event{ID: newEventID(t), Tenant: "acme", Type: "a", Payload: []byte("1"), AcceptedAt: storeEpoch()}
	var want []hook.Delivery
	for i, endpoint := range []hook.EndpointID{"ep_0000000000000000", "ep_00000000000000zz", "ep_zz00000000000000", "ep_zzzzzzzzzzzzzzzz"} {
		e.Targets = append(e.Targets, wide(endpoint))
		for generation := 1; generation <= i; generation++ { // the first target is queued
			d := sampleDelivery(e.ID, endpoint, generation)
			if generation < i || i == 2 { // a queued replay, too
				d.Replayed = hook.Replayed{Generation: generation + 1, At: storeEpoch()}
			}
			want = append(want, attempted(t, s, d, sampleAttempt(d.Ref(), 1)))
		}
	}
	check(t, s.PutEvent(t.Context(), e))
	check(t, s.SaveDelivery(t.Context(), sampleDelivery(newEventID(t), hook.NewEndpointID(), 1), nil))

	got, err := s.Deliveries(t.Context(), e)
	wantSame(t, "Deliveries(event)", want, got, err)

	e.Targets = nil
	none, err := s.Deliveries(t.Context(), e)
	wantSame(t, "Deliveries(event without targets)", []hook.Delivery(nil), none, err)
}

// reusedIdempotencyKey: the event expired and is gone. The records of its deliveries
// are not gone yet. The next event of the idempotency key has the same id.
func reusedIdempotencyKey(t *testing.T, s StoreUnderTest) {
	old := sampleDelivery(hook.KeyedEventID("acme", "order-1"), hook.NewEndpointID(), 1)
	old.State = hook.StateDelivered
	old = attempted(t, s, old, sampleAttempt(old.Ref(), 1))

	e := sampleEvent(t)
	e.ID, e.Targets, e.AcceptedAt = old.ID.Event, []hook.Target{wide(old.ID.Endpoint)}, storeEpoch().AddDate(0, 0, 90)
	check(t, s.PutEvent(t.Context(), e))
	fresh := hook.QueuedDelivery(e, e.Targets[0])
	_, err := s.Delivery(t.Context(), fresh.Ref())
	wantCode(t, "Delivery(of the second event)", err, hook.CodeNotFound)
	recorded, err := s.Deliveries(t.Context(), e)
	wantSame(t, "Deliveries(second event)", []hook.Delivery(nil), recorded, err)
	loaded, err := s.Load(t.Context(), []hook.Task{hook.NewTask("acme", fresh.Ref(), 1)})
	if err != nil || len(loaded.Deliveries) != 0 {
		t.Errorf("Load(task of the second event) = %v, %v; want no delivery", loaded.Deliveries, err)
	}
	fresh.State, fresh.Attempts = hook.StateDead, 1
	check(t, s.SaveDelivery(t.Context(), fresh, nil))
	attempts, err := s.Attempts(t.Context(), []hook.Delivery{fresh})
	wantSame(t, "Attempts(second event)", []hook.Attempt(nil), attempts, err)
	kept, err := s.Delivery(t.Context(), old.Ref())
	wantSame(t, "Delivery(of the first event)", old, kept, err)
}

func attemptsInOrder(t *testing.T, s StoreUnderTest) {
	event := newEventID(t)
	var (
		want       []hook.Attempt
		deliveries []hook.Delivery
	)
	for _, endpoint := range []hook.EndpointID{"ep_0000000000000000", "ep_00000000000000zz", "ep_zz00000000000000"} {
		for _, generation := range []int{1, 2, 10} {
			d := sampleDelivery(event, endpoint, generation)
			for number := range 11 { // also with a body that no record of a delivery holds
				a := sampleAttempt(d.Ref(), number+1)
				a.Outcome.Body = noise(number, []int{4, 700, 3000}[number%3])
				want = append(want, a)
				d = attempted(t, s, d, a)
			}
			deliveries = append(deliveries, d)
		}
	}
	other := sampleDelivery(newEventID(t), "ep_0000000000000000", 1)
	attempted(t, s, other, sampleAttempt(other.Ref(), 1))

	slices.Reverse(deliveries)
	got, err := s.Attempts(t.Context(), deliveries)
	wantSame(t, "Attempts(9 deliveries)", want, got, err)
}

func attemptComesBack(t *testing.T, s StoreUnderTest) {
	d := sampleDelivery(newEventID(t), hook.NewEndpointID(), 2)
	least := hook.Attempt{
		Delivery: d.Ref(), Number: 1, Trigger: hook.TriggerReplay, StartedAt: storeEpoch(), ExpiresAt: d.ExpiresAt,
		Outcome: hook.Outcome{Class: hook.ClassDNS, Error: "no such host"},
	}
	most := sampleAttempt(d.Ref(), 2)
	most.Outcome.Body = make([]byte, hook.MaxResponseBody)
	given := most
	given.StartedAt = most.StartedAt.Add(999 * time.Microsecond).In(time.FixedZone("", 3600))
	d = attempted(t, s, attempted(t, s, d, least), given)
	got, err := s.Attempts(t.Context(), []hook.Delivery{d})
	wantSame(t, "Attempts(delivery)", []hook.Attempt{least, most}, got, err)
}
