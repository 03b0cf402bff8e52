package endpoint_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"surehook.example/surehook/internal/admin/endpoint"
	"surehook.example/surehook/internal/delivery/egress"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/memory"
)

const tenant hook.TenantID = "acme"

// bundle is an Admin over a store in memory, with a clock that tests set.
type bundle struct {
	*endpoint.Admin
	store *memory.Store
	queue *circuitQueue
	now   time.Time
}

func setup(t *testing.T) *bundle {
	t.Helper()

	b := &bundle{store: memory.NewStore(), queue: new(circuitQueue), now: time.Date(2026, 11, 21, 9, 30, 0, 0, time.UTC)}
	b.Admin = &endpoint.Admin{
		Store:        b.store,
		CircuitQueue: b.queue,
		Vault:        memory.Vault{},
		Policy:       egress.Policy{},
		Now:          func() time.Time { return b.now },
		Wait:         func(context.Context, time.Duration) error { return nil },
	}
	return b
}

// create creates an endpoint that has only a URL, unless edit changes that. edit may be nil.
func (b *bundle) create(t *testing.T, edit func(*endpoint.Fields)) (e hook.Endpoint, secret string) {
	t.Helper()

	f := endpoint.Fields{URL: new("https://example.com/hooks")}
	if edit != nil {
		edit(&f)
	}
	e, secret, err := b.Create(t.Context(), tenant, f, "")
	if err != nil {
		t.Fatalf("Create = %v", err)
	}
	return e, secret
}

// stored returns the endpoint from the store.
func (b *bundle) stored(t *testing.T, id hook.EndpointID) hook.Endpoint {
	t.Helper()

	e, err := b.store.Endpoint(t.Context(), tenant, id)
	if err != nil {
		t.Fatalf("Endpoint(%s) = %v", id, err)
	}
	return e
}

// opened returns the endpoint's active secrets as text, newest first.
func (b *bundle) opened(t *testing.T, e hook.Endpoint) []string {
	t.Helper()

	var texts []string
	for _, s := range e.Active(b.now) {
		text, err := memory.Vault{}.Open(t.Context(), s.Sealed, e.Tenant, e.ID)
		if err != nil {
			t.Fatalf("Open = %v", err)
		}
		texts = append(texts, text)
	}
	return texts
}

// fieldsOf returns the names of the wrong fields of an error with CodeInvalid.
func fieldsOf(t *testing.T, err error) []string {
	t.Helper()

	known, ok := errors.AsType[*hook.Error](err)
	if !ok || known.Code != hook.CodeInvalid {
		t.Fatalf("err = %v; want CodeInvalid", err)
	}
	var names []string
	for _, f := range known.Fields {
		names = append(names, f.Field)
	}
	return names
}

// rival is a store in which another writer changes the endpoint just before an update.
type rival struct {
	*memory.Store
	writes int // of the other writer, still to come
}

func (r *rival) UpdateEndpoint(ctx context.Context, e hook.Endpoint) error {
	if r.writes > 0 {
		r.writes--
		other, err := r.Endpoint(ctx, e.Tenant, e.ID)
		if err != nil {
			return err
		}
		other.Description += "x"
		if err := r.Store.UpdateEndpoint(ctx, other); err != nil {
			return err
		}
	}
	return r.Store.UpdateEndpoint(ctx, e)
}
