package replay_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/delivery/replay"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/proof/world"
)

// TestWork_KeepsTheRate counts the POSTs of each second.
func TestWork_KeepsTheRate(t *testing.T) {
	t.Parallel()

	for _, tt := range []struct {
		rate    float64
		n       int
		most    int           // POSTs within a second
		atLeast time.Duration // between the first and the last POST
	}{
		{rate: 0.1, n: 4, most: 1, atLeast: 30 * time.Second},
		{rate: 3, n: 90, most: 4, atLeast: 28 * time.Second},
		{rate: 50, n: 1000, most: 51, atLeast: 18 * time.Second},
		{rate: 500, n: 5000, most: 550, atLeast: 8 * time.Second},
	} {
		t.Run(fmt.Sprintf("%g a second", tt.rate), func(t *testing.T) {
			t.Parallel()

			w := setup(t)
			w.past(w.Endpoint(nil), hook.StateDead, tt.n)
			w.start(replay.JobRequest{Terms: replay.Terms{Rate: tt.rate}})
			w.Run()
			var times []time.Time
			for _, p := range w.Posts {
				times = append(times, p.At)
			}
			if len(times) != tt.n {
				t.Fatalf("%d POSTs; want %d", len(times), tt.n)
			}
			for i := range times {
				if i+tt.most < len(times) && times[i+tt.most].Sub(times[i]) < time.Second {
					t.Fatalf("%d POSTs within a second of %s; want at most %d", tt.most+1, times[i].Sub(start), tt.most)
				}
			}
			took := times[len(times)-1].Sub(times[0])
			if upper := time.Duration(float64(tt.n)/tt.rate)*time.Second + 2*time.Second; took < tt.atLeast || took > upper {
				t.Errorf("duration %s; want %s to %s", took, tt.atLeast, upper)
			}
		})
	}
}

func TestWork_SelectsByEndpointTypeAndTime(t *testing.T) {
	t.Parallel()

	w := setup(t)
	a, b := w.Endpoint(nil), w.Endpoint(nil)
	old := w.one(a, hook.StateDead, "order.paid", start.Add(-3*time.Hour))
	paid := w.one(a, hook.StateDead, "order.paid", start.Add(-time.Hour))
	left := w.one(a, hook.StateDead, "user.left", start.Add(-time.Hour))
	other := w.one(b, hook.StateDead, "order.sent", start.Add(-time.Hour))
	sent := w.one(b, hook.StateDelivered, "order.sent", start.Add(-time.Hour))
	w.start(replay.JobRequest{Filter: replay.Filter{Types: []string{"order.*"}, From: start.Add(-2 * time.Hour)}})
	w.Run()
	for id, want := range map[hook.DeliveryRef]string{old: "1 none", paid: "1 delivered", left: "1 none", other: "1 delivered", sent: "1 none"} {
		if got := w.states([]hook.DeliveryRef{id}, 2); got != want {
			t.Errorf("the new generation of %s is %s; want %s", w.Delivery(id).EventType, got, want)
		}
	}
	w.start(replay.JobRequest{Filter: replay.Filter{State: hook.StateDelivered}, Endpoint: string(b.ID)})
	w.Run()
	if got := w.states([]hook.DeliveryRef{sent}, 2); got != "1 delivered" {
		t.Errorf("the new generation of the delivered delivery is %s; want delivered", got)
	}
}

func TestWork_SelectsByCause(t *testing.T) {
	t.Parallel()

	w := setup(t)
	e := w.Endpoint(nil)
	refused, unavailable := w.one(e, hook.StateDead, "order.paid", start.Add(-time.Hour)), w.one(e, hook.StateDead, "order.paid", start.Add(-time.Hour))
	w.change(refused, func(d *hook.Delivery) { d.Last = hook.Outcome{Class: hook.ClassRefused, Status: 422} })
	w.start(replay.JobRequest{Filter: replay.Filter{Class: replay.Cause(hook.ClassRefused), Status: 422}})
	w.Run()
	for id, want := range map[hook.DeliveryRef]string{refused: "1 delivered", unavailable: "1 none"} {
		if got := w.states([]hook.DeliveryRef{id}, 2); got != want {
			t.Errorf("the new generation of the delivery with status %d is %s; want %s", w.Delivery(id).Last.Status, got, want)
		}
	}
}

