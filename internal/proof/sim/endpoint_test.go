package sim_test

import (
	"context"
	"time"

	"surehook/internal/delivery/send"
	"surehook/internal/hook"
	"surehook/internal/proof/world"
)

// endpoint is a receiver with its own temper.
type endpoint struct {
	hook.Endpoint

	id      hook.EndpointID
	delays  []time.Duration // of its policy
	temper  temper
	outages []span
}

// temper is the probabilities of bad answers while the receiver is up.
type temper struct {
	unavailable, throttled, rejected, gone, reset, slow float64
}

type span struct{ from, to time.Time }

func (w *simulation) tempers() []temper {
	return []temper{
		{},
		{unavailable: 0.3, reset: 0.1},
		{unavailable: 0.7},
		{throttled: 0.3},
		{rejected: 0.2, unavailable: 0.1},
		{slow: 0.5, unavailable: 0.2},
		{gone: 0.02, reset: 0.3},
	}
}

// newEndpoint creates an endpoint by the seed's choice.
func (w *simulation) newEndpoint() {
	w.note("a new endpoint")
	const letters = "0123456789abcdefghjkmnpqrstvwxyz"
	id := []byte("ep_0000000000000000")
	for i := 3; i < len(id); i++ {
		id[i] = letters[w.rng.IntN(len(letters))]
	}
	e := &endpoint{id: hook.EndpointID(id), temper: pick(w, w.tempers()...)}
	for range 1 + w.rng.IntN(4) {
		e.delays = append(e.delays, pick(w, time.Second, 5*time.Second, 30*time.Second, 2*time.Minute, 10*time.Minute, 20*time.Minute))
	}
	for at := w.now; at.Before(start.Add(suffering + time.Hour)); {
		at = at.Add(time.Minute + w.within(20*time.Minute))
		o := span{at, at.Add(w.within(pick(w, 30*time.Second, 5*time.Minute, 15*time.Minute)))}
		e.outages = append(e.outages, o)
		at = o.to
	}
	if w.chance(0.3) {
		e.outages = nil
	}
	record, err := world.EndpointWith(w.ctx, e.id, "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", w.now)
	if err != nil {
		w.fail("seal: %v", err)
	}
	record.EventTypes = pick(w, []string{"*"}, []string{"*"}, []string{"order.*"}, []string{"order.paid", "user.gone"})
	record.Retry = hook.RetryPolicy{
		Schedule: e.delays, Jitter: pick(w, hook.JitterFull, hook.JitterEqual, hook.JitterProportional, hook.JitterNone),
	}
	record.Timeout = pick(w, 2*time.Second, 10*time.Second, 20*time.Second)
	record.MaxAge = pick(w, 3*time.Minute, 10*time.Minute, 40*time.Minute)
	record.Circuit = hook.CircuitSettings{
		Failures: pick(w, 2, 3, 5, 8), Cooldown: pick(w, 10*time.Second, time.Minute, 5*time.Minute), MaxCooldown: 10 * time.Minute,
	}
	e.Endpoint = record
	switch w.rng.IntN(4) {
	case 0:
		e.RatePerSecond = pick(w, 0.2, 1, 5)
	case 1:
		e.MaxInFlight = 1 + w.rng.IntN(3)
	}
	if err := w.store.CreateEndpoint(w.ctx, e.Endpoint); err != nil {
		w.fail("create endpoint: %v", err)
	}
	w.endpoints = append(w.endpoints, e)
	w.sawEndpoint(e.Endpoint, false)
}

// answer returns the endpoint's outcome now, with its duration.
func (w *simulation) answer(e *endpoint) hook.Outcome {
	status := func(n int) hook.Outcome {
		return hook.Outcome{Class: hook.ClassOfStatus(n), Status: n, URL: e.URL, Duration: time.Millisecond + w.within(300*time.Millisecond)}
	}
	timeout := hook.Outcome{Class: hook.ClassTimeout, Duration: e.Timeout}
	for _, o := range e.outages {
		if !w.now.Before(o.from) && w.now.Before(o.to) && !w.quiet {
			return pick(w, status(503), status(500), timeout, hook.Outcome{Class: hook.ClassConnect, Duration: time.Second})
		}
	}
	t := e.temper
	switch {
	case w.chance(t.gone):
		return status(410)
	case w.chance(t.rejected):
		return status(400)
	case w.chance(t.unavailable):
		o := status(503)
		o.RetryAfter = pick(w, 0, 0, 45*time.Second)
		return o
	case w.chance(t.throttled):
		o := status(429)
		o.RetryAfter = pick(w, 0, 7*time.Second, 2*time.Minute)
		return o
	case w.chance(t.reset):
		return hook.Outcome{Class: hook.ClassReset, Duration: w.within(time.Second)}
	}
	o := status(200)
	if w.chance(t.slow) {
		o.Duration = w.within(e.Timeout + e.Timeout/4)
		if o.Duration >= e.Timeout {
			return timeout
		}
	}
	return o
}

// wire is the network of one process.
type wire struct{ p *process }

func (s wire) Send(_ context.Context, r send.Request) hook.Outcome {
	p := s.p
	about := r.Delivery.String() + " " + r.Event.Type + " attempt " + string(rune('0'+r.Attempt%10))
	cut := hook.Outcome{Class: hook.ClassTimeout, Error: "cut short"}
	v := p.enter("POST", about, local, 0)
	if v == dead {
		return cut
	}
	sent := p.sawPost(p, r)
	p.note("%s POST %s: %s after %s, retry after %s %s", p.name, about, sent.outcome.Class, sent.outcome.Duration, sent.outcome.RetryAfter, v)
	if v == dying {
		p.die()
		return cut
	}
	switch p.enter("answer", about, local, sent.outcome.Duration) {
	case dead:
		return cut
	case dying:
		p.die()
		return cut
	case granted, refused, lost, repeated, partial:
	}
	sent.ended = p.now
	return sent.outcome
}
