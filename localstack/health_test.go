//go:build e2e

package localstack_test

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"surehook.example/surehook/internal/aws/dynamo"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/stats"
	"surehook.example/surehook/localstack/receiver"
	"surehook.example/surehook/localstack/stack"
)

// The tests here run before the concurrent tests. A review judges all
// endpoints, and durations need an otherwise idle machine.

// health is the tests' part of an endpoint's health.
type health struct {
	Status     string `json:"status"`
	Slow       bool   `json:"slow"`
	Fragile    bool   `json:"fragile"`
	Warned     int    `json:"warned"`
	Timeout    string `json:"timeout"`
	Complete   bool   `json:"complete"`
	Deliveries struct {
		Retrying  int `json:"retrying"`
		Parked    int `json:"parked"`
		Dead      int `json:"dead"`
		Delivered int `json:"delivered"`
	} `json:"deliveries"`
	Windows map[string]window `json:"windows"`
}

type window struct {
	Attempts     int            `json:"attempts"`
	Success      float64        `json:"success_rate"`
	FirstSuccess float64        `json:"first_attempt_success_rate"`
	FinalSuccess float64        `json:"final_success_rate"`
	DeadRate     float64        `json:"dead_rate"`
	Delivered    int            `json:"delivered"`
	Dead         int            `json:"dead"`
	Latency      percentiles    `json:"latency"`
	ByOutcome    map[string]int `json:"attempts_by_outcome"`
	ByNumber     []int          `json:"attempts_by_number"`
}

// milliseconds compares durations within the histogram's precision.
type milliseconds float64

// UnmarshalText reads a duration with units, such as "1.5s".
func (m *milliseconds) UnmarshalText(text []byte) error {
	d, err := time.ParseDuration(string(text))
	*m = milliseconds(d.Seconds() * 1000)
	return err
}

type percentiles struct {
	Samples int          `json:"samples"`
	P50     milliseconds `json:"p50"`
	P95     milliseconds `json:"p95"`
	P99     milliseconds `json:"p99"`
}

func TestHealthIsAsMeasured(t *testing.T) { //nolint:paralleltest // see above
	const events, unavailable, unknown = 40, 5, 4
	b := setup(t)
	var replies []receiver.Reply
	for range unavailable {
		replies = append(replies, receiver.Status(http.StatusServiceUnavailable))
	}
	for range unknown {
		replies = append(replies, receiver.Status(http.StatusNotFound))
	}
	for _, part := range []struct {
		n    int
		wait time.Duration
	}{{n: 9, wait: 20 * time.Millisecond}, {n: 12, wait: 100 * time.Millisecond}, {n: 10, wait: 400 * time.Millisecond}, {n: 5, wait: 900 * time.Millisecond}} {
		for range part.n {
			replies = append(replies, receiver.Hang(part.wait))
		}
	}
	e := b.endpoint("a", map[string]any{"retry": schedule("3s"), "circuit": stubborn()}, replies...)
	posted := b.postMany(events)

	const attempts = events + unavailable
	got := b.awaitHealth(e.ID, attempts)
	durations := b.durations(posted)
	if len(durations) != attempts {
		t.Fatalf("the API has %d attempts; want %d", len(durations), attempts)
	}
	want := window{
		Attempts:     attempts,
		Success:      float64(events-unknown) / attempts,
		FirstSuccess: float64(events-unknown-unavailable) / events,
		FinalSuccess: float64(events-unknown) / events,
		DeadRate:     float64(unknown) / events,
		Delivered:    events - unknown,
		Dead:         unknown,
		Latency:      percentiles{attempts, nearestRank(durations, 50), nearestRank(durations, 95), nearestRank(durations, 99)},
		ByOutcome:    map[string]int{"delivered": events - unknown, "unavailable": unavailable, "refused": unknown},
		ByNumber:     []int{events, unavailable},
	}
	within := cmp.Comparer(func(x, y milliseconds) bool { // 5 %, and the rounding to whole milliseconds
		return math.Abs(float64(x-y)) <= 0.05*float64(max(x, y))+1
	})
	for name, w := range got.Windows {
		if diff := cmp.Diff(want, w, within, cmpopts.EquateApprox(0, 1e-9)); diff != "" {
			t.Errorf("health within %s differs (-want +got):\n%s", name, diff)
		}
		t.Logf("within %s: %+v; exact: %+v", name, w.Latency, want.Latency)
	}
	if d := got.Deliveries; !got.Complete || d.Retrying != 0 || d.Parked != 0 || d.Dead != unknown || d.Delivered != events-unknown {
		t.Errorf("deliveries = %+v; want %d delivered and %d dead", d, events-unknown, unknown)
	}
	if got.Slow || got.Warned != 0 || got.Status != "active" || len(got.Windows) != 2 {
		t.Errorf("health = %+v; want an active endpoint that is not slow, in two windows", got)
	}
	b.wantPipeline(events-unknown, unavailable+unknown, unknown)
}

