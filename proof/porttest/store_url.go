package porttest

import (
	"context"
	"testing"

	"surehook.example/surehook/internal/hook"
)

// at returns an endpoint of the tenant with the URL.
func at(tenant hook.TenantID, url string) hook.Endpoint {
	e := smallEndpoint(tenant)
	e.URL = url
	return e
}

func endpointMoves(t *testing.T, s StoreUnderTest) {
	e := create(t, s, at("acme", "https://example.com/a"))
	before, err := s.TenantVersion(t.Context(), "acme")
	check(t, err)
	e.URL = "https://example.com/b"
	check(t, s.MoveEndpoint(t.Context(), e, "https://example.com/a"))
	e.Version++
	got, err := s.Endpoint(t.Context(), "acme", e.ID)
	wantSame(t, "Endpoint(moved)", e, got, err)
	after, err := s.TenantVersion(t.Context(), "acme")
	if check(t, err); after == before {
		t.Errorf("TenantVersion(after a move) = %d, as before; want a different version", after)
	}
	check(t, s.DeleteEndpoint(t.Context(), e))
}

// urlLimit fills one URL. A refused create, a refused move and an update change no
// count; a delete and a move away make room for one endpoint each.
func urlLimit(t *testing.T, s StoreUnderTest) {
	const url, other = "https://example.com/hooks?a=1", "https://example.com/hooks?a=2"
	var all []hook.Endpoint
	for range hook.MaxEndpointsPerURL {
		all = append(all, create(t, s, at("acme", url)))
	}
	full := func(when string) {
		t.Helper()
		for _, same := range []string{url, "https://EXAMPLE.com:443/hooks?a=1"} {
			refused := at("acme", same)
			err := s.CreateEndpoint(t.Context(), refused)
			wantCode(t, "CreateEndpoint("+same+", "+when+")", err, hook.CodeForbidden)
			wantMessage(t, err, "at most 10 endpoints with one URL")
			_, err = s.Endpoint(t.Context(), "acme", refused.ID)
			wantCode(t, "Endpoint(refused)", err, hook.CodeNotFound)
		}
	}
	full("11th")
	create(t, s, at("globex", url))
	stranger := create(t, s, at("acme", other))
	moved := stranger
	moved.URL = url
	wantCode(t, "MoveEndpoint(11th)", s.MoveEndpoint(t.Context(), moved, other), hook.CodeForbidden)
	got, err := s.Endpoint(t.Context(), "acme", stranger.ID)
	wantSame(t, "Endpoint(not moved)", stranger, got, err)

	check(t, s.UpdateEndpoint(t.Context(), all[0]))
	full("after an update")
	respelled := all[1]
	respelled.URL = "https://example.com:443/hooks?a=1"
	check(t, s.MoveEndpoint(t.Context(), respelled, url)) // the same receiver
	full("after another spelling")
	check(t, s.DeleteEndpoint(t.Context(), all[2]))
	create(t, s, at("acme", url))
	full("after a delete and a create")
	away := all[3]
	away.URL = other
	check(t, s.MoveEndpoint(t.Context(), away, url))
	check(t, s.MoveEndpoint(t.Context(), moved, other))
	full("after a move away and a move to")
}

func urlRace(t *testing.T, s StoreUnderTest) {
	wantWinners(t, hook.MaxEndpointsPerURL, hook.CodeForbidden, func(ctx context.Context) error {
		return s.CreateEndpoint(ctx, at("acme", "https://example.com/hooks"))
	})
}

// wantWinners makes 20 racing calls and wants as many successes, and refusals with
// the code.
func wantWinners(t *testing.T, want int, code hook.Code, call func(ctx context.Context) error) {
	t.Helper()

	winners := raceFor(t, 20, code, func(ctx context.Context, _ int) error { return call(ctx) })
	if len(winners) != want {
		t.Fatalf("%d of 20 racing calls succeed; want %d", len(winners), want)
	}
}

// tenantVersionRequired writes for the version of the tenant as read, and for another one.
func tenantVersionRequired(t *testing.T, s StoreUnderTest) {
	const url, other = "https://example.com/a", "https://example.com/b"
	now := func() *int64 {
		version, err := s.TenantVersion(t.Context(), "acme")
		check(t, err)
		return &version
	}
	unknown := now()
	first := at("acme", url)
	first.TenantVersion = unknown // of a tenant without a record
	check(t, s.CreateEndpoint(t.Context(), first))
	first.Version, first.TenantVersion = 1, nil
	got, err := s.Endpoint(t.Context(), "acme", first.ID)
	wantSame(t, "Endpoint", first, got, err)

	for _, past := range []*int64{unknown, new(*now() + 1)} {
		refused := at("acme", url)
		refused.TenantVersion = past
		wantCode(t, "CreateEndpoint(another version)", s.CreateEndpoint(t.Context(), refused), hook.CodeConflict)
		moved := first
		moved.URL, moved.TenantVersion = other, past
		wantCode(t, "MoveEndpoint(another version)", s.MoveEndpoint(t.Context(), moved, url), hook.CodeConflict)
	}
	got, err = s.Endpoint(t.Context(), "acme", first.ID)
	wantSame(t, "Endpoint(not moved)", first, got, err)

	moved := first
	moved.URL, moved.TenantVersion = other, now()
	check(t, s.MoveEndpoint(t.Context(), moved, url))
	moved.Version, moved.TenantVersion = 2, nil
	got, err = s.Endpoint(t.Context(), "acme", first.ID)
	wantSame(t, "Endpoint(moved)", moved, got, err)
	second := at("acme", url)
	second.TenantVersion = now()
	check(t, s.CreateEndpoint(t.Context(), second))
}

func tenantVersionRace(t *testing.T, s StoreUnderTest) {
	version, err := s.TenantVersion(t.Context(), "acme")
	check(t, err)
	wantWinners(t, 1, hook.CodeConflict, func(ctx context.Context) error {
		e := at("acme", "https://example.com/hooks")
		e.TenantVersion = &version
		return s.CreateEndpoint(ctx, e)
	})
}
