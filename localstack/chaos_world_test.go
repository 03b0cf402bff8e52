//go:build e2e && chaos

package localstack_test

import (
	"fmt"
	"hash/fnv"
	"net/http"
	"slices"
	"strconv"
	"time"

	"surehook.example/surehook/localstack/receiver"
	"surehook.example/surehook/localstack/stack"
)

// chaosEndpoint is an endpoint with its behavior and the expected result.
type chaosEndpoint struct {
	stack.Endpoint

	name     string
	settings map[string]any
	rule     func(receiver.Request) receiver.Reply
	state    string // final state of all its deliveries
	reason   string
	attempts int  // recorded attempts of each delivery in the state; 0: any number
	parks    bool // the circuit may end open, with the remaining deliveries parked
}

// inOrder is the name of the ordered endpoint.
const inOrder = "in_order"

// chaosEndpoints returns the twelve behaviors. Only the circuits of broken and flapping may open.
// Others fail, too, but too rarely for their stubborn circuits.
func chaosEndpoints() []*chaosEndpoint {
	const delivered, dead = "delivered", "dead"
	unavailable := receiver.Status(http.StatusServiceUnavailable)
	return []*chaosEndpoint{
		{name: "well", rule: always(receiver.Status(http.StatusOK)), state: delivered, attempts: 1},
		{name: "third_time", rule: failing(2, unavailable), state: delivered, attempts: 3},
		{
			// More than a hundred failures in a row open even a circuit with the highest threshold.
			// The remaining deliveries stay parked until long after the test.
			name: "broken", rule: always(receiver.Status(http.StatusInternalServerError)), state: dead, reason: "exhausted", attempts: 3, parks: true,
			settings: map[string]any{"circuit": map[string]any{"failures": 100, "minimum": 1000, "cooldown": "1h"}},
		},
		{name: "stranger", rule: always(receiver.Status(http.StatusUnauthorized)), state: dead, reason: "rejected", attempts: 1},
		{name: "slow", rule: slowly, state: delivered, attempts: 1},
		{name: "busy", rule: failing(1, receiver.RetryAfter(http.StatusTooManyRequests, time.Second)), state: delivered, attempts: 2},
		{name: "reset", rule: failing(1, receiver.Reset()), state: delivered, attempts: 2},
		{
			name: "flapping", rule: flapping, state: delivered,
			settings: map[string]any{
				"retry":   schedule(slices.Repeat([]string{"2s"}, 19)...),
				"circuit": map[string]any{"failures": 5, "cooldown": "2s", "max_cooldown": "4s"},
			},
		},
		{name: "switched", rule: always(receiver.Status(http.StatusOK)), state: delivered, attempts: 1},
		{name: "paced", rule: always(receiver.Status(http.StatusOK)), state: delivered, attempts: 1, settings: map[string]any{"rate_per_second": 5}},
		{name: inOrder, rule: failing(1, unavailable), state: delivered, attempts: 2, settings: map[string]any{"ordered": true}},
		{
			// Some batches fail as a whole, and their events come again in other batches.
			name: "together", rule: flapping, state: delivered,
			settings: map[string]any{"retry": schedule(slices.Repeat([]string{"2s"}, 19)...), "coalesce": map[string]any{"window": "2s"}},
		},
	}
}

func always(r receiver.Reply) func(receiver.Request) receiver.Reply {
	return func(receiver.Request) receiver.Reply { return r }
}

// failing gives the reply to the first attempts of each delivery, and 200 to later ones.
func failing(first int, r receiver.Reply) func(receiver.Request) receiver.Reply {
	return func(req receiver.Request) receiver.Reply {
		if n, err := strconv.Atoi(req.Header.Get(attemptHeader)); err == nil && n <= first {
			return r
		}
		return receiver.Status(http.StatusOK)
	}
}

// slowly answers after one to two seconds, the same time for all attempts of a delivery.
func slowly(req receiver.Request) receiver.Reply {
	h := fnv.New32a()
	_, _ = h.Write([]byte(req.Header.Get(deliveryHeader))) // never fails
	return receiver.Hang(time.Second + time.Duration(h.Sum32()%1000)*time.Millisecond)
}

// flapping succeeds for four seconds, fails for four, and so on.
func flapping(req receiver.Request) receiver.Reply {
	if req.At.Unix()/4%2 == 0 {
		return receiver.Status(http.StatusOK)
	}
	return receiver.Status(http.StatusServiceUnavailable)
}

// open creates the endpoints. Each one gets the events of two kinds, its own and the next, so each
// event has two deliveries.
func (c *chaos) open() {
	c.Helper()
	c.endpoints = chaosEndpoints()
	for i, e := range c.endpoints {
		settings := map[string]any{
			"event_types": []string{kindName(i), kindName((i + 1) % len(c.endpoints))},
			"circuit":     stubborn(),
		}
		for name, value := range e.settings {
			settings[name] = value
		}
		e.Endpoint = c.endpoint(e.name, settings)
		world.receiver.Decide(c.path(e.name), e.rule)
	}
}

func kindName(kind int) string { return fmt.Sprintf("chaos.%d", kind) }

// gets reports whether the endpoint with the index gets events of the kind.
func (c *chaos) gets(endpoint, kind int) bool {
	return kind == endpoint || kind == (endpoint+1)%len(c.endpoints)
}

// endpointOf returns the endpoint of the delivery.
func (c *chaos) endpointOf(d stack.Delivery) *chaosEndpoint {
	c.Helper()
	for _, e := range c.endpoints {
		if e.ID == d.Endpoint {
			return e
		}
	}
	c.Fatalf("delivery %s is for endpoint %s, which is not of this test", d.ID, d.Endpoint)
	return nil
}
