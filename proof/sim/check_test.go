package sim_test

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/memory/table"
	"surehook.example/surehook/internal/rule/admission"
	"surehook.example/surehook/internal/rule/circuit"
	"surehook.example/surehook/internal/rule/order"
)

// tolerance is the documented lead of an attempt before its planned time.
const tolerance = time.Second

// checker is the observations of the run, from outside the tested code.
type checker struct {
	events   int // without a key, so far
	posting  int // clients in progress
	posted   []hook.Event
	accepted map[hook.EventID]bool

	byID      map[hook.EventID]int // index in posted
	widened   map[hook.EventID]int // endpoints added by operators
	records   map[hook.DeliveryRef]hook.Delivery
	recorded  []hook.DeliveryRef                     // keys of records, in the order of their first write
	moved     map[hook.DeliveryRef]time.Time         // time of the last change of state
	settled   map[hook.DeliveryRef]time.Time         // time of the settlement
	written   map[hook.DeliveryRef]time.Time         // time of the last write
	listed    map[hook.DeliveryRef]time.Time         // time from which the indexes follow all writes
	attempts  map[hook.DeliveryRef]map[int]time.Time // time of the record of the attempt
	posts     map[hook.DeliveryRef][]*post
	makers    map[attempt]int                // tasks of the attempt, made by others than function deliver
	blamed    map[hook.DeliveryRef][]string  // faults that may repeat attempts: one receipt each
	hit       map[hook.DeliveryRef]time.Time // time of the last fault
	troubled  map[hook.EndpointID]time.Time  // time of the last fault of a circuit check
	puzzles   map[hook.EventID]bool          // with a record that an earlier build could not read
	disturbed time.Time                      // time of the last fault of another process
	parks     map[attempt]int                // parks before the attempt: each took a task
	writes    map[hook.DeliveryRef][]time.Time
	sentOn    map[hook.DeliveryRef]int  // times that function deliver sent a task on without an attempt
	asked     map[hook.Task]time.Time   // when the sender wanted the task to arrive
	named     map[hook.JobID][]named    // the messages that continue the job, in the order of their saves
	copies    int                       // second tasks of schedules, to come
	undone    map[hook.DeliveryRef]bool // a 2xx replaced its death
	purged    map[hook.DeliveryRef]bool // its redriven letter
	uses      map[string]use            // first uses of idempotency keys
	removed   map[hook.DeliveryRef]bool // by the TTL of the table

	sequences  map[order.ID]*sequence
	acceptedAt map[hook.EventID]time.Time

	statuses map[hook.EndpointID]status
	circuits map[hook.EndpointID]circuits
	wire     map[hook.EndpointID][]*post
	untold   map[hook.EndpointID][]string // keys of notifications of openings and closings that nobody sent yet
}

type attempt struct {
	hook.DeliveryRef

	number int
}

// exchange is one request at its receiver.
type exchange struct {
	p       *process
	at      time.Time
	ended   time.Time // zero: in progress, or the process died
	outcome hook.Outcome
	by      hook.Endpoint // as the process knew it
	members []*post       // one, or those of a batch
}

// post is one delivery of a request.
type post struct {
	*exchange

	of    attempt
	asked time.Time // when the sender of its task wanted the task to arrive
	again bool      // its attempt was made before
	test  bool      // of a test event that its owner has just sent: only max_in_flight holds it back
	apart bool      // not counted as in flight: a probe, or concurrent with another attempt of its delivery
	alone bool      // the endpoint rejected the delivery in a batch
}

// status is an endpoint's status, with its history.
type status struct {
	hook.Endpoint

	created   time.Time
	deleted   time.Time
	active    time.Time         // the last time with status active
	inactive  time.Time         // the last time with another status
	changed   time.Time         // the last write
	coalesced []hook.Coalescing // all settings so far, without none
	settings  []setting         // all versions
}

// circuits is an endpoint's circuit record, with its history.
type circuits struct {
	admission.Record

	changed   time.Time
	throttled time.Time // when ThrottledUntil was written
	throttles int       // writes of ThrottledUntil
	lifted    time.Time // when an operator, or the answer to a test event, last ended it
	open      time.Time // start of the current time not closed
	opened    time.Time // the last time not closed
	began     time.Time // of the generation
	probed    time.Time // the last task for a probe, since the last write of the record
	slow      bool      // flagged slow, some time
	leases    []lease
}

type lease struct {
	holder   string
	from, to time.Time // zero: still
}

