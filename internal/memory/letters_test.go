package memory_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook/internal/hook"
	"surehook/internal/memory"
	"surehook/internal/proof/porttest"
)

// bury buries n letters of one endpoint and returns them.
func bury(t *testing.T, q *memory.Queue, n int) []hook.DeadLetter {
	t.Helper()

	var letters []hook.DeadLetter
	for range n {
		event, err := hook.NewEventID()
		if err != nil {
			t.Fatal(err)
		}
		id := hook.DeliveryID{Event: event, Endpoint: "ep_0123456789abcdef", Generation: 1}
		l := hook.DeadLetter{
			Delivery: id, Tenant: "acme", Event: event, Endpoint: id.Endpoint, EventType: "order.paid",
			Reason: hook.ReasonExhausted, Attempts: 7, DiedAt: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		}
		if err := q.Bury(t.Context(), l); err != nil {
			t.Fatal(err)
		}
		letters = append(letters, l)
	}
	return letters
}

func TestQueue_Letters_AreWhatLiesThere(t *testing.T) {
	t.Parallel()

	q := memory.NewQueue(porttest.FakeClock().Now)
	letters := bury(t, q, 12)
	some, err := q.Exhume(t.Context())
	if err != nil || len(some) != 10 {
		t.Fatalf("Exhume() = %d letters, %v; want 10", len(some), err)
	}
	if diff := cmp.Diff(letters, q.Letters()); diff != "" {
		t.Errorf("Letters() while some are hidden (-want +got):\n%s", diff)
	}
	if err := q.Remove(t.Context(), some[1:3]); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(append(letters[:1], letters[3:]...), q.Letters()); diff != "" {
		t.Errorf("Letters() after two were removed (-want +got):\n%s", diff)
	}
	if at, ok := q.Next(); ok {
		t.Errorf("Next() = %s, true; want none: letters are on no lane", at)
	}
}

func TestQueue_Redrive_MovesLettersToTheLane(t *testing.T) {
	t.Parallel()

	clock := porttest.FakeClock()
	q := memory.NewQueue(clock.Now)
	letters := bury(t, q, 12)
	if _, err := q.Exhume(t.Context()); err != nil { // ten are hidden for a minute
		t.Fatal(err)
	}
	for _, want := range [][]hook.DeadLetter{letters[10:], letters[:10], nil} {
		if n := q.Redrive(hook.LaneRetry); n != len(want) {
			t.Errorf("Redrive(retry) = %d; want %d", n, len(want))
		}
		got := q.Receive(hook.LaneRetry, 100)
		if len(got) != len(want) {
			t.Fatalf("Receive(retry) = %d messages; want %d", len(got), len(want))
		}
		for i, m := range got {
			if body, err := want[i].Encode(); err != nil || m.Body != body || m.Token != want[i].Token() || m.Group != want[i].Endpoint {
				t.Errorf("Receive(retry)[%d] = %+v, %v; want the letter %s and its token", i, m, err, want[i].Delivery)
			}
			if token, err := hook.DecodeToken(m.Body); err != nil || token != m.Token {
				t.Errorf("DecodeToken(%q) = %+v, %v; want %+v", m.Body, token, err, m.Token)
			}
			q.Delete(m.ID)
		}
		clock.Pass(t.Context(), time.Minute)
	}
	if left := q.Letters(); len(left) > 0 {
		t.Errorf("Letters() = %v; want none", left)
	}
}
