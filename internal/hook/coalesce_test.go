package hook_test

import (
	"testing"
	"time"

	"surehook.example/surehook/internal/hook"
)

func TestCoalescing_WindowsAreAlignedToTheClock(t *testing.T) {
	t.Parallel()

	c := hook.Coalescing{Window: 5 * time.Second}
	at := func(s string) time.Time {
		parsed, err := time.Parse(time.RFC3339Nano, s)
		if err != nil {
			t.Fatal(err)
		}
		return parsed
	}
	for from, end := range map[string]string{
		"2026-11-22T10:00:00Z":           "2026-11-22T10:00:05Z",
		"2026-11-22T10:00:04.999Z":       "2026-11-22T10:00:05Z",
		"2026-11-22T10:00:05Z":           "2026-11-22T10:00:10Z",
		"2026-11-22T11:59:59.999+02:00":  "2026-11-22T10:00:00Z",
		"2026-11-22T10:00:07.123456789Z": "2026-11-22T10:00:10Z",
	} {
		if got := c.End(at(from)); !got.Equal(at(end)) {
			t.Errorf("End(%s) = %s; want %s", from, got, end)
		}
	}
	e := hook.Endpoint{Coalesce: c}
	due := at("2026-11-22T10:00:05Z")
	if queue, got := e.QueueAt(hook.QueueRetry, due); queue != hook.QueueCoalesce || !got.Equal(due) {
		t.Errorf("QueueAt(the end of a window) = %s, %s; want the queue coalesce at that time", queue, got)
	}
	if queue, got := (*hook.Endpoint)(nil).QueueAt(hook.QueueRetry, due); queue != hook.QueueRetry || !got.Equal(due) {
		t.Errorf("QueueAt() of a deleted endpoint = %s, %s; want the arguments", queue, got)
	}
}

func TestNewBatch_EqualIDsMeanEqualMembers(t *testing.T) {
	t.Parallel()

	a := hook.DeliveryID{Event: "evt_a", Endpoint: "ep_1", Generation: 1}
	b := hook.DeliveryID{Event: "evt_b", Endpoint: "ep_1", Generation: 1}
	one := hook.NewBatch([]hook.DeliveryID{a, b}, a)
	if other := hook.NewBatch([]hook.DeliveryID{b, a}, b); other.ID != one.ID {
		t.Errorf("the same members have the ids %s and %s", one.ID, other.ID)
	}
	if fewer := hook.NewBatch([]hook.DeliveryID{a}, a); fewer.ID == one.ID {
		t.Error("a batch with fewer members has the same id: a receiver that drops repetitions loses an event")
	}
}