func newChecker() checker {
	return checker{
		accepted:   make(map[hook.EventID]bool),
		byID:       make(map[hook.EventID]int),
		widened:    make(map[hook.EventID]int),
		records:    make(map[hook.DeliveryRef]hook.Delivery),
		moved:      make(map[hook.DeliveryRef]time.Time),
		settled:    make(map[hook.DeliveryRef]time.Time),
		written:    make(map[hook.DeliveryRef]time.Time),
		listed:     make(map[hook.DeliveryRef]time.Time),
		attempts:   make(map[hook.DeliveryRef]map[int]time.Time),
		posts:      make(map[hook.DeliveryRef][]*post),
		makers:     make(map[attempt]int),
		blamed:     make(map[hook.DeliveryRef][]string),
		hit:        make(map[hook.DeliveryRef]time.Time),
		parks:      make(map[attempt]int),
		named:      make(map[hook.JobID][]named),
		troubled:   make(map[hook.EndpointID]time.Time),
		puzzles:    make(map[hook.EventID]bool),
		writes:     make(map[hook.DeliveryRef][]time.Time),
		sentOn:     make(map[hook.DeliveryRef]int),
		asked:      make(map[hook.Task]time.Time),
		undone:     make(map[hook.DeliveryRef]bool),
		purged:     make(map[hook.DeliveryRef]bool),
		uses:       make(map[string]use),
		removed:    make(map[hook.DeliveryRef]bool),
		sequences:  make(map[order.ID]*sequence),
		acceptedAt: make(map[hook.EventID]time.Time),
		statuses:   make(map[hook.EndpointID]status),
		circuits:   make(map[hook.EndpointID]circuits),
		wire:       make(map[hook.EndpointID][]*post),
		untold:     make(map[hook.EndpointID][]string),
	}
}

// checkTargets: an endpoint gets the events posted during its existence.
func (w *simulation) checkTargets(p *process, e hook.Event) {
	w.checkFirstUse(p, e)
	w.byID[e.ID] = len(w.posted)
	w.posted = append(w.posted, e)
	w.sawNumbers(p, e)
	if p.samples != "" {
		if len(e.Targets) != 1 || e.Targets[0].Endpoint != p.samples {
			w.fail(checkTargets, "test event %s of endpoint %s is for %v", e.ID, p.samples, e.Targets)
		}
		return
	}
	for _, s := range w.statuses {
		if s.Tenant != e.Tenant {
			if _, has := e.Ref(s.ID, 1); has {
				w.fail(checkTargets, "event %s of tenant %s is for endpoint %s of another tenant", e.ID, e.Tenant, s.ID)
			}
			continue
		}
		throughout := s.created.Before(p.started) && s.deleted.IsZero()
		ever := s.deleted.IsZero() || !s.deleted.Before(p.started)
		_, has := e.Ref(s.ID, 1)
		all, some, filtered := true, false, false // of the versions that the process may know
		for _, known := range s.known(p.started) {
			subscribes, passes := wants(known.Endpoint, e)
			all, some, filtered = all && subscribes && passes, some || subscribes && passes, filtered || subscribes && !passes
		}
		switch {
		case throughout && all && !has:
			w.fail(checkTargets, "event %s is not for endpoint %s, which exists and subscribes to it", e.ID, s.ID)
		case has && ever && !some && filtered:
			w.fail(checkFilter, "event %s is for endpoint %s, whose filter refuses it", e.ID, s.ID)
		case has && (!ever || !some):
			w.fail(checkTargets, "event %s is for endpoint %s, which does not exist or does not subscribe to it", e.ID, s.ID)
		}
	}
}

func (w *simulation) sawAccepted(id hook.EventID, deliveries int) {
	i, ok := w.byID[id]
	if !ok {
		w.fail(checkAccepted, "event %s is accepted and not stored", id)
		return
	}
	// An operator may add an endpoint between the write and the answer.
	if stored := len(w.posted[i].Targets); deliveries > stored || deliveries < stored-w.widened[id] {
		w.fail(checkAccepted, "event %s is accepted for %d endpoints, and stored for %d", id, deliveries, len(w.posted[i].Targets))
	}
	if w.accepted[id] = true; w.acceptedAt[id].IsZero() {
		w.acceptedAt[id] = w.now
	}
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
	if !deleted {
		w.checkUIDs(e)
	}
	s.Endpoint, s.changed = e, w.now
	if e.Coalesce.On() && !slices.Contains(s.coalesced, e.Coalesce) {
		s.coalesced = append(s.coalesced, e.Coalesce)
	}
	if deleted {
		s.deleted = w.now
	} else {
		s.settings = append(s.settings, setting{e, w.now})
	}
	w.statuses[e.ID] = s
}

// unseen is the time of a change that some readers do not see yet.
var unseen = start.Add(100 * 365 * 24 * time.Hour)

