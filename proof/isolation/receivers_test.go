package isolation_test

import (
	"context"
	"slices"
	"sync"
	"time"

	"surehook.example/surehook/internal/delivery/send"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
)

type recordOf = admission.Record

// asksToWait is the Retry-After of a 429.
const asksToWait = 10 * time.Second

// answer is a receiver: the duration and the status of the next answer.
type answer func(r send.Request) (time.Duration, int)

// after answers 200 after the duration.
func after(d time.Duration) answer {
	return func(send.Request) (time.Duration, int) { return d, 200 }
}

// receivers is the receivers of all endpoints.
type receivers struct {
	mu  sync.Mutex
	all map[hook.EndpointID]*receiver
}

// receiver is what an endpoint received.
type receiver struct {
	answer   answer
	accepted map[hook.EventID]time.Time // events without a request yet
	latency  []time.Duration            // of the events, from acceptance to the first request
	first    []time.Time                // the first requests of the events
	arrivals []time.Time                // of all requests
	answered int                        // requests answered 2xx
	inFlight int
	most     int // in flight at once
}

func newReceivers() *receivers { return &receivers{all: make(map[hook.EndpointID]*receiver)} }

func (r *receivers) add(id hook.EndpointID, a answer) {
	r.mu.Lock()
	defer r.mu.Unlock()

	r.all[id] = &receiver{answer: a, accepted: make(map[hook.EventID]time.Time)}
}

// accept notes the acceptance of an event.
func (r *receivers) accept(id hook.EndpointID, event hook.EventID, at time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()

	r.all[id].accepted[event] = at
}

// Send makes a request, and ends with the endpoint's timeout at the latest.
func (r *receivers) Send(_ context.Context, request send.Request) hook.Outcome {
	one, wait, status := r.begin(request)
	o := hook.Outcome{Class: hook.ClassOfStatus(status), Status: status, URL: request.Endpoint.URL, Duration: wait}
	if wait >= request.Endpoint.Timeout {
		o = hook.Outcome{Class: hook.ClassTimeout, URL: request.Endpoint.URL, Duration: request.Endpoint.Timeout}
	}
	if o.Class == hook.ClassThrottled {
		o.RetryAfter = asksToWait
	}
	time.Sleep(o.Duration)
	r.mu.Lock()
	defer r.mu.Unlock()

	one.inFlight--
	if o.Class == hook.ClassDelivered {
		one.answered++
	}
	return o
}

func (r *receivers) begin(request send.Request) (one *receiver, wait time.Duration, status int) {
	r.mu.Lock()
	defer r.mu.Unlock()

	one = r.all[request.Endpoint.ID]
	now := time.Now()
	if at, first := one.accepted[request.Event.ID]; first {
		one.latency, one.first = append(one.latency, now.Sub(at)), append(one.first, now)
		delete(one.accepted, request.Event.ID)
	}
	one.arrivals = append(one.arrivals, now)
	one.inFlight++
	one.most = max(one.most, one.inFlight)
	wait, status = one.answer(request)
	return one, wait, status
}

// at returns a copy of what the endpoint received so far.
func (r *receivers) at(e hook.Endpoint) receiver {
	r.mu.Lock()
	defer r.mu.Unlock()

	one := *r.all[e.ID]
	one.latency, one.first, one.arrivals = slices.Clone(one.latency), slices.Clone(one.first), slices.Clone(one.arrivals)
	return one
}

// delivered returns the number of events answered 2xx.
func (r *receivers) delivered(e hook.Endpoint) int {
	r.mu.Lock()
	defer r.mu.Unlock()

	return r.all[e.ID].answered
}

// percentile returns the p-th percentile of the durations; 0 for none.
func percentile(of []time.Duration, p int) time.Duration {
	sorted := slices.Sorted(slices.Values(of))
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(len(sorted)*p/100, len(sorted)-1)]
}

// requests returns the number of requests to all endpoints.
func (r *receivers) requests() (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()

	for _, one := range r.all {
		n += len(one.arrivals)
	}
	return n
}

// setting changes the values that answers read.
func (r *receivers) setting(change func()) {
	r.mu.Lock()
	defer r.mu.Unlock()

	change()
}

// deliveredAll returns the number of events of the endpoints answered 2xx.
func (r *receivers) deliveredAll(all []hook.Endpoint) (n int) {
	for _, e := range all {
		n += r.delivered(e)
	}
	return n
}
