// Package search finds a record by an id, wherever somebody has it from: a log, a URL or a mail.
//
// A search for an id reads records by their keys, so its cost does not grow with the number of
// records. A search for a name also lists the endpoints of one tenant, or some tenants by a prefix.
//
// The package changes nothing, and knows neither HTTP nor storage. Package httpapi authorizes the
// caller before the call.
package search

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"surehook.example/surehook/internal/admin/tenant"
	"surehook.example/surehook/internal/delivery/replay"
	"surehook.example/surehook/internal/delivery/settle"
	"surehook.example/surehook/internal/hook"
)

// MaxText bounds the text of a search, in bytes. An idempotency key has 255 at most.
const MaxText = 256

// Store keeps records. Every read sees every write acknowledged before the read began, except for
// EventHeads and Tenants, which may miss the latest ones.
type Store interface {
	// EventHeads returns those of the events that exist, without payload and nonce, in no
	// particular order.
	EventHeads(ctx context.Context, ids []hook.EventID) ([]hook.Event, error)
	settle.DeliveriesReader
	// EndpointByID returns the endpoint of any tenant, or CodeNotFound.
	EndpointByID(ctx context.Context, id hook.EndpointID) (hook.Endpoint, error)
	replay.Endpoints
	// Tenants returns the known tenants with the prefix, those under erasure included, after the given
	// tenant, in the order of their ids, at most limit (1 to 100).
	Tenants(ctx context.Context, prefix string, after hook.TenantID, limit int) (page []tenant.Tenant, next hook.TenantID, err error)
	// Job returns the replay job, or CodeNotFound if the tenant has no such job.
	Job(ctx context.Context, tenant hook.TenantID, id hook.JobID) (replay.Job, error)
}

// Searcher finds records. All fields are required. A Searcher is safe for concurrent use.
type Searcher struct {
	Store Store
	Now   func() time.Time
}

// Kind is the kind of a found record, as it appears in the API.
type Kind string

// The kinds of records.
const (
	KindEvent    Kind = "event"
	KindDelivery Kind = "delivery"
	KindEndpoint Kind = "endpoint"
	KindReplay   Kind = "replay"
	KindTenant   Kind = "tenant"
)

// Found is a found record.
type Found struct {
	Kind   Kind          `json:"kind"`
	ID     string        `json:"id"`
	Tenant hook.TenantID `json:"tenant"`
	Name   string        `json:"name,omitzero"`  // the type of an event, also for a delivery; the uid of an endpoint, or its URL without one; may be empty
	State  string        `json:"state,omitzero"` // of a delivery or a replay job; empty for a delivery that this build cannot read
	At     time.Time     `json:"at,omitzero"`    // when it was created; zero for a tenant
}

// Query asks for the records with a name.
type Query struct {
	// Text is an id, or any text that contains ids, such as a URL: the last id counts. With a
	// tenant, the whole text is also tried as an idempotency key and as a uid. A text without an
	// id is also a part of the name of an endpoint, or the beginning of a tenant.
	Text string
	// Tenant has the records. hook.AllTenants finds records of every tenant, and tenants.
	Tenant hook.TenantID
	Jobs   bool // finds replay jobs, too, of one tenant, because their keys have the tenant
}

// MaxNamed bounds the records found by a part of their name.
const MaxNamed = 5

// Search returns what the text names: at most one record for each way to read the text, at most 4 in
// all, and then MaxNamed with the text in their name. It reads at most 7 records, in 4 requests; also the
// tenants, in two requests, or for a text without an id the tenant's endpoints, in one request per 100. It does
// not find expired events and deleted endpoints, and records of other tenants look like unknown ids.
//
// Errors: CodeInvalid for an empty text, and for more than MaxText bytes.
func (s *Searcher) Search(ctx context.Context, q Query) ([]Found, error) {
	text := strings.TrimSpace(q.Text)
	if text == "" || len(q.Text) > MaxText {
		return nil, hook.Invalid(hook.FieldError{Field: "q", Message: fmt.Sprintf("must be 1 to %d bytes", MaxText)})
	}
	l := lookup{Searcher: s, tenant: q.Tenant, jobs: q.Jobs, id: lastID(text), names: namesIn(text)}
	var all []Found
	for _, find := range []func(context.Context) ([]Found, error){l.events, l.endpoints, l.job, l.named} {
		found, err := find(ctx)
		if err != nil {
			return nil, fmt.Errorf("search: %w", err)
		}
		for _, f := range found {
			if !slices.ContainsFunc(all, func(g Found) bool { return g.Kind == f.Kind && g.ID == f.ID }) {
				all = append(all, f)
			}
		}
	}
	return all, nil
}

