package deliver_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/delivery/replay"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/proof/world"
)

// flows are complete lives of deliveries: the endpoint's answers, and the records expected at the
// end.
var flows = []struct {
	name     string
	endpoint func(e *hook.Endpoint)
	answers  []int
	state    hook.State
	reason   hook.Reason
	posts    int
	attempts []string
	letters  int
	effects  int // number of effects if nothing interferes
	disabled bool

	// replay: the flow is that of a replay, whose task comes first. Before it, the generation
	// that is old at the end makes one attempt, answered with the status first.
	replay *hook.ReplayRequest
	first  int
	old    hook.State
}{
	{name: "delivered at once", answers: []int{200}, state: hook.StateDelivered, posts: 1, effects: 2},
	{
		name: "delivered after a short wait", answers: []int{503, 200}, state: hook.StateDelivered, posts: 2,
		attempts: []string{"1 unavailable", "2 delivered"}, effects: 7,
	},
	{
		name: "delivered after a long wait", answers: []int{503, 503, 200}, state: hook.StateDelivered, posts: 3,
		attempts: []string{"1 unavailable", "2 unavailable", "3 delivered"}, effects: 11,
	},
	{
		name: "exhausted", answers: []int{503}, state: hook.StateDead, reason: hook.ReasonExhausted, posts: 3,
		attempts: []string{"1 unavailable", "2 unavailable", "3 unavailable"}, letters: 1, effects: 13,
	},
	{
		name: "rejected", answers: []int{404}, state: hook.StateDead, reason: hook.ReasonRejected, posts: 1,
		attempts: []string{"1 refused"}, letters: 1, effects: 4,
	},
	{
		name: "a refusal that the endpoint wants retried", endpoint: func(e *hook.Endpoint) { e.RetryOn = []int{404} },
		answers: []int{404, 200}, state: hook.StateDelivered, posts: 2, attempts: []string{"1 refused", "2 delivered"}, effects: 5,
	},
	{
		name: "a failure that the endpoint gives up", endpoint: func(e *hook.Endpoint) { e.GiveUpOn = []int{503} },
		answers: []int{503}, state: hook.StateDead, reason: hook.ReasonRejected, posts: 1,
		attempts: []string{"1 unavailable"}, letters: 1, effects: 5,
	},
	{
		name: "gone", answers: []int{410}, state: hook.StateDead, reason: hook.ReasonGone, posts: 1,
		attempts: []string{"1 gone"}, letters: 1, effects: 6, disabled: true,
	},
	{
		name: "past its max_age at the next attempt", endpoint: func(e *hook.Endpoint) { e.MaxAge = 20 * time.Minute },
		answers: []int{503}, state: hook.StateDead, reason: hook.ReasonExpired, posts: 2,
		attempts: []string{"1 unavailable", "2 unavailable"}, letters: 1, effects: 9,
	},
	{
		name: "parked", endpoint: func(e *hook.Endpoint) { e.Status = hook.StatusPaused },
		state: hook.StateParked, reason: hook.ReasonPaused, effects: 2,
	},
	{
		name: "parked for a disabled endpoint", endpoint: func(e *hook.Endpoint) { e.Status, e.UpdatedAt = hook.StatusDisabled, start },
		state: hook.StateParked, reason: hook.ReasonDisabled, effects: 2, disabled: true,
	},
	{
		name: "replay delivered at once", replay: &hook.ReplayRequest{By: "key_a"}, first: 404, old: hook.StateDiscarded,
		answers: []int{200}, state: hook.StateDelivered, posts: 1, effects: 5,
	},
	{
		name: "replay by a job", replay: &hook.ReplayRequest{Job: someJob, JobIndex: 3}, first: 404, old: hook.StateDiscarded,
		answers: []int{503, 200}, state: hook.StateDelivered, posts: 2, attempts: []string{"1 unavailable", "2 delivered"}, effects: 11,
	},
	{
		name: "replay dead in its place", replay: &hook.ReplayRequest{Job: someJob}, first: 404, old: hook.StateDiscarded,
		answers: []int{404}, state: hook.StateDead, reason: hook.ReasonRejected, posts: 1, attempts: []string{"1 refused"}, letters: 1, effects: 8,
	},
	{
		name: "replay of what was delivered", replay: &hook.ReplayRequest{Job: someJob}, first: 200, old: hook.StateDelivered,
		answers: []int{200}, state: hook.StateDelivered, posts: 1, effects: 4,
	},
	{
		name: "replay in the place of one in progress", replay: &hook.ReplayRequest{Force: true}, first: 503, old: hook.StateCancelled,
		endpoint: func(e *hook.Endpoint) { e.Retry.Schedule = []time.Duration{10 * time.Minute} },
		answers:  []int{200}, state: hook.StateDelivered, posts: 1, effects: 4,
	},
	{
		name: "redrive", replay: &hook.ReplayRequest{Redrive: true}, first: 404, old: hook.StateDiscarded,
		answers: []int{200}, state: hook.StateDelivered, posts: 1, effects: 5,
	},
}

