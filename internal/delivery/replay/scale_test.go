package replay_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/delivery/replay"
	"surehook.example/surehook/internal/hook"
)

// TestWork_OfManyPages runs a large job to the end, with every POST, and checks the size of
// pages and requests.
func TestWork_OfManyPages(t *testing.T) {
	t.Parallel()

	n := 20_000
	if testing.Short() {
		n = 5_000
	}
	w := setup(t)
	ids := w.past(w.Endpoint(nil), hook.StateDead, n/2)
	ids = append(ids, w.past(w.Endpoint(nil), hook.StateDead, n/4)...)
	ids = append(ids, w.past(w.Endpoint(nil), hook.StateDead, n/4)...)
	j := w.start(replay.JobRequest{Terms: replay.Terms{Rate: replay.MaxRate}})
	largest := 0
	w.Calls.Fail = func(call string, _ hook.EndpointID) error {
		if call == "send" {
			job, err := w.Store.Job(t.Context(), "acme", j.ID)
			largest = max(largest, len(job.Pending))
			return err
		}
		return nil
	}
	w.Run()

	got := w.job(j.ID)
	if got.State != replay.JobFinished || got.Selected != n || got.Enqueued != n || got.Skipped != 0 {
		t.Errorf("the job is %s: %d selected, %d enqueued, %d skipped; want finished with %d enqueued", got.State, got.Selected, got.Enqueued, got.Skipped, n)
	}
	if diff := cmp.Diff(replay.Outcomes{Delivered: n}, got.Outcomes); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}
	if took, least := got.EndedAt.Sub(got.CreatedAt), time.Duration(float64(n)/replay.MaxRate)*time.Second; took < least-3*time.Second || took > least+3*time.Second {
		t.Errorf("duration %s; want %s at the rate", took, least)
	}
	if len(w.PostsOf()) != n || w.states(ids, 2) != fmt.Sprintf("%d delivered", n) || w.states(ids, 1) != fmt.Sprintf("%d discarded replayed", n) {
		t.Errorf("%d POSTs, new generations %s, old ones %s", len(w.PostsOf()), w.states(ids, 2), w.states(ids, 1))
	}

	if largest != replay.PageSize {
		t.Errorf("the largest page had %d deliveries; want %d", largest, replay.PageSize)
	}
	pages := n / replay.PageSize
	want := map[string]int{
		"write delivery":         n,
		"write replay":           2*pages + 1, // two per page, and the first
		"read batch of delivery": w.Calls.Of("read batch of delivery"), "list dead": w.Calls.Of("list dead"), "list outcomes": 1,
		"read replay": w.Calls.Of("continue") + 1, "read batch of endpoint": w.Calls.Of("continue"), "list endpoint": w.Calls.Of("continue"), "read tenant": pages,
		"send": w.Calls.Of("send"), "continue": w.Calls.Of("continue"),
	}
	if diff := cmp.Diff(want, w.Calls.Own()); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
	for call, most := range map[string]int{
		"list dead":              pages + 2, // one per page, and two at the end of an endpoint
		"read batch of delivery": pages + 2,
		"send":                   2 * pages,
		"continue":               pages + 1,
	} {
		if got := w.Calls.Of(call); got > most {
			t.Errorf("%d requests %q for %d pages; want at most %d", got, call, pages, most)
		}
	}
}
