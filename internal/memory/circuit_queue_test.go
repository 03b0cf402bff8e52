package memory_test

import (
	"context"
	"testing"
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/memory"
	"surehook.example/surehook/proof/porttest"
)

func TestCircuitQueue(t *testing.T) {
	t.Parallel()

	porttest.CircuitQueue(t, func(t *testing.T) porttest.CircuitQueueBench {
		t.Helper()

		clock := porttest.FakeClock()
		q := memory.NewCircuitQueue(clock.Now)
		return porttest.CircuitQueueBench{Queue: q, Clock: clock, Receive: func(context.Context) ([]porttest.Message, error) {
			var taken []porttest.Message
			for _, m := range q.Receive(10) {
				text, err := m.Encode()
				if err != nil {
					return nil, err
				}
				taken = append(taken, porttest.Message{Body: text, Group: string(m.Endpoint)})
				q.Delete(m.ID)
			}
			return taken, nil
		}}
	})
}

func TestCircuitQueue_CutsTheDelayAndRedeliversUndeletedChecks(t *testing.T) {
	t.Parallel()

	clock := porttest.FakeClock()
	q := memory.NewCircuitQueue(clock.Now)
	check := hook.CircuitCheck{Tenant: "acme", Endpoint: hook.NewEndpointID()}
	if err := q.Enqueue(t.Context(), check, time.Hour); err != nil {
		t.Fatal(err)
	}
	if at, ok := q.Next(); !ok || at.Sub(clock.Now()) != 15*time.Minute {
		t.Fatalf("Next() after Enqueue(1 h) = %s, %t; want 15 minutes from now", at, ok)
	}
	clock.Pass(t.Context(), 15*time.Minute)
	for count := 1; count <= 2; count++ {
		got := q.Receive(10)
		if len(got) != 1 || got[0].CircuitCheck != check || got[0].ReceiveCount != count {
			t.Fatalf("Receive() = %v; want the check, received %d times", got, count)
		}
		if hidden := q.Receive(10); len(hidden) > 0 {
			t.Errorf("Receive() again at once = %v; want nothing", hidden)
		}
		clock.Pass(t.Context(), q.Visibility)
	}
	q.Delete("1")
	if at, ok := q.Next(); ok {
		t.Errorf("Next() of an empty queue = %s, true; want false", at)
	}
}
