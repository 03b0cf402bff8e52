package formats_test

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"surehook.example/surehook/internal/aws/kms"
	"surehook.example/surehook/internal/delivery/admit"
	"surehook.example/surehook/internal/delivery/replay"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/memory"
	"surehook.example/surehook/internal/memory/table"
	"surehook.example/surehook/internal/rule/admission"
	"surehook.example/surehook/internal/rule/order"
	"surehook.example/surehook/proof/porttest"
)

func noLimits() admission.Limits { return admission.Limits{} }

// reader reads a store as use cases do. Errors are part of the meaning.
type reader struct {
	*memory.Store

	t    *testing.T
	ctx  context.Context
	seen *coverage
	keys map[string][]string // ids by prefix of the partition

	unreadable []string
}

// meaning returns what today's code reads of the build with the items in the store, by the
// name of the file.
func meaning(t *testing.T, b build, s *memory.Store, seen *coverage) map[string]any {
	t.Helper()

	r := newReader(t, s, seen)
	files := map[string]any{
		"events": r.each("event", r.event), "endpoints": r.each("endpoint", r.endpoint), "tenants": r.each("tenant", r.tenant),
		"environment": r.environment(), "indexes": r.indexes(), "messages": r.messages(b.messages), "lists": r.lists(b.cursors),
	}
	files["changes"] = r.each("tenant", r.changes) // writes come last
	if len(r.unreadable) > 0 {
		files["unreadable"] = r.unreadable
	}
	return files
}

func newReader(t *testing.T, s *memory.Store, seen *coverage) *reader {
	t.Helper()

	r := &reader{Store: s, t: t, ctx: t.Context(), seen: seen, keys: make(map[string][]string)}
	r.Table.Now = now
	r.Unreadable = func(_ context.Context, record string, _ error) { r.unreadable = append(r.unreadable, record) }
	r.Table.Each(func(k table.Key, _ table.Item) bool {
		prefix, rest, _ := strings.Cut(k.Hash, "#")
		id, _, _ := strings.Cut(rest, "#")
		if !slices.Contains(r.keys[prefix], id) {
			r.keys[prefix] = append(r.keys[prefix], id)
		}
		return true
	})
	return r
}

// each reads the records of each id.
func (r *reader) each(prefix string, read func(id string) map[string]any) map[string]any {
	all := make(map[string]any)
	for _, id := range r.keys[prefix] {
		all[id] = read(id)
	}
	return all
}

// show returns the result of a read for the meaning.
func (r *reader) show(v any, err error) any {
	if err != nil {
		return "error: " + hook.CodeOf(err).String()
	}
	r.seen.add(reflect.ValueOf(v))
	return printed(reflect.ValueOf(v))
}

func (r *reader) event(id string) map[string]any {
	e, err := r.Event(r.ctx, hook.EventID(id))
	shown := map[string]any{"event": r.show(e, err)}
	deliveries, err := r.Deliveries(r.ctx, e)
	shown["deliveries"] = r.show(deliveries, err)
	attempts, err := r.Attempts(r.ctx, deliveries)
	shown["attempts"] = r.show(attempts, err)
	return shown
}

func (r *reader) endpoint(id string) map[string]any {
	endpoint := hook.EndpointID(id)
	shown := make(map[string]any)
	e, err := r.Endpoint(r.ctx, tenant, endpoint)
	shown["endpoint"] = r.show(e, err)
	material, err := r.TLSMaterial(r.ctx, tenant, endpoint)
	shown["tls"] = r.show(material, err)
	circuit, err := r.Circuit(r.ctx, tenant, endpoint)
	shown["circuit"] = r.show(circuit, err)
	limits, err := r.Limits(r.ctx, endpoint)
	shown["limits"] = r.show(limits, err)
	hours, err := r.Hours(r.ctx, endpoint, start().Add(-time.Hour))
	shown["hours"] = r.show(hours, err)
	q, place := sequence(0)
	q.Endpoint = endpoint
	stored, err := r.Sequence(r.ctx, tenant, q.ID)
	shown["sequence"] = r.show(stored, err)
	next, err := r.NextPlace(r.ctx, q.ID, 1, place.Number)
	shown["place"] = r.show(next, err)
	decisions, _, err := r.Notifications(r.ctx, endpoint, "", 100)
	shown["notifications"] = r.show(decisions, err)
	if len(e.Secrets) > 0 {
		cfg, _ := porttest.PlainKMS(r.t)
		opener, err := kms.NewOpener(cfg, porttest.KeyARN, now)
		if err != nil {
			r.t.Fatal(err)
		}
		secret, err := opener.Open(r.ctx, e.Secrets[0].Sealed, tenant, endpoint)
		shown["secret"] = r.show(secret, err)
	}
	return shown
}

