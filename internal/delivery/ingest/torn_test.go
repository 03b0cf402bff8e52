package ingest_test

import (
	"context"
	"sync/atomic"
	"testing"

	"surehook.example/surehook/internal/delivery/ingest"
	"surehook.example/surehook/internal/hook"
)

// tornStore is the store while a transaction is being committed: the tenant shows the change, and
// the endpoints do not yet.
type tornStore struct {
	ingest.Store

	before atomic.Pointer[[]hook.Endpoint] // not nil: the endpoints before the transaction
}

func (s *tornStore) Listing(ctx context.Context, tenant hook.TenantID) (ingest.Listing, error) {
	l, err := s.Store.Listing(ctx, tenant)
	if before := s.before.Load(); before != nil {
		l.Endpoints, l.Torn = nil, true
		for _, e := range *before {
			l.Endpoints = append(l.Endpoints, ingest.SubscriberOf(e))
		}
	}
	return l, err
}

// A post during a change may miss it, because it is not acknowledged yet. A later post may not.
func TestAccept_aTornListingServesOnePost(t *testing.T) {
	t.Parallel()

	for change, want := range map[string]int{"create": 2, "update": 0, "delete": 0} {
		t.Run(change, func(t *testing.T) {
			t.Parallel()

			w := setup(t)
			first := w.endpoint("acme", "order.*")
			torn := &tornStore{Store: w.Store}
			directory := ingest.NewDirectory(torn)
			w.acceptor.Store, w.acceptor.Directory = torn, directory
			old, err := w.Store.Endpoints(t.Context(), "acme")
			if err != nil {
				t.Fatal(err)
			}
			torn.before.Store(&old)
			switch change {
			case "create":
				w.endpoint("acme", "order.*")
			case "update":
				first.EventTypes = []string{"user.*"}
				err = w.Store.UpdateEndpoint(t.Context(), first)
			case "delete":
				err = w.Store.DeleteEndpoint(t.Context(), first)
			}
			if err != nil {
				t.Fatal(err)
			}
			if _, err := w.acceptor.Accept(t.Context(), "acme", paid("meanwhile")); err != nil {
				t.Fatal(err)
			}
			torn.before.Store(nil) // the commit ends, and then the API call
			for _, key := range []string{"a", "b"} {
				result, err := w.acceptor.Accept(t.Context(), "acme", paid(key))
				if err != nil || result.Deliveries != want {
					t.Errorf("a post after the %s has %d deliveries, %v; want %d", change, result.Deliveries, err, want)
				}
			}
		})
	}
}

// tornTypes is the store while a change of an event type is being committed: the catalogue shows
// the change, and the type does not yet.
type tornTypes struct {
	ingest.TypeStore

	hidden bool
}

func (s *tornTypes) TypeListing(ctx context.Context, names []string) (ingest.TypeListing, error) {
	l, err := s.TypeStore.TypeListing(ctx, names)
	if s.hidden {
		l.Types, l.Torn = nil, true
	}
	return l, err
}

func TestAccept_aTornListingOfTypesServesOnePost(t *testing.T) {
	t.Parallel()

	w := setup(t)
	torn := &tornTypes{TypeStore: w.Store, hidden: true}
	types := ingest.NewTypes(torn, hook.ValidationReject, ingest.TypesAge)
	w.acceptor.Types = types
	w.eventType(hook.EventType{Name: "order.paid", Schema: []byte(orderSchema)})
	if _, err := w.acceptor.Accept(t.Context(), "acme", order(`{"order":7}`)); hook.CodeOf(err) != hook.CodeMismatch {
		t.Errorf("Accept(during the commit) = %v; want a refusal", err)
	}
	torn.hidden = false
	for range 2 {
		if _, err := w.acceptor.Accept(t.Context(), "acme", order(`{"order":7}`)); err != nil {
			t.Errorf("Accept(after the commit) = %v; want accepted", err)
		}
	}
}
