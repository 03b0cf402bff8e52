package memory_test

import (
	"testing"
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/memory"
	"surehook.example/surehook/proof/porttest"
)

func TestCircuitQueue_ChangeVisibility(t *testing.T) {
	t.Parallel()

	clock := porttest.FakeClock()
	q := memory.NewCircuitQueue(clock.Now)
	if err := q.Enqueue(t.Context(), hook.CircuitCheck{Tenant: "acme", Endpoint: hook.NewEndpointID()}, 0); err != nil {
		t.Fatal(err)
	}
	q.ChangeVisibility("1", time.Hour) // not received yet
	got := q.Receive(1)
	if len(got) != 1 {
		t.Fatalf("Receive() = %v; want the check", got)
	}
	q.ChangeVisibility(got[0].ID, 1500*time.Millisecond)
	q.ChangeVisibility("unknown", time.Second)
	clock.Pass(t.Context(), time.Second)
	if early := q.Receive(1); len(early) != 0 {
		t.Errorf("Receive() after 1 s = %v; want nothing before 2 s", early)
	}
	clock.Pass(t.Context(), time.Second)
	if again := q.Receive(1); len(again) != 1 || again[0].ReceiveCount != 2 {
		t.Errorf("Receive() after 2 s = %v; want the check, received twice", again)
	}
}
