package status_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"surehook.example/surehook/internal/admin/page"
	"surehook.example/surehook/internal/admin/status"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/stats"
)

// TestReader_Attention has 110 endpoints that answer 401, 20 that answer 404, one with an old dead
// delivery, and 20 that work: more than a page looks at.
func TestReader_Attention(t *testing.T) {
	t.Parallel()

	b := setup(t)
	refused := func(name string, number, answer int) (uids []string) {
		for i := range number {
			e := b.createAt(t, fmt.Sprintf("%s%d", name, i))
			failed := failure("a", 1, hook.StateRetrying)
			failed.Class, failed.Status = hook.ClassRefused, answer
			b.count(t, e, b.now, failed)
			uids = append(uids, e.UID)
		}
		return uids
	}
	denied, moved := refused("denied", 110, 401), refused("moved", 20, 404)
	old := b.createAt(t, "old")
	b.deliver(t, old, hook.StateDead, b.now.Add(-480*time.Hour))
	for i := range 20 {
		b.count(t, b.createAt(t, fmt.Sprintf("works%d", i)), b.now, success("a", 1))
	}
	p, err := b.Pipeline(t.Context())
	if err != nil || len(p.Attention) != 2 {
		t.Fatalf("Pipeline = %d causes, %v; want 2", len(p.Attention), err)
	}
	hours := &countedStats{Store: b.store}
	b.Store = hours
	all := slices.Concat(denied, moved, []string{old.UID})
	for _, tt := range []struct {
		name, cursor string
		want         []string
	}{{"all causes", "", all}, {"401", p.Attention[0].Cursor, denied}, {"404", p.Attention[1].Cursor, moved}} {
		for _, limit := range []int{7, page.MaxLimit} {
			var got []string
			for cursor, more := tt.cursor, true; more; more = cursor != "" {
				hours.requests.Store(0)
				l, err := b.Attention(t.Context(), tenant, page.Request{Limit: limit, Cursor: cursor})
				if err != nil || len(l.Data) > limit || hours.requests.Load() > page.MaxLimit {
					t.Fatalf("Attention of %s = %d endpoints, %v, with %d reads of hours; want at most %d, and 100 reads", tt.name, len(l.Data), err, hours.requests.Load(), limit)
				}
				for _, e := range l.Data {
					got = append(got, e.UID)
					if !e.Complete {
						t.Errorf("%s is not complete", e.UID)
					}
				}
				cursor = l.Next
			}
			slices.Sort(got)
			if want := slices.Sorted(slices.Values(tt.want)); !slices.Equal(got, want) {
				t.Errorf("Attention of %s by %d = %d endpoints %v; want each of %d once", tt.name, limit, len(got), got, len(want))
			}
		}
	}
	for _, cursor := range []string{"x", page.NewCursor(page.Scope("attention", "globex"), "#")} {
		if _, err := b.Attention(t.Context(), tenant, page.Request{Limit: 1, Cursor: cursor}); !slices.Equal(fieldsOf(t, err), []string{"cursor"}) {
			t.Errorf("Attention after %q = %v; want the cursor refused", cursor, err)
		}
	}
}

// TestReader_Attention_harm checks that a row says the same as that of the pipeline.
func TestReader_Attention_harm(t *testing.T) {
	t.Parallel()

	b := setup(t)
	e := b.createAt(t, "crm")
	b.count(t, e, b.now, stats.Attempt{Type: "a", Class: hook.ClassRefused, Number: 1, Status: 401, State: hook.StateDead})
	b.deliver(t, e, hook.StateDead, b.now)
	b.deliver(t, e, hook.StateRetrying, b.now)
	p, err := b.Pipeline(t.Context())
	if err != nil || len(p.Attention) != 1 {
		t.Fatalf("Pipeline = %+v, %v", p.Attention, err)
	}
	l, err := b.Attention(t.Context(), tenant, page.Request{Limit: 1})
	if err != nil || len(l.Data) != 1 {
		t.Fatalf("Attention = %+v, %v", l, err)
	}
	line := func(e status.EndpointHarm) string {
		return fmt.Sprintf("%s %+v %d dead, %d wait, %d at risk from %v, %t", e.ID, e.Condition, e.Dead, e.Waiting, e.AtRisk, e.FirstLoss, e.Complete)
	}
	if got, want := line(l.Data[0]), line(p.Attention[0].Worst[0]); got != want || l.Data[0].Dead != 1 || l.Data[0].Waiting != 1 {
		t.Errorf("Attention = %s; want %s", got, want)
	}
}
