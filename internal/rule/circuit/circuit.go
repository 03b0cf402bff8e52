package circuit

import (
	"time"

	"surehook/internal/hook"
)

// State is the state of a circuit.
type State uint8

// The states. The zero State is not valid; New returns the circuit without a record.
const (
	Closed   State = iota + 1 // all deliveries pass
	Open                      // no delivery passes
	HalfOpen                  // one probe passes
)

// String returns the state as it appears in the API and in logs.
func (s State) String() string {
	switch s {
	case Closed:
		return "closed"
	case Open:
		return "open"
	case HalfOpen:
		return "half_open"
	}
	return "unknown"
}

// Settings are an endpoint's thresholds.
type Settings struct {
	hook.CircuitSettings

	Slow bool // a slow endpoint: the threshold is at most SlowFailures
}

// SlowFailures is the maximum threshold of consecutive failures for a slow
// endpoint. Each failure of a slow endpoint occupies a function for longer.
const SlowFailures = 3

// Window is the rolling window of the failure rate.
const Window = 10 * time.Minute

// LeaseFor is the duration of a probe's lease. An attempt and the settlement take
// less time, so two probes cannot overlap. After a crash of the holder, the next
// probe waits at most LeaseFor.
const LeaseFor = 2 * time.Minute

// Circuit is the circuit breaker of one endpoint.
type Circuit struct {
	State      State
	Generation int64 // each opening, closing and reset adds 1
	Failures   int   // consecutive transient failures; when not closed, until the opening, and 0 after Trip
	FailedIn   int64 // when closed: the version of the record with the first of the Failures; 0 without
	Row        int   // when closed: the number of Failures that opens, by the window before the first; 0 without Failures
	AtOnce     int   // when closed: attempts at a time while the endpoint recovers from an outage; 0: no limit
	Cooldown   time.Duration
	OpenedAt   time.Time
	ProbeAt    time.Time // when open: the earliest time of a probe
	Holder     string    // when half-open: the token of the probe
	LeaseUntil time.Time // when half-open: the end of the lease; when open: of a probe in flight at an opening by hand
	ClosedAt   time.Time // when closed: the time of the closing; zero if never open
	Version    int64     // of the stored record; 0 for no record
}

// New returns the circuit of an endpoint without a record: closed.
func New() Circuit { return Circuit{State: Closed} }

// Results are the results of one batch of attempts, admitted together.
type Results struct {
	Failed   int  // transient failures, except throttling
	Alive    bool // at least one other result, including throttling: the endpoint responds
	Trailing int  // failures after the last other result; equals Failed if not Alive
}

// Counts are the results of all attempts in the Window, including the current batch.
type Counts struct{ OK, Failed int }

// Settled returns the circuit after the results of a batch, admitted by the given
// circuit. Results of another generation, or for a circuit in another state than
// closed, change nothing. Probed handles the results of probes.
//
// Failures are consecutive by their admission: only the first failures and those of
// attempts admitted later count. Attempts in flight together say as much as one: several
// of them may be of a type that always fails, beside others that succeed.
func (c Circuit) Settled(r Results, window Counts, admitted Circuit, s Settings, now time.Time) Circuit {
	if c.State != Closed || c.Generation != admitted.Generation {
		return c
	}
	switch {
	case r.Alive:
		c.Failures, c.FailedIn, c.Row = r.Trailing, 0, 0
		c.AtOnce = widened(c.AtOnce)
	case c.Failures == 0 || admitted.Version >= c.FailedIn:
		c.Failures += r.Failed
	}
	if c.Failures > 0 && c.FailedIn == 0 {
		c.FailedIn = c.Version + 1
		c.Row = c.row(Counts{OK: window.OK, Failed: max(0, window.Failed-c.Failures)}, s)
	}
	if r.Failed > 0 && (c.Failures >= max(c.Row, s.threshold()) || c.rateApplies(now) && s.rateExceeded(window)) {
		next := c.open(s.Cooldown, now)
		next.Failures = c.Failures
		return next
	}
	return c
}

// Probe gives the lease to holder, a token, if a probe is due. A second call by the
// current holder renews the lease in full: the rest of the old lease may be shorter
// than the attempt, and a second probe could start before the end of the first.
func (c Circuit) Probe(holder string, now time.Time) (next Circuit, ok bool) {
	renewal := c.State == HalfOpen && c.Holder == holder
	if !renewal && !c.ProbeDue(now) {
		return c, false
	}
	c.State = HalfOpen
	c.Holder, c.LeaseUntil = holder, now.Add(LeaseFor)
	return c, true
}

// ProbeDue reports whether the lease is free now.
func (c Circuit) ProbeDue(now time.Time) bool {
	switch c.State {
	case Open:
		return !now.Before(c.ProbeAt)
	case HalfOpen:
		return !now.Before(c.LeaseUntil)
	case Closed:
		return false
	}
	return false
}

// ProbeResult is the result of a probe.
type ProbeResult struct {
	Holder     string
	Generation int64 // of the admission
	Alive      bool
	Shared     bool // two copies of the holder's message probe: the other may be in flight
}

// Probed returns the circuit after a probe. A success closes the circuit with or
// without the lease: the endpoint answered during this outage. A failure without the
// lease changes nothing, because the current holder decides. After a failure with a
// shared lease, the next probe is not due before the end of the lease. A result of
// another generation changes nothing.
func (c Circuit) Probed(r ProbeResult, s Settings, now time.Time) Circuit {
	switch {
	case c.State == Closed || c.Generation != r.Generation:
		return c
	case r.Alive:
		return c.Reset(now)
	case c.State != HalfOpen || c.Holder != r.Holder:
		return c
	}
	next := c.reopen(s, now)
	if r.Shared && next.ProbeAt.Before(c.LeaseUntil) {
		next.ProbeAt = c.LeaseUntil
	}
	return next
}

// Reset returns the circuit closed, from any state. After an outage the endpoint begins
// with one attempt at a time.
func (c Circuit) Reset(now time.Time) Circuit {
	next := Circuit{State: Closed, Generation: c.Generation + 1, ClosedAt: now, AtOnce: c.AtOnce, Version: c.Version}
	if c.State != Closed {
		next.AtOnce = 1
	}
	return next
}

// Trip returns the circuit open, from any state. A probe may be in flight: the next
// one waits for the end of its lease, also when the circuit is opened by hand again.
func (c Circuit) Trip(s Settings, now time.Time) Circuit {
	next := c.open(s.Cooldown, now)
	if now.Before(c.LeaseUntil) {
		next.LeaseUntil = c.LeaseUntil
		if next.ProbeAt.Before(c.LeaseUntil) {
			next.ProbeAt = c.LeaseUntil
		}
	}
	return next
}

func (c Circuit) open(cooldown time.Duration, now time.Time) Circuit {
	return Circuit{
		State:      Open,
		Generation: c.Generation + 1,
		Cooldown:   cooldown,
		OpenedAt:   now,
		ProbeAt:    now.Add(cooldown),
		Version:    c.Version,
	}
}

// reopen keeps the generation, because the outage continues.
func (c Circuit) reopen(s Settings, now time.Time) Circuit {
	c.State = Open
	c.Cooldown = min(max(2*c.Cooldown, s.Cooldown), max(s.MaxCooldown, s.Cooldown))
	c.ProbeAt = now.Add(c.Cooldown)
	c.Holder, c.LeaseUntil = "", time.Time{}
	return c
}
