package replay_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"surehook/internal/delivery/replay"
	"surehook/internal/delivery/settle"
	"surehook/internal/hook"
)

// crash kills the process at its n-th effect, before it or after it.
type crash struct {
	mu     sync.Mutex
	at     int // 0: never
	after  bool
	effect int
	dead   bool
	again  bool // the next process dies at its first effect
}

var errDead = errors.New("the process is dead")

func (c *crash) do(effect func() error) error {
	c.mu.Lock()
	if c.dead {
		c.mu.Unlock()
		return errDead
	}
	c.effect++
	hit := c.at != 0 && c.effect == c.at
	c.dead = hit
	c.mu.Unlock()
	if hit && !c.after {
		return errDead
	}
	if err := effect(); err != nil || !hit {
		return err
	}
	return errDead
}

// recover starts the next process, and reports whether the last one died.
func (c *crash) recover() (died bool) {
	c.mu.Lock()
	defer c.mu.Unlock()

	died = c.dead
	if died {
		c.dead, c.at, c.effect = false, 0, 0
		if c.again {
			c.at, c.again = 1, false
		}
	}
	return died
}

// spy is what was asked of the ports, and what a test does in between.
type spy struct {
	mu       sync.Mutex
	calls    map[string]int
	pages    int               // deliveries in the largest page of the index
	pending  int               // deliveries in the largest page of a job
	tokens   int               // tokens in the largest request
	between  map[string]func() // called once, before that effect
	refuse   func(token hook.Token) error
	noAnswer string // effect that is done, but whose answer is lost once
}

func (s *spy) called(what string) (lost bool) {
	s.mu.Lock()
	if s.calls == nil {
		s.calls = make(map[string]int)
	}
	s.calls[what]++
	f := s.between[what]
	delete(s.between, what)
	if lost = s.noAnswer == what; lost {
		s.noAnswer = ""
	}
	s.mu.Unlock()
	if f != nil {
		f()
	}
	return lost
}

func (s *spy) largest(of *int, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()

	*of = max(*of, n)
}

// dying is the ports of a replayer that may die.
type dying struct{ w *world }

func (p dying) effect(what string, f func() error) error {
	lost := p.w.spy.called(what)
	return p.w.crash.do(func() error {
		err := f()
		if lost && err == nil {
			return fmt.Errorf("write again: %w", hook.Conflict("it was written"))
		}
		return err
	})
}

func (p dying) SaveDelivery(ctx context.Context, d hook.Delivery, a *hook.Attempt) error {
	return p.effect("save delivery", func() error { return p.w.store.SaveDelivery(ctx, d, a) })
}

func (p dying) SaveJob(ctx context.Context, j replay.Job) error {
	p.w.spy.largest(&p.w.spy.pending, len(j.Pending))
	return p.effect("save job", func() error { return p.w.store.SaveJob(ctx, j) })
}

func (p dying) Continue(ctx context.Context, m replay.Message, delay time.Duration) error {
	return p.effect("continue", func() error { return p.w.jobs.Continue(ctx, m, delay) })
}

func (p dying) Complete(ctx context.Context, d hook.Delivery) error {
	return p.effect("settled", func() error { return settle.Settlement{Store: p.w.store}.Complete(ctx, d) })
}

func (p dying) Send(ctx context.Context, lane hook.Lane, tokens []hook.Token, delay time.Duration) []error {
	p.w.spy.largest(&p.w.spy.tokens, len(tokens))
	errs := make([]error, len(tokens))
	err := p.effect("send", func() error {
		var taken []hook.Token
		for i, token := range tokens {
			if p.w.spy.refuse != nil {
				errs[i] = p.w.spy.refuse(token)
			}
			if errs[i] == nil {
				taken = append(taken, token)
			}
		}
		return errors.Join(p.w.queue.Send(ctx, lane, taken, delay)...)
	})
	for i := range errs {
		if err != nil {
			errs[i] = err
		}
	}
	if errors.Join(errs...) == nil {
		return nil
	}
	return errs
}

func (p dying) Event(ctx context.Context, id hook.EventID) (hook.Event, error) {
	return p.w.store.Event(ctx, id)
}

func (p dying) Delivery(ctx context.Context, id hook.DeliveryID) (hook.Delivery, error) {
	return p.w.store.Delivery(ctx, id)
}

func (p dying) Deliveries(ctx context.Context, id hook.EventID) ([]hook.Delivery, error) {
	return p.w.store.Deliveries(ctx, id)
}

func (p dying) DeliveriesByID(ctx context.Context, ids []hook.DeliveryID) ([]hook.Delivery, error) {
	p.w.spy.called("read deliveries")
	return p.w.store.DeliveriesByID(ctx, ids)
}

func (p dying) Select(ctx context.Context, s replay.Selection) ([]hook.Delivery, string, error) {
	p.w.spy.called("select")
	page, next, err := p.w.store.Select(ctx, s)
	p.w.spy.largest(&p.w.spy.pages, len(page))
	return page, next, err
}

func (p dying) CountSelected(ctx context.Context, s replay.Selection) (int, error) {
	return p.w.store.CountSelected(ctx, s)
}

func (p dying) Job(ctx context.Context, tenant hook.TenantID, id hook.JobID) (replay.Job, error) {
	return p.w.store.Job(ctx, tenant, id)
}

func (p dying) Jobs(ctx context.Context, tenant hook.TenantID, before hook.JobID, limit int) ([]replay.Job, error) {
	return p.w.store.Jobs(ctx, tenant, before, limit)
}

func (p dying) JobOutcomes(ctx context.Context, id hook.JobID) (replay.Outcomes, error) {
	return p.w.store.JobOutcomes(ctx, id)
}
