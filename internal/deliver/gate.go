package deliver

import (
	"context"

	"surehook/internal/hook"
)

// Decision is what the gate says to a delivery that is due.
type Decision uint8

// The decisions. The zero Decision is not valid.
const (
	Admit  Decision = iota + 1 // the attempt may start
	Park                       // not now: the delivery waits in the store, without a token
	Cancel                     // never: the endpoint was deleted
)

// String returns the decision as it appears in logs.
func (d Decision) String() string {
	switch d {
	case Admit:
		return "admit"
	case Park:
		return "park"
	case Cancel:
		return "cancel"
	}
	return "unknown"
}

// Verdict is a decision and its reason.
type Verdict struct {
	Decision Decision
	Reason   hook.Reason
}

// StatusGate is the Gate that looks at nothing but the endpoint's own status.
type StatusGate struct{}

// Admit lets active endpoints through, parks what is for paused and disabled
// ones and cancels what is for deleted ones.
func (StatusGate) Admit(_ context.Context, endpoint *hook.Endpoint, n int) ([]Verdict, error) {
	verdict := Verdict{Decision: Cancel, Reason: hook.ReasonDeleted}
	if endpoint != nil {
		switch endpoint.Status {
		case hook.StatusActive:
			verdict = Verdict{Decision: Admit}
		case hook.StatusPaused:
			verdict = Verdict{Decision: Park, Reason: hook.ReasonPaused}
		case hook.StatusDisabled:
			verdict = Verdict{Decision: Park, Reason: hook.ReasonDisabled}
		}
	}
	verdicts := make([]Verdict, n)
	for i := range verdicts {
		verdicts[i] = verdict
	}
	return verdicts, nil
}
