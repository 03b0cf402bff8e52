package porttest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"surehook/internal/hook"
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
		{name: "attempts are listed in the order of endpoint, generation and number", run: attemptsInOrder},
		{name: "an attempt comes back unchanged", run: attemptComesBack},
	}
}

// sampleDelivery returns an unsaved delivery after a failed first attempt.
func sampleDelivery(event hook.EventID, endpoint hook.EndpointID, generation int) hook.Delivery {
	return hook.Delivery{
		ID:            hook.DeliveryID{Event: event, Endpoint: endpoint, Generation: generation},
		Tenant:        "acme",
		EventType:     "order.paid",
		State:         hook.StateRetrying,
		Attempts:      1,
		Token:         hook.NewNonce(),
		CreatedAt:     storeEpoch(),
		UpdatedAt:     storeEpoch().Add(time.Second),
		NextAttemptAt: storeEpoch().Add(time.Minute),
		ExpiresAt:     storeExpiry(),
		Last:          sampleOutcome(),
	}
}

func sampleOutcome() hook.Outcome {
	return hook.Outcome{
		Class:      hook.ClassThrottled,
		Status:     429,
		Error:      `429 "slow down" <é>`,
		URL:        "https://example.com/hooks?a=1&b=2",
		Body:       []byte{'n', 'o', 0, 0xff},
		Duration:   1234567 * time.Microsecond,
		RetryAfter: 2 * time.Minute,
	}
}

func sampleAttempt(d hook.DeliveryID, number int) hook.Attempt {
	return hook.Attempt{
		Delivery:      d,
		Number:        number,
		Trigger:       hook.TriggerOf(d, number),
		StartedAt:     storeEpoch(),
		NextAttemptAt: storeEpoch().Add(time.Minute),
		ExpiresAt:     storeExpiry(),
		Outcome:       sampleOutcome(),
	}
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
		got, err := s.Delivery(t.Context(), d.ID)
		wantSame(t, fmt.Sprintf("Delivery(saved %d times)", d.Version), d, got, err)
	}
}

func smallDeliveryComesBack(t *testing.T, s StoreUnderTest) {
	d := hook.Delivery{
		ID:     hook.DeliveryID{Event: newEventID(t), Endpoint: hook.NewEndpointID(), Generation: hook.MaxGeneration},
		Tenant: "acme", EventType: "a", State: hook.StateParked, CreatedAt: storeEpoch(), UpdatedAt: storeEpoch(),
	}
	check(t, s.SaveDelivery(t.Context(), d, nil))
	got, err := s.Delivery(t.Context(), d.ID)
	wantSame(t, "Delivery(saved)", saved(d), got, err)
}

func deliveryNotFound(t *testing.T, s StoreUnderTest) {
	d := sampleDelivery(newEventID(t), hook.NewEndpointID(), 1)
	check(t, s.SaveDelivery(t.Context(), d, nil))
	d.ID.Generation = 2
	_, err := s.Delivery(t.Context(), d.ID)
	wantCode(t, "Delivery(next generation)", err, hook.CodeNotFound)
}

func deliveryConflict(t *testing.T, s StoreUnderTest) {
	d := sampleDelivery(newEventID(t), hook.NewEndpointID(), 1)
	attempt := sampleAttempt(d.ID, 1)

	d.Version = 1
	wantCode(t, "SaveDelivery(version 1, none stored)", s.SaveDelivery(t.Context(), d, &attempt), hook.CodeConflict)
	_, err := s.Delivery(t.Context(), d.ID)
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
	got, err := s.Delivery(t.Context(), d.ID)
	wantSame(t, "Delivery(after refused saves)", d, got, err)
	attempts, err := s.Attempts(t.Context(), d.ID.Event)
	wantSame(t, "Attempts(after refused saves)", []hook.Attempt(nil), attempts, err)
}

func firstSaveRace(t *testing.T, s StoreUnderTest) {
	d := sampleDelivery(newEventID(t), hook.NewEndpointID(), 1)
	writer := func(i int) hook.Delivery {
		w := d
		w.Token = fmt.Sprintf("writer-%d", i)
		return w
	}
	winners := race(t, 50, func(ctx context.Context, i int) error { return s.SaveDelivery(ctx, writer(i), nil) })
	want := saved(writer(wantOne(t, winners)))
	got, err := s.Delivery(t.Context(), d.ID)
	wantSame(t, "Delivery(raced for)", want, got, err)
}

