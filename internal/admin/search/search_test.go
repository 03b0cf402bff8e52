package search_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/admin/erasure"
	"surehook.example/surehook/internal/admin/search"
	"surehook.example/surehook/internal/delivery/replay"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/memory"
)

const (
	acme   hook.TenantID = "acme"
	globex hook.TenantID = "globex"

	firstEvent   hook.EventID    = "evt_01jd3m5k8zf4v9q2w7x6y5t4r3"
	theirEvent   hook.EventID    = "evt_01jd3m5k8zf4v9q2w7x6y5t4r4"
	goneEvent    hook.EventID    = "evt_01jd3m5k8zf4v9q2w7x6y5t4r5"
	erasedEvent  hook.EventID    = "evt_01jd3m5k8zf4v9q2w7x6y5t4r6"
	unknownEvent hook.EventID    = "evt_01jd3m5k8zf4v9q2w7x6y5t4r7"
	orders       hook.EndpointID = "ep_0123456789abcdef"
	theirs       hook.EndpointID = "ep_0123456789abcdeg"
	someJob      hook.JobID      = "rpl_01jd3m5k8zf4v9q2w7x6y5t4r3"

	key       = "order-1"
	quotedKey = `"8e03978e"` // as the draft of the header Idempotency-Key writes a key
	// uidWithID is the uid of the other endpoint of acme, with the id of an endpoint in it.
	uidWithID = "old-ep_0123456789abcdef"
)

// counted counts the records that a search reads, and the requests.
type counted struct {
	*memory.Store

	records, requests, lists int
}

func (c *counted) note(records int) { c.records, c.requests = c.records+records, c.requests+1 }

func (c *counted) EventHeads(ctx context.Context, ids []hook.EventID) ([]hook.Event, error) {
	c.note(len(ids))
	return c.Store.EventHeads(ctx, ids)
}

func (c *counted) DeliveriesByRef(ctx context.Context, refs []hook.DeliveryRef) (map[hook.DeliveryRef]hook.Delivery, error) {
	c.note(len(refs))
	return c.Store.DeliveriesByRef(ctx, refs)
}

func (c *counted) EndpointByID(ctx context.Context, id hook.EndpointID) (hook.Endpoint, error) {
	c.note(1)
	return c.Store.EndpointByID(ctx, id)
}

// EndpointByUID counts the record of the uid and the endpoint.
func (c *counted) EndpointByUID(ctx context.Context, tenant hook.TenantID, uid string) (hook.Endpoint, error) {
	c.note(1)
	c.note(1)
	return c.Store.EndpointByUID(ctx, tenant, uid)
}

// Endpoints does not count: its request is one of its own.
func (c *counted) Endpoints(ctx context.Context, tenant hook.TenantID) ([]hook.Endpoint, error) {
	c.lists++
	return c.Store.Endpoints(ctx, tenant)
}

func (c *counted) Job(ctx context.Context, tenant hook.TenantID, id hook.JobID) (replay.Job, error) {
	c.note(1)
	return c.Store.Job(ctx, tenant, id)
}

// bundle is a Searcher over a store with records of two tenants.
type bundle struct {
	*search.Searcher

	store *memory.Store
	now   time.Time
}

// count makes the Searcher count.
func (b *bundle) count() *counted {
	c := &counted{Store: b.store}
	b.Store = c
	return c
}

// delivery returns the id of the delivery of acme's event to orders.
func delivery(generation int) string {
	return hook.DeliveryID{Event: firstEvent, Endpoint: orders, Generation: generation}.String()
}