const someJob hook.JobID = "rpl_01jd3m5k8zf4v9q2w7x6y5t4r3"

// TestProcessBatch_SettlesAfterAnyCrash kills the process before and after each
// effect of every flow, and lets the queue bring the tasks back. The final records
// must be the same, with at most one more POST and one more dead letter. The breaker
// reconciles the dead letters.
func TestProcessBatch_SettlesAfterAnyCrash(t *testing.T) {
	t.Parallel()

	for _, tt := range flows {
		for at := range 2*tt.effects + 1 {
			name := tt.name + "/undisturbed"
			if at > 0 {
				name = fmt.Sprintf("%s/dies %s effect %d", tt.name, map[int]string{0: "after", 1: "before"}[at%2], (at+1)/2)
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()

				w := setup(t)
				endpoint := w.Endpoint(tt.endpoint)
				id := w.Post(endpoint)[0]
				letters := 0
				if tt.replay != nil {
					w.Answer = world.Always(tt.first)
					w.Invoke(hook.QueueLive)
					w.Enqueue(hook.QueueReplay, replayOf(id, *tt.replay))
					id.Generation++
					letters, w.Posts = len(w.DeadLetters.Letters()), nil
					w.Crash.Reset()
				}
				w.Crash.Arm((at+1)/2, at%2 == 0)
				if len(tt.answers) > 0 {
					w.Answer = world.InTurn(tt.answers...)
				}
				w.Run()

				if at == 0 && w.Crash.Effects() != tt.effects {
					t.Errorf("the flow has %d effects; the table says %d", w.Crash.Effects(), tt.effects)
				}
				d := w.Delivery(id)
				if d.State != tt.state || d.Reason != tt.reason || d.Attempts != tt.posts {
					t.Errorf("delivery is %s %q after %d attempts; want %s %q after %d", d.State, d.Reason, d.Attempts, tt.state, tt.reason, tt.posts)
				}
				if diff := cmp.Diff(tt.attempts, w.Attempts(id)); diff != "" {
					t.Errorf("attempts differ (-want +got):\n%s", diff)
				}
				if extra := len(w.Posts) - tt.posts; extra < 0 || extra > min(at, 1) {
					t.Errorf("%d POSTs; want %d and at most one more after a crash", len(w.Posts), tt.posts)
				}
				if extra := len(w.DeadLetters.Letters()) - letters - tt.letters; extra < 0 || extra > min(at, 1) {
					t.Errorf("%d dead letters; want %d and at most one more after a crash", len(w.DeadLetters.Letters()), tt.letters)
				}
				e, err := w.Store.Endpoint(t.Context(), "acme", endpoint.ID)
				if err != nil || (e.Status == hook.StatusDisabled) != tt.disabled {
					t.Errorf("endpoint is %s, %v; want disabled: %t", e.Status, err, tt.disabled)
				}
				if tt.replay != nil {
					w.checkReplay(id, *tt.replay, tt.old)
				}
			})
		}
	}
}

