package breaker_test

import (
	"context"
	"errors"
	"sync"
	"time"

	"surehook/internal/delivery/breaker"
	"surehook/internal/delivery/deliver"
	"surehook/internal/delivery/gate"
	"surehook/internal/hook"
	"surehook/internal/memory"
	"surehook/internal/rule/circuit"
	"surehook/internal/rule/stats"
)

var errDead = errors.New("the process is dead")

// spy counts requests and kills the breaker at its n-th effect, before it or after it.
type spy struct {
	mu       sync.Mutex
	requests map[string]int
	at       int // 0: never
	after    bool
	effects  int
	dead     bool

	// fails is asked before each effect and each list of parked deliveries; nil: nothing fails.
	fails func(verb string, id hook.EndpointID) error
	// refuses says which tokens the queue does not take; nil: none.
	refuses func(i int) bool
	// behind is how far the waves of the index of due circuits are behind the records.
	behind int
}

func (s *spy) count(verb string) {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.requests[verb]++
}

func (s *spy) total() int {
	s.mu.Lock()
	defer s.mu.Unlock()

	n := 0
	for _, times := range s.requests {
		n += times
	}
	return n
}

// do makes an effect, unless the process is dead or dies before it.
func (s *spy) do(verb string, id hook.EndpointID, effect func() error) error {
	if s.fails != nil {
		if err := s.fails(verb, id); err != nil {
			return err
		}
	}
	s.mu.Lock()
	s.requests[verb]++
	if s.dead {
		s.mu.Unlock()
		return errDead
	}
	s.effects++
	hit := s.at != 0 && s.effects == s.at
	s.dead = hit
	s.mu.Unlock()
	if hit && !s.after {
		return errDead
	}
	if err := effect(); err != nil || !hit {
		return err
	}
	return errDead
}

// recover starts the next process, if this one died; it lives.
func (s *spy) recover() bool {
	s.mu.Lock()
	defer s.mu.Unlock()

	died := s.dead
	if died {
		s.dead, s.at = false, 0
	}
	return died
}

// spied is the breaker's ports.
type spied struct {
	*memory.Store
	queue     *memory.Queue
	attention *memory.CircuitQueue
	notices   *memory.Notifications
	spy       *spy
}

func (p spied) Circuit(ctx context.Context, tenant hook.TenantID, id hook.EndpointID) (gate.Record, error) {
	p.spy.count("read circuit")
	return p.Store.Circuit(ctx, tenant, id)
}

func (p spied) Endpoint(ctx context.Context, tenant hook.TenantID, id hook.EndpointID) (hook.Endpoint, error) {
	p.spy.count("read endpoint")
	return p.Store.Endpoint(ctx, tenant, id)
}

func (p spied) DueCircuits(ctx context.Context, now time.Time, limit int) ([]hook.CircuitCheck, error) {
	p.spy.count("list due")
	looks, err := p.Store.DueCircuits(ctx, now, limit)
	for i := range looks {
		looks[i].Wave -= p.spy.behind
	}
	return looks, err
}

func (p spied) Parked(ctx context.Context, id hook.EndpointID, limit int) ([]hook.Delivery, error) {
	p.spy.count("list parked")
	if p.spy.fails != nil {
		if err := p.spy.fails("list parked", id); err != nil {
			return nil, err
		}
	}
	return p.Store.Parked(ctx, id, limit)
}

func (p spied) SaveCircuit(ctx context.Context, r gate.Record) error {
	return p.spy.do("save circuit", r.Endpoint, func() error { return p.Store.SaveCircuit(ctx, r) })
}

func (p spied) SaveDelivery(ctx context.Context, d hook.Delivery, a *hook.Attempt) error {
	return p.spy.do("save delivery", d.ID.Endpoint, func() error { return p.Store.SaveDelivery(ctx, d, a) })
}

func (p spied) Send(ctx context.Context, lane hook.Lane, tokens []hook.Token, delay time.Duration) []error {
	var errs []error
	taken := tokens
	if p.spy.refuses != nil {
		errs, taken = make([]error, len(tokens)), nil
		for i, token := range tokens {
			if p.spy.refuses(i) {
				errs[i] = &hook.Error{Code: hook.CodeUnavailable, Message: "not this one"}
				continue
			}
			taken = append(taken, token)
		}
	}
	err := p.spy.do("send", tokens[0].Delivery.Endpoint, func() error { return errors.Join(p.queue.Send(ctx, lane, taken, delay)...) })
	if err != nil {
		errs = make([]error, len(tokens))
		for i := range errs {
			errs[i] = err
		}
	}
	return errs
}

func (p spied) DeliveriesByID(ctx context.Context, ids []hook.DeliveryID) ([]hook.Delivery, error) {
	p.spy.count("read deliveries")
	if p.spy.fails != nil {
		if err := p.spy.fails("read deliveries", ids[0].Endpoint); err != nil {
			return nil, err
		}
	}
	return p.Store.DeliveriesByID(ctx, ids)
}

func (p spied) Delivery(ctx context.Context, id hook.DeliveryID) (hook.Delivery, error) {
	p.spy.count("read delivery")
	if p.spy.fails != nil {
		if err := p.spy.fails("read delivery", id.Endpoint); err != nil {
			return hook.Delivery{}, err
		}
	}
	return p.Store.Delivery(ctx, id)
}

