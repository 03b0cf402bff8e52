package memory_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/memory"
	"surehook.example/surehook/proof/porttest"
)

func TestDeadLetters(t *testing.T) {
	t.Parallel()

	porttest.DeadLetters(t, func(t *testing.T) porttest.DeadLettersBench {
		t.Helper()

		clock := porttest.FakeClock()
		dead := memory.NewDeadLetters(memory.NewTaskQueues(clock.Now))
		return porttest.DeadLettersBench{
			DeadLetters: dead,
			Clock:       clock,
			Take: func(context.Context) ([]porttest.Message, error) {
				var letters []porttest.Message
				for _, letter := range dead.Letters() {
					body, err := letter.Encode()
					if err != nil {
						return nil, err
					}
					letters = append(letters, porttest.Message{Body: body, Group: string(letter.Endpoint)})
				}
				return letters, nil
			},
		}
	})
}

// sendLetters sends n dead letters of one endpoint and returns the letters.
func sendLetters(t *testing.T, dead *memory.DeadLetters, n int) []hook.DeadLetter {
	t.Helper()

	var letters []hook.DeadLetter
	for range n {
		event := hook.NewEventID()
		id := hook.DeliveryRef{DeliveryID: hook.DeliveryID{Event: event, Endpoint: "ep_0123456789abcdef", Generation: 1}, AcceptedAt: 1}
		l := hook.DeadLetter{
			Delivery: id, Tenant: "acme", Event: event, Endpoint: id.Endpoint, EventType: "order.paid",
			Reason: hook.ReasonExhausted, Attempts: 7, DiedAt: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		}
		if err := dead.Send(t.Context(), l); err != nil {
			t.Fatal(err)
		}
		letters = append(letters, l)
	}
	return letters
}

func TestDeadLetters_Letters_ReturnsHiddenLettersToo(t *testing.T) {
	t.Parallel()

	q := memory.NewTaskQueues(porttest.FakeClock().Now)
	dead := memory.NewDeadLetters(q)
	letters := sendLetters(t, dead, 12)
	some, err := dead.Receive(t.Context())
	if err != nil || len(some) != 10 {
		t.Fatalf("Receive() = %d letters, %v; want 10", len(some), err)
	}
	if diff := cmp.Diff(letters, dead.Letters()); diff != "" {
		t.Errorf("Letters() while some are hidden (-want +got):\n%s", diff)
	}
	if err := dead.Remove(t.Context(), some[1:3]); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(append(letters[:1], letters[3:]...), dead.Letters()); diff != "" {
		t.Errorf("Letters() after two were removed (-want +got):\n%s", diff)
	}
	if at, ok := q.Next(); ok {
		t.Errorf("Next() = %s, true; want none: no queue has a message", at)
	}
}

func TestDeadLetters_Redrive_MovesLettersToTheQueue(t *testing.T) {
	t.Parallel()

	clock := porttest.FakeClock()
	q := memory.NewTaskQueues(clock.Now)
	dead := memory.NewDeadLetters(q)
	letters := sendLetters(t, dead, 12)
	if _, err := dead.Receive(t.Context()); err != nil { // ten are hidden for a minute
		t.Fatal(err)
	}
	for _, want := range [][]hook.DeadLetter{letters[10:], letters[:10], nil} {
		if n := dead.Redrive(hook.QueueRetry); n != len(want) {
			t.Errorf("Redrive(retry) = %d; want %d", n, len(want))
		}
		got := q.Receive(hook.QueueRetry, 100)
		if len(got) != len(want) {
			t.Fatalf("Receive(retry) = %d messages; want %d", len(got), len(want))
		}
		for i, m := range got {
			if body, err := want[i].Encode(); err != nil || m.Body != body || m.Task != want[i].Task() || m.Group != string(want[i].Endpoint) {
				t.Errorf("Receive(retry)[%d] = %+v, %v; want the letter %s and its task", i, m, err, want[i].Delivery)
			}
			if task, err := hook.DecodeTask(m.Body); err != nil || task != m.Task {
				t.Errorf("DecodeTask(%q) = %+v, %v; want %+v", m.Body, task, err, m.Task)
			}
			q.Delete(m.ID)
		}
		clock.Pass(t.Context(), time.Minute)
	}
	if left := dead.Letters(); len(left) > 0 {
		t.Errorf("Letters() = %v; want none", left)
	}
}
