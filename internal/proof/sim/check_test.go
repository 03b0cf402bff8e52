package sim_test

import (
	"slices"
	"strings"
	"time"

	"surehook/internal/delivery/gate"
	"surehook/internal/delivery/send"
	"surehook/internal/hook"
	"surehook/internal/rule/circuit"
	"surehook/internal/rule/retry"
)

// tolerance is the documented lead of an attempt before its planned time.
const tolerance = time.Second

// checker is the observations of the run, from outside the tested code.
type checker struct {
	events   int // without a key, so far
	posting  int // clients in progress
	posted   []hook.Event
	accepted map[hook.EventID]bool

	byID     map[hook.EventID]int // index in posted
	records  map[hook.DeliveryID]hook.Delivery
	recorded []hook.DeliveryID                     // keys of records, in the order of their first write
	moved    map[hook.DeliveryID]time.Time         // time of the last change of state
	attempts map[hook.DeliveryID]map[int]time.Time // time of the record of the attempt
	posts    map[hook.DeliveryID][]*post
	makers   map[attempt]int // tokens of the attempt, made by others than function deliver
	blamed   map[hook.DeliveryID]bool
	early    map[hook.DeliveryID]bool // redriven by hand between dead letter and death

	statuses map[hook.EndpointID]status
	circuits map[hook.EndpointID]circuits
	wire     map[hook.EndpointID][]*post
}

type attempt struct {
	hook.DeliveryID

	number int
}

// post is one request at its receiver.
type post struct {
	p       *process
	of      attempt
	at      time.Time
	ended   time.Time // zero: in progress, or the process died
	outcome hook.Outcome
	apart   bool // not counted as in flight: a probe, or concurrent with another attempt of its delivery
}

// status is an endpoint's status, with its history.
type status struct {
	hook.Endpoint

	created  time.Time
	deleted  time.Time
	active   time.Time // the last time with status active
	inactive time.Time // the last time with another status
}

// circuits is an endpoint's circuit record, with its history.
type circuits struct {
	gate.Record

	changed   time.Time
	throttled time.Time // when ThrottledUntil was written
	open      time.Time // start of the current time not closed
	opened    time.Time // the last time not closed
	leases    []lease
}

type lease struct {
	holder   string
	from, to time.Time // zero: still
}

func newChecker() checker {
	return checker{
		accepted: make(map[hook.EventID]bool),
		byID:     make(map[hook.EventID]int),
		records:  make(map[hook.DeliveryID]hook.Delivery),
		moved:    make(map[hook.DeliveryID]time.Time),
		attempts: make(map[hook.DeliveryID]map[int]time.Time),
		posts:    make(map[hook.DeliveryID][]*post),
		makers:   make(map[attempt]int),
		blamed:   make(map[hook.DeliveryID]bool),
		early:    make(map[hook.DeliveryID]bool),
		statuses: make(map[hook.EndpointID]status),
		circuits: make(map[hook.EndpointID]circuits),
		wire:     make(map[hook.EndpointID][]*post),
	}
}

// checkTargets: an endpoint gets the events posted during its existence.
func (w *simulation) checkTargets(p *process, e hook.Event) {
	w.byID[e.ID] = len(w.posted)
	w.posted = append(w.posted, e)
	for _, s := range w.statuses {
		throughout := s.created.Before(p.started) && s.deleted.IsZero()
		ever := s.deleted.IsZero() || !s.deleted.Before(p.started)
		if has := e.Has(s.ID); throughout && s.Subscribes(e.Type) && !has {
			w.fail("event %s is not for endpoint %s, which exists and subscribes to it", e.ID, s.ID)
		} else if has && (!ever || !s.Subscribes(e.Type)) {
			w.fail("event %s is for endpoint %s, which does not exist or does not subscribe to it", e.ID, s.ID)
		}
	}
}

func (w *simulation) sawAccepted(id hook.EventID, deliveries int) {
	i, ok := w.byID[id]
	if !ok {
		w.fail("event %s is accepted and not stored", id)
		return
	}
	if len(w.posted[i].Targets) != deliveries {
		w.fail("event %s is accepted for %d endpoints, and stored for %d", id, deliveries, len(w.posted[i].Targets))
	}
	w.accepted[id] = true
}