// shift moves the time of the changes of a transaction: while it is torn, nobody has to have
// seen them.
func (w *simulation) shift(r *table.Call, from, to time.Time) {
	move := func(t *time.Time) {
		if t.Equal(from) {
			*t = to
		}
	}
	moveIn := func(times map[hook.DeliveryRef]time.Time, d hook.DeliveryRef) {
		if times[d].Equal(from) {
			times[d] = to
		}
	}
	move(&w.doomed.marked)
	for _, k := range r.Keys {
		if d, ok := deliveryOf(k); ok {
			moveIn(w.moved, d)
			moveIn(w.written, d)
			for n, at := range w.attempts[d] {
				move(&at)
				w.attempts[d][n] = at
			}
			for i := range w.writes[d] {
				move(&w.writes[d][i])
			}
		}
		id := hook.EndpointID(strings.TrimPrefix(k.Hash, "endpoint#"))
		if s, ok := w.statuses[id]; ok && k.Sort == "endpoint" {
			for _, t := range []*time.Time{&s.created, &s.deleted, &s.active, &s.inactive} {
				move(t)
			}
			move(&s.settings[len(s.settings)-1].from)
			w.statuses[id] = s
		}
	}
}

func (w *simulation) sawCircuit(p *process, r admission.Record) {
	c := w.circuits[r.Endpoint]
	w.checkChange(p, c, r)
	p.saved[r.Endpoint], p.probed[r.Endpoint], c.probed = w.now, c.probed, time.Time{}
	if r.Generation != c.Generation {
		c.began = w.now
		w.transits(p, r)
	}
	c.slow = c.slow || r.Review.Slow
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
		c.throttles++
		if r.ThrottledUntil.Before(c.ThrottledUntil) {
			c.lifted = w.now
		}
	}
	c.Record, c.changed = r, w.now
	w.circuits[r.Endpoint] = c
}

// transits notes which notification the change of the circuit needs: none after a change by hand.
func (w *simulation) transits(p *process, r admission.Record) {
	if p.batch == nil {
		return
	}
	kind := hook.NotificationOpened
	if r.State == circuit.Closed {
		kind = hook.NotificationClosed
	}
	w.untold[r.Endpoint] = append(w.untold[r.Endpoint], fmt.Sprintf("%s/%s/%d", kind, r.Endpoint, r.Generation))
}

// checkNonce: a task sent on keeps its nonce. A task for the attempt after a task of
// the batch is new.
func (w *simulation) checkNonce(p *process, t hook.Task) {
	if p.claims(t) || w.boundless(t.Delivery) {
		return
	}
	other := ""
	for _, m := range p.batch {
		switch b := m.Task; {
		case b.Delivery != t.Delivery:
		case b.Attempt == t.Attempt && b.Nonce == t.Nonce, b.Attempt == t.Attempt-1:
			return
		case b.Attempt == t.Attempt:
			other = b.Nonce
		}
	}
	if other != "" {
		w.fail(checkNonce, "%s sends the task of attempt %d of %s on with another nonce", p.name, t.Attempt, t.Delivery)
	}
}

// sawTask: before a task of an attempt, the attempt before is recorded.
//
// queue is zero for a schedule.
func (w *simulation) sawTask(p *process, t hook.Task, queue hook.Queue) {
	if w.lapses(t.Delivery.Endpoint) {
		return
	}
	a := attempt{t.Delivery, t.Attempt}
	w.checkNonce(p, t)
	if queue != 0 {
		w.checkQueue(p, t, queue)
	}
	if p.batch == nil || p.claims(t) {
		w.makers[a]++
	} else {
		w.checkMessages(p, t)
	}
	before, replay := t.Delivery.Predecessor()
	i, stored := w.byID[t.Delivery.Event]
	switch {
	case !stored && w.promised(t.Delivery):
	case !stored:
		w.fail(checkOrder, "%s sends a task of %s, whose event is not stored", p.name, t.Delivery)
	case t.Tenant != w.posted[i].Tenant:
		w.fail(checkTenant, "%s sends a task of %s with the tenant %q", p.name, t.Delivery, t.Tenant)
	case t.Attempt > 1 && w.records[t.Delivery].Attempts < t.Attempt-1:
		w.fail(checkOrder, "%s sends a task for attempt %d of %s, and %d are recorded", p.name, t.Attempt, t.Delivery, w.records[t.Delivery].Attempts)
	case replay && w.records[before].Version == 0:
		w.fail(checkOrder, "%s sends a task of %s to queue %s, and the generation before is not recorded", p.name, t.Delivery, queue)
	}
}
