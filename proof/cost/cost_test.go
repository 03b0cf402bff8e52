package cost_test

import (
	"flag"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/delivery/send"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/order"
	"surehook.example/surehook/proof/cost"
)

var write = flag.Bool("write", false, "write docs/cost.md")

const document = "../../docs/cost.md"

const tenant hook.TenantID = "acme"

// full and one are the batch sizes of the event source: its maximum, and the worst
// case.
const (
	full = 10
	one  = 1
)

const (
	slack      = 0.02 // of units: the fixed costs of a scenario
	cent       = 0.01 // of USD: the first connections of a run of 10 s
	readTenant = "read GetItem tenant"
)

// TestCost runs the scenarios in turn, and checks their bounds and the document.
func TestCost(t *testing.T) {
	t.Parallel()

	if testing.Short() {
		t.Skip("thousands of deliveries")
	}
	look := looked(t)
	single := busy(t, "an event posted alone", 1)
	unproven := newEndpoints(t)
	idleKey, waits := inOrder(t, "an event with an ordering key, alone", true), inOrder(t, "an event with an ordering key that waits for its turn", false)
	blocked := behindABlockedKey(t)
	singleWorst := healthy(t, "an event posted alone, delivered alone", one, 1, 20)
	batch := busy(t, "a batch of 100 events", 100)
	batchWorst := healthy(t, "a batch of 100 events, each delivered alone", one, 100, 100)
	queue, queueBatch := queued(t, "an event through the queue, sent alone", 1), queued(t, "an event through the queue, sent in batches of 10", full)
	others := slices.Concat(abroadAndInside(t), resources(t))
	together := coalesced(t)
	fan := fanOut(t)
	failing := failures(t, "3 failures, then success", 3, 0)
	failingOnce := failures(t, "", 2, 0)
	wordy := failures(t, "3 failures with answers of 16 KiB, then success", 3, hook.MaxResponseBody)
	dead := whole(t)
	hour, twice, long := outage(t, 1000, time.Hour), outage(t, 2000, time.Hour), outage(t, 1000, 6*time.Hour)
	flood := flooded(t)
	mixed, mixedBatch := realistic(t, 1, 0), realistic(t, 100, 0)
	flaky, flakyBatch := realistic(t, 1, mixFailures), realistic(t, 100, mixFailures)

	for _, s := range []*cost.Scenario{&single, &batch, &mixed, &mixedBatch} {
		s.Parts = true
	}
	for _, s := range []*cost.Scenario{
		&single, &singleWorst, &batch, &batchWorst, &queue, &queueBatch, &mixed, &mixedBatch, &flaky, &flakyBatch, &together, &fan, &unproven, &idleKey, &waits, &blocked, &failing, &failingOnce, &wordy, &dead, &hour, &twice, &long, &flood,
	} {
		s.Account = s.Account.Plus(look, float64(s.Deliveries)/streamBatch)
	}
	for i, s := range others {
		others[i].Account = s.Account.Plus(look, float64(s.Deliveries)/streamBatch)
	}
	opened := keys(t)
	// The difference between two sizes is the cost per delivery, without the fixed cost of an outage.
	parked := float64(twice.Deliveries - hour.Deliveries)
	writes := (twice.Account.Writes("delivery") - hour.Account.Writes("delivery")) / parked
	report := cost.Report{
		Scenarios: slices.Concat(
			[]cost.Scenario{single, singleWorst, batch, batchWorst, queue, queueBatch, mixed, mixedBatch, flaky, flakyBatch, together}, others,
			[]cost.Scenario{fan, unproven, idleKey, waits, blocked, failing, wordy, dead, hour, twice, long, flood}),
		Idle: idle(t),
		Keys: opened,
		Bounds: []cost.Bound{
			{What: "write units of a first-try success, the shared stats aside", Got: single.WriteUnits() - single.Units("write stats"), Promised: 3, Slack: slack},
			{What: "the same, posted and delivered alone", Got: singleWorst.WriteUnits() - singleWorst.Units("write stats"), Promised: 3, Slack: slack},
			{What: "read units of a first-try success", Got: single.ReadUnits(), Promised: 4, Slack: slack},
			// Event, endpoint, circuit and delivery; and half a unit for the look at the stream.
			{What: "read units of a delivery alone in its batch", Got: singleWorst.ReadUnits() - singleWorst.Units(readTenant), Promised: 4.5, Slack: slack},
			{What: "read units of a post: the version of the tenant", Got: singleWorst.Units(readTenant), Promised: 1, Slack: slack},
			{What: "write units that an ordering key adds to a delivery, the shared stats aside", Got: idleKey.WriteUnits() - singleWorst.WriteUnits() - idleKey.Units("write stats") + singleWorst.Units("write stats"), Promised: 2, Slack: slack},
			{What: "messages that it adds", Got: float64(idleKey.Messages)/float64(idleKey.Deliveries) - float64(singleWorst.Messages)/float64(singleWorst.Deliveries), Promised: 1, Slack: slack},
			{What: "write units that the wait for its turn adds with the key, the shared stats aside", Got: waits.WriteUnits() - singleWorst.WriteUnits() - waits.Units("write stats") + singleWorst.Units("write stats"), Promised: 5, Slack: slack},
			{What: "the same, of one that waits a day behind a blocked key, with 99 others", Got: blocked.WriteUnits() - batchWorst.WriteUnits() - blocked.Units("write stats") + batchWorst.Units("write stats"), Promised: 5, Slack: slack},
			{What: "USD per million single posts, without storage", Got: single.USD(), Promised: 4.10, Slack: cent},
			{What: "USD per million in batches of 100", Got: batch.USD(), Promised: 2.20},
			{What: "USD per million events through the queue, sent alone", Got: queue.USD(), Promised: 2.90},
			{What: "USD per million events through the queue, sent in batches of 10", Got: queueBatch.USD(), Promised: 2.30, Slack: cent},
			{What: "USD per million of the mix, posted alone", Got: mixed.USD(), Promised: 5.00},
			{What: "USD per million of the mix, in batches of 100", Got: mixedBatch.USD(), Promised: 3.20},
			{What: "USD per million events of a coalescing endpoint, 100 a request", Got: together.USD(), Promised: 2.10},
			{What: "USD per million for KMS, with 20,000 tenants by Zipf's law", Got: opened.Bill()[cost.KMS], Promised: 0.15},
			{What: "write units of one failed attempt more", Got: failing.WriteUnits() - failingOnce.WriteUnits(), Promised: 4},
			{What: "USD per million of 3 failures and a success, with storage", Got: failing.Bill().Total(), Promised: 30},
			{What: "writes that an outage adds to a parked delivery", Got: writes - 1, Promised: 2, Slack: slack},
			{What: "messages that an outage adds to a parked delivery", Got: float64(twice.Messages-hour.Messages)/parked - 1, Promised: 1, Slack: slack},
			{What: "writes that five more hours of an outage cost, all deliveries together", Got: long.Account.Writes("") - hour.Account.Writes(""), Promised: 60, Slack: slack},
		},
	}
	text := report.String()
	t.Log("\n" + text)
	if *write {
		if err := os.WriteFile(document, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	written, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(steady(string(written)), steady(text)); diff != "" {
		t.Errorf("docs/cost.md is not what `make cost` writes (-document +code):\n%s", diff)
	}
	for _, bound := range report.Bounds {
		if !bound.Kept() {
			t.Errorf("%s: %.4f; want at most %g", bound.What, bound.Got, bound.Promised)
		}
	}
}

// steady returns the document without the parts that differ a little from run to run: the
// rows about the mix, and where the money goes.
func steady(document string) []string {
	before, rest, _ := strings.Cut(document, "\n## Where the money goes")
	_, after, _ := strings.Cut(rest, "\nWhat no change")
	lines := strings.Split(before+after, "\n")
	return slices.DeleteFunc(lines, func(line string) bool { return strings.HasPrefix(line, "| ") && strings.Contains(line, "the mix") })
}

// scenario returns the counts since warm, a line of the report.
func (w *bundle) scenario(name, how string, deliveries int) cost.Scenario {
	return cost.Scenario{Name: name, How: how, Deliveries: deliveries, Account: w.account(), Messages: w.messages}
}

// busyRate is the deliveries per second to a busy endpoint: at a lower rate, batches are
// not full.
const busyRate = 100

// busy runs ten seconds of deliveries to one busy endpoint, in full batches.
func busy(t *testing.T, name string, posted int) cost.Scenario {
	t.Helper()

	w := newBundle(t, full, mixProcesses)
	w.perMinute = 60 * busyRate
	w.endpoint(nil)
	w.warm()
	const deliveries = 10 * busyRate
	for i := range deliveries / posted {
		w.post(posted)
		if (i+1)*posted%full == 0 {
			w.drain((i + 1) * posted)
		}
		w.now = w.now.Add(time.Duration(posted) * time.Second / busyRate)
	}
	w.wantDelivered(deliveries)
	return w.scenario(name, fmt.Sprintf("%d a second to one endpoint, delivery batches of %d", busyRate, full), deliveries)
}

func healthy(t *testing.T, name string, batch, posted, deliveries int) cost.Scenario {
	t.Helper()

	w := newBundle(t, batch, 1)
	w.endpoint(nil)
	w.warm()
	for range deliveries / posted {
		w.post(posted)
	}
	w.drain(deliveries)
	w.wantDelivered(deliveries)
	return w.scenario(name, fmt.Sprintf("delivery batches of %d", batch), deliveries)
}

// newEndpoints posts to endpoints with less than 20 answers each: every delivery needs an
// in-flight slot.
func newEndpoints(t *testing.T) cost.Scenario {
	t.Helper()

	w := newBundle(t, full, 1)
	w.unproven = true
	w.endpoint(nil)
	w.warm()
	const deliveries = 10
	for i := range deliveries {
		w.post(1)
		w.drain(i + 1)
	}
	w.wantDelivered(deliveries)
	return w.scenario("an event to a new endpoint", "posted alone; one of the first 20 deliveries of the endpoint", deliveries)
}

// inOrder posts events with ordering keys: each with a key of its own, or all with one, so that all but the first
// wait.
func inOrder(t *testing.T, name string, alone bool) cost.Scenario {
	t.Helper()

	w := newBundle(t, one, 1)
	w.endpoint(func(e *hook.Endpoint) { e.Ordered = true })
	w.warm()
	const deliveries = 20
	for i := range deliveries {
		w.key = "cart-7"
		if alone {
			w.key = fmt.Sprintf("cart-%d", i)
		}
		w.post(1)
	}
	w.drain(deliveries)
	w.wantDelivered(deliveries)
	return w.scenario(name, "posted and delivered alone", deliveries)
}

// behindABlockedKey lets the deliveries of a batch wait for a day behind a dead one, which is then discarded.
func behindABlockedKey(t *testing.T) cost.Scenario {
	t.Helper()

	w := newBundle(t, one, 1)
	var id order.ID
	w.endpoint(func(e *hook.Endpoint) { e.Ordered, id = true, order.ID{Endpoint: e.ID, Key: "cart-7"} })
	w.key, w.answer = id.Key, answers(http.StatusBadRequest)
	w.warm()
	const deliveries = 100
	w.post(deliveries)
	w.answer = answers(http.StatusOK)
	s, err := w.store.Sequence(t.Context(), tenant, id)
	if err != nil {
		t.Fatal(err)
	}
	before := w.account()
	var waiting []hook.DeliveryRef
	for n := s.Head + 1; n <= s.Last; n++ {
		place, err := w.store.NextPlace(t.Context(), id, n, n)
		if err != nil || place == nil {
			t.Fatalf("NextPlace(%d) = %+v, %v", n, place, err)
		}
		waiting = append(waiting, place.Delivery)
	}
	asked := w.account().Plus(before, -1) // by this test alone
	later := func(after time.Duration, n int, f func() error) {
		w.mu.Lock()
		w.now = w.now.Add(after)
		w.mu.Unlock()
		w.invoke(n, breakerAtOnce, func() {
			if err := f(); err != nil {
				t.Fatal(err)
			}
		})
	}
	// The first alone: looks at the others come at the same time, and how many of them meet is chance.
	later(10*time.Minute, 1, func() error { return w.breaker.Record(t.Context(), waiting[:1]) })
	later(0, len(waiting)-1, func() error { return w.breaker.Record(t.Context(), waiting[1:]) })
	const pause = hook.SweepPause + 5*time.Minute
	for range 24 * time.Hour / pause {
		later(pause, 1, func() error { return w.breaker.SweepTurns(t.Context()) })
	}
	if _, err := w.replayer.Discard(t.Context(), tenant, s.Member.DeliveryID, "", ""); err != nil {
		t.Fatal(err)
	}
	w.drain(deliveries)
	w.wantDelivered(deliveries)
	waited := w.scenario("one of 100 with an ordering key that is blocked for a day", "posted in a batch, delivered alone", deliveries)
	waited.Account = waited.Account.Plus(asked, -1)
	return waited
}

func fanOut(t *testing.T) cost.Scenario {
	t.Helper()

	w := newBundle(t, full, 1)
	for range 10 {
		w.endpoint(nil)
	}
	w.warm()
	for range 10 {
		w.post(1)
	}
	w.drain(100)
	w.wantDelivered(100)
	return w.scenario("an event to 10 endpoints", "each has its part of every batch of 10", 100)
}

// failures lets the first attempts fail, each with another body of the size; 0: with a short one.
func failures(t *testing.T, name string, failed, size int) cost.Scenario {
	t.Helper()

	w := newBundle(t, full, 1)
	w.endpoint(nil)
	w.warm()
	w.answer = func(r send.Request) hook.Outcome {
		if r.Attempt <= failed {
			o := answers(503)(r)
			if size > 0 {
				o.Body = make([]byte, size)
				_, _ = w.random.Read(o.Body)
			}
			return o
		}
		return answers(200)(r)
	}
	const deliveries = 10
	for i := range deliveries {
		w.post(1)
		w.drain(i + 1)
		w.mu.Lock()
		w.now = w.now.Add(time.Hour)
		w.mu.Unlock()
	}
	w.wantDelivered(deliveries)
	return w.scenario(name, "posted and delivered alone", deliveries)
}

func whole(t *testing.T) cost.Scenario {
	t.Helper()

	w := newBundle(t, full, 1)
	w.endpoint(nil)
	w.warm()
	w.answer = answers(503)
	w.post(1)
	w.drain(0)
	w.wantDelivered(0)
	if got := w.account().Requests["SendMessage"]; w.attempts != 7 || got < 1 {
		t.Errorf("%d attempts and %g messages; want 7 and a dead letter", w.attempts, got)
	}
	return w.scenario("dead after the whole policy", "7 attempts, posted and delivered alone; its circuit opens at the fifth", 1)
}

func outage(t *testing.T, deliveries int, lasts time.Duration) cost.Scenario {
	t.Helper()

	w := newBundle(t, full, 1)
	w.endpoint(nil)
	w.warm()
	ends := w.clock().Add(lasts)
	w.answer = func(r send.Request) hook.Outcome {
		if w.clock().Before(ends) {
			return answers(503)(r)
		}
		return answers(200)(r)
	}
	for range deliveries / 100 {
		w.post(100)
	}
	w.drain(deliveries)
	w.wantDelivered(deliveries)
	return w.scenario(fmt.Sprintf("an outage of %s, %d events", lasts, deliveries),
		fmt.Sprintf("batches of 100 and of 10; %d attempts", w.attempts), deliveries)
}

func flooded(t *testing.T) cost.Scenario {
	t.Helper()

	w := newBundle(t, full, 1)
	w.endpoint(func(e *hook.Endpoint) { e.RatePerSecond = 10 })
	w.warm()
	w.post(100)
	w.post(100)
	w.drain(200)
	w.wantDelivered(200)
	return w.scenario("a flood over a rate limit", "200 events in batches of 100, 10 a second let through", 200)
}

func (w *bundle) wantDelivered(want int) {
	w.t.Helper()

	if w.delivered != want {
		w.t.Errorf("%d deliveries succeeded after %d attempts; want %d", w.delivered, w.attempts, want)
	}
}

// idle measures one run of each schedule without traffic.
func idle(t *testing.T) cost.Idle {
	t.Helper()

	w := newBundle(t, full, 1)
	w.endpoint(nil)
	w.warm()
	measure := func(f func() error, extra time.Duration) cost.Usage {
		w.ledger.Reset()
		w.invoke(1, breakerAtOnce, func() {
			if err := f(); err != nil {
				t.Fatal(err)
			}
		})
		return w.account().Usage.Plus(cost.Usage{cost.Schedule: 1}).
			Plus(cost.Usage{cost.GBSecond: extra.Seconds() * cost.BreakerMB / 1024})
	}
	return cost.Idle{
		Tick:      measure(func() error { return w.breaker.Tick(t.Context()) }, 0),
		Review:    measure(func() error { return w.breaker.Review(t.Context()) }, 0),
		Reconcile: measure(func() error { return w.breaker.ReconcileDeadLetters(t.Context()) }, time.Second), // the wait for a dead letter
		Sweep:     measure(func() error { return w.breaker.Sweep(t.Context()) }, 0),
	}
}
