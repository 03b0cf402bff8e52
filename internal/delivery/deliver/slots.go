package deliver

import (
	"context"
	"time"

	"surehook.example/surehook/internal/delivery/release"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
)

// handOver hands over the in-flight slots of the settled jobs of one endpoint. Jobs without a
// slot cost nothing. The deliveries are already settled, so an error is only logged: leases
// expire, and the breaker's tick fills the slots.
func (d *Deliverer) handOver(ctx context.Context, jobs []*job) {
	first := jobs[0]
	s := release.Slots{Tenant: first.Token.Tenant, ID: first.Token.Delivery.Endpoint, Endpoint: first.Endpoint}
	for _, j := range jobs {
		if j.lease.Key == "" {
			continue
		}
		s.Held = append(s.Held, j.lease)
		if j.Token.Slot && j.Endpoint != nil { // the delivery waited, and probably others wait
			s.InFlight = max(s.InFlight, j.inFlight, 1)
		}
		if j.Delivery != nil { // nil: the event is gone
			s.Last = j.Delivery.CreatedAt
		}
		if j.result.Class.Requested() && !j.result.Stale {
			s.Failed = s.Failed || j.result.Class != hook.ClassDelivered
			took, timed := answerTime(j.result)
			ok := !j.result.Class.Failing() && j.result.Class != hook.ClassThrottled
			s.Answers = append(s.Answers, admission.Answer{Took: took, Timed: timed, OK: ok})
		}
	}
	if len(s.Held) == 0 {
		return
	}
	d.logFailed(ctx, "slot.hand_over_failed", s.ID, d.Releaser.HandOver(ctx, s))
}

// leavePlace gives back the place of a token that ended without asking the gate. If the message
// failed it comes again, and the token keeps its place. After an error here the place expires.
func (d *Deliverer) leavePlace(ctx context.Context, j *job) {
	if j.err == nil && j.message.Lane == hook.LaneSlot {
		d.logFailed(ctx, "gate.leave_failed", j.Token.Delivery.Endpoint, d.Gate.Leave(ctx, j.Token.Tenant, dueOf(j.Token)))
	}
}

// claimOf returns the lease that the sender of the token claimed; zero for none.
func claimOf(t hook.Token) admission.Held {
	if !t.Slot {
		return admission.Held{}
	}
	return admission.Held{Key: admission.LeaseKey(t.Delivery.DeliveryID), Lease: admission.Lease{Nonce: t.Nonce}}
}

// answerTime returns how long the endpoint took to answer; ok is false without an answer.
// Failures to connect say nothing about its speed.
func answerTime(r admission.Result) (took time.Duration, ok bool) {
	switch {
	case !r.Class.Timed():
		return 0, false
	case r.Class == hook.ClassTimeout:
		return max(r.Duration, admission.LateAfter), true
	}
	return r.Duration, true
}

// fillAfterPark calls Fill for deliveries that were parked because no slot was free: a slot may
// have been freed just before the delivery was parked, and then nobody would pass one on to it.
func (d *Deliverer) fillAfterPark(ctx context.Context, jobs []*job, record admission.Record) {
	var parked []hook.Delivery
	for _, j := range jobs {
		if j.err == nil && j.result.State == hook.StateParked && j.Delivery.Reason == hook.ReasonInFlight {
			parked = append(parked, *j.Delivery)
		}
	}
	if len(parked) == 0 {
		return
	}
	_, err := d.Releaser.Fill(ctx, *jobs[0].Endpoint, record, parked...)
	d.logFailed(ctx, "slot.fill_failed", record.Endpoint, err)
}
