package deliver

import (
	"errors"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
	"surehook.example/surehook/internal/rule/settlement"
)

// job is one message of a batch.
type job struct {
	message  Message
	subject                   // only the token, until judge finds the records
	step     settlement.Step  // what happens to the token next
	lease    admission.Held   // the in-flight slot, or the claim of one, to hand over afterwards; zero: none
	inFlight int              // slots of the endpoint in use with the lease, if the gate began it
	result   admission.Result // of the attempt
	err      error            // if set, the message fails and comes again
}

// failAll fails the jobs with the error, so that their messages come again.
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

// errOtherToken fails a token while another token of the same attempt is in the batch, or while
// another token or a copy holds the delivery's in-flight slot. The token must not be dropped
// yet: another process may have received the same message, and may die after recording the
// attempt. When the message comes again, the record shows whether the token resumes or is
// dropped.
var errOtherToken = errors.New("another token, or a copy of the token, may be making the attempt")

// dueOf returns the token as the gate sees it.
func dueOf(t hook.Token) admission.Due {
	return admission.Due{Delivery: t.Delivery.DeliveryID, Attempt: t.Attempt, Nonce: t.Nonce, Reserved: t.Reserved, Slot: t.Slot, Probe: t.Probe, Test: t.Test()}
}
