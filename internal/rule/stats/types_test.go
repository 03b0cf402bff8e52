package stats_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/latency"
	"surehook.example/surehook/internal/rule/stats"
)

// typed returns the counts of one delivery of the type at the first attempt.
func typed(eventType string) stats.Types {
	var c stats.Counts
	c.Count(stats.Attempt{Type: eventType, Class: hook.ClassDelivered, Number: 1, State: hook.StateDelivered, Duration: time.Second})
	return c.Types
}

func TestCounts_Count_ByType(t *testing.T) {
	t.Parallel()

	var c stats.Counts
	for _, a := range []stats.Attempt{
		{Type: "order.paid", Class: hook.ClassUnavailable, Number: 1, State: hook.StateRetrying, Duration: time.Second, Queued: 2 * time.Second},
		{Type: "order.paid", Class: hook.ClassDelivered, Number: 2, State: hook.StateDelivered, Duration: time.Second},
		{Type: "order.made", Class: hook.ClassDNS, Number: hook.MaxRequests, State: hook.StateDead, Duration: time.Second},
		{Type: "order.made", Class: hook.ClassDelivered, Number: 1, State: hook.StateDelivered, Duration: time.Minute, Queued: time.Second},
		{Class: hook.ClassDelivered, Number: hook.MaxRequests + 1, State: hook.StateDelivered}, // no known type and an impossible number
	} {
		c.Count(a)
	}
	c.Add(stats.Deaths("order.made", 1))
	c.Add(stats.Deaths("order.sent", -1))

	wanted := []stats.TypeCounts{{Type: "order.made", Dead: 2}, {Type: "order.paid"}, {Type: "order.sent", Dead: -1}, {}}
	wanted[0].Succeeded[1], wanted[0].Failed[hook.MaxRequests] = 1, 1
	wanted[1].Succeeded[2], wanted[1].Failed[1] = 1, 1
	wanted[0].Latency.Add(time.Minute)
	wanted[1].Latency.AddN(13, 2)
	wanted[3].Latency.Add(0)
	var got []stats.TypeCounts
	for _, one := range c.Types.All() {
		got = append(got, *one)
	}
	if diff := cmp.Diff(wanted, got, cmp.AllowUnexported(latency.Coarse{})); diff != "" {
		t.Errorf("types (-want +got):\n%s", diff)
	}
	if c.Queued != 3*time.Second || c.Dead != 1 {
		t.Errorf("Queued, Dead = %v, %d; want 3s, 1", c.Queued, c.Dead)
	}
	if by := c.Types.ByAttempts(); by[1] != 1 || by[2] != 1 {
		t.Errorf("ByAttempts = %v; want one at the first and one at the second", by)
	}
	if made := got[0]; made.Attempts() != 2 || made.Delivered() != 1 {
		t.Errorf("Attempts, Delivered = %d, %d; want 2, 1", made.Attempts(), made.Delivered())
	}
}

// Types has counts for the first types, and the others together.
func TestTypes_Add_boundsTheTypes(t *testing.T) {
	t.Parallel()

	var all stats.Types
	for i := range stats.MaxTypes + 3 {
		for range i + 1 {
			all.Add(new(typed(fmt.Sprintf("t%02d", (i*7)%11))))
		}
	}
	var names []string
	count := 0
	for name, c := range all.All() {
		names = append(names, name)
		count += c.Attempts()
	}
	if want := []string{"t00", "t02", "t03", "t05", "t06", "t07", "t09", "t10", ""}; !slices.Equal(names, want) {
		t.Errorf("types = %q; want %q: the first %d, in order", names, want, stats.MaxTypes)
	}
	if count != 66 || all.Other.Attempts() != 9+10+11 || all.Len() != stats.MaxTypes {
		t.Errorf("attempts, of others, types = %d, %d, %d; want 66, 30, %d", count, all.Other.Attempts(), all.Len(), stats.MaxTypes)
	}
}

func TestTypes_Keep(t *testing.T) {
	t.Parallel()

	all, want := typed("a"), typed("b")
	all.Add(new(typed("b")))
	all.Add(new(typed("c")))
	want.Other.Add(new(typed("a").Named[0]))
	want.Other.Add(new(typed("c").Named[0]))
	if all.Keep(func(eventType string) bool { return eventType == "b" }); all != want {
		t.Errorf("Keep(b) = %+v; want %+v", all, want)
	}
}
