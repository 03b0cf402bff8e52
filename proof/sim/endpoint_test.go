package sim_test

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
	"time"

	"surehook.example/surehook/internal/delivery/send"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/memory"
	"surehook.example/surehook/internal/rule/admission"
	"surehook.example/surehook/internal/rule/destination"
	"surehook.example/surehook/proof/world"
)

// endpoint is an endpoint with the behavior of its receiver.
type endpoint struct {
	hook.Endpoint

	id       hook.EndpointID
	temper   temper
	troubles []span
}

// temper says how likely bad answers are while the receiver has no other trouble.
type temper struct {
	unavailable, throttled, rejected, gone, reset, slow float64

	poison  bool // one event in sixteen always fails
	badType bool // events of one type always fail
	late    int  // the number of first attempts of each delivery that always fail
}

// span is a time of trouble of a receiver: an outage, a herd of 429, or slow answers.
type span struct {
	from, to time.Time
	herd     time.Duration // the longest Retry-After of a herd: all answers are 429; 0: no herd
	slow     bool          // answers come late
	hangs    bool          // no answer comes
}

func (s span) covers(now time.Time) bool { return !now.Before(s.from) && now.Before(s.to) }

func (w *simulation) tempers() []temper {
	return []temper{
		{},
		{unavailable: 0.3, reset: 0.1},
		{unavailable: 0.7},
		{throttled: 0.3},
		{rejected: 0.2, unavailable: 0.1},
		{slow: 0.5, unavailable: 0.2},
		{gone: 0.02, reset: 0.3},
		{poison: true},
		{badType: true},
		{late: 2},
	}
}

// newEndpoint creates an endpoint by the seed's choice.
func (w *simulation) newEndpoint() { w.newEndpointOf(pick(w, w.tenants()...)) }

func (w *simulation) newEndpointOf(tenant hook.TenantID) { w.newEndpointWith(tenant, "") }

// newEndpointWith gives the endpoint the uid; one of its own if empty.
func (w *simulation) newEndpointWith(tenant hook.TenantID, uid string) {
	w.note("a new endpoint")
	const letters = "0123456789abcdefghjkmnpqrstvwxyz"
	id := []byte("ep_0000000000000000")
	for i := 3; i < len(id); i++ {
		id[i] = letters[w.rng.IntN(len(letters))]
	}
	e := &endpoint{id: hook.EndpointID(id), temper: pick(w, w.tempers()...)}
	delays := w.drawDelays()
	e.troubles = w.drawTroubles()
	if w.flapping && len(w.endpoints) < 2 {
		e.temper, e.troubles = temper{unavailable: 0.8}, nil
		delays = []time.Duration{5 * time.Second, 5 * time.Second, 30 * time.Second, 30 * time.Second, 2 * time.Minute}
	}
	const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	record, err := world.EndpointWith(w.ctx, e.id, secret, w.now)
	if err != nil {
		w.fail(checkSetup, "make endpoint: %v", err)
	}
	record.Tenant, record.UID = tenant, cmp.Or(uid, string(id[3:]))
	if record.Secrets[0].Sealed, err = (memory.Vault{}).Seal(w.ctx, secret, record.Tenant, e.id); err != nil {
		w.fail(checkSetup, "seal: %v", err)
	}
	record.EventTypes, record.Filter, record.Retry = w.drawTypes(), w.drawFilter(), w.drawRetry(delays)
	record.Timeout = pick(w, 2*time.Second, 10*time.Second, hook.MaxTimeout)
	if w.hanging() {
		record.Timeout = hook.MaxTimeout
	}
	record.MaxAge = w.drawMaxAge()
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
	coalesce(&e.Endpoint)
	w.arrangeInOrder(&e.Endpoint)
	place(&e.Endpoint)
	cloudOf(&e.Endpoint)
	contentOf(&e.Endpoint)
	if e.ID[8]%3 == 0 {
		e.Endpoint = e.Sharded(4)
	}
	e.RetryOn, e.GiveUpOn = w.drawStatuses()
	if wrong := hook.ValidateEndpoint(e.Endpoint); len(wrong) > 0 { // max_age is too short for a wait of the window or the rate
		e.MaxAge = 10 * time.Minute
	}
	if wrong := destination.Validate(&e.Endpoint); len(wrong) > 0 {
		w.fail(checkSetup, "endpoint %s is wrong: %v", e.id, wrong)
	}
	if w.chance(0.5) { // a fast endpoint: attempts share invocations, releases have waves, and without max_in_flight there are no slots
		record := admission.NewRecord(tenant, e.id)
		record.Speed, record.SpeedAt, record.SeenAt = admission.Fast, w.now, w.now
		if err := w.store.SaveCircuit(w.ctx, record); err != nil {
			w.fail(checkSetup, "save the speed of an endpoint: %v", err)
		}
	}
	w.endpoints = append(w.endpoints, e)
	if w.now.After(start) {
		w.handIn(tenant, "create "+string(e.id), func(ctx context.Context, p *process) error {
			if !w.statuses[e.id].created.IsZero() { // a repeated POST would get another id; with this one it could bring a deleted endpoint back
				return nil
			}
			return p.store.CreateEndpoint(ctx, e.Endpoint)
		})
		return
	}
	if err := w.store.CreateEndpoint(w.ctx, e.Endpoint); err != nil {
		w.fail(checkSetup, "create endpoint: %v", err)
	}
	e.Version = 1
	w.sawEndpoint(e.Endpoint, false)
}