func (r *reader) tenant(id string) map[string]any {
	tenant := hook.TenantID(id)
	shown := make(map[string]any)
	version, err := r.TenantVersion(r.ctx, tenant)
	shown["version"] = r.show(version, err)
	limits, err := r.TenantLimits(r.ctx, tenant)
	shown["limits"] = r.show(limits, err)
	listing, err := r.Listing(r.ctx, tenant)
	shown["listed"] = r.show(len(listing.Endpoints), err)
	all, err := r.Endpoints(r.ctx, tenant)
	shown["endpoints"] = r.show(ids(all, func(e hook.Endpoint) string { return string(e.ID) }), err)
	for _, e := range all {
		if e.UID != "" {
			named, err := r.EndpointByUID(r.ctx, tenant, e.UID)
			shown["uid "+e.UID] = r.show(named.ID, err)
		}
	}
	key, err := r.DataKey(r.ctx, tenant)
	shown["data key"] = r.show(key, err)
	shares, err := r.Shares(r.ctx, tenant)
	shown["shares"] = r.show(shares, err)
	jobs, err := r.Jobs(r.ctx, tenant, "", 100)
	shown["replays"] = r.show(jobs, err)
	for _, j := range jobs {
		outcomes, err := r.JobOutcomes(r.ctx, j.ID)
		shown["outcomes "+string(j.ID)] = r.show(outcomes, err)
	}
	records, _, err := r.AuditRecords(r.ctx, tenant, hook.AuditSpan{}, "", 100)
	shown["audit"] = r.show(records, err)
	link, err := r.Link(r.ctx, tenant, link().ID)
	shown["link"] = r.show(link, err)
	wait, err := r.Spend(r.ctx, tenant, hook.Spend{Now: at(1), Latest: at(0), Cost: time.Second}) // refused: nothing changes
	shown["rate"] = r.show(wait, err)
	return shown
}

// environment reads what belongs to no tenant.
func (r *reader) environment() map[string]any {
	shown := make(map[string]any)
	bucket, err := r.BucketKey(r.ctx, 43) // of the tenant
	shown["bucket"] = r.show(bucket, err)
	keys, err := r.Keys(r.ctx)
	shown["keys"] = r.show(keys, err)
	for _, hash := range r.keys["key"] {
		key, err := r.KeyByHash(r.ctx, hash)
		shown["key "+hash] = r.show(key, err)
	}
	records, _, err := r.AuditRecords(r.ctx, hook.AllTenants, hook.AuditSpan{}, "", 100)
	shown["audit"] = r.show(records, err)
	types, _, err := r.EventTypesAfter(r.ctx, "", 100)
	shown["event types"] = r.show(types, err)
	catalogue, err := r.Catalogue(r.ctx)
	shown["catalogue"] = r.show(catalogue, err)
	for _, tenant := range r.keys["erasure"] {
		stage := tenant[len("erased-"):]
		for _, e := range erasures() {
			if e.Stage.String() == stage {
				job, err := r.Erasure(r.ctx, hook.TenantID(tenant), e.ID)
				shown["erasure "+stage] = r.show(job, err)
			}
		}
	}
	return shown
}

// indexes reads the lists that only an index has.
func (r *reader) indexes() map[string]any {
	shown := make(map[string]any)
	due, err := r.DueCircuits(r.ctx, now(), 100)
	shown["due circuits"] = r.show(due, err)
	looks, err := r.DueLooks(r.ctx, now(), 100)
	shown["due looks"] = r.show(looks, err)
	turns, err := r.DueSequences(r.ctx, now(), 100)
	shown["due sequences"] = r.show(ids(turns, func(s order.Sequence) string { return s.Key }), err)
	attended, err := r.Attended(r.ctx, 100)
	shown["attended"] = r.show(ids(attended, func(c admission.Record) string { return string(c.Endpoint) }), err)
	active, err := r.Active(r.ctx, at(45), hook.CircuitCheck{}, 100)
	shown["active"] = r.show(active, err)
	for _, state := range []hook.State{hook.StateRetrying, hook.StateQueued} {
		overdue, err := r.Overdue(r.ctx, state, time.Time{}, now(), 100)
		shown["overdue "+state.String()] = r.show(ids(overdue, refOf), err)
	}
	widest := hook.Target{Endpoint: first, Shards: hook.MaxShards}
	parked, err := r.Parked(r.ctx, widest, time.Time{}, 100, admit.Except{})
	shown["parked"] = r.show(ids(parked, refOf), err)
	for _, state := range states() {
		selected, _, err := r.Select(r.ctx, replay.Selection{Target: widest, State: state, Limit: 100})
		shown["selected "+state.String()] = r.show(ids(selected, refOf), err)
	}
	tenants, _, err := r.Tenants(r.ctx, "", "", 100)
	shown["tenants"] = r.show(tenants, err)
	return shown
}

// changes reads what only the conditions of writes read: how many replays the tenant may
// still start, and how many endpoints may still have one URL.
func (r *reader) changes(id string) map[string]any {
	room := func(write func(n int) error) string {
		for n := range 20 {
			if err := write(n); err != nil {
				return strconv.Itoa(n) + ", then " + hook.CodeOf(err).String()
			}
		}
		return "20"
	}
	tenant, shown := hook.TenantID(id), make(map[string]any)
	all, err := r.Endpoints(r.ctx, tenant)
	shown["endpoints"] = r.show(len(all), err)
	for i, e := range all {
		shown["room at "+e.URL] = room(func(n int) error {
			next := endpoints(nil)[4]
			next.Tenant, next.ID, next.URL = tenant, hook.EndpointID(fmt.Sprintf("ep_%013d%03d", i+1, n)), e.URL
			return r.CreateEndpoint(r.ctx, next)
		})
	}
	shown["room for replays"] = room(func(n int) error {
		j := replays()[0]
		j.Tenant, j.ID = tenant, j.ID[:len(j.ID)-2]+hook.JobID(strconv.Itoa(20+n))
		return r.SaveJob(r.ctx, j)
	})
	return shown
}

func refOf(d hook.Delivery) string {
	text, _ := d.Ref().MarshalText() // never fails
	return string(text)
}

func ids[T any](all []T, id func(T) string) []string {
	texts := make([]string, len(all))
	for i, one := range all {
		texts[i] = id(one)
	}
	return texts
}