// wantPipeline checks that the overview has at least n deliveries and attempts
// in the last hour. Other tests add to the numbers.
func (b *bench) wantPipeline(delivered, failed, dead int) {
	b.Helper()
	var got struct {
		Complete bool `json:"complete"`
		Dead     int  `json:"dead"`
		Hour     struct {
			Delivered int `json:"delivered"`
			Failed    int `json:"failed"`
			Dead      int `json:"dead"`
		} `json:"last_hour"`
		Queues map[string]struct {
			Visible  int `json:"visible"`
			InFlight int `json:"in_flight"`
			Delayed  int `json:"delayed"`
		} `json:"queues"`
	}
	if err := world.api.Call(b.ctx, http.MethodGet, "/v1/health", nil, http.StatusOK, &got); err != nil {
		b.Fatal(err)
	}
	b.Logf("pipeline: %+v", got)
	if !got.Complete || got.Dead < dead || got.Hour.Delivered < delivered || got.Hour.Failed < failed || got.Hour.Dead < dead {
		b.Errorf("pipeline = %+v; want %d delivered, %d failed attempts and %d dead or more", got, delivered, failed, dead)
	}
	letters := got.Queues["dead_letters"]
	if letters.Visible+letters.InFlight < dead || got.Queues["undeliverable"].Visible != 0 || len(got.Queues) != 12 {
		b.Errorf("queues = %+v; want twelve, with %d dead letters or more, and nothing undeliverable", got.Queues, dead)
	}
}

func TestAnEndpointWhoseDeliveriesDieIsWarnedAndDisabled(t *testing.T) { //nolint:paralleltest // see above
	b := setup(t)
	b.endpoint("ops", map[string]any{"event_types": []string{"webhook.*"}})
	replies := slices.Repeat([]receiver.Reply{receiver.Status(http.StatusOK)}, 14)
	e := b.endpoint("a", map[string]any{"event_types": []string{"order.*"}}, append(replies, receiver.Status(http.StatusNotFound))...)

	settled := 0
	for _, phase := range []struct {
		events, warned int
		status         string
		aged           bool // hours pass before the review
	}{
		{events: 20, warned: 25, status: "active"},             // 6 of 20 are dead
		{events: 5, warned: 40, status: "active"},              // 11 of 25
		{events: 8, warned: 40, status: "active"},              // 19 of 33, but 14 of this hour succeeded
		{events: 0, warned: 0, status: "disabled", aged: true}, // the last two hours have failures only
		{events: 0, warned: 0, status: "disabled"},             // a review of unchanged figures sends no notification
	} {
		if phase.events > 0 {
			b.postMany(phase.events)
		}
		settled += phase.events
		b.awaitSettled(e.ID, settled)
		if phase.aged {
			b.age(e.ID, 14)
		}
		b.review()
		if got := b.awaitSettled(e.ID, settled); got.Warned != phase.warned || got.Status != phase.status {
			t.Errorf("health after %d deliveries = %+v; want warned at %d %%, %s", settled, got, phase.warned, phase.status)
		}
	}

	b.wantHistory(e.ID,
		entry{Type: "webhook.endpoint.disabled", Figures: map[string]float64{"dead_rate": 19.0 / 33, "dead": 19, "settled": 33}},
		entry{Type: "webhook.endpoint.failing", Figures: map[string]float64{"dead_rate": 11.0 / 25, "dead": 11, "settled": 25}},
		entry{Type: "webhook.endpoint.failing", Figures: map[string]float64{"dead_rate": 6.0 / 20, "dead": 6, "settled": 20}},
	)
	b.wantNotifications(e.ID, map[string]int{"webhook.delivery.dead": 19, "webhook.endpoint.failing": 2, "webhook.endpoint.disabled": 1})
	var got stack.Endpoint
	b.call(http.MethodGet, "/endpoints/"+e.ID, nil, http.StatusOK, &got)
	if got.Status != "disabled" || got.Reason != "failing" {
		t.Errorf("endpoint = %+v; want it disabled, failing", got)
	}
	b.await(b.postOne(), "parked")
}