func (p spied) RecordOutcome(ctx context.Context, d hook.Delivery) error {
	return p.spy.do("tally", d.ID.Endpoint, func() error { return p.Store.RecordOutcome(ctx, d) })
}

func (p spied) Count(ctx context.Context, tenant hook.TenantID, id hook.EndpointID, add stats.Counts, now time.Time) (counts circuit.Counts, err error) {
	err = p.spy.do("count", id, func() (err error) {
		counts, err = p.Store.Count(ctx, tenant, id, add, now)
		return err
	})
	return counts, err
}

func (p spied) UpdateEndpoint(ctx context.Context, e hook.Endpoint) error {
	return p.spy.do("update endpoint", e.ID, func() error { return p.Store.UpdateEndpoint(ctx, e) })
}

func (p spied) Notify(ctx context.Context, n hook.Notification) error {
	return p.spy.do("tell", n.Endpoint, func() error { return p.notices.Notify(ctx, n) })
}

func (p spied) Hours(ctx context.Context, id hook.EndpointID, since time.Time) ([]stats.Hour, error) {
	p.spy.count("read hours")
	if p.spy.fails != nil {
		if err := p.spy.fails("read hours", id); err != nil {
			return nil, err
		}
	}
	return p.Store.Hours(ctx, id, since)
}

func (p spied) Active(ctx context.Context, at time.Time, after hook.CircuitCheck, limit int) ([]hook.CircuitCheck, error) {
	p.spy.count("list active")
	if p.spy.fails != nil {
		if err := p.spy.fails("list active", ""); err != nil {
			return nil, err
		}
	}
	return p.Store.Active(ctx, at, after, limit)
}

func (p spied) Attended(ctx context.Context, limit int) ([]gate.Record, error) {
	p.spy.count("list attended")
	if p.spy.fails != nil {
		if err := p.spy.fails("list attended", ""); err != nil {
			return nil, err
		}
	}
	return p.Store.Attended(ctx, limit)
}

func (p spied) Enqueue(ctx context.Context, look hook.CircuitCheck, delay time.Duration) error {
	return p.spy.do("ask", look.Endpoint, func() error { return p.attention.Enqueue(ctx, look, delay) })
}

// spiedLetters is the breaker's dead letters.
type spiedLetters struct {
	letters *memory.DeadLetters
	spy     *spy
}

func (p spiedLetters) Send(ctx context.Context, letter hook.DeadLetter) error {
	return p.spy.do("send letter", letter.Endpoint, func() error { return p.letters.Send(ctx, letter) })
}

func (p spiedLetters) Receive(ctx context.Context) ([]breaker.Letter, error) {
	var letters []breaker.Letter
	err := p.spy.do("receive", "", func() (err error) {
		letters, err = p.letters.Receive(ctx)
		return err
	})
	return letters, err
}

func (p spiedLetters) Remove(ctx context.Context, letters []breaker.Letter) error {
	return p.spy.do("remove", "", func() error { return p.letters.Remove(ctx, letters) })
}

func (p spiedLetters) Depth(ctx context.Context) (int, error) {
	p.spy.count("depth")
	if p.spy.fails != nil {
		if err := p.spy.fails("depth", ""); err != nil {
			return 0, err
		}
	}
	return p.letters.Depth(ctx)
}

// counted is the ports of deliver and of the gate.
type counted struct {
	*memory.Store
	queue     *memory.Queue
	attention *memory.CircuitQueue
	spy       *spy
}

func (p counted) Load(ctx context.Context, tokens []hook.Token) (deliver.Snapshot, error) {
	if len(tokens) > 0 {
		p.spy.count("deliver: load")
	}
	return p.Store.Load(ctx, tokens)
}

func (p counted) SaveDelivery(ctx context.Context, d hook.Delivery, a *hook.Attempt) error {
	p.spy.count("deliver: save delivery")
	return p.Store.SaveDelivery(ctx, d, a)
}

func (p counted) Circuit(ctx context.Context, tenant hook.TenantID, id hook.EndpointID) (gate.Record, error) {
	p.spy.count("deliver: read circuit")
	return p.Store.Circuit(ctx, tenant, id)
}

func (p counted) SaveCircuit(ctx context.Context, r gate.Record) error {
	p.spy.count("deliver: save circuit")
	return p.Store.SaveCircuit(ctx, r)
}

func (p counted) Count(ctx context.Context, tenant hook.TenantID, id hook.EndpointID, add stats.Counts, now time.Time) (circuit.Counts, error) {
	p.spy.count("deliver: count")
	return p.Store.Count(ctx, tenant, id, add, now)
}

func (p counted) Send(ctx context.Context, lane hook.Lane, tokens []hook.Token, delay time.Duration) []error {
	p.spy.count("deliver: send")
	return p.queue.Send(ctx, lane, tokens, delay)
}

func (p counted) Enqueue(ctx context.Context, look hook.CircuitCheck, delay time.Duration) error {
	p.spy.count("deliver: ask")
	return p.attention.Enqueue(ctx, look, delay)
}
