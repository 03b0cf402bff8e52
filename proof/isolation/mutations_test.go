package isolation_test

import (
	"testing"

	"surehook.example/surehook/proof/world"
)

// mutation is a rule of isolation that is broken on purpose.
type mutation struct {
	rule     string // what the code does without the rule
	file     string
	old, bug string // the code, and the code without the rule
	row      string // the row whose bound must break; empty: test
	test     string // package and test: "internal/delivery/admit TestFill_FewestAttemptsFirst"
}

// mutations returns the broken rules. A row or a test must find each of them.
func mutations() []mutation {
	return []mutation{
		{
			rule: "new and slow endpoints share invocations", file: "internal/rule/admission/slots.go", row: "slow neighbour",
			old: "case !r.free(now):\n", bug: "case r.SpeedAtNow(now) > 100:\n",
		},
		{
			rule: "an endpoint that turns slow stays fast", file: "internal/delivery/admit/late.go", row: "turns slow",
			old: "if late > 0 {", bug: "if late > 1000 {",
		},
		{
			rule: "answers in time forgive no late attempt", file: "internal/rule/admission/speed.go", test: "proof/isolation TestFewLateAnswers",
			old: "forgiven := min(late, int(c/lateCost))", bug: "forgiven := 0",
		},
		{
			rule: "a late answer costs no more than an answer in time adds", file: "internal/rule/admission/speed.go", test: "internal/rule/admission TestScore",
			old: "const latePenalty = 19", bug: "const latePenalty = 1",
		},
		{
			rule: "late attempts in flight are no late answers", file: "internal/rule/admission/speed.go", test: "internal/delivery/admit TestRecord_Promoted",
			old: "l.Score.Proven(l.late(now))", bug: "l.Score.Proven(0*l.late(now))",
		},
		{
			rule: "answers of an earlier speed class count", file: "internal/delivery/admit/call.go", test: "internal/delivery/admit TestHandOver_AnswersOfAnEarlierClass",
			old: "if c.since.Equal(c.record.SpeedAt) {", bug: "if c.since.Equal(c.since) {",
		},
		{
			rule: "a slow endpoint is fast again at once", file: "internal/rule/admission/speed.go", test: "internal/delivery/admit TestHandOver_CountsTheAnswers",
			old: "now.Sub(r.SpeedAt) >= SlowRest", bug: "now.Sub(r.SpeedAt) >= 0",
		},
		{
			rule: "a fast endpoint stays fast in silence", file: "internal/rule/admission/speed.go", test: "internal/delivery/admit TestRecord_Slots",
			old: "return now.Sub(r.SeenAt) > Silence+SeenEvery\n", bug: "return now.Sub(r.SeenAt) > 100*Silence\n",
		},
		{
			rule: "an outage leaves an endpoint fast", file: "internal/rule/admission/record.go", test: "internal/delivery/admit TestGate_AnOutageEndsTheProof",
			old: "return r.unproven(now).planCheck(now)", bug: "return r.withClass(Fast, now).planCheck(now)",
		},
		{
			rule: "slots are granted without a count", file: "internal/rule/admission/permit.go", test: "internal/delivery/admit TestGate_InFlightLimit",
			old: "most := max(", bug: "most := 100 + max(",
		},
		{
			rule: "a hand-over claims more slots than the endpoint has", file: "internal/delivery/admit/call.go", test: "internal/delivery/admit TestHandOver_ClaimsTheEndedSlots",
			old: "if crowded || width <= len(next.Leases) ||", bug: "if width += len(next.Leases); crowded || width == 0 ||",
		},
		{
			rule: "slots are not handed over", file: "internal/delivery/admit/call.go", row: "limited backlog",
			old: "if crowded || width <= len(next.Leases) || !c.record.Waiting && len(c.parked) == 0 {", bug: "if crowded || width <= len(next.Leases) || len(c.freed) > 0 {",
		},
		{
			rule: "a slot that others leave no delivery for stays in use", file: "internal/delivery/admit/call.go", test: "internal/delivery/admit TestHandOver_MeetsOtherWriters",
			old: "c.tries > patience &&", bug: "c.tries > 1000 &&",
		},
		{
			rule: "the last slot asks for no check", file: "internal/delivery/admit/slots.go", test: "internal/delivery/admit TestHandOver_LastSlot",
			old: "if left.InFlight(s.Now()) == 0 {", bug: "if left.InFlight(s.Now()) < 0 {",
		},
		{
			rule: "a process ends the lease of another", file: "internal/rule/admission/leases.go", test: "internal/delivery/admit TestHandOver_KeepsTheLeaseOfAnotherTask",
			old: "lease.Nonce == h.Nonce && lease.Run == h.Run\n", bug: "lease.Nonce == h.Nonce\n",
		},
		{
			rule: "parked deliveries in hand get no slot", file: "internal/delivery/admit/done.go", test: "internal/delivery/deliver TestSlots_FillsAfterParking",
			old: "if len(parked) == 0 {", bug: "if len(parked) >= 0 {",
		},
		{
			rule: "deliveries that always fail come first", file: "internal/rule/admission/order.go", test: "internal/delivery/admit TestFill_FewestAttemptsFirst",
			old: "return cmp.Or(cmp.Compare(attempts(a), attempts(b)), a.CreatedAt", bug: "return cmp.Or(0*cmp.Compare(attempts(a), attempts(b)), a.CreatedAt",
		},
		{
			rule: "a retry never ages", file: "internal/rule/admission/order.go", row: "retry behind new",
			old: "if now.Sub(d.UpdatedAt) >=", bug: "if now.Sub(d.UpdatedAt) < 0 && now.Sub(d.UpdatedAt) >=",
		},
		{
			rule: "any task is the probe while deliveries are parked", file: "internal/rule/admission/rows.go", test: "internal/delivery/admit TestGate_OpensAfterFiveFailuresAndClosesAfterAProbe",
			old: "!a.before.HasParked() ||", bug: "a.before.Version >= 0 ||",
		},
		{
			rule: "a moved probe is a probe no more", file: "internal/rule/admission/rows.go", test: "internal/delivery/admit TestGate_AnOutageEndsTheProof",
			old: "v.Probe = v.Decision == Move", bug: "v.Probe = false",
		},
		{
			rule: "the oldest delivery is the probe", file: "internal/rule/admission/order.go", test: "internal/delivery/breaker TestOutage_EndsWithFewAttemptsAtATime",
			old: "cmp.Or(cmp.Compare(repeats(a), repeats(b)), cmp.Compare(a.Attempts, b.Attempts), a.CreatedAt", bug: "cmp.Or(0*repeats(a), a.CreatedAt",
		},
		{
			rule: "a tenant takes the whole reserve", file: "internal/rule/admission/leases.go", test: "internal/delivery/admit TestGate_Shares",
			old: "len(live.Leases) >= most {\n\t\treturn l, has", bug: "len(live.Leases) >= 1000*most {\n\t\treturn l, has",
		},
		{
			rule: "nobody uses the reserve", file: "internal/rule/admission/permit.go", row: "slow tenant",
			old: "Queue: hook.QueueSlot}", bug: "Queue: hook.QueueOverflow}",
		},
		{
			rule: "a raised rate does not help those who wait", file: "internal/rule/admission/rate.go", row: "rate raised",
			old: "case l.Rate < perSecond:", bug: "case false:",
		},
		{
			rule: "a rate slot a millisecond away takes a second", file: "internal/rule/admission/rate.go", test: "proof/isolation TestRateRaised_InOneProcess",
			old: "if slot.Sub(now) < nearSlot {", bug: "if slot.Sub(now) < 0 {",
		},
		{
			rule: "a change of the limits releases nothing", file: "internal/admin/endpoint/change.go", row: "rate raised",
			old: "case limited:", bug: "case limited && !limited:",
		},
		{
			rule: "tasks wait in the queue as long as the rate asks", file: "internal/rule/admission/rows.go", row: "rate raised",
			old: "|| wait > a.rateWait", bug: "|| wait > 1000*MaxRateWait",
		},
		{
			rule: "claims wait in the queue as long as the rate asks", file: "internal/rule/admission/claim.go", test: "internal/delivery/admit TestFill_WaitsForRateSlots",
			old: "at.Sub(now) > maxWait {", bug: "at.Sub(now) > 1000*maxWait {",
		},
		{
			rule: "a claim waits for a far rate slot", file: "internal/delivery/admit/call.go", test: "internal/delivery/admit TestFill_WaitsForRateSlots",
			old: "\treturn maxSlotWait\n", bug: "\treturn admission.MaxRateWait\n",
		},
		{
			rule: "a fast endpoint needs a slot", file: "internal/rule/admission/slots.go", row: "fast",
			old: "\treturn 0\n}\n\n// free", bug: "\treturn 500\n}\n\n// free",
		},
		{
			rule: "failures in flight together count each", file: "internal/rule/circuit/circuit.go", test: "internal/rule/circuit TestCircuit_SlotsFailTogether",
			old: "admitted.Version >= c.FailedIn:", bug: "admitted.Version >= 0:",
		},
		{
			rule: "a success leaves the failures before it in the count", file: "internal/rule/circuit/circuit.go", row: "random failures",
			old: "c.Failures, c.FailedIn, c.Threshold = r.Trailing, 0, 0", bug: "c.Failures += r.Failed",
		},
		{
			rule: "a row of failures by chance opens the circuit", file: "internal/rule/circuit/threshold.go", row: "half healthy",
			old: "for n < longestRow && ", bug: "for n < 0 && ",
		},
		{
			rule: "the circuit is strained by luck", file: "internal/rule/circuit/strain.go", test: "internal/rule/circuit TestCircuit_Document",
			old: "lowerBound(w.Failed, total) >= s.Rate", bug: "float64(w.Failed) / float64(total) >= s.Rate",
		},
		{
			rule: "an endpoint is not paced after a 429", file: "internal/rule/admission/outcome.go", row: "rate limited",
			old: "r.Pace = r.Pace.slower(window, until, now)", bug: "_, _ = until, window",
		},
		{
			rule: "nothing is released after a strain", file: "internal/rule/admission/outcome.go", test: "internal/delivery/admit TestGate_Strained",
			old: "if r.frees(before, now) {", bug: "if r.frees(before, now) && now.IsZero() {",
		},
		{
			rule: "each failure halves the slots", file: "internal/rule/admission/slots.go", test: "internal/rule/admission TestLimits_Answered",
			old: "now.Sub(l.NarrowedAt) >= narrowEvery:", bug: "true:",
		},
		{
			rule: "no cap of the slots in the first minute", file: "internal/rule/admission/slots.go", test: "internal/delivery/admit TestRecord_Slots",
			old: "allowed = min(allowed, earlySlots)", bug: "allowed = min(allowed, 100*earlySlots)",
		},
		{
			rule: "the cooldown begins anew in one outage", file: "internal/rule/circuit/circuit.go", test: "internal/rule/circuit TestCircuit_AfterBatch",
			old: "if !c.OpenedAt.IsZero() {", bug: "if false {",
		},
		{
			rule: "a recovering endpoint gets all at once", file: "internal/rule/admission/slots.go", row: "hangs after the probe",
			old: "\t\treturn 1\n", bug: "\t\treturn 100\n",
		},
		{
			rule: "a row right after an outage has the history of the outage", file: "internal/rule/circuit/threshold.go", test: "internal/rule/circuit TestCircuit_AfterBatch",
			old: "if window.OK == 0 || !c.OpenedAt.IsZero() {", bug: "if window.OK == 0 {",
		},
	}
}

// mutate returns the path of an overlay with the mutation's file without the rule.
func (m mutation) mutate(t *testing.T) (overlay string) {
	t.Helper()

	return world.Mutate(t, m.file, m.old, m.bug)
}

// TestMutations_fit checks that every mutation still fits the code, and that its row
// exists. TestMutations runs weekly only.
func TestMutations_fit(t *testing.T) {
	t.Parallel()

	names := make(map[string]bool)
	for _, r := range rows() {
		names[r.name] = true
	}
	for _, tt := range mutations() {
		t.Run(tt.rule, func(t *testing.T) {
			t.Parallel()

			if (tt.row == "") == (tt.test == "") || tt.row != "" && !names[tt.row] {
				t.Errorf("row %q, test %q; want one of them", tt.row, tt.test)
			}
			tt.mutate(t)
		})
	}
}