func TestASlowEndpointIsFlaggedUntilItIsFastAgain(t *testing.T) { //nolint:paralleltest // see above
	const samples, wait = 20, 2300 * time.Millisecond
	b := setup(t)
	b.endpoint("ops", map[string]any{"event_types": []string{"webhook.endpoint.*"}})
	e := b.endpoint("a", map[string]any{"event_types": []string{"order.*"}}, receiver.Hang(wait))
	b.postMany(samples)
	b.awaitHealth(e.ID, samples)
	b.review()
	got := b.awaitHealth(e.ID, samples)
	timeout, err := time.ParseDuration(got.Timeout)
	if err != nil || !got.Slow || got.Fragile || timeout < 3*wait || timeout > 3*wait*5/4 {
		t.Errorf("health = %+v; want it slow, not fragile, with three times its p99 for a timeout", got)
	}
	if listed := b.slow(); !slices.Equal(listed, []string{e.ID}) {
		t.Errorf("slow endpoints = %v; want %s alone", listed, e.ID)
	}

	// A thousand successes, written into deliver's counters, bring the rate
	// below the limit again.
	var fast stats.Counts
	for range 1000 {
		fast.Count(stats.Attempt{Class: hook.ClassDelivered, Number: 1, Duration: 100 * time.Millisecond, State: hook.StateDelivered, Age: time.Second})
	}
	if _, err := dynamo.New(world.stack.AWS, world.stack.TableName).Count(b.ctx, hook.TenantID(b.tenant), hook.EndpointID(e.ID), &fast, time.Now()); err != nil {
		t.Fatal(err)
	}
	b.review()
	if got := b.awaitHealth(e.ID, samples+1000); got.Slow || got.Timeout != "10s" {
		t.Errorf("health = %+v; want it fast again, with its own timeout", got)
	}
	if listed := b.slow(); len(listed) > 0 {
		t.Errorf("slow endpoints = %v; want none", listed)
	}
	b.wantHistory(e.ID,
		entry{Type: "webhook.endpoint.recovered", Figures: map[string]float64{"samples": samples + 1000}},
		entry{Type: "webhook.endpoint.slow", Figures: map[string]float64{"samples": samples}},
	)
	b.wantNotifications(e.ID, map[string]int{"webhook.endpoint.slow": 1, "webhook.endpoint.recovered": 1})
}

// age moves the creation and the warning of the endpoint, in its first status, to
// four hours ago, and so many successes of this hour to three hours ago.
func (b *bench) age(endpoint string, successes int) {
	b.Helper()
	tenant, id, now := hook.TenantID(b.tenant), hook.EndpointID(endpoint), time.Now()
	store := dynamo.New(world.stack.AWS, world.stack.TableName)
	e, err := store.Endpoint(b.ctx, tenant, id)
	if err != nil {
		b.Fatal(err)
	}
	e.CreatedAt = now.Add(-4 * time.Hour).UTC().Truncate(time.Millisecond)
	e.StatusSince = e.CreatedAt
	if err := store.UpdateEndpoint(b.ctx, e); err != nil {
		b.Fatal(err)
	}
	record, err := store.Circuit(b.ctx, tenant, id)
	if err != nil {
		b.Fatal(err)
	}
	record.Review.WarnedAt = e.StatusSince
	if err := store.SaveCircuit(b.ctx, record); err != nil {
		b.Fatal(err)
	}
	for at, delivered := range map[time.Time]int{now: -successes, now.Add(-3 * time.Hour): successes} {
		if _, err := store.Count(b.ctx, tenant, id, &stats.Counts{Delivered: delivered}, at); err != nil {
			b.Fatal(err)
		}
	}
}

// review runs the breaker's review of all endpoints.
func (b *bench) review() {
	b.Helper()
	if err := world.stack.Invoke(b.ctx, "breaker", map[string]bool{"review": true}); err != nil {
		b.Fatal(err)
	}
}

