package porttest

import (
	"context"
	"slices"
	"testing"
	"time"

	"surehook.example/surehook/internal/hook"
)

func linkCases() []storeCase {
	return []storeCase{
		{name: "a portal link comes back, in its tenant alone", run: linkComesBack},
		{name: "an opened portal link has a key, in no list of keys", run: linkOpens},
		{name: "a removed portal link has no key", run: linkRemoved},
		{name: "a portal link opened meanwhile is not removed", run: linkRemovedUnread},
		{name: "of 20 racers that open a portal link, one wins", run: linkOpenRace},
		{name: "a portal link opened and removed by racers leaves no key", run: linkRemoveRace},
	}
}

func sampleLink(tenant hook.TenantID) hook.PortalLink {
	id := hook.NewKeyID()
	return hook.PortalLink{
		ID: id, Tenant: tenant, Scopes: []hook.Scope{hook.ScopeRead, hook.ScopeReplay}, CreatedAt: storeEpoch(),
		ExpiresAt: storeExpiry().Add(time.Millisecond), CodeHash: hook.HashKey(hook.NewLinkCode(id)), OpenUntil: storeEpoch().Add(10 * time.Minute),
	}
}

// opened returns the link with a key.
func opened(l hook.PortalLink) hook.PortalLink {
	l.KeyHash = hook.HashKey(hook.NewKeyText())
	return l
}

func linkComesBack(t *testing.T, s StoreUnderTest) {
	l := sampleLink("acme")
	check(t, s.PutLink(t.Context(), l))
	got, err := s.Link(t.Context(), "acme", l.ID)
	wantSame(t, "Link()", l, got, err)
	_, err = s.Link(t.Context(), "globex", l.ID)
	wantCode(t, "Link(of another tenant)", err, hook.CodeNotFound)
	_, err = s.Link(t.Context(), "acme", hook.NewKeyID())
	wantCode(t, "Link(unknown)", err, hook.CodeNotFound)
	wantCode(t, "PutLink(again)", s.PutLink(t.Context(), l), hook.CodeConflict)
	stranger := opened(l)
	stranger.Tenant = "globex"
	wantCode(t, "OpenLink(of another tenant)", s.OpenLink(t.Context(), stranger), hook.CodeConflict)
	wantKey(t, s, stranger.KeyHash, hook.APIKey{})
	stranger.KeyHash = ""
	wantCode(t, "RemoveLink(of another tenant)", s.RemoveLink(t.Context(), stranger), hook.CodeConflict)
	got, err = s.Link(t.Context(), "acme", l.ID)
	wantSame(t, "Link(after the strangers)", l, got, err)
}

func linkOpens(t *testing.T, s StoreUnderTest) {
	l := sampleLink("acme")
	check(t, s.PutLink(t.Context(), l))
	first, second := opened(l), opened(l)
	check(t, s.OpenLink(t.Context(), first))
	wantCode(t, "OpenLink(again)", s.OpenLink(t.Context(), second), hook.CodeConflict)
	wantCode(t, "OpenLink(with the same key)", s.OpenLink(t.Context(), first), hook.CodeConflict)
	got, err := s.Link(t.Context(), "acme", l.ID)
	wantSame(t, "Link(opened)", first, got, err)
	wantKey(t, s, second.KeyHash, hook.APIKey{})
	want := hook.APIKey{
		ID: l.ID, Name: "portal link", Tenant: "acme", Scopes: l.Scopes, Hash: first.KeyHash, CreatedAt: l.CreatedAt,
		Restriction: hook.Restriction{ExpiresAt: l.ExpiresAt}, OfLink: true,
	}
	k, err := s.KeyByHash(t.Context(), first.KeyHash)
	wantSame(t, "KeyByHash(of the link)", want, k, err)
	all, err := s.Keys(t.Context())
	wantSame(t, "Keys()", []hook.APIKey(nil), all, err)
	_, err = s.DeleteKey(t.Context(), l.ID)
	wantCode(t, "DeleteKey(of the link)", err, hook.CodeNotFound)
}