// TestProcessBatch_SurvivesTwoCrashes kills the restarted process as well.
func TestProcessBatch_SurvivesTwoCrashes(t *testing.T) {
	t.Parallel()

	for first := 1; first <= 6; first++ {
		for second := 1; second <= 6; second++ {
			t.Run(fmt.Sprintf("effects %d and then %d", first, second), func(t *testing.T) {
				t.Parallel()

				w := setup(t)
				w.Answer = world.InTurn(503, 503, 200)
				id := w.Post(w.Endpoint(nil))[0]
				deaths := []int{first, second}
				for range 100 {
					at, ok := w.Queue.Next()
					if !ok {
						break
					}
					w.Clock.Until(at)
					if len(deaths) > 0 && !w.Crash.Armed() {
						w.Crash.Arm(deaths[0], true)
						deaths = deaths[1:]
					}
					w.Invoke(hook.QueueLive)
					w.Invoke(hook.QueueRetry)
				}
				if d := w.Delivery(id); d.State != hook.StateDelivered || d.Attempts != 3 {
					t.Errorf("delivery is %s after %d attempts; want delivered after 3", d.State, d.Attempts)
				}
				if len(w.Posts) > 5 {
					t.Errorf("%d POSTs; want at most 3 and one more for each death", len(w.Posts))
				}
			})
		}
	}
}

func TestProcessBatch_ChoosesQueueOrScheduleByDelay(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name     string
		delay    time.Duration
		schedule bool
	}{
		{name: "a second", delay: time.Second, schedule: false},
		{name: "15 minutes", delay: 15 * time.Minute, schedule: false},
		{name: "a millisecond more", delay: 15*time.Minute + time.Millisecond, schedule: true},
		{name: "7 days", delay: 7 * 24 * time.Hour, schedule: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			w := setup(t)
			w.Answer = world.Always(500)
			endpoint := w.Endpoint(func(e *hook.Endpoint) {
				e.MaxAge = 10 * 24 * time.Hour
				e.Retry = hook.RetryPolicy{Schedule: []time.Duration{tt.delay}, Jitter: hook.JitterNone}
			})
			id := w.Post(endpoint)[0]
			w.Invoke(hook.QueueLive)

			plans := w.Schedules.Plans()
			if (len(plans) == 1) != tt.schedule {
				t.Fatalf("%d schedules; want one: %t", len(plans), tt.schedule)
			}
			if want := start.Add(tt.delay); !w.Delivery(id).NextAttemptAt.Equal(want) {
				t.Errorf("next attempt at %v; want %v", w.Delivery(id).NextAttemptAt, want)
			}
			if tt.schedule && (plans[0].Task.Attempt != 2 || plans[0].At.Before(start.Add(tt.delay))) {
				t.Errorf("schedule = %+v; want attempt 2 no earlier than %v", plans[0], start.Add(tt.delay))
			}
			at, _ := w.Queue.Next()
			if at.Before(start.Add(tt.delay)) || at.After(start.Add(tt.delay+time.Second)) {
				t.Errorf("task arrives at %v; want within a second after %v", at, start.Add(tt.delay))
			}
		})
	}
}

// replayOf returns the first task of a replay of the delivery.
func replayOf(id hook.DeliveryRef, o hook.ReplayRequest) hook.Task {
	id.Generation++
	task := hook.NewTask("acme", id, 1)
	task.ReplayRequest = o
	return task
}

// checkReplay checks that the previous generation is in the state old and names this one as its
// replay, and that the job has counted this one.
func (w *bundle) checkReplay(id hook.DeliveryRef, o hook.ReplayRequest, old hook.State) {
	w.T.Helper()

	before, _ := id.Predecessor()
	if d := w.Delivery(before); d.State != old || d.Replayed.Generation != id.Generation || d.Replayed.ReplayRequest != o {
		w.T.Errorf("the generation before is %s and replayed as %+v; want %s, as %d by %+v", d.State, d.Replayed, old, id.Generation, o)
	}
	d := w.Delivery(id)
	if d.Job != o.Job || d.JobIndex != o.JobIndex || d.By != o.By {
		w.T.Errorf("the replay is slot %d of job %q by %q; want what was ordered: %+v", d.JobIndex, d.Job, d.By, o)
	}
	if o.Job == "" {
		return
	}
	want := replay.Outcomes{Dead: 1}
	if d.State == hook.StateDelivered {
		want = replay.Outcomes{Delivered: 1}
	}
	if tally, err := w.Store.JobOutcomes(w.T.Context(), o.Job); err != nil || tally != want {
		w.T.Errorf("the job counted %+v, %v; want %+v", tally, err, want)
	}
}
