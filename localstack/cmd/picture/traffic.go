package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"

	"surehook.example/surehook/localstack/receiver"
	"surehook.example/surehook/localstack/stack"
)

// tenant is the customer of all events.
const tenant = "acme"

// traffic is some minutes of a small system: one fast endpoint, one slow
// endpoint, one with occasional failures, one with permanent rejections, and
// one with an outage. The outage opens the endpoint's circuit and parks its
// deliveries.
type traffic struct {
	api      *stack.Client
	receiver *receiver.Receiver
	depths   depths
	length   time.Duration
}

// The start and the end of the outage, as shares of the run.
const (
	outageBegins = 0.25
	outageEnds   = 0.55
)

// breath is the pause between two batches of events.
const breath = 2 * time.Second

func (t traffic) run(ctx context.Context) error {
	if err := t.endpoints(ctx); err != nil {
		return err
	}
	began := time.Now()
	tick := time.NewTicker(breath)
	defer tick.Stop()
	for {
		gone := time.Since(began)
		if gone > t.length {
			return nil
		}
		if gone < t.length*9/10 { // time for the last deliveries
			if err := t.send(ctx, gone.Seconds()/t.length.Seconds()); err != nil {
				return err
			}
		}
		if err := t.depths.take(ctx); err != nil {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("send events: %w", context.Cause(ctx))
		}
	}
}

func (t traffic) endpoints(ctx context.Context) error {
	circuit := map[string]any{"cooldown": "20s", "max_cooldown": "20s"}
	retry := map[string]any{"schedule": []string{"2s", "5s", "10s"}, "jitter": "full"}
	for _, name := range []string{"prompt", "slow", "flaky", "refusing", "outage"} {
		types := []string{"order.*"}
		if name == "refusing" {
			types = []string{"order.refunded"}
		}
		in := map[string]any{"url": t.receiver.URL + "/" + name, "uid": name, "event_types": types, "retry": retry, "circuit": circuit}
		if _, err := t.api.CreateEndpoint(ctx, tenant, in); err != nil {
			return err
		}
	}
	t.receiver.Script("/refusing", receiver.Status(http.StatusUnprocessableEntity))
	return nil
}

// send posts a few events and sets the receiver's behavior for this share of
// the run.
func (t traffic) send(ctx context.Context, at float64) error {
	t.receiver.Script("/slow", receiver.Hang(time.Duration(200+rand.IntN(900))*time.Millisecond))
	flaky := []receiver.Reply{receiver.Status(http.StatusOK), receiver.Status(http.StatusOK), receiver.Status(http.StatusOK), receiver.Status(http.StatusServiceUnavailable)}
	rand.Shuffle(len(flaky), func(i, j int) { flaky[i], flaky[j] = flaky[j], flaky[i] })
	t.receiver.Script("/flaky", flaky...)
	down := receiver.Status(http.StatusOK)
	if at > outageBegins && at < outageEnds {
		down = receiver.Status(http.StatusBadGateway)
	}
	t.receiver.Script("/outage", down)
	for range 2 + rand.IntN(5) {
		kind := "order.paid"
		if rand.IntN(40) == 0 {
			kind = "order.refunded"
		}
		if _, err := t.api.PostEvent(ctx, tenant, kind, fmt.Sprintf(`{"order": %d}`, rand.IntN(100_000))); err != nil {
			return err
		}
	}
	return nil
}
