package memory_test

import (
	"context"
	"testing"
	"time"

	"surehook/internal/hook"
	"surehook/internal/memory"
	"surehook/internal/proof/porttest"
)

func TestAttention(t *testing.T) {
	t.Parallel()

	porttest.Attention(t, func(t *testing.T) porttest.AttentionBench {
		t.Helper()

		clock := porttest.FakeClock()
		a := memory.NewCircuitQueue(clock.Now)
		return porttest.AttentionBench{Attention: a, Clock: clock, Receive: func(context.Context) ([]porttest.Message, error) {
			var taken []porttest.Message
			for _, m := range a.Receive(10) {
				text, err := m.Look.Encode()
				if err != nil {
					return nil, err
				}
				taken = append(taken, porttest.Message{Body: text, Group: string(m.Look.Endpoint)})
				a.Delete(m.ID)
			}
			return taken, nil
		}}
	})
}

func TestAttention_CutsTheDelayAndShowsAgainWhatIsNotDeleted(t *testing.T) {
	t.Parallel()

	clock := porttest.FakeClock()
	a := memory.NewCircuitQueue(clock.Now)
	look := hook.CircuitCheck{Tenant: "acme", Endpoint: hook.NewEndpointID()}
	if err := a.Enqueue(t.Context(), look, time.Hour); err != nil {
		t.Fatal(err)
	}
	if at, ok := a.Next(); !ok || at.Sub(clock.Now()) != 15*time.Minute {
		t.Fatalf("Next() after Ask(1 h) = %s, %t; want 15 minutes from now", at, ok)
	}
	clock.Pass(t.Context(), 15*time.Minute)
	for count := 1; count <= 2; count++ {
		got := a.Receive(10)
		if len(got) != 1 || got[0].Look != look || got[0].ReceiveCount != count {
			t.Fatalf("Receive() = %v; want the look, received %d times", got, count)
		}
		if hidden := a.Receive(10); len(hidden) > 0 {
			t.Errorf("Receive() again at once = %v; want nothing", hidden)
		}
		clock.Pass(t.Context(), a.Visibility)
	}
	a.Delete("1")
	if at, ok := a.Next(); ok {
		t.Errorf("Next() of an empty queue = %s, true; want false", at)
	}
}
