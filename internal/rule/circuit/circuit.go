package circuit

import (
	"time"

	"surehook/internal/hook"
)

// State is whether an endpoint is sent anything.
type State uint8

// The states. The zero State is not valid; a Circuit that was never stored is New.
const (
	Closed   State = iota + 1 // everything passes
	Open                      // nothing passes
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

	Slow bool // the endpoint is slow: SlowFailures open
}

// SlowFailures is the threshold of consecutive failures for a slow endpoint,
// whose every failure holds resources for longer.
const SlowFailures = 3

// Window is the rolling time over which the rate of failures is taken.
const Window = 10 * time.Minute

// LeaseFor is how long a probe holds its lease: longer than any attempt can
// last and be settled in, and a crash of its holder costs no more than this.
const LeaseFor = 2 * time.Minute

// Circuit is the breaker of one endpoint.
type Circuit struct {
	State      State
	Generation int64 // one more with each opening, closing and reset
	Failures   int   // consecutive transient failures, when closed
	Cooldown   time.Duration
	OpenedAt   time.Time
	ProbeAt    time.Time // when open: from when on a probe may pass
	Holder     string    // when half-open: the delivery that probes
	LeaseUntil time.Time // when half-open: until when nobody else may
	ClosedAt   time.Time // when closed: since when; zero if it was never open
	Version    int64     // of the stored record; 0 when there is none
}

// New returns the circuit of an endpoint about which nothing is stored.
func New() Circuit { return Circuit{State: Closed} }

// Results are what came of the attempts of one batch, admitted together.
type Results struct {
	Failed   int  // transient failures, throttling not among them
	Alive    bool // something else came back, too: the endpoint answers
	Trailing int  // failures after the last answer that was none; Failed when not Alive
}

// Counts are what came of all attempts in the Window, these included.
type Counts struct{ OK, Failed int }

// Settled returns the circuit after the results of a batch that was admitted in the
// generation given. Results of an earlier generation, or of a circuit that is
// not closed, change nothing: probes have Probed.
func (c Circuit) Settled(r Results, window Counts, generation int64, s Settings, now time.Time) Circuit {
	if c.State != Closed || c.Generation != generation {
		return c
	}
	if r.Alive {
		c.Failures = r.Trailing
	} else {
		c.Failures += r.Failed
	}
	if r.Failed > 0 && (c.Failures >= s.threshold() || c.judgedByRate(now) && s.tooMany(window)) {
		return c.open(s.Cooldown, now)
	}
	return c
}

// Probe gives the lease to holder if a probe may pass now. Who holds it already
// and comes again gets it anew: with what is left of it there might be a second
// probe before the first has ended.
func (c Circuit) Probe(holder string, now time.Time) (next Circuit, ok bool) {
	again := c.State == HalfOpen && c.Holder == holder
	if !again && !c.ProbeDue(now) {
		return c, false
	}
	c.State = HalfOpen
	c.Holder, c.LeaseUntil = holder, now.Add(LeaseFor)
	return c, true
}

// ProbeDue reports whether somebody may take the lease now.
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

// Probed returns the circuit after the holder's probe. Anybody else's result changes nothing.
func (c Circuit) Probed(holder string, alive bool, s Settings, now time.Time) Circuit {
	if c.State != HalfOpen || c.Holder != holder {
		return c
	}
	if alive {
		return c.Reset(now)
	}
	return c.reopen(s, now)
}

// Reset returns the circuit closed, whatever it was.
func (c Circuit) Reset(now time.Time) Circuit {
	return Circuit{State: Closed, Generation: c.Generation + 1, ClosedAt: now, Version: c.Version}
}

// Trip returns the circuit open, whatever it was.
func (c Circuit) Trip(s Settings, now time.Time) Circuit { return c.open(s.Cooldown, now) }

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

// reopen keeps the generation: it is the same outage, only longer.
func (c Circuit) reopen(s Settings, now time.Time) Circuit {
	c.State = Open
	c.Cooldown = min(max(2*c.Cooldown, s.Cooldown), max(s.MaxCooldown, s.Cooldown))
	c.ProbeAt = now.Add(c.Cooldown)
	c.Holder, c.LeaseUntil = "", time.Time{}
	return c
}

// judgedByRate reports whether the window holds nothing of the outage before.
func (c Circuit) judgedByRate(now time.Time) bool { return now.Sub(c.ClosedAt) >= Window }

func (s Settings) threshold() int {
	if s.Slow {
		return min(s.Failures, SlowFailures)
	}
	return s.Failures
}

func (s Settings) tooMany(w Counts) bool {
	total := w.OK + w.Failed
	return total >= s.Minimum && float64(w.Failed) >= s.Rate*float64(total)
}