func setup(tb testing.TB) *bundle {
	tb.Helper()

	b := &bundle{store: memory.NewStore(), now: time.Date(2026, 11, 21, 9, 30, 0, 0, time.UTC)}
	b.Searcher = &search.Searcher{
		Store: b.store, Now: func() time.Time { return b.now },
	}
	ctx := tb.Context()
	check := func(err error) {
		tb.Helper()
		if err != nil {
			tb.Fatal(err)
		}
	}
	for _, e := range []hook.Endpoint{
		{ID: orders, Tenant: acme, UID: "orders", URL: "https://example.com/a"},
		{ID: "ep_0123456789abcdeh", Tenant: acme, UID: uidWithID, URL: "https://example.com/b"},
		{ID: theirs, Tenant: globex, UID: "orders", URL: "https://example.org"},
	} {
		e.EventTypes, e.Status, e.Retry.Jitter, e.CreatedAt = []string{"*"}, hook.StatusActive, hook.JitterFull, b.now
		check(b.store.CreateEndpoint(ctx, e))
	}
	target := hook.Target{Endpoint: orders, Shards: 3}
	event := hook.Event{
		ID: firstEvent, Tenant: acme, Type: "order.paid", Payload: []byte("{}"), Targets: []hook.Target{target}, AcceptedAt: b.now, ExpiresAt: b.now.Add(time.Hour),
	}
	for _, e := range []hook.Event{
		event,
		{ID: hook.KeyedEventID(acme, key), Tenant: acme, Type: "order.keyed", IdempotencyKey: key},
		{ID: hook.KeyedEventID(acme, quotedKey), Tenant: acme, Type: "order.quoted", IdempotencyKey: quotedKey},
		{ID: hook.KeyedEventID(acme, "orders"), Tenant: acme, Type: "order.named", IdempotencyKey: "orders"},
		{ID: hook.KeyedEventID(globex, key), Tenant: globex, Type: "theirs.keyed", IdempotencyKey: key},
		{ID: theirEvent, Tenant: globex, Type: "theirs", Targets: []hook.Target{{Endpoint: theirs, Shards: 1}}},
		{ID: goneEvent, Tenant: acme, Type: "gone", ExpiresAt: b.now, Targets: []hook.Target{target}},
		{ID: erasedEvent, Tenant: acme, Type: "erased", ErasedAt: b.now},
	} {
		e.AcceptedAt, e.Payload = b.now, []byte("{}")
		if e.ExpiresAt.IsZero() {
			e.ExpiresAt = b.now.Add(time.Hour)
		}
		check(b.store.PutEvent(ctx, e))
	}
	// Two generations have records, and the third is queued.
	for generation := 1; generation <= 2; generation++ {
		d := hook.QueuedDelivery(event, target)
		ref := d.Ref()
		ref.Generation = generation
		d = d.At(ref)
		d.State, d.Reason, d.Attempts = hook.StateDead, hook.ReasonRejected, 1
		d.CreatedAt = b.now.Add(time.Duration(generation) * time.Minute)
		d.UpdatedAt = b.now.Add(time.Hour)
		d.Replayed = hook.Replayed{Generation: generation + 1, At: b.now.Add(time.Duration(generation+1) * time.Minute)}
		check(b.store.SaveDelivery(ctx, d, nil))
	}
	check(b.store.SaveJob(ctx, replay.Job{ID: someJob, Tenant: acme, State: replay.JobRunning, CreatedAt: b.now, UpdatedAt: b.now}))
	return b
}