// awaitSettled returns the endpoint's health as soon as it counts n settled deliveries. A
// delivery may have had two attempts: when the endpoint becomes fast, a slot and a wave may
// release the same delivery.
func (b *bench) awaitSettled(endpoint string, n int) health {
	b.Helper()
	return b.awaitCount(endpoint, fmt.Sprintf("%d deliveries settled", n), func(h health) bool {
		day := h.Windows["24h"]
		return day.Delivered+day.Dead == n
	})
}

// awaitHealth returns the endpoint's health as soon as it counts n attempts.
func (b *bench) awaitHealth(endpoint string, n int) health {
	b.Helper()
	return b.awaitCount(endpoint, fmt.Sprintf("%d attempts were counted", n), func(h health) bool { return h.Windows["1h"].Attempts == n })
}

func (b *bench) awaitCount(endpoint, what string, holds func(health) bool) health {
	b.Helper()
	var got health
	b.until(what+" at "+endpoint, func() bool {
		got = health{}
		b.call(http.MethodGet, "/endpoints/"+endpoint+"/health", nil, http.StatusOK, &got)
		return holds(got)
	})
	return got
}

// slow returns the ids of the tenant's slow endpoints.
func (b *bench) slow() []string {
	b.Helper()
	var page struct{ Data []stack.Endpoint }
	b.call(http.MethodGet, "/endpoints?slow=true", nil, http.StatusOK, &page)
	var ids []string
	for _, e := range page.Data {
		ids = append(ids, e.ID)
	}
	return ids
}

// durations returns the durations of the events' attempts in milliseconds, from
// the API, shortest first.
func (b *bench) durations(events []string) []milliseconds {
	b.Helper()
	var all []milliseconds
	for _, event := range events {
		var page struct {
			Data []struct {
				Duration milliseconds `json:"duration"`
			} `json:"data"`
		}
		b.call(http.MethodGet, "/events/"+event+"/attempts", nil, http.StatusOK, &page)
		for _, a := range page.Data {
			all = append(all, a.Duration)
		}
	}
	slices.Sort(all)
	return all
}

// nearestRank returns the percentile of sorted values.
func nearestRank(sorted []milliseconds, p float64) milliseconds {
	return sorted[int(math.Ceil(p/100*float64(len(sorted))))-1]
}

// entry is the tests' part of a decision about an endpoint. Only the wanted figures
// are compared.
type entry struct {
	Type    string             `json:"event_type"`
	Reason  string             `json:"reason"`
	Figures map[string]float64 `json:"figures"`
}

func (b *bench) wantHistory(endpoint string, want ...entry) {
	b.Helper()
	var page struct{ Data []entry }
	b.call(http.MethodGet, "/endpoints/"+endpoint+"/decisions", nil, http.StatusOK, &page)
	for i, e := range page.Data {
		b.Logf("history: %s: %s", e.Type, e.Reason)
		if i < len(want) {
			for figure := range e.Figures {
				if _, wanted := want[i].Figures[figure]; !wanted {
					delete(e.Figures, figure)
				}
			}
		}
	}
	if diff := cmp.Diff(want, page.Data, cmpopts.IgnoreFields(entry{}, "Reason"), cmpopts.EquateApprox(0, 1e-9)); diff != "" {
		b.Errorf("history differs, newest first (-want +got):\n%s", diff)
	}
}

// wantNotifications waits for the operational events about the endpoint at
// "ops" and checks the number of each type and all signatures.
func (b *bench) wantNotifications(endpoint string, want map[string]int) {
	b.Helper()
	total := 0
	for _, n := range want {
		total += n
	}
	got := map[string]int{}
	for _, r := range b.arrivals("ops", total) {
		var body struct {
			Type     string `json:"event_type"`
			Endpoint string `json:"endpoint_id"`
			Reason   string `json:"reason"`
		}
		if err := json.Unmarshal(r.Body, &body); err != nil {
			b.Fatalf("read the operational event %q: %v", r.Body, err)
		}
		got[body.Type]++
		if !r.Genuine() || r.Header.Get("X-Webhook-Event") != body.Type || body.Endpoint != endpoint || body.Reason == "" {
			b.Errorf("operational event = %s, signature %v; want it genuine, about %s, of type %s", r.Body, r.Verified, endpoint, r.Header.Get("X-Webhook-Event"))
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		b.Errorf("operational events differ (-want +got):\n%s", diff)
	}
}