func (w *simulation) sawEndpoint(e hook.Endpoint, deleted bool) {
	s := w.statuses[e.ID]
	if s.created.IsZero() {
		s.created = w.now
	}
	switch {
	case s.Status == hook.StatusActive:
		s.active = w.now
	case s.Status != 0:
		s.inactive = w.now
	}
	s.Endpoint = e
	if deleted {
		s.deleted = w.now
	}
	w.statuses[e.ID] = s
}

func (w *simulation) sawCircuit(r gate.Record) {
	c := w.circuits[r.Endpoint]
	if c.State == circuit.Open || c.State == circuit.HalfOpen {
		c.opened = w.now
	}
	if r.State == circuit.Closed {
		c.open = time.Time{}
	} else if c.open.IsZero() {
		c.open = w.now
	}
	if n := len(c.leases); n > 0 && c.leases[n-1].to.IsZero() && (r.State != circuit.HalfOpen || r.Holder != c.Holder || !r.LeaseUntil.Equal(c.LeaseUntil)) {
		c.leases[n-1].to = w.now
	}
	if r.State == circuit.HalfOpen && (c.State != circuit.HalfOpen || r.Holder != c.Holder || !r.LeaseUntil.Equal(c.LeaseUntil)) {
		c.leases = append(c.leases, lease{holder: r.Holder, from: w.now})
	}
	if r.State == circuit.Open && c.State != circuit.Open {
		w.count("circuits opened")
	}
	if !r.ThrottledUntil.Equal(c.ThrottledUntil) {
		c.throttled = w.now
	}
	c.Record, c.changed = r, w.now
	w.circuits[r.Endpoint] = c
}

// sawToken: before a token of an attempt, the attempt before is recorded.
func (w *simulation) sawToken(p *process, t hook.Token, lane hook.Lane) {
	a := attempt{t.Delivery, t.Attempt}
	if !strings.HasPrefix(p.name, "deliver") {
		w.makers[a]++
	}
	before, replay := t.Delivery.Predecessor()
	_, stored := w.byID[t.Delivery.Event]
	switch {
	case !stored:
		w.fail("%s sends a token of %s, whose event is not stored", p.name, t.Delivery)
	case t.Attempt > 1 && w.records[t.Delivery].Attempts < t.Attempt-1:
		w.fail("%s sends a token for attempt %d of %s, and %d are recorded", p.name, t.Attempt, t.Delivery, w.records[t.Delivery].Attempts)
	case replay && w.records[before].Version == 0:
		w.fail("%s sends a token of %s to lane %s, and the generation before is not recorded", p.name, t.Delivery, lane)
	}
}

// sawPost checks the attempt, and draws the answer of the endpoint.
func (w *simulation) sawPost(p *process, r send.Request) *post {
	id := r.Delivery.Endpoint
	i := slices.IndexFunc(w.endpoints, func(e *endpoint) bool { return e.id == id })
	e := w.endpoints[i]
	sent := &post{p: p, of: attempt{r.Delivery, r.Attempt}, at: w.now, outcome: w.answer(e)}
	w.checkDue(p, e, r)
	w.checkOpen(p, sent)
	w.checkTwice(p, sent)
	w.checkLimits(e, sent)
	w.posts[r.Delivery] = append(w.posts[r.Delivery], sent)
	w.wire[id] = append(w.wire[id], sent)
	w.count("attempts")
	if sent.outcome.Class == hook.ClassDelivered {
		w.count("attempts that delivered")
	}
	return sent
}

