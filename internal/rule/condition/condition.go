// Package condition sums up in one word how an endpoint is doing. It judges by the attempts
// and not by the circuit alone: a circuit opens for an endpoint that does not answer, but
// stays closed for one that rejects every event, although those events are lost, too.
//
//	state     when
//	disabled  the status is disabled
//	paused    the status is paused; or the circuit was opened by hand, and the attempts
//	          before did not fail
//	failing   the circuit is open or half-open; or no attempt succeeded in all hours; or
//	          less than 50 % of the attempts succeed
//	degraded  less than 90 % of the attempts succeed; or less than 50 %, but the circuit
//	          closed in the newest hour, and no attempt has failed transiently since
//	quiet     no attempts in all hours
//	healthy   otherwise
//
// The share of successful attempts is a mean over the hours. The newest hour with
// attempts has the weight 1, and an hour n hours before it 1/4ⁿ. More than 20 attempts of an
// hour count as 20 with the same share, so a busy hour does not outweigh the hours after it:
//
//	hours, oldest first                       share  state
//	500 failed, 20 succeeded                    80 %  degraded, in the hour of the recovery
//	500 failed, 20 succeeded, 20 succeeded      95 %  healthy, an hour later
//	500 failed, 23 hours of silence, 1 succeeded  100 %  healthy
//	20 succeeded, 3 failed                      62 %  degraded
//	20 succeeded, 20 failed                     20 %  failing
//
// The condition ends with successes: with as many since the last failed attempt as attempts failed in
// all hours, but at least 4, and 30 are always enough. So an endpoint of few events is healthy at
// once, and a busy one that still fails now and then is not.
//
// Fewer than 3 failed attempts in all hours do not count, because an attempt may fail and
// its retry succeed. Any number counts if a delivery died since the newest hour with attempts
// began, or if no attempt succeeded.
//
// The package knows neither clocks nor storage.
package condition

import (
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/circuit"
	"surehook.example/surehook/internal/rule/stats"
)

// Span is how far back the judged hours go. The first one is the clock hour of Span ago, and the last
// one is the current hour, so there are 25.
const Span = 24 * time.Hour

// The thresholds in the package comment.
const (
	failingBelow  = 0.5 // share of successful attempts
	degradedBelow = 0.9 // share of successful attempts
	minFailed     = 3   // failed attempts
	fullHour      = 20  // attempts
	fewPassed     = 4   // successes since the last failed attempt that may end a condition
	manyPassed    = 30  // successes since the last failed attempt that end a condition
	fade          = 4.0 // the weight of an hour, divided by that of the hour before
)

// State is the condition in one word. The order of the states is that of their harm, worst first.
type State uint8

// The states. The zero State is not valid.
const (
	Failing State = iota + 1
	Disabled
	Degraded
	Paused
	Healthy
	Quiet
)

// String returns the state as it appears in the API.
func (s State) String() string {
	return hook.Names[State]{
		Failing: "failing", Disabled: "disabled", Degraded: "degraded", Paused: "paused", Healthy: "healthy", Quiet: "quiet",
	}.Of(s)
}

// Facts are what a condition is derived from.
type Facts struct {
	Status      hook.Status
	Reason      hook.Reason // of status paused or disabled
	StatusSince time.Time
	CreatedAt   time.Time // of the endpoint: no condition began before
	Circuit     circuit.Circuit
	Hours       []stats.Hour // of the Span, in order; hours without counts may be absent
	Began       time.Time    // when the condition failing or degraded began, if the Hours do not tell it; see review.Flags
	Judged      time.Time    // the newest hour with attempts when Began was stored; zero: not known
}

// Condition is the condition of an endpoint.
type Condition struct {
	State  State       `json:"state"`
	Since  time.Time   `json:"since,omitzero"`  // when it began: for failing and degraded with the first failed attempt of an hour, or the opening of the circuit; zero for healthy and quiet
	Class  hook.Class  `json:"class,omitzero"`  // only of failing and degraded: the most common class of the failed attempts since then; 0 without failed attempts
	Status int         `json:"status,omitzero"` // with Class: HTTP status of the last failed attempt; 0 without an answer
	Reason hook.Reason `json:"reason,omitzero"` // only of paused and disabled
}

// Of returns the condition that follows from the facts.
func Of(f Facts) Condition {
	all := attempted(f.Hours)
	c := f.condition(all)
	if judged := c.State == Failing || c.State == Degraded; judged && c.Since.Equal(f.CreatedAt.Truncate(time.Hour)) {
		c.Since = f.CreatedAt // the clock hour began before the endpoint
	}
	if c.Class != 0 {
		c.Status = failedWith(all)
	}
	return c
}

// condition is Of, but the condition may begin with the clock hour in which the endpoint was created.
func (f Facts) condition(all []results) Condition {
	switch f.Status {
	case hook.StatusPaused:
		return Condition{State: Paused, Since: f.StatusSince, Reason: f.Reason}
	case hook.StatusDisabled:
		return Condition{State: Disabled, Since: f.StatusSince, Reason: f.Reason}
	case hook.StatusActive:
	}
	state := f.judge(all)
	switch {
	case f.Circuit.State == circuit.Closed:
		if state == Failing && recovered(f.Circuit, all) {
			state = Degraded
		}
	case f.Circuit.Failures == 0 && state != Failing && state != Degraded:
		return Condition{State: Paused, Since: f.Circuit.OpenedAt, Reason: hook.ReasonManual}
	default:
		return f.stopped(all)
	}
	switch state {
	case Failing:
		return f.below(all, failingBelow, state)
	case Degraded:
		return f.below(all, degradedBelow, state)
	case Disabled, Paused, Healthy, Quiet:
	}
	return Condition{State: state}
}

// recovered reports whether the closed circuit closed in the newest hour with attempts, an attempt
// succeeded in it, and none has failed transiently since the last success. The failures of the
// outage count in this hour, too, but say nothing about the endpoint any more.
func recovered(c circuit.Circuit, all []results) bool {
	return all[0].successes > 0 && c.Failures == 0 && !c.ClosedAt.Before(all[0].Start)
}

// stopped returns the condition of an endpoint whose circuit is not closed: failing since the opening,
// or since an earlier hour, if attempts failed for hours before.
func (f Facts) stopped(all []results) Condition {
	c := f.below(all, failingBelow, Failing)
	if opened := f.Circuit.OpenedAt; c.Since.IsZero() || !c.Since.Before(opened.Truncate(time.Hour)) {
		c.Since, c.Class = opened, commonest(f.Hours, opened)
	}
	return c
}
