package tenant_test

import (
	"context"
	"strings"
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

// Each text with which an id can begin is a prefix. The ids "." and ".." do not exist, but longer
// ids begin with them.
func TestAdmin_List_AcceptsEachPrefixOfAnID(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name   string
		prefix string
		ok     bool
	}{
		{name: "no prefix", prefix: "", ok: true},
		{name: "a letter", prefix: "a", ok: true},
		{name: "a dot", prefix: ".", ok: true},
		{name: "two dots", prefix: "..", ok: true},
		{name: "three dots", prefix: "...", ok: true},
		{name: "the longest id", prefix: strings.Repeat("a", 128), ok: true},
		{name: "longer than any id", prefix: strings.Repeat("a", 129), ok: false},
		{name: "a character of no id", prefix: "a/", ok: false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			a := tenant.Admin{Store: lagging{}}
			_, err := a.List(t.Context(), tt.prefix, page.Request{Limit: 1})
			if (err == nil) != tt.ok || err != nil && hook.CodeOf(err) != hook.CodeInvalid {
				t.Errorf("List(%q) = %v; want accepted: %t, or CodeInvalid", tt.prefix, err, tt.ok)
			}
		})
	}
}
