package tenant_test

import (
	"context"
	"testing"

	"surehook.example/surehook/internal/admin/page"
	"surehook.example/surehook/internal/admin/tenant"
	"surehook.example/surehook/internal/hook"
)

// lagging lists an erased tenant first: the page is empty, and acme follows.
type lagging struct{ tenant.Store }

func (lagging) Tenants(_ context.Context, _ string, after hook.TenantID, _ int) ([]tenant.Tenant, hook.TenantID, error) {
	if after == "" {
		return nil, "aaa", nil
	}
	return []tenant.Tenant{{ID: "acme"}}, "", nil
}

func TestAdmin_List_GoesOnAfterAnEmptyPage(t *testing.T) {
	t.Parallel()

	a := tenant.Admin{Store: lagging{}}
	first, err := a.List(t.Context(), "", page.Request{Limit: 1})
	if err != nil || len(first.Data) != 0 || first.Next == "" {
		t.Fatalf("List() = %+v, %v; want an empty page with a cursor", first, err)
	}
	second, err := a.List(t.Context(), "", page.Request{Limit: 1, Cursor: first.Next})
	if err != nil || len(second.Data) != 1 || second.Next != "" {
		t.Errorf("List(cursor) = %+v, %v; want acme and the end", second, err)
	}
}
