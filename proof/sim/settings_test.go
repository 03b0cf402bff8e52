package sim_test

import (
	"cmp"
	"context"
	"encoding/json"
	"path"
	"slices"
	"strings"
	"time"

	adminendpoint "surehook.example/surehook/internal/admin/endpoint"
	"surehook.example/surehook/internal/delivery/send"
	"surehook.example/surehook/internal/hook"
)

// Operators change retry policies, lists of statuses, filters, event types and max_age while
// deliveries are under way.

// setting is a version of an endpoint's record.
type setting struct {
	hook.Endpoint

	from time.Time // from when every new process reads it
}

// known returns the versions that a process may act by: the one at its start, and all since.
func (s status) known(since time.Time) []setting {
	i := len(s.settings) - 1
	for i > 0 && !s.settings[i].from.Before(since) {
		i--
	}
	return s.settings[max(i, 0):]
}

// leastAge returns the shortest max_age that a process may know.
func (s status) leastAge(since time.Time) time.Duration {
	known := s.known(since)
	return slices.MinFunc(known, func(a, b setting) int { return cmp.Compare(a.MaxAge, b.MaxAge) }).MaxAge
}

// checkSettings: an attempt obeys a version of the endpoint from the start of its process, or
// a later one.
func (w *simulation) checkSettings(p *process, r send.Request) {
	if known := w.statuses[r.Endpoint.ID].known(p.started); !slices.ContainsFunc(known, func(s setting) bool { return s.Version == r.Endpoint.Version }) {
		w.fail(checkSettings, "%s: attempt of %s by version %d of its endpoint, which had version %d before", p.name, r.Delivery, r.Endpoint.Version, known[0].Version)
	}
}

// wants reports whether the endpoint gets events of the type, and whether its filter lets the
// event pass.
func wants(e hook.Endpoint, event hook.Event) (subscribes, passes bool) {
	return slices.ContainsFunc(e.EventTypes, func(pattern string) bool {
		ok, _ := path.Match(pattern, event.Type)
		return ok && (pattern != "*" || !strings.HasPrefix(event.Type, hook.SystemPrefix))
	}), filterPasses(e.Filter, event.Payload)
}

// filterPasses reads the filters that drawFilter makes.
func filterPasses(filter, payload []byte) bool {
	if len(filter) == 0 {
		return true
	}
	var wanted struct {
		Payload struct {
			N []int `json:"n"`
		} `json:"payload"`
	}
	var sent struct {
		N int `json:"n"`
	}
	return json.Unmarshal(filter, &wanted) == nil && json.Unmarshal(payload, &sent) == nil && slices.Contains(wanted.Payload.N, sent.N)
}

// meaning is what the documentation says about an answer: the lists of the endpoint come
// before the class.
func meaning(e *hook.Endpoint, o *hook.Outcome) hook.Result {
	switch {
	case slices.Contains(e.RetryOn, o.Status):
		return hook.ResultTransient
	case slices.Contains(e.GiveUpOn, o.Status):
		return hook.ResultRejected
	}
	return new(hook.Endpoint).ResultOf(o)
}

// checkStatuses: a status of give_up_on ends the delivery at once, and one of retry_on never
// as rejected.
func (w *simulation) checkStatuses(p *process, sent *post, d hook.Delivery) {
	rejected := d.State == hook.StateDead && d.Reason == hook.ReasonRejected
	o := sent.outcome
	switch {
	case slices.Contains(sent.by.RetryOn, o.Status) && rejected:
		w.fail(checkStatuses, "%s: attempt %d of %s came to %d, which is in retry_on, and it is %s %s", p.name, d.Attempts, d.ID, o.Status, d.State, d.Reason)
	case slices.Contains(sent.by.GiveUpOn, o.Status) && len(sent.members) == 1 && !rejected:
		w.fail(checkStatuses, "%s: attempt %d of %s came to %d, which is in give_up_on, and it is %s %s", p.name, d.Attempts, d.ID, o.Status, d.State, d.Reason)
	}
}

func (w *simulation) drawDelays() (all []time.Duration) {
	for range 1 + w.rng.IntN(4) {
		all = append(all, pick(w, time.Second, 5*time.Second, 30*time.Second, 2*time.Minute, 10*time.Minute, 16*time.Minute, 20*time.Minute))
	}
	return all
}