// hanging reports whether receivers in trouble do not answer at all: in one seed in eight. Each probe
// then lasts as long as the longest timeout.
func (w *simulation) hanging() bool { return w.seed%8 == 6 }

// lookAgain brings a late copy of a circuit check while the probe may still wait for its answer.
func (w *simulation) lookAgain(id hook.EndpointID) {
	if !w.hanging() || w.quiet {
		return
	}
	check := hook.CircuitCheck{Tenant: w.statuses[id].Tenant, Endpoint: id}
	w.plan.add(w.now.Add(20*time.Second+w.within(10*time.Second)), func() {
		if err := w.attention.Enqueue(w.ctx, check, 0); err != nil {
			w.fail(checkSetup, "enqueue a check: %v", err)
		}
	})
}

// drawTroubles draws outages, slow times, times without an answer and herds of 429, the last of which begins within an hour after
// the faults.
func (w *simulation) drawTroubles() (all []span) {
	if w.chance(0.3) {
		return nil
	}
	for at := w.now; at.Before(start.Add(suffering + time.Hour)); {
		from := at.Add(time.Minute + w.within(20*time.Minute))
		s := span{from: from, to: from.Add(w.within(pick(w, 30*time.Second, 5*time.Minute, 15*time.Minute)))}
		switch w.rng.IntN(6) {
		case 0:
			s.slow = true
		case 1:
			s.herd = w.level.herds
		case 2:
			s.hangs = true
		}
		if w.hanging() && s.herd == 0 {
			s.slow, s.hangs = false, true
		}
		all = append(all, s)
		at = s.to
	}
	return all
}

// answer returns the outcome of a request to the endpoint now, with its duration. One bad event fails
// the whole request of a batch.
func (w *simulation) answer(e *endpoint, r send.Request, members []member) hook.Outcome {
	timeout := hook.Outcome{Class: hook.ClassTimeout, Duration: r.Endpoint.Timeout}
	for _, s := range e.troubles {
		if !s.covers(w.now) || w.quiet {
			continue
		}
		switch {
		case s.hangs:
			return timeout
		case s.slow:
			return w.status(e, 200).after(w.within(r.Endpoint.Timeout), timeout)
		case s.herd > 0:
			return w.status(e, 429).retry(w.within(s.herd).Truncate(time.Second))
		}
		return pick(w, w.status(e, 503).Outcome, w.status(e, 500).Outcome, timeout, hook.Outcome{Class: hook.ClassConnect, Duration: time.Second})
	}
	t := e.temper
	bad := slices.ContainsFunc(members, func(m member) bool {
		last := m.of.Event[len(m.of.Event)-1]
		return t.poison && last%16 == 0 || t.badType && m.Type == "user.gone" || m.of.number <= t.late
	})
	switch {
	case bad:
		return w.status(e, 500).Outcome
	case w.chance(t.gone):
		return w.status(e, 410).Outcome
	case w.chance(t.rejected):
		return w.status(e, 400).Outcome
	case w.chance(t.unavailable):
		return w.status(e, 503).retry(pick(w, 0, 0, 45*time.Second))
	case w.chance(t.throttled):
		return w.status(e, 429).retry(pick(w, 0, 7*time.Second, 2*time.Minute))
	case w.chance(t.reset):
		return hook.Outcome{Class: hook.ClassReset, Duration: w.within(time.Second)}
	case w.chance(t.slow):
		return w.status(e, 200).after(w.within(r.Endpoint.Timeout+r.Endpoint.Timeout/4), timeout)
	}
	return w.status(e, 200).Outcome
}

// reply is an outcome with a status, to which retry and after add details.
type reply struct{ hook.Outcome }

func (w *simulation) status(e *endpoint, n int) reply {
	body := []byte("ok")
	if at := w.now.UnixMilli(); n >= 400 && at%2 == 0 { // also attempts that leave the delivery's record, or are too long for it
		body = make([]byte, 700+at%4*1000)
		_, _ = rand.NewChaCha8([32]byte{byte(at)}).Read(body)
	}
	return reply{hook.Outcome{Class: hook.ClassOfStatus(n), Status: n, URL: e.URL, Body: body, Duration: time.Millisecond + w.within(300*time.Millisecond)}}
}

// retry returns the reply with a Retry-After.
func (r reply) retry(after time.Duration) hook.Outcome {
	r.RetryAfter = after
	return r.Outcome
}

// after returns the reply after d, or the timeout if that comes first.
func (r reply) after(d time.Duration, timeout hook.Outcome) hook.Outcome {
	if d >= timeout.Duration {
		return timeout
	}
	r.Duration = d
	return r.Outcome
}

// wire is the network of one process.
type wire struct {
	p    *process
	from origin
}

func (s wire) Send(_ context.Context, r send.Request) hook.Outcome {
	p := s.p
	about := r.Delivery.String() + " " + r.Event.Type + " attempt " + string(rune('0'+r.Attempt%10))
	cut := hook.Outcome{Class: hook.ClassTimeout, Error: "cut short"}
	v := p.enter("POST", about, local, 0)
	defer p.visible()
	if v == dead {
		return cut
	}
	sent := p.sawPost(p, r, s.from)
	p.eraseMeanwhile(sent.members[0]) //nolint:contextcheck // processes have the simulation's own
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
	case granted, refused, lost, repeated, partial, unprocessed:
	}
	sent.ended = p.now
	return sent.outcome
}