func TestSearcher_Search(t *testing.T) {
	t.Parallel()

	b := setup(t)
	event := func(id hook.EventID, tenant hook.TenantID, eventType string) search.Found {
		return search.Found{Kind: search.KindEvent, ID: string(id), Tenant: tenant, Name: eventType, At: b.now}
	}
	first := event(firstEvent, acme, "order.paid")
	their := event(theirEvent, globex, "theirs")
	keyed := event(hook.KeyedEventID(acme, key), acme, "order.keyed")
	endpoint := search.Found{Kind: search.KindEndpoint, ID: string(orders), Tenant: acme, Name: "orders", At: b.now}
	old := search.Found{Kind: search.KindEndpoint, ID: "ep_0123456789abcdeh", Tenant: acme, Name: uidWithID, At: b.now}
	theirEndpoint := search.Found{Kind: search.KindEndpoint, ID: string(theirs), Tenant: globex, Name: "orders", At: b.now}
	generation := func(n int, state string) search.Found {
		return search.Found{
			Kind: search.KindDelivery, ID: delivery(n), Tenant: acme, Name: "order.paid", State: state, At: b.now.Add(time.Duration(n) * time.Minute),
		}
	}
	job := search.Found{Kind: search.KindReplay, ID: string(someJob), Tenant: acme, State: "running", At: b.now}
	queued := hook.DeliveryID{Event: theirEvent, Endpoint: theirs, Generation: 1}.String()

	tests := []struct {
		name string
		text string
		in   hook.TenantID
		want []search.Found
	}{
		{name: "an event", text: string(firstEvent), in: acme, want: []search.Found{first}},
		{name: "an event of any tenant", text: string(theirEvent), in: hook.AllTenants, want: []search.Found{their}},
		{name: "an event of another tenant", text: string(theirEvent), in: acme},
		{name: "an unknown event", text: string(unknownEvent), in: hook.AllTenants},
		{name: "an expired event", text: string(goneEvent), in: acme},
		{name: "a delivery of an expired event", text: hook.DeliveryID{Event: goneEvent, Endpoint: orders, Generation: 1}.String(), in: acme},
		{name: "an event without its payload", text: string(erasedEvent), in: acme, want: []search.Found{event(erasedEvent, acme, "erased")}},

		{name: "a delivery", text: delivery(1), in: acme, want: []search.Found{generation(1, "dead")}},
		{name: "a replayed delivery of any tenant", text: delivery(2), in: hook.AllTenants, want: []search.Found{generation(2, "dead")}},
		{name: "a queued replay", text: delivery(3), in: acme, want: []search.Found{generation(3, "queued")}},
		{name: "a generation that nobody asked for", text: delivery(4), in: acme},
		{name: "a delivery of another tenant", text: delivery(1), in: globex},
		{name: "a delivery to an endpoint that did not get the event", text: strings.Replace(delivery(1), "abcdef_", "abcdeh_", 1), in: acme},
		{
			name: "a queued delivery", text: queued, in: globex,
			want: []search.Found{{Kind: search.KindDelivery, ID: queued, Tenant: globex, Name: "theirs", State: "queued", At: b.now}},
		},

		{name: "an endpoint", text: string(orders), in: acme, want: []search.Found{endpoint}},
		{name: "an endpoint of any tenant", text: string(theirs), in: hook.AllTenants, want: []search.Found{theirEndpoint}},
		{name: "an endpoint of another tenant", text: string(theirs), in: acme},
		{name: "an unknown endpoint", text: "ep_0000000000000000", in: hook.AllTenants},
		{name: "a uid of one tenant", text: "orders", in: globex, want: []search.Found{theirEndpoint}},
		{name: "a uid needs a tenant", text: "orders", in: hook.AllTenants},
		{
			name: "a uid and an idempotency key", text: "orders", in: acme,
			want: []search.Found{event(hook.KeyedEventID(acme, "orders"), acme, "order.named"), endpoint},
		},
		{name: "an id in a uid comes before the uid", text: uidWithID, in: acme, want: []search.Found{endpoint}},
		{
			name: "a uid with the id of a foreign endpoint is of no use", text: "x-" + string(theirs), in: acme,
		},

		{name: "an idempotency key", text: key, in: acme, want: []search.Found{keyed}},
		{name: "the same key of another tenant", text: key, in: globex, want: []search.Found{event(hook.KeyedEventID(globex, key), globex, "theirs.keyed")}},
		{name: "an idempotency key needs a tenant", text: key, in: hook.AllTenants},
		{name: "an idempotency key in capitals is another", text: "ORDER-1", in: acme},
		{name: "a key with quotes of the key", text: quotedKey, in: acme, want: []search.Found{event(hook.KeyedEventID(acme, quotedKey), acme, "order.quoted")}},
		{name: "a key with quotes of the log", text: `"` + key + `"`, in: acme, want: []search.Found{keyed}},

		{name: "a replay job", text: string(someJob), in: acme, want: []search.Found{job}},
		{name: "a replay job of another tenant", text: string(someJob), in: globex},
		{name: "a replay job needs a tenant", text: string(someJob), in: hook.AllTenants},

		{name: "a tenant", text: "globex", in: hook.AllTenants, want: []search.Found{{Kind: search.KindTenant, ID: "globex", Tenant: globex}}},
		{name: "an unknown tenant", text: "initech", in: hook.AllTenants},
		{name: "the beginning of a tenant", text: "glo", in: hook.AllTenants, want: []search.Found{{Kind: search.KindTenant, ID: "globex", Tenant: globex}}},
		{name: "a part of a uid", text: "DERS", in: acme, want: []search.Found{endpoint}},
		{name: "a part of URLs, the beginning of a uid first", text: "o", in: acme, want: []search.Found{endpoint, old}},
		{name: "a part of a URL", text: "example.com/b", in: acme, want: []search.Found{old}},
		{name: "a part of a URL of another tenant", text: "example.org", in: acme},
		{name: "a tenant's search finds no tenants", text: "globex", in: acme},

		{name: "white space around", text: " \t" + string(firstEvent) + "\n", in: acme, want: []search.Found{first}},
		{name: "quotes and a comma", text: `"` + string(firstEvent) + `",`, in: acme, want: []search.Found{first}},
		{name: "capitals", text: strings.ToUpper(string(firstEvent)), in: acme, want: []search.Found{first}},
		{name: "capitals of an endpoint", text: strings.ToUpper(string(orders)), in: acme, want: []search.Found{endpoint}},
		{name: "an address of the API", text: "https://api.example.com/v1/tenants/acme/events/" + string(firstEvent) + "/attempts?limit=5", in: acme, want: []search.Found{first}},
		{
			name: "an address of the console with a delivery",
			text: "https://api.example.com/console/t/acme/events/" + string(firstEvent) + "?delivery=" + delivery(1), in: acme, want: []search.Found{generation(1, "dead")},
		},
		{name: "a field of a log line", text: `{"event_id":"` + string(firstEvent) + `"}`, in: acme, want: []search.Found{first}},
		{name: "an id that is cut off", text: string(firstEvent)[:20], in: acme},
		{name: "quotes alone", text: `""`, in: acme},
		{name: "no UTF-8", text: "\xff\xfe", in: acme},
		{name: "the longest text", text: strings.Repeat("x", search.MaxText), in: acme},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			got, err := b.Search(t.Context(), search.Query{Text: tt.text, Tenant: tt.in, Jobs: true})
			if diff := cmp.Diff(tt.want, got); diff != "" || err != nil {
				t.Errorf("Search(%q in %s) = %v, %s", tt.text, tt.in, err, diff)
			}
		})
	}
}