// id is a parsed id, of one kind or of none.
type id struct {
	event    hook.EventID // for a delivery, its event
	delivery hook.DeliveryID
	endpoint hook.EndpointID
	job      hook.JobID
}

// lastID returns the last id in the text, because a URL names the outer record first. It takes ids in
// capitals, too.
func lastID(text string) id {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z')
	})
	for _, word := range slices.Backward(words) {
		if event, err := hook.ParseEventID(word); err == nil {
			return id{event: event}
		}
		if delivery, err := hook.ParseDeliveryID(word); err == nil {
			return id{event: delivery.Event, delivery: delivery}
		}
		if endpoint, err := hook.ParseEndpointID(word); err == nil {
			return id{endpoint: endpoint}
		}
		if job, err := hook.ParseJobID(word); err == nil {
			return id{job: job}
		}
	}
	return id{}
}

// namesIn returns the text without the quotes around it, and then the text itself if it has any,
// because they may be part of an idempotency key.
func namesIn(text string) []string {
	bare := strings.Trim(text, "\"'`")
	if bare == text || bare == "" {
		return []string{text}
	}
	return []string{bare, text}
}

// lookup is one search.
type lookup struct {
	*Searcher

	tenant hook.TenantID
	jobs   bool
	id     id
	names  []string // of namesIn
}

// sees reports whether the search may find records of the tenant.
func (l *lookup) sees(tenant hook.TenantID) bool {
	return l.tenant == hook.AllTenants || l.tenant == tenant
}

