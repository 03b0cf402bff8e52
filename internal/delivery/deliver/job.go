package deliver

import (
	"errors"

	"surehook.example/surehook/internal/delivery/admit"
	"surehook.example/surehook/internal/delivery/parallel"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
	"surehook.example/surehook/internal/rule/settlement"
)

// job is one message of a batch.
type job struct {
	message Message
	subject                   // only the task, until judge finds the records
	step    settlement.Step   // what happens to the task next
	verdict admission.Verdict // of the gate; zero: the task did not ask
	result  admission.Result  // of the attempt, or of the decision without one
	err     error             // if set, the message fails and comes again
}

// ended returns what became of the task, for the gate.
func (j *job) ended() admit.Ended {
	return admit.Ended{Task: j.Task, Verdict: j.verdict, Delivery: j.Delivery, Result: j.result, Again: j.err != nil}
}

// run calls f for the job, which ends with the result and the error.
func (j *job) run(f func() (admission.Result, error)) {
	defer parallel.Recover(&j.err)
	j.result, j.err = f()
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

func attemptOf(t hook.Task) attemptKey { return attemptKey{t.Delivery, t.Attempt} }

// errOtherTask fails a task while another task of the same attempt is in the batch, or while
// another task or a copy holds the delivery's in-flight slot. The task must not be dropped
// yet: another process may have received the same message, and may die after recording the
// attempt. When the message comes again, the record shows whether the task resumes or is
// dropped.
var errOtherTask = errors.New("another task, or a copy of the task, may be making the attempt")
