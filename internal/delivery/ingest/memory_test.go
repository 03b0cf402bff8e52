package ingest_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"surehook.example/surehook/internal/delivery/ingest"
	"surehook.example/surehook/internal/hook"
)

// largeTenants has tenants of as many endpoints as allowed, each with as much of what ingest reads as
// allowed.
type largeTenants struct{ ingest.Store }

func (largeTenants) TenantVersion(context.Context, hook.TenantID) (int64, error) { return 1, nil }

func (largeTenants) Listing(context.Context, hook.TenantID) (ingest.Listing, error) {
	l := ingest.Listing{Version: 1}
	for i := range hook.MaxEndpointsPerTenant {
		s := ingest.Subscriber{ID: hook.EndpointID(fmt.Sprintf("ep_%016d", i))}
		for n := range hook.MaxEventTypes {
			s.EventTypes = append(s.EventTypes, fmt.Sprintf("%0128d", n))
		}
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