// TestWork_DoesNotSelectItsOwn lets every replay die at once while the job continues to select.
func TestWork_DoesNotSelectItsOwn(t *testing.T) {
	t.Parallel()

	w := setup(t)
	w.Answer = world.Always(400)
	ids := w.past(w.Endpoint(nil), hook.StateDead, 250)
	j := w.start(replay.JobRequest{})
	w.Run()
	got := w.job(j.ID)
	if got.Selected != 250 || got.Dead != 250 || w.states(ids, 3) != "250 none" {
		t.Errorf("%d selected, %d dead, third generations %s; want 250, 250 and none", got.Selected, got.Dead, w.states(ids, 3))
	}
}

func TestWork_SkipsDeletedEndpoints(t *testing.T) {
	t.Parallel()

	w := setup(t)
	endpoints := []hook.Endpoint{w.Endpoint(nil), w.Endpoint(nil), w.Endpoint(nil)}
	slices.SortFunc(endpoints, func(a, b hook.Endpoint) int {
		if a.ID < b.ID {
			return -1
		}
		return 1
	})
	ids := [][]hook.DeliveryRef{
		w.past(endpoints[0], hook.StateDead, 10), w.past(endpoints[1], hook.StateDead, 10), w.past(endpoints[2], hook.StateDead, 10),
	}
	j := w.start(replay.JobRequest{Terms: replay.Terms{Rate: 0.5}}) // pages of 5
	for w.job(j.ID).Selected < 15 {
		w.Step()
	}
	if err := w.Store.DeleteEndpoint(t.Context(), endpoints[1]); err != nil {
		t.Fatal(err)
	}
	w.Run()
	if got := w.job(j.ID); got.State != replay.JobFinished || got.Selected != 25 {
		t.Errorf("the job is %s with %d selected; want finished with 25", got.State, got.Selected)
	}
	if got := w.states(ids[2], 2); got != "10 delivered" {
		t.Errorf("deliveries of the next endpoint are %s; want delivered", got)
	}
}

// TestWork_SkipsChangedDeliveries changes deliveries of a page before the worker continues with
// it.
func TestWork_SkipsChangedDeliveries(t *testing.T) {
	t.Parallel()

	w := setup(t)
	ids := w.past(w.Endpoint(nil), hook.StateDead, 4)
	j := w.start(replay.JobRequest{})
	w.Crash.Arm(1, true) // crash after the save of the page
	w.Step()
	if got := w.job(j.ID); got.Selected != 4 || len(got.Pending) != 4 {
		t.Fatalf("%d selected, %d pending; want 4", got.Selected, len(got.Pending))
	}
	if _, err := w.Replayer().Delivery(w.Context(), "acme", ids[1].DeliveryID, asked); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Replayer().Discard(w.Context(), "acme", ids[2].DeliveryID, asked.By, "not wanted"); err != nil {
		t.Fatal(err)
	}
	w.Run()
	got := w.job(j.ID)
	if got.State != replay.JobFinished || got.Enqueued != 2 || got.Skipped != 2 || got.Delivered != 2 {
		t.Errorf("the job is %s: %d enqueued, %d skipped, %d delivered; want finished with 2 each", got.State, got.Enqueued, got.Skipped, got.Delivered)
	}
	if got := w.states(ids, 2); got != "3 delivered, 1 none" {
		t.Errorf("new generations are %s; want 3 delivered, one of them by hand, and none of the discarded delivery", got)
	}
	if d := w.Delivery(ids[3].Successor()); d.Job != j.ID || d.JobIndex != 3 {
		t.Errorf("the last delivery is number %d of job %s; want 3 of %s", d.JobIndex, d.Job, j.ID)
	}
}

