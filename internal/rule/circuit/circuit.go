package circuit

import (
	"time"

	"surehook.example/surehook/internal/hook"
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
	return hook.Names[State]{Closed: "closed", Open: "open", HalfOpen: "half_open"}.Of(s)
}

// Settings are an endpoint's thresholds.
type Settings struct {
	hook.CircuitSettings

	Fragile bool // the review found the endpoint so slow that its configured Failures are FragileFailures at most; see review.Flags
}

// FragileFailures caps the configured failures in a row for a fragile endpoint, because each of
// its failures occupies a function for longer.
const FragileFailures = 3

// Window is the rolling window of the failure rate.
const Window = 10 * time.Minute

// ProbeLease is how long the lease of a probe lasts. An attempt and its settlement take less
// time, so two probes cannot overlap. If the holder crashes, the next probe waits for at most
// ProbeLease.
const ProbeLease = 2 * time.Minute

// Circuit is the circuit breaker of one endpoint.
type Circuit struct {
	State      State         `stored:"state"`
	Generation int64         `stored:"generation"`  // grows by 1 with each opening, closing and reset, and with a move while not closed
	Failures   int           `stored:"failures"`    // transient failures in a row; while not closed, those that opened the circuit, and 0 after Trip
	FailedIn   int64         `stored:"failed_in"`   // when closed: the version of the record that stored the first of the Failures; 0: there are none
	Threshold  int           `stored:"threshold"`   // when closed: the number of Failures that opens the circuit, fixed at the first one; 0: there are none
	StrainedAt time.Time     `stored:"strained_at"` // when closed: when so many attempts were last found to fail that each needs a slot; zero: they do not; see Strained
	Successes  int           `stored:"successes"`   // while strained: results in a row that were no failures
	Cooldown   time.Duration `stored:"cooldown_ns"` // until the next probe; when closed: of the last outage, until another success ends it
	OpenedAt   time.Time     `stored:"opened_at"`   // when the outage began; when closed: as Cooldown
	ProbeAt    time.Time     `stored:"probe_at"`    // when open: the earliest time of a probe; when half-open and after the start of the lease: see Mended
	Holder     string        `stored:"holder"`      // when half-open: the task of the probe
	LeaseUntil time.Time     `stored:"lease_until"` // when half-open: the end of the probe's lease; when open: that of a probe that may be in flight, because somebody opened the circuit or a copy of its task failed
	ClosedAt   time.Time     `stored:"closed_at"`   // when closed: when it closed, or a row of successes ended a strain; zero: never
	Version    int64         `stored:"version"`     // of the stored record; 0 for no record
}

// New returns the circuit of an endpoint without a record, which is closed.
func New() Circuit { return Circuit{State: Closed} }

// Results are the results of one batch: the attempts that one call of the gate admitted together, of one endpoint.
type Results struct {
	Failed   int  // transient failures; a 429 is no result here: it neither fails nor shows that the endpoint works
	Alive    bool // at least one other result: the endpoint works
	Trailing int  // failures after the last other result; all of them if not Alive
	Passed   int  // other results after the last failure; all of them if nothing Failed
}

// Counts are the results of all attempts within the Window, including the current batch.
type Counts struct {
	OK, Failed         int // OK: answers that are no failures, such as 404 too, but without 429
	LastOK, LastFailed int // those of the current minute
}

// AfterBatch returns the circuit after the results of a batch that was admitted by the given
// circuit. Results from another generation, or for a circuit that is not closed, change
// nothing. Results of probes go to AfterProbe.
//
// The failures of one batch count each. After the row's first failures were stored, a further
// failure counts only if its attempt was admitted afterwards. Attempts of several batches that
// were in flight together say no more than one of them: several may be of an event type that
// always fails, while others succeed.
func (c Circuit) AfterBatch(r Results, window Counts, admitted Circuit, s Settings, now time.Time) Circuit {
	if c.State != Closed || c.Generation != admitted.Generation {
		return c
	}
	switch {
	case r.Alive:
		c.Failures, c.FailedIn, c.Threshold = r.Trailing, 0, 0
		c.Cooldown, c.OpenedAt = 0, time.Time{}
	case c.Failures == 0 || admitted.Version >= c.FailedIn:
		c.Failures += r.Failed
	}
	if c.Failures > 0 && c.FailedIn == 0 {
		c.FailedIn = c.Version + 1
		c.Threshold = c.threshold(window, s)
	}
	if r.Failed > 0 && (c.Failures >= max(c.Threshold, s.configured()) || !c.recovering(now) && s.allFailed(window)) {
		next := c.open(s, now)
		next.Failures = c.Failures // a circuit opened by hand has none
		return next
	}
	return c.judged(r, window, s, now)
}