func linkRemoved(t *testing.T, s StoreUnderTest) {
	for name, l := range map[string]hook.PortalLink{"new": sampleLink("acme"), "opened": opened(sampleLink("acme"))} {
		stored := l
		stored.KeyHash = ""
		check(t, s.PutLink(t.Context(), stored))
		if l.Opened() {
			check(t, s.OpenLink(t.Context(), l))
		}
		check(t, s.RemoveLink(t.Context(), l))
		_, err := s.Link(t.Context(), "acme", l.ID)
		wantCode(t, "Link("+name+", removed)", err, hook.CodeNotFound)
		wantKey(t, s, l.KeyHash, hook.APIKey{})
		wantCode(t, "RemoveLink("+name+", again)", s.RemoveLink(t.Context(), l), hook.CodeConflict)
		late := opened(stored)
		wantCode(t, "OpenLink("+name+", removed)", s.OpenLink(t.Context(), late), hook.CodeConflict)
		wantKey(t, s, late.KeyHash, hook.APIKey{})
	}
}

func linkRemovedUnread(t *testing.T, s StoreUnderTest) {
	l := sampleLink("acme")
	check(t, s.PutLink(t.Context(), l))
	now := opened(l)
	check(t, s.OpenLink(t.Context(), now))
	wantCode(t, "RemoveLink(as read before)", s.RemoveLink(t.Context(), l), hook.CodeConflict)
	wantCode(t, "RemoveLink(with another key)", s.RemoveLink(t.Context(), opened(l)), hook.CodeConflict)
	got, err := s.Link(t.Context(), "acme", l.ID)
	wantSame(t, "Link()", now, got, err)
	if _, err := s.KeyByHash(t.Context(), now.KeyHash); err != nil {
		t.Errorf("KeyByHash() = %v; want the key", err)
	}
}

func linkOpenRace(t *testing.T, s StoreUnderTest) {
	l := sampleLink("acme")
	check(t, s.PutLink(t.Context(), l))
	tries := make([]hook.PortalLink, 20)
	for i := range tries {
		tries[i] = opened(l)
	}
	winner := wantOne(t, race(t, len(tries), func(ctx context.Context, i int) error { return s.OpenLink(ctx, tries[i]) }))
	for i, try := range tries {
		if _, err := s.KeyByHash(t.Context(), try.KeyHash); (err == nil) != (i == winner) {
			t.Errorf("KeyByHash(racer %d) = %v; want the key of racer %d alone", i, err, winner)
		}
	}
}

func linkRemoveRace(t *testing.T, s StoreUnderTest) {
	for range 5 {
		l := sampleLink("acme")
		check(t, s.PutLink(t.Context(), l))
		now := opened(l)
		winners := race(t, 2, func(ctx context.Context, i int) error {
			if i == 0 {
				return s.OpenLink(ctx, now)
			}
			return s.RemoveLink(ctx, l)
		})
		_, linkErr := s.Link(t.Context(), "acme", l.ID)
		_, keyErr := s.KeyByHash(t.Context(), now.KeyHash)
		if isOpen := slices.Contains(winners, 0); len(winners) != 1 || (linkErr == nil) != isOpen || (keyErr == nil) != isOpen {
			t.Errorf("winners %v, Link() = %v, KeyByHash() = %v; want one winner, and the key with the link alone", winners, linkErr, keyErr)
		}
	}
}

// furnishLinks stores a new and an opened link, and returns the opened link.
func furnishLinks(t *testing.T, s StoreUnderTest, tenant hook.TenantID) hook.PortalLink {
	t.Helper()

	check(t, s.PutLink(t.Context(), sampleLink(tenant)))
	l := sampleLink(tenant)
	check(t, s.PutLink(t.Context(), l))
	l = opened(l)
	check(t, s.OpenLink(t.Context(), l))
	return l
}
