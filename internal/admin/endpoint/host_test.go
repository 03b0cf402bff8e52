package endpoint_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"surehook.example/surehook/internal/admin/endpoint"
	"surehook.example/surehook/internal/hook"
)

// TestAdmin_PerHost creates and moves endpoints up to the limit of a host. Another port, path or
// case is the same host; other tenants have their own limit.
func TestAdmin_PerHost(t *testing.T) {
	t.Parallel()

	b := setup(t)
	at := func(tenant hook.TenantID, url string) (hook.Endpoint, error) {
		e, _, err := b.Create(t.Context(), tenant, endpoint.Fields{URL: &url}, "")
		return e, err
	}
	for i := range 3 {
		if _, err := at(tenant, fmt.Sprintf("https://hooks.example.com/%d", i)); err != nil {
			t.Fatalf("Create without a limit = %v", err)
		}
	}
	b.PerHost = 3
	refused := func(what string, err error) {
		t.Helper()
		if hook.CodeOf(err) != hook.CodeForbidden || !strings.Contains(err.Error(), "at most 3 endpoints with one host") {
			t.Errorf("%s = %v; want a refusal with the limit", what, err)
		}
	}
	_, err := at(tenant, "https://HOOKS.example.com:8443/other")
	refused("Create", err)
	if _, err := at("globex", "https://hooks.example.com/"); err != nil {
		t.Errorf("Create of another tenant = %v", err)
	}
	other, err := at(tenant, "https://example.com/")
	if err != nil {
		t.Fatalf("Create at another host = %v", err)
	}
	change := func(e hook.Endpoint, url string) error {
		_, err := b.Change(t.Context(), tenant, string(e.ID), 0, endpoint.Fields{URL: &url})
		return err
	}
	refused("Change", change(other, "https://hooks.example.com/3"))

	b.PerHost = 2 // endpoints above a new limit stay, and can move to another path
	all, err := b.store.Endpoints(t.Context(), tenant)
	if err != nil {
		t.Fatalf("Endpoints = %v", err)
	}
	for _, e := range all {
		if err := change(e, e.URL+"/changed"); err != nil {
			t.Errorf("Change of the path of %s = %v", e.URL, err)
		}
	}
	b.PerHost = 3
	first := all[slices.IndexFunc(all, func(e hook.Endpoint) bool { return e.ID != other.ID })]
	if err := change(first, "https://away.example.com/"); err != nil {
		t.Errorf("Change to another host = %v", err)
	}
	if _, err := at(tenant, "https://hooks.example.com/4"); err != nil {
		t.Errorf("Create after a move away = %v", err)
	}
}

// Concurrent writes cannot exceed the limit together.
func TestAdmin_PerHost_race(t *testing.T) {
	t.Parallel()

	b := setup(t)
	b.PerHost = 2
	away, _ := b.create(t, func(f *endpoint.Fields) { f.URL = new("https://away.example.com/") })
	var racers sync.WaitGroup
	for i := range 20 {
		racers.Go(func() {
			url := fmt.Sprintf("https://hooks.example.com/%d", i)
			if i%2 == 0 {
				_, _, _ = b.Create(t.Context(), tenant, endpoint.Fields{URL: &url}, "")
				return
			}
			_, _ = b.Change(t.Context(), tenant, string(away.ID), 0, endpoint.Fields{URL: &url})
		})
	}
	racers.Wait()
	all, err := b.store.Endpoints(t.Context(), tenant)
	if err != nil {
		t.Fatalf("Endpoints = %v", err)
	}
	count := 0
	for _, e := range all {
		if hook.Host(e.URL) == "hooks.example.com" {
			count++
		}
	}
	if count == 0 || count > 2 {
		t.Errorf("%d endpoints with the host; want 1 or 2", count)
	}
}