// checkDue: the delivery is not settled, the attempt is new, in time and within the policy, and the endpoint is active.
func (w *simulation) checkDue(p *process, e *endpoint, r send.Request) {
	d, s := w.records[r.Delivery], w.statuses[e.id]
	made, was := w.attempts[r.Delivery][r.Attempt]
	apart := 2 * w.mostSkew()
	created := w.created(r.Delivery)
	switch {
	case d.State.Settled() && w.moved[r.Delivery].Before(p.started):
		w.fail("%s: attempt %d of %s, which is %s", p.name, r.Attempt, r.Delivery, d.State)
	case was && made.Before(p.started):
		w.fail("%s: attempt %d of %s, which is recorded already", p.name, r.Attempt, r.Delivery)
	case d.Attempts < r.Attempt-1:
		w.fail("%s: attempt %d of %s after %d", p.name, r.Attempt, r.Delivery, d.Attempts)
	case r.Attempt > len(e.delays)+1:
		w.fail("%s: attempt %d of %s; its policy has %d", p.name, r.Attempt, r.Delivery, len(e.delays)+1)
	case d.State == hook.StateRetrying && d.Attempts == r.Attempt-1 && w.now.Before(d.NextAttemptAt.Add(-tolerance-apart)):
		w.fail("%s: attempt %d of %s is made %s before its time", p.name, r.Attempt, r.Delivery, d.NextAttemptAt.Sub(w.now))
	case p.started.Sub(created) > e.MaxAge+apart:
		w.fail("%s: attempt %d of %s, which is %s old", p.name, r.Attempt, r.Delivery, p.started.Sub(created))
	case !s.deleted.IsZero() && s.deleted.Before(p.started):
		w.fail("%s: attempt of %s, whose endpoint was deleted", p.name, r.Delivery)
	case s.Status != hook.StatusActive && s.active.Before(p.started):
		w.fail("%s: attempt of %s, whose endpoint is %s", p.name, r.Delivery, s.Status)
	}
	if before, replay := r.Delivery.Predecessor(); replay && !w.records[before].State.Settled() {
		w.fail("%s: attempt of %s, and the generation before is %s", p.name, r.Delivery, w.records[before].State)
	}
}

func (w *simulation) mostSkew() time.Duration { return 450 * time.Millisecond }

// created returns the start of the delivery.
func (w *simulation) created(d hook.DeliveryID) time.Time {
	if before, replay := d.Predecessor(); replay {
		return w.records[before].Replayed.At
	}
	return w.posted[w.byID[d.Event]].AcceptedAt
}

// checkOpen: during an open circuit the only attempt is the probe.
func (w *simulation) checkOpen(p *process, sent *post) {
	id := sent.of.Endpoint
	c := w.circuits[id]
	if w.now.Add(2*w.mostSkew()).Before(c.ThrottledUntil) && c.throttled.Before(p.started) {
		w.fail("%s: attempt of %s, whose endpoint asked to be left alone until %s", p.name, sent.of.DeliveryID, c.ThrottledUntil.Sub(start))
	}
	if c.open.IsZero() {
		return
	}
	sent.apart = true
	if !c.open.Before(p.started) {
		return // the gate may have admitted the attempt before the circuit opened
	}
	if !slices.ContainsFunc(c.leases, func(l lease) bool {
		return l.of(sent.of) && (l.to.IsZero() || !l.to.Before(p.started))
	}) {
		w.fail("%s: attempt of %s, whose circuit is %s, and it is not the probe", p.name, sent.of.DeliveryID, c.State)
	}
	for _, other := range w.wire[id] {
		if other.ended.IsZero() && !other.p.dead && other.of.DeliveryID != sent.of.DeliveryID && c.open.Before(other.p.started) &&
			!c.ranOut(other.of, w.now) {
			w.fail("%s: probe %s beside probe %s", p.name, sent.of.DeliveryID, other.of.DeliveryID)
		}
	}
}

// of reports whether a token of the attempt holds the lease.
func (l lease) of(a attempt) bool {
	return strings.HasPrefix(l.holder, gate.Due{Delivery: a.DeliveryID, Attempt: a.number}.Holder())
}

// ranOut reports whether the attempt's last lease ran out, by some clock.
func (c circuits) ranOut(a attempt, now time.Time) bool {
	for _, l := range slices.Backward(c.leases) {
		if l.of(a) {
			return now.Sub(l.from) > circuit.LeaseFor-time.Second
		}
	}
	return true
}

// checkTwice: only a fault or a second token explains the repetition of an
// attempt.
func (w *simulation) checkTwice(p *process, sent *post) {
	for _, other := range w.posts[sent.of.DeliveryID] {
		if other.ended.IsZero() && !other.p.dead || !other.ended.Before(p.started) || !other.p.deadline.Before(p.started) {
			sent.apart, other.apart = true, true
		}
		if other.of != sent.of {
			continue
		}
		w.count("attempts made twice")
		if !w.blamed[sent.of.DeliveryID] && !w.twoTokens(sent.of) {
			w.fail("%s: attempt %d of %s is made again, and no fault explains it", p.name, sent.of.number, sent.of.DeliveryID)
		}
	}
}