func (w *simulation) drawRetry(delays []time.Duration) hook.RetryPolicy {
	return hook.RetryPolicy{Schedule: delays, Jitter: pick(w, hook.JitterFull, hook.JitterEqual, hook.JitterProportional, hook.JitterNone)}
}

// drawMaxAge returns a max_age, often below the delays of the retry policy.
func (w *simulation) drawMaxAge() time.Duration {
	if w.ordered { // the ages of a sequence add up
		return pick(w, time.Minute, 3*time.Minute, 10*time.Minute)
	}
	return pick(w, time.Minute, 3*time.Minute, 10*time.Minute, 40*time.Minute, w.level.oldest, w.level.oldest)
}

func (w *simulation) drawTypes() []string {
	return pick(w, []string{"*"}, []string{"*"}, []string{"order.*"}, []string{"order.paid", "user.gone"})
}

func (w *simulation) drawFilter() []byte {
	return []byte(pick(w, "", "", `{"payload":{"n":[2]}}`, `{"payload":{"n":[1,3]}}`))
}

func (w *simulation) drawStatuses() (retryOn, giveUpOn []int) {
	switch w.rng.IntN(4) {
	case 0:
		return []int{400}, []int{500}
	case 1:
		return nil, []int{503}
	}
	return nil, nil
}

// drawFields returns a change of one part of the endpoint's settings.
func (w *simulation) drawFields() (what string, f adminendpoint.Fields) {
	switch w.rng.IntN(8) {
	case 0:
		f.Retry, what = new(w.drawRetry(w.drawDelays())), "retry policy"
	case 1:
		f.MaxAge, what = new(w.drawMaxAge()), "max_age"
	case 2:
		f.Filter, what = new(w.drawFilter()), "filter"
	case 3:
		f.EventTypes, what = new(w.drawTypes()), "event types"
	case 4:
		retryOn, giveUpOn := w.drawStatuses()
		f.RetryOn, f.GiveUpOn, what = &retryOn, &giveUpOn, "statuses"
	case 6:
		f, what = w.drawContent(), "shape"
	case 5:
		f.Shards, what = new(pick(w, 1, 1, 3)), "shards"
	default:
		timeout, failures := pick(w, 2*time.Second, 10*time.Second), pick(w, 2, 5)
		f.Timeout, f.Circuit.Failures, what = &timeout, &failures, "timeout"
	}
	return what, f
}

// unsettle changes the subscriptions of a tenant twice. Events are posted during the second
// change, by processes that do not know the first one yet. The later events show what these
// processes keep of the endpoints.
func (w *simulation) unsettle(tenant hook.TenantID) {
	var all []*endpoint
	for _, e := range w.endpoints {
		if e.Tenant == tenant {
			all = append(all, e)
		}
	}
	during := longestCommit + 5*time.Second
	for _, after := range []time.Duration{0, during} {
		e, filter := pick(w, all...), w.drawFilter()
		w.plan.add(w.now.Add(after), func() { w.change(e, "filter", adminendpoint.Fields{Filter: &filter}) })
	}
	for range 6 {
		w.postIn(tenant, during-w.within(60*time.Millisecond))
		w.postIn(tenant, during+longestCommit+w.within(longestCommit))
	}
}

func (w *simulation) change(e *endpoint, what string, to adminendpoint.Fields) {
	w.handIn(e.Tenant, "change the "+what+" of "+string(e.id), func(ctx context.Context, p *process) error {
		return second(p.admin().Change(ctx, e.Tenant, string(e.id), 0, to))
	})
}

// narrow sends the new deliveries of an endpoint to one shard, while others wait in its other
// shards.
func (w *simulation) narrow() {
	var all []*endpoint
	for _, e := range w.endpoints {
		if slices.ContainsFunc(w.recorded, func(d hook.DeliveryRef) bool {
			return d.Endpoint == e.id && d.Shard > 0 && w.records[d].State == hook.StateParked
		}) {
			all = append(all, e)
		}
	}
	if len(all) > 0 {
		w.change(pick(w, all...), "shards", adminendpoint.Fields{Shards: new(1)})
	}
}