func TestWork_RepeatsRefusedTasks(t *testing.T) {
	t.Parallel()

	w := setup(t)
	ids := w.past(w.Endpoint(nil), hook.StateDead, 250)
	refused := 0
	w.Calls.Refuse = func(int, hook.Task) error {
		if refused++; refused%7 == 0 {
			return &hook.Error{Code: hook.CodeUnavailable, Message: "busy"}
		}
		return nil
	}
	j := w.start(replay.JobRequest{})
	w.Run()
	got := w.job(j.ID)
	if got.State != replay.JobFinished || got.Enqueued != 250 || got.Skipped != 0 || got.Delivered != 250 || refused <= 250 {
		t.Errorf("the job is %s: %d enqueued, %d skipped, %d delivered; want finished with 250", got.State, got.Enqueued, got.Skipped, got.Delivered)
	}
	if got := w.states(ids, 2); got != "250 delivered" || len(w.PostsOf()) != 250 {
		t.Errorf("new generations are %s after %d POSTs; want 250 delivered", got, len(w.PostsOf()))
	}
}

// TestWork_OfTwoWorkers runs a second worker at each effect of the first.
func TestWork_OfTwoWorkers(t *testing.T) {
	t.Parallel()

	for _, effect := range []string{"list dead", "write replay", "send", "write delivery", "continue"} {
		t.Run("second worker before "+effect, func(t *testing.T) {
			t.Parallel()

			w := setup(t)
			ids := w.past(w.Endpoint(nil), hook.StateDead, 250)
			j := w.start(replay.JobRequest{})
			w.Calls.Before(effect, func() {
				if err := w.Replayer().Work(w.Context(), w.next(j)); err != nil {
					t.Errorf("second Work() = %v", err)
				}
				w.Clock.Until(w.Clock.Now().Add(time.Millisecond)) // otherwise both writes are equal
			})
			w.Run()
			w.exactly(j, ids)
		})
	}
}

// TestWork_OfTwoWorkersWithTheSameMessage gives one message to two workers, as a queue may. The
// worker that does not get the job acknowledges the message. If the other one then fails, the job
// must still continue. Found by package sim, seed 1083.
func TestWork_OfTwoWorkersWithTheSameMessage(t *testing.T) {
	t.Parallel()

	w := setup(t)
	ids := w.past(w.Endpoint(nil), hook.StateDead, 250)
	j := w.start(replay.JobRequest{})
	w.Calls.Before("write replay", func() {
		w.Clock.Until(w.Clock.Now().Add(time.Millisecond)) // otherwise both writes are equal
		w.Calls.Refuse = func(int, hook.Task) error { return &hook.Error{Code: hook.CodeUnavailable, Message: "busy"} }
		if err := w.Replayer().Work(w.Context(), w.next(j)); err == nil {
			t.Error("second Work() = nil; want an error, because no task was sent")
		}
		w.Calls.Refuse = nil
	})
	w.Run()
	w.exactly(j, ids)
}

func TestWork_OfManyWorkersAtOnce(t *testing.T) {
	t.Parallel()

	w := setup(t)
	ids := w.past(w.Endpoint(nil), hook.StateDead, 500)
	j := w.start(replay.JobRequest{})
	for w.job(j.ID).State == replay.JobRunning {
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				if err := w.Replayer().Work(w.Context(), w.next(j)); err != nil {
					t.Errorf("Work() = %v", err)
				}
			})
		}
		wg.Wait()
		w.Clock.Until(w.Clock.Now().Add(time.Second))
		w.InvokeAll()
	}
	w.Run()
	w.exactly(j, ids)
}

// exactly checks that the finished job delivered each delivery once.
func (w *bundle) exactly(j replay.Job, ids []hook.DeliveryRef) {
	w.T.Helper()

	got, n := w.job(j.ID), len(ids)
	if got.State != replay.JobFinished || got.Selected != n || got.Enqueued != n || got.Skipped != 0 || got.Delivered != n {
		w.T.Errorf("the job is %s: %d selected, %d enqueued, %d skipped, %d delivered; want finished with %d",
			got.State, got.Selected, got.Enqueued, got.Skipped, got.Delivered, n)
	}
	if want := fmt.Sprintf("%d delivered", n); w.states(ids, 2) != want {
		w.T.Errorf("new generations are %s; want %s", w.states(ids, 2), want)
	}
	for id, posts := range w.PostsOf() {
		if posts != 1 {
			w.T.Errorf("%s had %d POSTs; want 1", id, posts)
		}
	}
}