func saveRace(t *testing.T, s StoreUnderTest) {
	d := sampleDelivery(newEventID(t), hook.NewEndpointID(), 1)
	check(t, s.SaveDelivery(t.Context(), d, nil))
	d = saved(d)
	writer := func(i int) (hook.Delivery, hook.Attempt) {
		w := d
		w.Token = fmt.Sprintf("writer-%d", i)
		return w, sampleAttempt(d.ID, i+1)
	}
	winners := race(t, 50, func(ctx context.Context, i int) error {
		w, attempt := writer(i)
		return s.SaveDelivery(ctx, w, &attempt)
	})
	want, attempt := writer(wantOne(t, winners))
	got, err := s.Delivery(t.Context(), d.ID)
	wantSame(t, "Delivery(raced for)", saved(want), got, err)
	attempts, err := s.Attempts(t.Context(), d.ID.Event)
	wantSame(t, "Attempts(raced for)", []hook.Attempt{attempt}, attempts, err)
}

func deliveriesOfEvent(t *testing.T, s StoreUnderTest) {
	event := newEventID(t)
	want := make(map[hook.DeliveryID]hook.Delivery)
	for _, endpoint := range []hook.EndpointID{hook.NewEndpointID(), hook.NewEndpointID()} {
		for _, generation := range []int{1, 2, 10} {
			d := sampleDelivery(event, endpoint, generation)
			attempt := sampleAttempt(d.ID, 1)
			check(t, s.SaveDelivery(t.Context(), d, &attempt))
			want[d.ID] = saved(d)
		}
	}
	check(t, s.PutEvent(t.Context(), hook.Event{ID: event, Tenant: "acme", Type: "a", Payload: []byte("1"), AcceptedAt: storeEpoch()}))
	check(t, s.SaveDelivery(t.Context(), sampleDelivery(newEventID(t), hook.NewEndpointID(), 1), nil))

	list, err := s.Deliveries(t.Context(), event)
	got := make(map[hook.DeliveryID]hook.Delivery)
	for _, d := range list {
		got[d.ID] = d
	}
	wantSame(t, "Deliveries(event)", want, got, err)
	if len(list) != len(want) {
		t.Errorf("Deliveries(event) has %d deliveries; want %d", len(list), len(want))
	}
	none, err := s.Deliveries(t.Context(), newEventID(t))
	wantSame(t, "Deliveries(unknown)", []hook.Delivery(nil), none, err)
}

func attemptsInOrder(t *testing.T, s StoreUnderTest) {
	event := newEventID(t)
	var want []hook.Attempt
	for _, endpoint := range []hook.EndpointID{"ep_0000000000000000", "ep_00000000000000zz", "ep_zz00000000000000"} {
		for _, generation := range []int{1, 2, 10} {
			for _, number := range []int{1, 2, 10, hook.MaxAttempts} {
				want = append(want, sampleAttempt(hook.DeliveryID{Event: event, Endpoint: endpoint, Generation: generation}, number))
			}
		}
	}
	for i := range want {
		a := want[len(want)-1-i] // last first
		d, err := s.Delivery(t.Context(), a.Delivery)
		if hook.CodeOf(err) == hook.CodeNotFound {
			d, err = sampleDelivery(event, a.Delivery.Endpoint, a.Delivery.Generation), nil
		}
		check(t, err)
		check(t, s.SaveDelivery(t.Context(), d, &a))
	}
	other := sampleDelivery(newEventID(t), "ep_0000000000000000", 1)
	attempt := sampleAttempt(other.ID, 1)
	check(t, s.SaveDelivery(t.Context(), other, &attempt))

	got, err := s.Attempts(t.Context(), event)
	wantSame(t, "Attempts(event)", want, got, err)
}

func attemptComesBack(t *testing.T, s StoreUnderTest) {
	d := sampleDelivery(newEventID(t), hook.NewEndpointID(), 2)
	least := hook.Attempt{
		Delivery: d.ID, Number: 1, Trigger: hook.TriggerReplay, StartedAt: storeEpoch(),
		Outcome: hook.Outcome{Class: hook.ClassDNS, Error: "no such host"},
	}
	most := sampleAttempt(d.ID, 2)
	most.Outcome.Body = make([]byte, hook.MaxResponseBody)
	given := most
	given.StartedAt = most.StartedAt.Add(999 * time.Microsecond).In(time.FixedZone("", 3600))
	check(t, s.SaveDelivery(t.Context(), d, &least))
	check(t, s.SaveDelivery(t.Context(), saved(d), &given))
	got, err := s.Attempts(t.Context(), d.ID.Event)
	wantSame(t, "Attempts(event)", []hook.Attempt{least, most}, got, err)
}
