//go:build e2e && chaos

package localstack_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/localstack/receiver"
	"surehook.example/surehook/localstack/stack"
	"surehook.example/surehook/localstack/webhook"
)

// chaosBatch is the longest time of a batch here, from its first request to the
// end of its invocation.
const chaosBatch = 15 * time.Second

// ledger sums up the API's and the receiver's records.
type ledger struct {
	deliveries, attempts, requests int
	byKill, byPost, byReset        int // repeated requests by reason: see explain
	byCopy                         int
	unrecorded                     int // requests of killed invocations with a delivery parked afterwards
	states                         map[string]map[string]int
	dead                           []string // ids of deliveries
}

// account compares the API's record of every delivery with the receiver's
// requests.
func (c *chaos) account() {
	c.Helper()
	c.eachEventOnce()
	seen := c.requestsByDelivery()
	c.copied = copiedTasks(world.emulator.Front.Copied())
	sum := ledger{states: map[string]map[string]int{}}
	for _, p := range c.posts {
		got := c.deliveries(p.Accepted)
		c.eachEndpointOnce(p, got)
		for _, d := range got {
			c.settledAsSeen(&sum, p, d, seen[d.ID])
			delete(seen, d.ID)
		}
	}
	for id, requests := range seen {
		c.Errorf("%d requests of %s, which no accepted event has", len(requests), id)
	}
	c.inOrder()
	interrupted := c.interrupted()
	c.Logf("%d deliveries, %d attempts recorded, %d requests seen", sum.deliveries, sum.attempts, sum.requests)
	c.Logf("invocations that a kill ended: %v", interrupted)
	c.Logf("requests that are not recorded, of deliveries that were parked then: %d", sum.unrecorded)
	c.Logf("requests made twice: %d after a kill of deliver, %d after an event was posted twice, %d over another connection after a reset, %d by a copied task",
		sum.byKill, sum.byPost, sum.byReset, sum.byCopy)
	c.Logf("the strict front sent %d messages twice, %d of them tasks, and throttled %d requests",
		len(world.emulator.Front.Copied()), len(c.copied), world.emulator.Front.Throttled())
	for _, e := range c.endpoints {
		c.Logf("%-12s %v", e.name, sum.states[e.name])
	}
	const batch = 10 // messages of an invocation; MiniStack passes no more, also on the queue coalesce
	if most := interrupted["deliver"] * batch; sum.byKill > most {
		c.Errorf("%d requests were made twice by kills; want at most the %d that the killed invocations worked on", sum.byKill, most)
	}
	c.deadLettersAre(sum.dead)
}

// eachEventOnce checks that all events have different ids, and logs the number
// of repeated posts.
func (c *chaos) eachEventOnce() {
	c.Helper()
	ids, again, duplicates := map[string]bool{}, 0, 0
	for n, p := range c.posts {
		if ids[p.ID] {
			c.Errorf("event %d has the id %s of another", n, p.ID)
		}
		ids[p.ID] = true
		again += p.posts - 1
		if p.Duplicate {
			duplicates++
		}
		if p.Duplicate && p.posts == 1 {
			c.Errorf("event %d was posted once and answered as a duplicate", n)
		}
	}
	c.Logf("%d posts were repeated; %d events had been stored by the post before", again, duplicates)
}

// requestsByDelivery returns the receiver's requests by delivery id. A batch counts as a
// request for each event.
func (c *chaos) requestsByDelivery() map[string][]receiver.Request {
	c.Helper()
	seen := map[string][]receiver.Request{}
	for _, e := range c.endpoints {
		requests := world.receiver.Requests(c.path(e.name))
		if e.settings["coalesce"] != nil {
			requests = c.unpacked(e.name, requests)
		}
		for _, r := range requests {
			id := r.Header.Get(deliveryHeader)
			seen[id] = append(seen[id], r)
		}
	}
	return seen
}

