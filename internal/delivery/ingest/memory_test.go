package ingest_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"surehook.example/surehook/internal/delivery/ingest"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/proof/work"
)

// largeTenants has tenants of as many endpoints as allowed, each with as much of what ingest reads as
// allowed.
type largeTenants struct{ ingest.Store }

func (largeTenants) TenantVersion(context.Context, hook.TenantID) (int64, error) { return 1, nil }

func (largeTenants) Listing(context.Context, hook.TenantID) (ingest.Listing, error) {
	l := ingest.Listing{Mark: ingest.Mark{Version: 1}}
	for i := range hook.DefaultEndpoints {
		s := ingest.Subscriber{ID: hook.EndpointID(fmt.Sprintf("ep_%016d", i))}
		for n := range hook.MaxEventTypes {
			s.EventTypes = append(s.EventTypes, fmt.Sprintf("%0128d", n))
		}
		s.EventTypes[0] = "*" // so that the filters are asked
		var fields []string
		for n := range 95 {
			fields = append(fields, fmt.Sprintf(`"%02d":[{"numeric":[">",1,"<",%d]}]`, n, n+2))
		}
		s.Filter = fmt.Appendf(nil, `{"payload":{%s}}`, strings.Join(fields, ","))
		l.Endpoints = append(l.Endpoints, s)
	}
	return l, nil
}

// A process keeps no more than MaxDirectory bytes of its tenants, however many there are and whatever
// they store; the largest tenant is kept.
func TestDirectory_memory(t *testing.T) { //nolint:paralleltest // counts the memory of the process
	w := setup(t)
	w.acceptor.Directory = ingest.NewDirectory(largeTenants{w.Store})
	inUse := func() int {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc)
	}
	before := inUse()
	for i := range 4 {
		if _, err := w.acceptor.Accept(t.Context(), hook.TenantID(fmt.Sprint("tenant", i)), paid("")); err != nil {
			t.Fatal(err)
		}
		if got := inUse() - before; got > ingest.MaxDirectory || got < ingest.MaxDirectory/3 {
			t.Errorf("%d tenants take %d MiB; want the last one, and at most %d", i+1, got>>20, ingest.MaxDirectory>>20)
		}
	}
	runtime.KeepAlive(w.acceptor)
}

// nothing keeps no event, as a process does not.
type nothing struct{ ingest.Store }

func (nothing) PutEvent(context.Context, hook.Event) error { return nil }

func (nothing) RegisterTenant(context.Context, hook.TenantID) error { return nil }

// largeTypes has event types whose schemas take the most memory.
type largeTypes struct{}

func (largeTypes) Catalogue(context.Context) (hook.Catalogue, error) {
	return hook.Catalogue{Version: 1, Types: 1, Checked: 1}, nil
}

func (largeTypes) TypeListing(_ context.Context, all []string) (ingest.TypeListing, error) {
	l := ingest.TypeListing{Catalogue: hook.Catalogue{Version: 1, Types: 1, Checked: 1}}
	for _, name := range all {
		l.Types = append(l.Types, hook.EventType{
			Name: name, Validation: hook.ValidationWarn, Schema: []byte(`{"properties":{` + work.Parts(1000, `"property$":{"type":"string"}`) + `}}`),
		})
	}
	return l, nil
}

// TestAcceptor_memory posts batches of the largest tenants, of event types with the largest schemas.
func TestAcceptor_memory(t *testing.T) {
	t.Parallel()

	work.HoldMemory(t, func() {
		w := setup(t)
		w.acceptor.Store = nothing{w.Store}
		w.acceptor.Directory = ingest.NewDirectory(largeTenants{w.Store})
		w.acceptor.Types = ingest.NewTypes(largeTypes{}, hook.ValidationWarn, time.Hour)
		for tenant := range 5 {
			batch := make([]ingest.Request, hook.MaxBatchEvents)
			for i := range batch {
				batch[i] = ingest.Request{Type: fmt.Sprintf("type%d.n%d", tenant, i), Payload: work.Usual(30_000)}
			}
			for i, r := range w.acceptor.AcceptBatch(t.Context(), hook.TenantID(fmt.Sprint("tenant", tenant)), batch) {
				if r.Err != nil {
					t.Errorf("event %d of tenant %d: %v", i, tenant, r.Err)
				}
			}
		}
	})
}
