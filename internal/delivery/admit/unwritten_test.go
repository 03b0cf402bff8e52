package admit_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"surehook.example/surehook/internal/delivery/admit"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
	"surehook.example/surehook/internal/rule/circuit"
	"surehook.example/surehook/internal/rule/stats"
)

var (
	success = admission.Result{Attempt: stats.Attempt{Class: hook.ClassDelivered, Number: 1, State: hook.StateDelivered}}
	failure = admission.Result{Attempt: stats.Attempt{Class: hook.ClassUnavailable, Number: 1, State: hook.StateRetrying}}
	death   = admission.Result{Attempt: stats.Attempt{Class: hook.ClassRefused, Number: 1, State: hook.StateDead}}
)

// sandbox returns a new gate on the ports of the world, as of another process.
func (w *bundle) sandbox() *admit.Gate {
	return &admit.Gate{Releaser: w.Gate.Releaser, Shares: w.Gate.Shares}
}

// busy counts successes until the endpoint is busy enough for n held ones.
func (w *bundle) busy(n int) {
	w.T.Helper()

	if _, err := w.Store.Count(w.T.Context(), tenant, endpoint, &stats.Counts{OK: 100 * n, Delivered: 100 * n}, w.Clock.Now()); err != nil {
		w.T.Fatal(err)
	}
}

// report settles results of the endpoint in the sandbox.
func (w *bundle) report(g *admit.Gate, id hook.EndpointID, results ...admission.Result) {
	w.T.Helper()

	record, err := w.Store.Circuit(w.T.Context(), tenant, id)
	if err != nil {
		w.T.Fatal(err)
	}
	e := active()
	e.ID = id
	a, err := g.Ask(w.Context(), admission.Query{Endpoint: e, State: admission.State{Record: record}, Due: make([]admission.Due, len(results))})
	if err == nil {
		err = g.Learn(w.Context(), a.Answer, results)
	}
	if err != nil {
		w.T.Fatalf("Ask and Learn = %v", err)
	}
}

// delivered returns the counted deliveries of the endpoint by hour.
func (w *bundle) delivered(id hook.EndpointID) string {
	w.T.Helper()

	hours, err := w.Store.Hours(w.T.Context(), id, w.Clock.Now().Add(-24*time.Hour))
	if err != nil {
		w.T.Fatal(err)
	}
	text := ""
	for _, h := range hours {
		text += fmt.Sprintf("%s %d ", h.Start.Format("15:04"), h.Delivered)
	}
	return text
}

func (w *bundle) wantDelivered(when, want string) {
	w.T.Helper()

	if got := w.delivered(endpoint); got != want {
		w.T.Errorf("%s, the counts are %q; want %q", when, got, want)
	}
}

func TestGate_QuietEndpointsAreExact(t *testing.T) {
	t.Parallel()

	w := setup(t)
	for range 99 {
		w.report(w.Gate, endpoint, success)
	}
	hour := w.Clock.Now().Format("15:00")
	w.wantDelivered("after 99 successes", hour+" 99 ")
}

func TestGate_BusyEndpointsHoldSuccesses(t *testing.T) {
	t.Parallel()

	const other hook.EndpointID = "ep_fedcba9876543210"
	tests := []struct {
		name string
		then func(w *bundle)
		want int // counted, of 1,001 written and 4 held
	}{
		{name: "held", then: func(*bundle) {}, want: 1001},
		{name: "a failure writes them first", then: func(w *bundle) { w.report(w.Gate, endpoint, failure) }, want: 1005},
		{name: "a death writes them", then: func(w *bundle) { w.report(w.Gate, endpoint, death) }, want: 1005},
		{name: "the bound writes them", then: func(w *bundle) {
			for range 7 {
				w.report(w.Gate, endpoint, success)
			}
		}, want: 1012},
		{name: "the time writes them", then: func(w *bundle) {
			w.Clock.Pass(stats.HoldFor)
			w.report(w.Gate, endpoint, success)
		}, want: 1006},
		{name: "the next invocation for another endpoint writes them", then: func(w *bundle) {
			w.Clock.Pass(time.Hour)
			w.report(w.Gate, other, success)
		}, want: 1005},
		{name: "another endpoint writes nothing early", then: func(w *bundle) { w.report(w.Gate, other, success) }, want: 1001},
		{name: "a lost sandbox loses the held counts alone", then: func(w *bundle) {
			w.Clock.Pass(stats.HoldFor)
			w.report(w.sandbox(), endpoint, success)
		}, want: 1002},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			w := setup(t)
			hour := w.Clock.Now().Format("15:00")
			w.busy(10)
			for range 5 {
				w.report(w.Gate, endpoint, success)
			}
			tt.then(w)
			w.wantDelivered("at the end", fmt.Sprintf("%s %d ", hour, tt.want))
		})
	}
}

// A probe and a success after failures change the circuit, so nothing is held.
func TestGate_SuccessesForTheCircuitAreWritten(t *testing.T) {
	t.Parallel()

	w := setup(t)
	w.busy(10)
	w.report(w.Gate, endpoint, success)
	w.report(w.Gate, endpoint, failure)
	if got := w.record().Failures; got != 1 {
		t.Fatalf("after a failure, the circuit has %d failures; want 1", got)
	}
	w.report(w.Gate, endpoint, success)
	if got := w.record().Failures; got != 0 {
		t.Errorf("after a success, the circuit has %d failures; want 0", got)
	}
	w.wantDelivered("after a success that ends failures", w.Clock.Now().Format("15:00")+" 1002 ")
}