// unpacked returns a request for each event of the batches, with the event's headers.
func (c *chaos) unpacked(name string, batches []receiver.Request) (requests []receiver.Request) {
	c.Helper()
	largest := 0
	for _, r := range batches {
		events, err := webhook.Events(r.Body)
		if err != nil {
			c.Errorf("%s: %v in %s", name, err, r.Body)
		}
		largest = max(largest, len(events))
		for _, e := range events {
			one := r
			one.Header = http.Header{"Webhook-Id": {e.ID}, deliveryHeader: {e.DeliveryID}, attemptHeader: {strconv.Itoa(e.Attempt)}}
			requests = append(requests, one)
		}
	}
	c.Logf("%s: %d events in %d batches, at most %d in one", name, len(requests), len(batches), largest)
	if largest < 2 {
		c.Errorf("no batch of %s has two events; want some", name)
	}
	return requests
}

// eachEndpointOnce checks that the event has one delivery per endpoint of its
// kind, all of the first generation.
func (c *chaos) eachEndpointOnce(p chaosPost, got []stack.Delivery) {
	c.Helper()
	var want, are []string
	for i, e := range c.endpoints {
		if c.gets(i, p.kind) {
			want = append(want, e.name)
		}
	}
	for _, d := range got {
		are = append(are, c.endpointOf(d).name)
	}
	slices.Sort(want)
	slices.Sort(are)
	if !slices.Equal(are, want) {
		c.Errorf("event %s of kind %d has deliveries for %v; want %v", p.ID, p.kind, are, want)
	}
}

// settledAsSeen checks one delivery. Its final state must follow from the endpoint's behavior.
// The receiver must have a request for every recorded attempt, and no others. A delivery was
// answered with 2xx if and only if it is delivered. Every repeated request must have a reason.
func (c *chaos) settledAsSeen(sum *ledger, p chaosPost, d stack.Delivery, requests []receiver.Request) {
	c.Helper()
	e := c.endpointOf(d)
	sum.deliveries++
	sum.attempts += d.Attempts
	sum.requests += len(requests)
	if sum.states[e.name] == nil {
		sum.states[e.name] = map[string]int{}
	}
	sum.states[e.name][d.State]++
	if d.State == "dead" {
		sum.dead = append(sum.dead, d.ID)
	}
	if parked := e.parks && d.State == "parked"; !parked && (d.State != e.state || d.Reason != e.reason || e.attempts != 0 && d.Attempts != e.attempts) {
		c.Errorf("%s: %+v; want it %s (%s) after %d attempts", e.name, d, e.state, e.reason, e.attempts)
	}
	slices.SortFunc(requests, func(x, y receiver.Request) int { return x.At.Compare(y.At) })
	last, accepted := map[int]receiver.Request{}, 0
	for _, r := range requests {
		n, err := strconv.Atoi(r.Header.Get(attemptHeader))
		if err != nil || r.Path != c.path(e.name) || r.Header.Get("Webhook-Id") != p.ID || !r.Genuine() {
			c.Errorf("%s: a request to %s as attempt %q of event %q, signature %v; want one of %+v",
				e.name, r.Path, r.Header.Get(attemptHeader), r.Header.Get("Webhook-Id"), r.Verified, d)
		}
		if before, twice := last[n]; twice {
			c.explain(sum, p, d, before, r)
		}
		last[n] = r
		if r.Answered/100 == 2 {
			accepted++
		}
	}
	if next, made := last[d.Attempts+1]; made && d.State == "parked" && c.killedAt(next) {
		delete(last, d.Attempts+1) // the circuit was open when the task came again
		sum.unrecorded++
	}
	for n := range d.Attempts {
		if _, made := last[n+1]; !made {
			c.Errorf("%s: %+v; the receiver saw no attempt %d", e.name, d, n+1)
		}
	}
	if len(last) > d.Attempts {
		c.Errorf("%s: %+v; the receiver saw %d attempts", e.name, d, len(last))
	}
	if (d.State == "delivered") != (accepted > 0) {
		c.Errorf("%s: %+v; the receiver answered 2xx %d times", e.name, d, accepted)
	}
}