// Probe gives the lease to holder, a task, if a probe is due. If the holder asks again, it
// gets the full lease once more: the rest of the old one may be shorter than the attempt, and a
// second probe could start before the first one ends.
func (c Circuit) Probe(holder string, now time.Time) (next Circuit, ok bool) {
	renewal := c.State == HalfOpen && c.Holder == holder
	if !renewal && !c.ProbeDue(now) {
		return c, false
	}
	c.State = HalfOpen
	c.Holder, c.LeaseUntil = holder, now.Add(ProbeLease)
	return c, true
}

// ProbeDue reports whether a task can take the lease now.
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
	Generation int64 // of the circuit that admitted the probe
	Alive      bool
	Unmade     bool // no request was made, so nothing is known about the endpoint
	Returns    bool // with Unmade: the attempt was not even begun, and its task comes again
	Copied     bool // a copy of the task may be probing, too
}

// AfterProbe returns the circuit after a probe. A success closes the circuit even if the lease is
// lost, because the endpoint answered during this outage. A failure without the lease changes
// nothing: the current holder decides. If the lease is shared, the next probe waits for its
// end. Results from another generation change nothing.
//
// A probe that made no request gives its lease back: the next one is due at once, and the
// cooldown stays. A shared lease stays, too, because the copy may be making its request. If the
// task comes again, it stays the holder of a lease that is over, so that the task is no copy of
// itself when it returns.
func (c Circuit) AfterProbe(r ProbeResult, s Settings, now time.Time) Circuit {
	switch {
	case c.State == Closed || c.Generation != r.Generation:
		return c
	case r.Alive:
		next := c.Reset(now)
		next.Cooldown, next.OpenedAt = c.Cooldown, c.OpenedAt
		return next
	case c.State != HalfOpen || c.Holder != r.Holder, r.Unmade && r.Copied:
		return c
	case r.Unmade && r.Returns:
		c.LeaseUntil = c.leasedAt()
		return c
	case r.Unmade:
		c.State, c.Holder, c.LeaseUntil = Open, "", time.Time{}
		return c
	}
	next := c.reopen(s, now)
	if c.ProbeAt.After(c.leasedAt()) { // mended since: the failure says nothing about the endpoint as it is now
		next.Cooldown, next.ProbeAt = c.Cooldown, now
	}
	if r.Copied { // whatever the owner changes meanwhile
		next.LeaseUntil, next.ProbeAt = c.LeaseUntil, Later(next.ProbeAt, c.LeaseUntil)
	}
	return next
}

// open opens the circuit. If the endpoint has answered nothing since the probe that closed the
// circuit, the outage goes on, and so does the growth of the cooldown.
func (c Circuit) open(s Settings, now time.Time) Circuit {
	next := Circuit{
		State:      Open,
		Generation: c.Generation + 1,
		Cooldown:   s.Cooldown,
		OpenedAt:   now,
		Version:    c.Version,
	}
	if !c.OpenedAt.IsZero() {
		next.Cooldown, next.OpenedAt = c.longer(s, now), c.OpenedAt
	}
	next.ProbeAt = now.Add(next.Cooldown)
	return next
}

// reopen keeps the generation, because the outage continues.
func (c Circuit) reopen(s Settings, now time.Time) Circuit {
	c.State = Open
	c.Cooldown = c.longer(s, now)
	c.ProbeAt = now.Add(c.Cooldown)
	c.Holder, c.LeaseUntil = "", time.Time{}
	return c
}

// longer returns the next cooldown of an outage: half as long again, or half of the outage so
// far. So when the endpoint answers again, at most a third of its outage is this wait, plus
// two thirds of the first one. Probes that come early, because the owner tries a mend again and
// again, lengthen no cooldown beyond three halves of the outage: so long is it after the first probe.
func (c Circuit) longer(s Settings, now time.Time) time.Duration {
	outage := now.Sub(c.OpenedAt)
	next := max(min(c.Cooldown*3/2, max(c.Cooldown, outage*3/2)), outage/2, s.Cooldown)
	return min(next, max(s.MaxCooldown, s.Cooldown))
}

// recovering reports whether the window still has results of the last outage.
func (c Circuit) recovering(now time.Time) bool { return now.Sub(c.ClosedAt) < Window }
