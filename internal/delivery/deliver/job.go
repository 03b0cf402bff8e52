package deliver

import (
	"errors"

	"surehook.example/surehook/internal/delivery/admit"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
	"surehook.example/surehook/internal/rule/settlement"
)

// job is one message of a batch.
type job struct {
	message Message
	subject                   // only the token, until judge finds the records
	step    settlement.Step   // what happens to the token next
	verdict admission.Verdict // of the gate; zero: the token did not ask
	result  admission.Result  // of the attempt, or of the decision without one
	err     error             // if set, the message fails and comes again
}

// ended returns what became of the token, for the gate.
func (j *job) ended() admit.Ended {
	return admit.Ended{Token: j.Token, Verdict: j.verdict, Delivery: j.Delivery, Result: j.result, Failed: j.err != nil}
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