// twoTokens reports whether the attempt, or an earlier attempt, had more than one token.
func (w *simulation) twoTokens(a attempt) bool {
	for n := 1; n <= a.number; n++ {
		tokens := w.makers[attempt{a.DeliveryID, n}]
		if n > 1 {
			tokens++ // the token made by function deliver
		}
		if tokens > 1 {
			return true
		}
	}
	return false
}

// checkLimits: attempts in flight stay within max_in_flight, and without faults within the rate.
func (w *simulation) checkLimits(e *endpoint, sent *post) {
	if e.MaxInFlight > 0 && !sent.apart {
		n := 1
		for _, other := range w.wire[e.id] {
			if other.ended.IsZero() && !other.p.dead && !other.apart {
				n++
			}
		}
		if n > e.MaxInFlight {
			w.fail("%s: %d in flight at %s; at most %d", sent.p.name, n, e.id, e.MaxInFlight)
		}
	}
	if e.RatePerSecond > 0 && w.calm && !sent.apart {
		n := 0
		for _, other := range slices.Backward(w.wire[e.id]) {
			if other.apart {
				continue
			}
			n++
			took := w.now.Sub(other.at) + 2500*time.Millisecond // delays are whole seconds
			if float64(n) > took.Seconds()*e.RatePerSecond+1 {
				w.fail("%s: %d attempts at %s in %s; at most %g a second", sent.p.name, n+1, e.id, w.now.Sub(other.at), e.RatePerSecond)
				return
			}
		}
	}
}

// sawDelivery checks a write of the record. d.Version is the version before the write.
func (w *simulation) sawDelivery(p *process, d hook.Delivery, a *hook.Attempt) {
	old := w.records[d.ID]
	if old.Version == 0 {
		w.recorded = append(w.recorded, d.ID)
		old.State = hook.StateQueued
	}
	w.checkState(p, old, d)
	if d.Attempts != old.Attempts {
		w.checkAttempt(p, old, d, a)
	}
	if d.State != old.State {
		w.moved[d.ID] = w.now
		w.count("to " + d.State.String())
	}
	if before, replay := d.ID.Predecessor(); replay && w.records[before].Replayed.Generation != d.ID.Generation {
		w.fail("%s: %s is recorded, and the generation before does not say that it was replayed", p.name, d.ID)
	}
	if r := old.Replayed; r.Generation != 0 && r != d.Replayed {
		w.fail("%s: %s was replayed by %+v, now by %+v", p.name, d.ID, r, d.Replayed)
	}
	d.Version++
	d.NextAttemptAt = d.NextAttemptAt.Truncate(time.Millisecond)
	d.Replayed.At = d.Replayed.At.Truncate(time.Millisecond)
	w.records[d.ID] = d
}

// checkState checks the transition against the diagram of package hook.
func (w *simulation) checkState(p *process, old, d hook.Delivery) {
	may := map[hook.State][]hook.State{
		hook.StateQueued:    {hook.StateRetrying, hook.StateParked, hook.StateDelivered, hook.StateDead, hook.StateCancelled},
		hook.StateRetrying:  {hook.StateRetrying, hook.StateParked, hook.StateDelivered, hook.StateDead, hook.StateCancelled},
		hook.StateParked:    {hook.StateRetrying, hook.StateParked, hook.StateDelivered, hook.StateDead, hook.StateCancelled},
		hook.StateDead:      {hook.StateDead, hook.StateDiscarded},
		hook.StateDelivered: {hook.StateDelivered}, hook.StateDiscarded: {hook.StateDiscarded}, hook.StateCancelled: {hook.StateCancelled},
	}[old.State]
	s, c := w.statuses[d.ID.Endpoint], w.circuits[d.ID.Endpoint]
	switch {
	case !slices.Contains(may, d.State):
		w.fail("%s: %s goes from %s to %s", p.name, d.ID, old.State, d.State)
	case old.State.Settled() && (d.Attempts != old.Attempts || d.Last.Class != old.Last.Class):
		w.fail("%s: %s is %s and is given another attempt", p.name, d.ID, old.State)
	case d.State == hook.StateParked && (d.Reason == hook.ReasonPaused || d.Reason == hook.ReasonDisabled) &&
		s.Status == hook.StatusActive && s.inactive.Before(p.started):
		w.fail("%s: %s is parked (%s), and its endpoint is active", p.name, d.ID, d.Reason)
	case d.State == hook.StateParked && d.Reason == hook.ReasonCircuit && c.open.IsZero() && c.opened.Before(p.started):
		w.fail("%s: %s is parked, and its circuit is closed", p.name, d.ID)
	case d.Superseded() && !old.State.Settled() && !d.Replayed.Force:
		w.fail("%s: %s, which was %s, is replayed without force", p.name, d.ID, old.State)
	case d.State == hook.StateCancelled && d.Reason == hook.ReasonDeleted && s.deleted.IsZero():
		w.fail("%s: %s is cancelled, and its endpoint exists", p.name, d.ID)
	case d.State == hook.StateDead && old.State != hook.StateDead && d.Reason == hook.ReasonExpired && d.Attempts == old.Attempts &&
		!retry.Expired(d.CreatedAt, w.now.Add(w.mostSkew()), s.MaxAge):
		w.fail("%s: %s is dead of age after %s", p.name, d.ID, w.now.Sub(d.CreatedAt))
	}
}