// events returns the event or the delivery with the id, and the events with the text as
// idempotency key. It reads three events and two deliveries at most, in two requests.
func (l *lookup) events(ctx context.Context) ([]Found, error) {
	var ids []hook.EventID
	if l.id.event != "" {
		ids = append(ids, l.id.event)
	}
	if l.tenant != hook.AllTenants {
		for _, name := range l.names {
			ids = append(ids, hook.KeyedEventID(l.tenant, name))
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	heads, err := l.Store.EventHeads(ctx, ids)
	if err != nil {
		return nil, fmt.Errorf("read %d events: %w", len(ids), err)
	}
	var found []Found
	for _, id := range ids {
		i := slices.IndexFunc(heads, func(e hook.Event) bool { return e.ID == id })
		if i < 0 || !l.sees(heads[i].Tenant) || heads[i].Expired(l.Now()) {
			continue
		}
		e := heads[i]
		if id != l.id.delivery.Event {
			found = append(found, Found{Kind: KindEvent, ID: string(id), Tenant: e.Tenant, Name: e.Type, At: e.AcceptedAt})
			continue
		}
		delivery, err := l.delivery(ctx, e)
		if err != nil {
			return nil, err
		}
		found = append(found, delivery...)
	}
	return found, nil
}

// delivery returns the delivery with the id, of the event. A queued delivery has no record: the event
// names the first generation, and the record of the generation before names a replay.
func (l *lookup) delivery(ctx context.Context, e hook.Event) ([]Found, error) {
	ref, ok := e.Ref(l.id.delivery.Endpoint, l.id.delivery.Generation)
	if !ok {
		return nil, nil
	}
	refs := []hook.DeliveryRef{ref}
	before, replayed := ref.Predecessor()
	if replayed {
		refs = append(refs, before)
	}
	records, err := l.Store.DeliveriesByRef(ctx, refs)
	if err != nil {
		return nil, fmt.Errorf("read delivery %s: %w", ref, err)
	}
	found := Found{Kind: KindDelivery, ID: ref.String(), Tenant: e.Tenant, Name: e.Type, At: e.AcceptedAt, State: hook.StateQueued.String()}
	d, recorded := records[ref]
	switch by := records[before].Replayed; {
	case recorded && d.Unreadable():
		found.State = ""
	case recorded:
		found.State, found.At = d.State.String(), d.CreatedAt
	case !replayed:
	case by.Generation == ref.Generation:
		found.At = by.At
	default:
		return nil, nil
	}
	return []Found{found}, nil
}

// endpoints returns the endpoint with the id, or else the one with the uid, because a uid may contain
// an id. It reads at most three records.
func (l *lookup) endpoints(ctx context.Context) ([]Found, error) {
	if l.id.endpoint != "" {
		e, err := l.Store.EndpointByID(ctx, l.id.endpoint)
		if found, err := l.endpoint(e, err); len(found) > 0 || err != nil {
			return found, err
		}
	}
	if uid := l.names[0]; l.tenant != hook.AllTenants && hook.ValidUID(uid) {
		return l.endpoint(l.Store.EndpointByUID(ctx, l.tenant, uid))
	}
	return nil, nil
}

// endpoint returns the result of a read as a list: empty if there is no endpoint, or if the search
// must not find it.
func (l *lookup) endpoint(e hook.Endpoint, err error) ([]Found, error) {
	if hook.CodeOf(err) == hook.CodeNotFound || err == nil && !l.sees(e.Tenant) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read endpoint: %w", err)
	}
	return []Found{foundEndpoint(e)}, nil
}

func foundEndpoint(e hook.Endpoint) Found {
	return Found{Kind: KindEndpoint, ID: string(e.ID), Tenant: e.Tenant, Name: cmp.Or(e.UID, e.URL), At: e.CreatedAt}
}

// job returns the replay job with the id, in one read.
func (l *lookup) job(ctx context.Context) ([]Found, error) {
	if l.id.job == "" || !l.jobs || l.tenant == hook.AllTenants {
		return nil, nil
	}
	j, err := l.Store.Job(ctx, l.tenant, l.id.job)
	if hook.CodeOf(err) == hook.CodeNotFound {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read replay: %w", err)
	}
	return []Found{{Kind: KindReplay, ID: string(j.ID), Tenant: j.Tenant, State: j.State.String(), At: j.CreatedAt}}, nil
}

// named returns the endpoints of the tenant with the text in their names, those that begin with it
// first, or the tenants that begin with it. A text with an id names no endpoint by its name, but a tenant's
// own name may have one.
func (l *lookup) named(ctx context.Context) ([]Found, error) {
	text := l.names[0]
	switch {
	case l.tenant == hook.AllTenants:
		return l.tenants(ctx, text)
	case l.id != (id{}):
		return nil, nil
	}
	all, err := l.Store.Endpoints(ctx, l.tenant)
	if err != nil {
		return nil, fmt.Errorf("list endpoints: %w", err)
	}
	all = slices.DeleteFunc(all, func(e hook.Endpoint) bool { return !e.Named(text) })
	slices.SortStableFunc(all, func(a, b hook.Endpoint) int { return cmp.Compare(rank(a, text), rank(b, text)) })
	var found []Found
	for _, e := range all[:min(len(all), MaxNamed)] {
		found = append(found, foundEndpoint(e))
	}
	return found, nil
}

// rank is smaller for an endpoint whose uid begins with the text.
func rank(e hook.Endpoint, text string) int {
	if strings.HasPrefix(strings.ToLower(e.UID), strings.ToLower(text)) {
		return 0
	}
	return 1
}

func (l *lookup) tenants(ctx context.Context, prefix string) ([]Found, error) {
	if _, err := hook.ParseTenantID(prefix); err != nil {
		return nil, nil //nolint:nilerr // no tenant begins with the text
	}
	known, _, err := l.Store.Tenants(ctx, prefix, "", MaxNamed)
	if err != nil {
		return nil, fmt.Errorf("list tenants: %w", err)
	}
	var found []Found
	for _, t := range known {
		found = append(found, Found{Kind: KindTenant, ID: string(t.ID), Tenant: t.ID})
	}
	return found, nil
}
