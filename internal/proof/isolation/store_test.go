package isolation_test

import (
	"context"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"surehook/internal/delivery/breaker"
	"surehook/internal/delivery/deliver"
	"surehook/internal/delivery/gate"
	"surehook/internal/hook"
	"surehook/internal/memory"
	"surehook/internal/rule/circuit"
	"surehook/internal/rule/stats"
)

// The durations of the model.
const (
	storeCall  = 5 * time.Millisecond  // mean
	message    = 15 * time.Millisecond // mean, from the call of Send until the message is visible
	invocation = 5 * time.Millisecond  // before the function's first line
)

// calls counts the requests of the functions, and takes their time.
type calls struct {
	instant                 bool // no time
	reads, writes, messages atomic.Int64
}

// about blocks for half to one and a half times the mean.
func (c *calls) about(mean time.Duration) {
	if !c.instant {
		time.Sleep(mean/2 + rand.N(mean))
	}
}

// store is the table: each call takes time and counts. A write that changes nothing is
// no request, and a refused write is one.
type store struct {
	*memory.Store

	calls *calls
}

func (s store) read() {
	s.calls.about(storeCall)
	s.calls.reads.Add(1)
}

func (s store) write() {
	s.calls.about(storeCall)
	s.calls.writes.Add(1)
}

// Load reads the records of the tokens.
func (s store) Load(ctx context.Context, tokens []hook.Token) (deliver.Snapshot, error) {
	s.read()
	return s.Store.Load(ctx, tokens)
}

// Circuit reads a circuit record.
func (s store) Circuit(ctx context.Context, tenant hook.TenantID, id hook.EndpointID) (gate.Record, error) {
	s.read()
	return s.Store.Circuit(ctx, tenant, id)
}

// SaveCircuit writes a circuit record.
func (s store) SaveCircuit(ctx context.Context, r gate.Record) error {
	s.write()
	return s.Store.SaveCircuit(ctx, r)
}

// Limits reads an endpoint's limits.
func (s store) Limits(ctx context.Context, id hook.EndpointID) (gate.Limits, error) {
	s.read()
	return s.Store.Limits(ctx, id)
}

// ChangeLimits writes the differences.
func (s store) ChangeLimits(ctx context.Context, id hook.EndpointID, before, after gate.Limits, most int) error {
	if before.To(after).Empty() {
		return nil
	}
	s.write()
	return s.Store.ChangeLimits(ctx, id, before, after, most)
}

// Places reads a tenant's places.
func (s store) Places(ctx context.Context, tenant hook.TenantID) (gate.Limits, error) {
	s.read()
	return s.Store.Places(ctx, tenant)
}

// ChangePlaces writes the differences.
func (s store) ChangePlaces(ctx context.Context, tenant hook.TenantID, before, after gate.Limits, most int) error {
	if before.To(after).Empty() {
		return nil
	}
	s.write()
	return s.Store.ChangePlaces(ctx, tenant, before, after, most)
}

// Count adds to the counts.
func (s store) Count(ctx context.Context, tenant hook.TenantID, id hook.EndpointID, add *stats.Counts, now time.Time) (circuit.Counts, error) {
	s.write()
	return s.Store.Count(ctx, tenant, id, add, now)
}

// CountMore adds to the counts.
func (s store) CountMore(ctx context.Context, tenant hook.TenantID, id hook.EndpointID, add *stats.Counts, at time.Time) error {
	s.write()
	return s.Store.CountMore(ctx, tenant, id, add, at)
}

// Delivery reads a delivery.
func (s store) Delivery(ctx context.Context, ref hook.DeliveryRef) (hook.Delivery, error) {
	s.read()
	return s.Store.Delivery(ctx, ref)
}

// SaveDelivery writes a delivery.
func (s store) SaveDelivery(ctx context.Context, d hook.Delivery, a *hook.Attempt) error {
	s.write()
	return s.Store.SaveDelivery(ctx, d, a)
}

// Parked lists parked deliveries.
func (s store) Parked(ctx context.Context, target hook.Target, since time.Time, limit int) ([]hook.Delivery, error) {
	s.read()
	return s.Store.Parked(ctx, target, since, limit)
}

// Endpoint reads an endpoint.
func (s store) Endpoint(ctx context.Context, tenant hook.TenantID, id hook.EndpointID) (hook.Endpoint, error) {
	s.read()
	return s.Store.Endpoint(ctx, tenant, id)
}

// DueCircuits lists the due circuits.
func (s store) DueCircuits(ctx context.Context, now time.Time, limit int) ([]hook.CircuitCheck, error) {
	s.read()
	return s.Store.DueCircuits(ctx, now, limit)
}

// queue is the lanes: each message takes time and counts.
type queue struct {
	*memory.Queue

	calls *calls
}

var _ breaker.Queue = queue{}

// Send sends the tokens in batches of ten, as SendMessageBatch.
func (q queue) Send(ctx context.Context, lane hook.Lane, tokens []hook.Token, delay time.Duration) []error {
	for range (len(tokens) + 9) / 10 {
		q.calls.about(message)
	}
	q.calls.messages.Add(int64(len(tokens)))
	return q.Queue.Send(ctx, lane, tokens, delay)
}

// circuits is the queue of circuit checks.
type circuits struct {
	*memory.CircuitQueue

	calls *calls
}

// Enqueue sends a circuit check.
func (c circuits) Enqueue(ctx context.Context, check hook.CircuitCheck, delay time.Duration) error {
	c.calls.about(message)
	c.calls.messages.Add(1)
	return c.CircuitQueue.Enqueue(ctx, check, delay)
}