// checkAttempt: the record has the outcome of the attempt, and the decision of the
// policy on the outcome.
func (w *simulation) checkAttempt(p *process, old, d hook.Delivery, a *hook.Attempt) {
	if d.Attempts != old.Attempts+1 {
		w.fail("%s: %s goes from %d attempts to %d", p.name, d.ID, old.Attempts, d.Attempts)
		return
	}
	if w.attempts[d.ID] == nil {
		w.attempts[d.ID] = make(map[int]time.Time)
	}
	w.attempts[d.ID][d.Attempts] = w.now
	i := slices.IndexFunc(w.posts[d.ID], func(s *post) bool { return s.p == p && s.of.number == d.Attempts })
	if i < 0 {
		w.fail("%s: attempt %d of %s is recorded, and was not made", p.name, d.Attempts, d.ID)
		return
	}
	if a == nil && (d.State != hook.StateDelivered || d.Attempts != 1) {
		w.fail("%s: attempt %d of %s is recorded without its outcome", p.name, d.Attempts, d.ID)
	}
	o := w.posts[d.ID][i].outcome
	e := w.endpoints[slices.IndexFunc(w.endpoints, func(e *endpoint) bool { return e.id == d.ID.Endpoint })]
	last := d.Attempts > len(e.delays)
	var low, high time.Duration
	if !last {
		low, high = spread(e.Retry.Jitter, e.delays[d.Attempts-1])
		low, high = max(low, o.RetryAfter), max(high, o.RetryAfter)
	}
	delay, age := d.NextAttemptAt.Sub(d.UpdatedAt), d.UpdatedAt.Sub(d.CreatedAt)
	right := false
	switch d.State {
	case hook.StateDelivered:
		right = o.Class == hook.ClassDelivered
	case hook.StateRetrying:
		right = o.Class.Result() == hook.ResultTransient && !last && delay >= low && delay <= high && age+delay <= e.MaxAge
	case hook.StateDead:
		right = o.Class.Result() == hook.ResultRejected && (d.Reason == hook.ReasonRejected || d.Reason == hook.ReasonGone) ||
			o.Class.Result() == hook.ResultTransient && last && d.Reason == hook.ReasonExhausted ||
			o.Class.Result() == hook.ResultTransient && !last && d.Reason == hook.ReasonExpired && age+high > e.MaxAge
	case hook.StateParked: // a copy of the token parked the delivery during the attempt
		right = o.Class.Result() == hook.ResultTransient && !last && d.NextAttemptAt.IsZero() &&
			old.State == hook.StateParked && old.Token == d.Token && old.Reason == d.Reason
	case hook.StateQueued, hook.StateDiscarded, hook.StateCancelled:
	}
	if !right {
		w.fail("%s: attempt %d of %s came to %s (retry after %s), and it is %s %s at the age of %s, again after %s; its policy says %s to %s, %s at most",
			p.name, d.Attempts, d.ID, o.Class, o.RetryAfter, d.State, d.Reason, age, delay, low, high, e.MaxAge)
	}
}

// spread returns the documented bounds of the jitter.
func spread(j hook.Jitter, d time.Duration) (low, high time.Duration) {
	switch j {
	case hook.JitterEqual:
		return d / 2, d
	case hook.JitterProportional:
		return d * 9 / 10, d * 11 / 10
	case hook.JitterNone:
		return d, d
	case hook.JitterFull:
	}
	return 0, d
}
