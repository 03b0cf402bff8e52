package deliver

import (
	"errors"

	"surehook/internal/delivery/gate"
	"surehook/internal/hook"
	"surehook/internal/rule/isolation"
	"surehook/internal/rule/settlement"
)

// job is one message of a batch.
type job struct {
	message Message
	subject                 // only the token until judge finds the records
	step    settlement.Step // what happens to the token next
	lease   isolation.Held  // the in-flight slot to hand over, or the claim of one, without a Run; zero: none
	result  gate.Result     // of the attempt
	err     error           // not nil: the message fails
}

// failAll fails the jobs with the error: their messages return.
func failAll(jobs []*job, err error) {
	for _, j := range jobs {
		j.err = err
	}
}

// attemptKey identifies one attempt of one delivery.
type attemptKey struct {
	hook.DeliveryRef

	number int
}

func attemptOf(t hook.Token) attemptKey { return attemptKey{t.Delivery, t.Attempt} }

// errOtherToken fails a token beside another token of the same attempt, in the batch or
// with the delivery's in-flight slot. The failed
// token cannot be dropped yet: another process may have received the same message,
// and may die after recording the attempt. On return the token meets the record,
// and either resumes or is dropped.
var errOtherToken = errors.New("another token, or a copy of the token, may make the attempt")

// dueOf returns the token as the gate sees it.
func dueOf(t hook.Token) gate.Due {
	return gate.Due{Delivery: t.Delivery.DeliveryID, Attempt: t.Attempt, Nonce: t.Nonce, Reserved: t.Reserved, Slot: t.Slot, Probe: t.Probe}
}