func TestSearcher_Search_RefusesTheText(t *testing.T) {
	t.Parallel()

	b := setup(t)
	for _, text := range []string{"", " \n", strings.Repeat("x", search.MaxText+1)} {
		_, err := b.Search(t.Context(), search.Query{Text: text, Tenant: acme})
		if err == nil || hook.CodeOf(err) != hook.CodeInvalid || !strings.Contains(err.Error(), "q") {
			t.Errorf("Search(%q) = %v; want an invalid q", text, err)
		}
	}
}

// TestSearcher_Search_jobs checks that finding jobs needs a scope of its own.
func TestSearcher_Search_jobs(t *testing.T) {
	t.Parallel()

	b := setup(t)
	got, err := b.Search(t.Context(), search.Query{Text: string(someJob), Tenant: acme})
	if err != nil || len(got) > 0 {
		t.Errorf("Search(a job without Jobs) = %v, %v; want nothing", got, err)
	}
}

// TestSearcher_Search_closing checks that a tenant can be found until its erasure ends.
func TestSearcher_Search_closing(t *testing.T) {
	t.Parallel()

	b := setup(t)
	if _, err := b.store.BeginErasure(t.Context(), erasure.Erasure{ID: "era_01jd3m5k8zf4v9q2w7x6y5t4r3", Tenant: globex}); err != nil {
		t.Fatal(err)
	}
	got, err := b.Search(t.Context(), search.Query{Text: "globex", Tenant: hook.AllTenants})
	if err != nil || len(got) != 1 {
		t.Errorf("Search(a tenant that is being erased) = %v, %v; want the tenant", got, err)
	}
}

// TestSearcher_Search_reads compares the number of reads with the documented one.
func TestSearcher_Search_reads(t *testing.T) {
	t.Parallel()

	b := setup(t)
	quoted := `"` + delivery(2) + `"`
	for _, tt := range []struct {
		in                hook.TenantID
		records, requests int
	}{{acme, 7, 4}, {hook.AllTenants, 3, 2}} {
		c := b.count()
		if _, err := b.Search(t.Context(), search.Query{Text: quoted, Tenant: tt.in, Jobs: true}); err != nil {
			t.Fatal(err)
		}
		if c.records != tt.records || c.requests != tt.requests || c.lists > 0 {
			t.Errorf("Search(in %s) read %d records in %d requests, and %d lists; want %d in %d, and none", tt.in, c.records, c.requests, c.lists, tt.records, tt.requests)
		}
	}
}

// TestSearcher_Search_fails checks that a fault of the store is not reported as "nothing found".
func TestSearcher_Search_fails(t *testing.T) {
	t.Parallel()

	b := setup(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, text := range []string{string(firstEvent), string(orders), "orders", string(someJob)} {
		if got, err := b.Search(ctx, search.Query{Text: text, Tenant: acme, Jobs: true}); err == nil {
			t.Errorf("Search(%s) = %v without an error; want the fault", text, got)
		}
	}
}

// FuzzSearcher_Search gives any text to a search of acme: it must only find records of acme, and
// read at most 7.
func FuzzSearcher_Search(f *testing.F) {
	b := setup(f)
	c := b.count()
	for _, text := range []string{
		string(firstEvent), string(theirEvent), delivery(3), string(orders), string(theirs), "orders", key, quotedKey, "globex", string(someJob), "\x00", "'", "https://[::1",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c.records = 0
		got, err := b.Search(t.Context(), search.Query{Text: text, Tenant: acme, Jobs: true})
		if err != nil && hook.CodeOf(err) != hook.CodeInvalid {
			t.Fatalf("Search(%q) = %v", text, err)
		}
		if c.records > 7 || len(got) > 4+search.MaxNamed {
			t.Errorf("Search(%q) read %d records and found %d; want at most 7 and %d", text, c.records, len(got), 4+search.MaxNamed)
		}
		for _, found := range got {
			if found.Tenant != acme {
				t.Errorf("Search(%q) = %+v of another tenant", text, found)
			}
		}
	})
}
