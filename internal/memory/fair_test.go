package memory_test

import (
	"testing"
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/memory"
	"surehook.example/surehook/proof/porttest"
)

// fairQueue is a fair queue whose received messages stay hidden for an hour.
type fairQueue struct {
	*memory.TaskQueues

	t     *testing.T
	clock porttest.Clock
}

func newFairQueue(t *testing.T) *fairQueue {
	t.Helper()

	clock := porttest.FakeClock()
	q := &fairQueue{memory.NewTaskQueues(clock.Now), t, clock}
	q.Fair, q.Visibility = true, time.Hour
	return q
}

// next receives n messages, which must be of the endpoint. The messages stay in flight.
func (q *fairQueue) next(want hook.EndpointID, n int) (received []memory.Message) {
	q.t.Helper()

	for i := range n {
		got := q.Receive(hook.QueueLive, 1)
		if len(got) != 1 || got[0].Task.Delivery.Endpoint != want {
			q.t.Fatalf("message %d is %v; want a message of %s", i+1, got, want)
		}
		received = append(received, got...)
	}
	return received
}

func (q *fairQueue) pass(d time.Duration) { q.clock.Pass(q.t.Context(), d) }

// A group with a few messages in flight is noisy when they take long.
func TestQueue_Receive_FairQueueCountsProcessingTime(t *testing.T) {
	t.Parallel()

	q := newFairQueue(t)
	send(t, q.TaskQueues, tasksOf("ep_slow", 10), 0)
	taken := q.next("ep_slow", 2)
	q.pass(10 * time.Second)
	for _, m := range taken {
		q.Delete(m.ID)
	}
	send(t, q.TaskQueues, tasksOf("ep_quiet", 2), 0)
	q.next("ep_quiet", 1) // of 20 s of processing, none is of ep_quiet
	q.pass(time.Second)
	q.next("ep_quiet", 1) // of 21 s, 1 s is of ep_quiet: less than a tenth
	q.next("ep_slow", 8)
}

// Of two noisy groups, the one with fewer messages in flight comes first.
func TestQueue_Receive_FairQueueBalancesNoisyGroups(t *testing.T) {
	t.Parallel()

	q := newFairQueue(t)
	send(t, q.TaskQueues, tasksOf("ep_first", 10), 0)
	q.next("ep_first", 3)
	send(t, q.TaskQueues, tasksOf("ep_slow", 10), 0)
	q.next("ep_first", 1) // no time has passed: the order of Send
	q.pass(time.Second)
	q.next("ep_slow", 1)
	q.pass(time.Minute) // both are noisy: ep_first with 4 in flight, ep_slow with 1
	q.next("ep_slow", 3)
}

// A noisy group is quiet again after 5 minutes without a message sent, and not earlier.
func TestQueue_Receive_FairQueueForgetsASilentGroup(t *testing.T) {
	t.Parallel()

	for _, silent := range []time.Duration{5*time.Minute - time.Second, 5 * time.Minute} {
		q := newFairQueue(t)
		send(t, q.TaskQueues, tasksOf("ep_noisy", 100), 0)
		q.next("ep_noisy", 31)
		q.pass(silent)
		send(t, q.TaskQueues, tasksOf("ep_quiet", 1), 0)
		want := hook.EndpointID("ep_quiet")
		if silent == 5*time.Minute {
			want = "ep_noisy" // the oldest message
		}
		q.next(want, 1)
	}
}

// A noisy group stays noisy until no message of the group waits.
func TestQueue_Receive_FairQueueRemembersANoisyGroup(t *testing.T) {
	t.Parallel()

	for waiting, want := range map[int]hook.EndpointID{1: "ep_quiet", 0: "ep_noisy"} {
		q := newFairQueue(t)
		send(t, q.TaskQueues, tasksOf("ep_noisy", 31+waiting), 0)
		taken := q.next("ep_noisy", 31)
		send(t, q.TaskQueues, tasksOf("ep_quiet", 1), 0)
		q.next("ep_quiet", 1)
		for _, m := range taken {
			q.Delete(m.ID)
		}
		send(t, q.TaskQueues, tasksOf("ep_noisy", 1), 0)
		send(t, q.TaskQueues, tasksOf("ep_quiet", 1), 0)
		q.next(want, 1)
	}
}
