package circuit

import "time"

// Reset returns the circuit closed, from any state.
func (c Circuit) Reset(now time.Time) Circuit {
	return Circuit{State: Closed, Generation: c.Generation + 1, ClosedAt: now, Version: c.Version}
}

// Mended returns the circuit after its owner changed something that may end the trouble: the next
// probe is due now. A probe in flight keeps its lease, so that there is no second one beside it,
// and ProbeAt notes that the next one follows at once. But if the requests go to another server
// now, moved, nothing waits for the probe at the old one, which may hang until its timeout, and its
// answer counts no more: a new generation begins. The failures of a closed circuit count no more, nor do
// those of attempts in flight.
func (c Circuit) Mended(moved bool, now time.Time) Circuit {
	switch {
	case moved && c.State != Closed:
		c.Generation++
		c.State, c.ProbeAt, c.Holder, c.LeaseUntil = Open, now, "", time.Time{}
	case c.State == Open:
		if at := Later(now, c.LeaseUntil); at.Before(c.ProbeAt) {
			c.ProbeAt = at
		}
	case c.State == HalfOpen:
		c.ProbeAt = Later(now, c.leasedAt().Add(time.Millisecond)) // by another clock, in the unit of the record
	case c.Failures > 0, !c.StrainedAt.IsZero(), !c.OpenedAt.IsZero():
		return c.Reset(now)
	}
	return c
}

// ProbeWithin returns the circuit after its owner shortened the cooldown: an open one waits for the
// next probe for no longer, except for the lease of a probe in flight.
func (c Circuit) ProbeWithin(cooldown time.Duration, now time.Time) Circuit {
	if at := Later(now.Add(cooldown), c.LeaseUntil); c.State == Open && at.Before(c.ProbeAt) {
		c.Cooldown, c.ProbeAt = min(c.Cooldown, cooldown), at
	}
	return c
}

// leasedAt returns when the probe of a half-open circuit took its lease.
func (c Circuit) leasedAt() time.Time { return c.LeaseUntil.Add(-ProbeLease) }

// Later returns the later one of two times.
func Later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

// Trip returns the circuit open, from any state. If a probe is in flight, the next one waits
// for the end of its lease, even if the circuit is opened by hand again.
func (c Circuit) Trip(s Settings, now time.Time) Circuit {
	next := c
	next.OpenedAt = time.Time{}
	next = next.open(s, now)
	if now.Before(c.LeaseUntil) {
		next.LeaseUntil, next.ProbeAt = c.LeaseUntil, Later(next.ProbeAt, c.LeaseUntil)
	}
	return next
}