// inOrder checks that the ordered endpoint got the events of each key in the order of their posts and numbers,
// and each one first when the one before it had succeeded.
func (c *chaos) inOrder() {
	c.Helper()
	requests := world.receiver.Requests(c.path(inOrder))
	slices.SortFunc(requests, func(x, y receiver.Request) int { return x.At.Compare(y.At) })
	type progress struct {
		number, event int
		delivery      string
		succeeded     bool
	}
	keys, first := map[string]progress{}, map[string]bool{}
	for _, r := range requests {
		key, delivery := r.Header.Get("X-Webhook-Ordering-Key"), r.Header.Get(deliveryHeader)
		last := keys[key]
		if first[delivery] {
			if delivery == last.delivery && r.Answered/100 == 2 {
				last.succeeded = true
				keys[key] = last
			}
			continue // a second request may come after the next delivery
		}
		first[delivery] = true
		var body struct {
			N int `json:"n"`
		}
		number, err := strconv.Atoi(r.Header.Get("X-Webhook-Ordering-Number"))
		if err = errors.Join(err, json.Unmarshal(r.Body, &body)); err != nil {
			c.Errorf("a request of %s: %v", delivery, err)
		}
		if last.delivery != "" && (number <= last.number || body.N <= last.event || !last.succeeded) {
			c.Errorf("%s: number %d, event %d comes after %+v", key, number, body.N, last)
		}
		keys[key] = progress{number, body.N, delivery, r.Answered/100 == 2}
	}
	c.Logf("%d deliveries of %d ordering keys came in order", len(first), len(keys))
	if len(keys) != orderingKeys {
		c.Errorf("%d ordering keys; want %d", len(keys), orderingKeys)
	}
}

// explain finds the reason for a repeated request: deliver was killed during the first one, the
// event was posted again, the transport repeated it after a connection reset, or the task was
// copied.
func (c *chaos) explain(sum *ledger, p chaosPost, d stack.Delivery, first, second receiver.Request) {
	c.Helper()
	switch {
	case first.Answered == 0 && second.At.Sub(first.At) < time.Second:
		sum.byReset++
	case c.killedAt(first) && second.At.Sub(first.At) > chaosVisible-chaosBatch:
		sum.byKill++
	case p.posts > 1:
		sum.byPost++
	case c.copied[d.ID+" "+first.Header.Get(attemptHeader)]:
		sum.byCopy++
	default:
		c.Errorf("attempt %s of %s was made at %v and again %v later; nothing explains it",
			second.Header.Get(attemptHeader), d.ID, first.At.Format(time.StampMilli), second.At.Sub(first.At))
	}
}

// copiedTasks returns the delivery and the attempt of each task among the
// messages.
func copiedTasks(bodies []string) map[string]bool {
	copied := map[string]bool{}
	for _, body := range bodies {
		if task, err := hook.DecodeTask(body); err == nil {
			copied[task.Delivery.String()+" "+strconv.Itoa(task.Attempt)] = true
		}
	}
	return copied
}

// killedAt reports whether deliver was killed possibly during the request.
func (c *chaos) killedAt(r receiver.Request) bool {
	return slices.ContainsFunc(c.kills, func(k kill) bool {
		return k.function == "deliver" && !k.at.Before(r.At) && k.at.Sub(r.At) < chaosBatch
	})
}

// interrupted counts the invocations ended by a kill, by function, from the
// emulator's log. The other kills hit idle processes.
func (c *chaos) interrupted() map[string]int {
	c.Helper()
	raw, err := os.ReadFile(world.emulatorLog)
	if err != nil {
		c.Fatal(err)
	}
	counts := map[string]int{}
	for line := range strings.Lines(string(raw)) {
		if before, _, found := strings.Cut(line, ": Runtime exited before returning a response"); found {
			counts[before[strings.LastIndex(before, stack.Name+"-")+len(stack.Name)+1:]]++
		}
	}
	return counts
}

// deadLettersAre checks that every dead delivery has a dead letter, and exactly
// one after a reconciliation.
func (c *chaos) deadLettersAre(dead []string) {
	c.Helper()
	missing := map[string]bool{}
	for _, id := range dead {
		missing[id] = true
	}
	c.until("every dead delivery has a dead letter", func() bool {
		if _, err := world.deadLetters.peek(c.ctx); err != nil {
			c.Fatal(err)
		}
		for _, l := range world.deadLetters.seen {
			delete(missing, l.Delivery.String())
		}
		return len(missing) == 0
	})
	c.reconciled()
	if inTable := c.deadInTable(); inTable != len(dead) {
		c.Errorf("%d deliveries are dead in the table; want %d as in the API", inTable, len(dead))
	}
}
