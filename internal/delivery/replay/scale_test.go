package replay_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook/internal/delivery/replay"
	"surehook/internal/hook"
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
	j := w.start(replay.JobRequest{Rate: replay.MaxRate})
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

	if w.Calls.Largest("select") > replay.PageSize || w.Calls.Largest("save job") > replay.PageSize || w.Calls.Largest("send") > replay.PageSize {
		t.Errorf("largest page: %d selected, %d pending, %d tokens; want at most %d", w.Calls.Largest("select"), w.Calls.Largest("save job"), w.Calls.Largest("send"), replay.PageSize)
	}
	pages := n / replay.PageSize
	want := map[string]int{
		"save delivery": n,
		"save job":      2*pages + 1, // two per page, and the first
		"select":        w.Calls.Of("select"), "send": w.Calls.Of("send"), "continue": w.Calls.Of("continue"),
	}
	if diff := cmp.Diff(want, w.Calls.Own()); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
	if got := w.Calls.Of("select"); got > pages+2 {
		t.Errorf("%d pages of the index for %d pages; want one each, and two at the end of an endpoint", got, pages)
	}
	if got := w.Calls.Of("send"); got > 2*pages {
		t.Errorf("tokens were sent in %d requests for %d pages; want at most two per page", got, pages)
	}
	if got := w.Calls.Of("continue"); got > pages+1 {
		t.Errorf("%d messages for %d pages; want at most one per page", got, pages)
	}
}