// holdOverTheHour holds successes back shortly before the next hour, and then waits until it has begun.
func (w *bundle) holdOverTheHour() (next time.Time) {
	next = w.Clock.Now().Truncate(time.Hour).Add(time.Hour)
	w.Clock.Pass(next.Add(-3 * time.Second).Sub(w.Clock.Now()))
	w.busy(10)
	w.report(w.Gate, endpoint, success)
	w.report(w.Gate, endpoint, success)
	w.Clock.Pass(4 * time.Second)
	return next
}

func TestGate_HeldSuccessesCountInTheirHour(t *testing.T) {
	t.Parallel()

	w := setup(t)
	next := w.holdOverTheHour()
	w.report(w.Gate, endpoint, success)
	w.wantDelivered("in the next hour", next.Add(-time.Hour).Format("15:00")+" 1002 "+next.Format("15:00")+" 1 ")
}

// If writing a statistic fails, the circuit still decides.
func TestGate_FailedWriteOfTheEarlierHourKeepsTheFailure(t *testing.T) {
	t.Parallel()

	w := setup(t)
	w.holdOverTheHour()
	refused := errors.New("refused")
	w.Calls.Fail = func(call string, _ hook.EndpointID) error {
		if call == "write stats" {
			w.Calls.Fail = nil
			return refused
		}
		return nil
	}
	err := w.Gate.Learn(w.Context(), w.admit(w.query(active(), 0, 1)), []admission.Result{failure})
	if got := w.record().Failures; got != 1 || !errors.Is(err, refused) {
		t.Errorf("Learn() = %v, and the circuit has %d failures; want the error of the earlier hour, and 1 failure", err, got)
	}
}

func TestGate_FailedLateWriteIsReported(t *testing.T) {
	t.Parallel()

	w := setup(t)
	w.busy(10)
	w.report(w.Gate, endpoint, success)
	w.report(w.Gate, endpoint, success)
	w.Clock.Pass(stats.HoldFor)
	refused := errors.New("refused")
	w.Calls.Fail = func(call string, id hook.EndpointID) error {
		if call == "write stats" && id == endpoint {
			return refused
		}
		return nil
	}
	const other hook.EndpointID = "ep_fedcba9876543210"
	e := active()
	e.ID = other
	a, err := w.Gate.Ask(w.Context(), admission.Query{Endpoint: e, State: admission.State{Record: admission.NewRecord(tenant, other)}, Due: make([]admission.Due, 1)})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Gate.Learn(w.Context(), a.Answer, []admission.Result{success}); !errors.Is(err, refused) {
		t.Errorf("Learn() = %v; want the error of the late write", err)
	}
}

// 500 successes a second in 20 sandboxes, and 0.5 % failures. The window of each write must show
// a share of failures near 0.5 %, far from the threshold of a half and from the lowest threshold
// that can be set.
func TestGate_HeldSuccessesHideNoShareOfFailures(t *testing.T) {
	t.Parallel()

	const (
		seconds, perSecond, sandboxes = 900, 50, 20 // batches of 10
		worst                         = 0.01
	)
	w := setup(t)
	windows := &windowStore{Store: w.Gate.Store}
	var gates []*admit.Gate
	for range sandboxes {
		g := w.sandbox()
		g.Store = windows
		gates = append(gates, g)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for i := range seconds * perSecond {
		results := make([]admission.Result, 10)
		for j := range results {
			if results[j] = success; random.Float64() < 0.005 {
				results[j] = failure
			}
		}
		w.report(gates[random.IntN(sandboxes)], endpoint, results...)
		if i%perSecond == 0 {
			w.Clock.Pass(time.Second)
		}
	}
	if got := w.record(); got.State != circuit.Closed || got.Generation != 0 {
		t.Errorf("the circuit is %s in generation %d; want closed, and never open", got.State, got.Generation)
	}
	if windows.worst > worst {
		t.Errorf("a window shows %.4f of failures; want at most %g", windows.worst, worst)
	}
	if batches := seconds * perSecond; windows.writes > batches/4 {
		t.Errorf("%d batches make %d writes; want at most a quarter", batches, windows.writes)
	}
	t.Logf("%d batches, %d writes, worst share %.4f", seconds*perSecond, windows.writes, windows.worst)
}

// windowStore measures the windows after failures.
type windowStore struct {
	admit.Store

	mu     sync.Mutex
	writes int
	worst  float64 // share of failures in a window of 1,000 results or more
}

func TestGate_ConcurrentHoldsLoseNothing(t *testing.T) {
	t.Parallel()

	const workers, each = 8, 200
	w := setup(t)
	hour := w.Clock.Now().Format("15:00")
	w.busy(50)
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for range each {
				w.report(w.Gate, endpoint, success)
			}
		})
	}
	wg.Wait()
	w.report(w.Gate, endpoint, failure) // writes the held counts
	w.wantDelivered("after all workers", fmt.Sprintf("%s %d ", hour, 5000+workers*each))
}

func (s *windowStore) Count(ctx context.Context, tenant hook.TenantID, id hook.EndpointID, add *stats.Counts, now time.Time) (circuit.Counts, error) {
	window, err := s.Store.Count(ctx, tenant, id, add, now)
	s.mu.Lock()
	defer s.mu.Unlock()

	s.writes++
	if total := window.OK + window.Failed; add.Failed > 0 && total >= 1000 {
		s.worst = max(s.worst, float64(window.Failed)/float64(total))
	}
	return window, err
}
