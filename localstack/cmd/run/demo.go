package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"surehook.example/surehook/localstack/receiver"
	"surehook.example/surehook/localstack/stack"
)

// tenant is the customer of the demonstration.
const tenant = "demo"

// waitLimit bounds each wait.
const waitLimit = 60 * time.Second

// errTooLong ends a wait.
var errTooLong = errors.New("the wait took longer than a minute")

// demo shows the system at work.
type demo struct {
	say      *narrator
	api      *stack.Client
	receiver *receiver.Receiver

	lastEvent string // id of the newest accepted event
}

// show runs both acts.
func (d *demo) show(ctx context.Context) error {
	if err := d.act(ctx, act{
		title: "An event is delivered", path: "/a", eventType: "order.created", payload: `{"order": 1001, "total": "12.50"}`,
		replies: []receiver.Reply{receiver.Status(200)},
	}); err != nil {
		return err
	}
	return d.act(ctx, act{
		title: "A failing endpoint answers 503 twice, then 200", path: "/b", eventType: "invoice.paid", payload: `{"invoice": 7}`,
		replies: []receiver.Reply{receiver.Status(503), receiver.Status(503), receiver.Status(200)},
	})
}

// act is one endpoint, one event and the endpoint's answers.
type act struct {
	title, path, eventType, payload string
	replies                         []receiver.Reply
}

// act creates the endpoint, posts the event and follows the delivery.
func (d *demo) act(ctx context.Context, a act) error {
	d.say.step("%s", a.title)
	d.receiver.Script(a.path, a.replies...)
	endpoint, err := d.api.CreateEndpoint(ctx, tenant, map[string]any{
		"url":         d.receiver.URL + a.path,
		"event_types": []string{a.eventType},
		"retry":       map[string]any{"schedule": []string{"1s", "1s"}, "jitter": "none"},
	})
	if err != nil {
		return err
	}
	d.receiver.Trust(a.path, endpoint.Secret)
	d.say.item("endpoint", "%s -> %s", endpoint.ID, d.receiver.URL+a.path)

	began := d.say.now()
	accepted, err := d.api.PostEvent(ctx, tenant, a.eventType, a.payload)
	if err != nil {
		return err
	}
	d.lastEvent = accepted.ID
	d.say.after(began, d.say.now(), "accepted", "%s, %s", a.eventType, accepted.ID)
	deliveries, err := d.api.Deliveries(ctx, tenant, accepted.ID)
	if err != nil {
		return err
	}
	if len(deliveries) != 1 {
		return fmt.Errorf("event %s has %d deliveries instead of 1", accepted.ID, len(deliveries))
	}

	for n, reply := range a.replies {
		if err := d.attempt(ctx, a, n+1, reply, began); err != nil {
			return err
		}
	}
	return d.delivered(ctx, deliveries[0].ID, len(a.replies), began)
}

// attempt waits for attempt n and checks the signature and the bytes.
func (d *demo) attempt(ctx context.Context, a act, n int, reply receiver.Reply, began time.Time) error {
	ctx, cancel := context.WithTimeoutCause(ctx, waitLimit, errTooLong)
	defer cancel()
	requests, err := d.receiver.Await(ctx, a.path, n)
	if err != nil {
		return err
	}
	got := requests[n-1]
	d.say.after(began, got.At, fmt.Sprintf("attempt %d", n), "POST %s, answered %s", a.path, reply)
	if !got.Genuine() {
		return fmt.Errorf("the Standard Webhooks library refuses the signature of attempt %d: %v", n, got.Verified)
	}
	if !strings.HasSuffix(string(got.Body), `,"data":`+a.payload+"}") {
		return fmt.Errorf("attempt %d has the body %q, and not the posted %q in the standard envelope", n, got.Body, a.payload)
	}
	d.say.item("", "signature verified by the public Standard Webhooks library")
	return nil
}

// delivered waits until the record says delivered.
func (d *demo) delivered(ctx context.Context, id string, attempts int, began time.Time) error {
	ctx, cancel := context.WithTimeoutCause(ctx, waitLimit, errTooLong)
	defer cancel()
	record, err := d.api.AwaitDelivery(ctx, tenant, id, "delivered")
	if err != nil {
		return err
	}
	if record.Attempts != attempts {
		return fmt.Errorf("delivery %s took %d attempts instead of %d", id, record.Attempts, attempts)
	}
	d.say.after(began, d.say.now(), "delivered", "on attempt %d", record.Attempts)
	return nil
}