// TestWork_ContinuesAfterALostResponse has a write that succeeds but returns a conflict, as when
// the response is lost and the SDK repeats the request.
func TestWork_ContinuesAfterALostResponse(t *testing.T) {
	t.Parallel()

	for _, effect := range []string{"write delivery"} {
		t.Run(effect, func(t *testing.T) {
			t.Parallel()

			w := setup(t)
			ids := w.past(w.Endpoint(nil), hook.StateDead, 5)
			j := w.start(replay.JobRequest{})
			w.Calls.Lose(effect)
			w.Run()
			w.exactly(j, ids)
		})
	}
}

func TestWork_StopsInTime(t *testing.T) {
	t.Parallel()

	w := setup(t)
	w.past(w.Endpoint(nil), hook.StateDead, 1000)
	j := w.start(replay.JobRequest{Terms: replay.Terms{Rate: replay.MaxRate}})
	w.Clock.Until(start.Add(time.Second))
	// The context's deadline is compared with the clock of the world, without waiting.
	ctx := deadline{w.Context(), start.Add(10 * time.Second)}
	if err := w.Replayer().Work(ctx, w.next(j)); err != nil {
		t.Fatal(err)
	}
	if got := w.job(j.ID); got.Enqueued != replay.PageSize {
		t.Errorf("%d enqueued with 9 s left; want one page", got.Enqueued)
	}
	if err := w.Replayer().Work(w.Context(), w.next(j)); err != nil {
		t.Fatal(err)
	}
	if got := w.job(j.ID); got.Enqueued <= 2*replay.PageSize {
		t.Errorf("%d enqueued in two invocations; want several pages in the second", got.Enqueued)
	}
	w.Run()
	if got := w.job(j.ID); got.State != replay.JobFinished || got.Delivered != 1000 {
		t.Errorf("the job is %s with %d delivered; want finished with 1000", got.State, got.Delivered)
	}
}

type deadline struct {
	context.Context //nolint:containedctx // deadline is a context

	at time.Time
}

func (d deadline) Deadline() (time.Time, bool) { return d.at, true }

func TestWork_DropsMessagesWithoutAJob(t *testing.T) {
	t.Parallel()

	w := setup(t)
	id := hook.NewJobID()
	for _, m := range []replay.Message{{Tenant: "acme", Job: id}, {Tenant: "acme", Job: id, Until: start.Add(time.Minute)}} {
		if err := w.Jobs.Continue(t.Context(), m, 0); err != nil {
			t.Fatal(err)
		}
	}
	w.Run()
	if took := w.Clock.Now().Sub(start); took < 59*time.Second || took > 61*time.Second {
		t.Errorf("the last message was dropped after %s; want a minute", took)
	}
}

func TestMessage_Encode(t *testing.T) {
	t.Parallel()

	id := hook.NewJobID()
	for _, m := range []replay.Message{{Tenant: "acme", Job: id}, {Tenant: "acme", Job: id, Nonce: hook.NewNonce(), Until: start, Hops: 7}} {
		body, err := m.Encode()
		if err != nil {
			t.Fatal(err)
		}
		got, err := replay.DecodeMessage(body)
		if diff := cmp.Diff(m, got); err != nil || diff != "" {
			t.Errorf("DecodeMessage(%s) = %v (-want +got):\n%s", body, err, diff)
		}
	}
	for _, body := range []string{"", "{}", `{"tenant":"acme"}`, `{"tenant":"acme","job":"evt_01h455vb4pex5vsknk084sn02q"}`, `{"tenant":"","job":"` + string(id) + `"}`, `{"tenant":"acme","job":"` + string(id) + `","hops":-1}`} {
		if _, err := replay.DecodeMessage(body); hook.CodeOf(err) != hook.CodeInvalid {
			t.Errorf("DecodeMessage(%s) = %v; want invalid", body, err)
		}
	}
}
