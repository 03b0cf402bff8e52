package porttest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"surehook.example/surehook/internal/delivery/ingest"
	"surehook.example/surehook/internal/hook"
)

func endpointCases() []storeCase {
	return []storeCase{
		{name: "an endpoint comes back as version 1", run: endpointComesBack},
		{name: "a minimal endpoint comes back", run: smallEndpointComesBack},
		{name: "an existing endpoint is not created again", run: endpointOnce},
		{name: "an update is the next version", run: endpointUpdates},
		{name: "a change of another version conflicts and changes nothing", run: endpointConflict},
		{name: "of 20 racing updates of a version exactly one wins", run: endpointRace},
		{name: "a deleted endpoint is gone", run: endpointDeletes},
		{name: "every change changes the tenant's version", run: tenantVersionChanges},
		{name: "a tenant reads its own endpoints only", run: tenantsAreApart},
		{name: "an endpoint id belongs to one tenant", run: endpointOfOneTenant},
		{name: "TLS settings are a record of their own", run: tlsApart},
		{name: "endpoints are listed in the order of their ids", run: endpointsInOrder},
		{name: "a list has every change acknowledged before", run: listAfterChange},
		{name: "changes since a list are those of its endpoints and limits", run: changesOfList},
		{name: "too many changes need a whole list", run: tooManyChanges},
		{name: "a tenant has at most 500 endpoints", run: endpointLimit},
		{name: "an endpoint moves to another URL", run: endpointMoves},
		{name: "a tenant has at most 10 endpoints with one URL", run: urlLimit},
		{name: "of 20 racing creates with one URL exactly 10 win", run: urlRace},
		{name: "a write may require the version of the tenant", run: tenantVersionRequired},
		{name: "of 20 racing creates for one version of the tenant exactly one wins", run: tenantVersionRace},
	}
}

// tlsApart follows TLS settings through the life of an endpoint. Endpoints never hold the
// material, and a change of anything else keeps it.
func tlsApart(t *testing.T, s StoreUnderTest) {
	e := sampleEndpoint("acme")
	first := hook.Material{ID: "m1", CA: "ca", Certificate: "chain", Sealed: []byte{7, 0xff}}
	e.TLS = hook.TLS{ID: "m1", CA: true, Client: true, Subject: "CN=Zoë", NotAfter: storeExpiry(), Material: &first}
	want := e
	want.TLS.Material, want.Version = nil, 1
	check(t, s.CreateEndpoint(t.Context(), e))
	got, err := s.Endpoint(t.Context(), "acme", e.ID)
	wantSame(t, "Endpoint", want, got, err)
	all, err := s.Endpoints(t.Context(), "acme")
	wantSame(t, "Endpoints", []hook.Endpoint{want}, all, err)
	material, err := s.TLSMaterial(t.Context(), "acme", e.ID)
	wantSame(t, "TLSMaterial", first, material, err)
	_, err = s.TLSMaterial(t.Context(), "other", e.ID)
	wantCode(t, "TLSMaterial(another tenant)", err, hook.CodeNotFound)

	got.Description = "changed"
	check(t, s.UpdateEndpoint(t.Context(), got))
	got.Version++
	material, err = s.TLSMaterial(t.Context(), "acme", e.ID)
	wantSame(t, "TLSMaterial(after another change)", first, material, err)

	second := hook.Material{ID: "m2", CA: "other"}
	got.TLS = hook.TLS{ID: "m2", CA: true, Material: &second}
	check(t, s.UpdateEndpoint(t.Context(), got))
	wantCode(t, "UpdateEndpoint(again)", s.UpdateEndpoint(t.Context(), got), hook.CodeConflict)
	got.Version++
	material, err = s.TLSMaterial(t.Context(), "acme", e.ID)
	wantSame(t, "TLSMaterial(changed)", second, material, err)

	got.TLS = hook.TLS{Material: &hook.Material{}}
	check(t, s.UpdateEndpoint(t.Context(), got))
	_, err = s.TLSMaterial(t.Context(), "acme", e.ID)
	wantCode(t, "TLSMaterial(removed)", err, hook.CodeNotFound)

	e = sampleEndpoint("acme")
	e.TLS = hook.TLS{ID: "m1", CA: true, Material: &first}
	check(t, s.CreateEndpoint(t.Context(), e))
	e.Version = 1
	check(t, s.DeleteEndpoint(t.Context(), e))
	_, err = s.TLSMaterial(t.Context(), "acme", e.ID)
	wantCode(t, "TLSMaterial(deleted)", err, hook.CodeNotFound)
}

// sampleEndpoint returns an endpoint of the tenant with all fields set.
func sampleEndpoint(tenant hook.TenantID) hook.Endpoint {
	id := hook.NewEndpointID()
	return hook.Endpoint{
		ID:            id,
		Tenant:        tenant,
		UID:           "billing-" + string(id)[3:],
		URL:           "https://example.com/hooks?a=1&b=" + string(id),
		Description:   "Zoë's <billing> 😀",
		EventTypes:    []string{"order.*", "invoice.paid"},
		Filter:        []byte(`{"type":["order.paid"]}`),
		Metadata:      map[string]string{"team": "billing", "note": ""},
		SealedHeaders: map[string][]byte{"X-Env": {4, 0xff}, "Authorization": {5}},
		Auth: hook.Auth{Type: hook.AuthOAuth2, Username: "surehook", Sealed: []byte{6, 0xfe}, OAuth: hook.OAuth{
			TokenURL: "https://id.example.com/", ClientID: "c", Scope: "a b", Audience: "d", InBody: true,
		}},
		Retry: hook.RetryPolicy{
			Exponential: hook.Exponential{Base: 1500 * time.Millisecond, Factor: 1.7, Cap: time.Hour, Attempts: 8},
			Jitter:      hook.JitterEqual,
		},
		RetryOn:       []int{401, 409},
		GiveUpOn:      []int{501},
		Timeout:       10 * time.Second,
		MaxAge:        72 * time.Hour,
		MaxRetryAfter: 2 * time.Hour,
		RatePerSecond: 12.5,
		MaxInFlight:   3,
		Shards:        2,
		ShardsEver:    hook.MaxShards,
		AutoDisable:   true,
		Circuit: hook.CircuitSettings{
			Failures: 4, Rate: 0.25, Minimum: 20, Cooldown: 90 * time.Second, MaxCooldown: 2 * time.Hour,
		},
		Profiles: []hook.SignatureProfile{{Name: hook.ProfileStandard}, {
			Name: "own", Signed: "{timestamp}.{body}", Algorithm: "sha512", Encoding: "base64", Key: "text", Prefix: "v1=", Separator: ",",
			Headers: map[string]string{"X-Own": "{timestamp} {signature}"},
		}},
		Envelope:       hook.EnvelopeThin,
		Transformation: `{"body": event.data}`,
		Region:         "us-east-1",
		Fixed:          true,
		Destination: hook.Destination{
			Type: "eventbridge", Settings: map[string]string{"role_arn": "arn:aws:iam::111122223333:role/surehook/o", "source": "shop"}, ExternalID: "X",
		},
		Schemes: []hook.Scheme{hook.SchemeV1, hook.SchemeV1a},
		Secrets: []hook.Secret{
			{Scheme: hook.SchemeV1, Sealed: []byte{0, 0xff, 1}, CreatedAt: storeEpoch()},
			{Scheme: hook.SchemeV1, Sealed: []byte{2}, CreatedAt: storeEpoch(), ExpiresAt: storeExpiry()},
			{Scheme: hook.SchemeV1a, Sealed: []byte{3}, Public: "whpk_AA==", CreatedAt: storeEpoch()},
		},
		Status:      hook.StatusDisabled,
		Reason:      hook.ReasonGone,
		StatusSince: storeEpoch().Add(time.Millisecond),
		CreatedAt:   storeEpoch(),
		UpdatedAt:   storeEpoch().Add(time.Second),
	}
}

// smallEndpoint returns an active endpoint of the tenant without optional fields.
func smallEndpoint(tenant hook.TenantID) hook.Endpoint {
	id := hook.NewEndpointID()
	return hook.Endpoint{
		ID: id, Tenant: tenant, URL: "https://example.com/" + string(id), EventTypes: []string{"*"},
		Retry: hook.RetryPolicy{Schedule: []time.Duration{0, time.Second}}, Timeout: time.Second, MaxAge: time.Hour,
		Profiles: hook.ProfilesNamed(hook.ProfileClassic), Schemes: []hook.Scheme{hook.SchemeV1}, Status: hook.StatusActive,
		CreatedAt: storeEpoch(), UpdatedAt: storeEpoch(),
	}
}

// create creates the endpoint and returns the stored endpoint.
func create(t *testing.T, s StoreUnderTest, e hook.Endpoint) hook.Endpoint {
	t.Helper()

	check(t, s.CreateEndpoint(t.Context(), e))
	e.Version = 1
	return e
}

func wantMessage(t *testing.T, err error, want string) {
	t.Helper()

	if e, ok := errors.AsType[*hook.Error](err); !ok || !strings.Contains(e.Message, want) {
		t.Errorf("error %v; want the message %q", err, want)
	}
}

func endpointComesBack(t *testing.T, s StoreUnderTest) {
	e := sampleEndpoint("acme")
	given := e
	given.Version = 7 // ignored for a new endpoint
	given.UpdatedAt = e.UpdatedAt.Add(999 * time.Microsecond).In(time.FixedZone("", 3600))
	check(t, s.CreateEndpoint(t.Context(), given))
	e.Version = 1
	got, err := s.Endpoint(t.Context(), "acme", e.ID)
	wantSame(t, "Endpoint(created)", e, got, err)
}

func smallEndpointComesBack(t *testing.T, s StoreUnderTest) {
	e := create(t, s, smallEndpoint("acme"))
	got, err := s.Endpoint(t.Context(), "acme", e.ID)
	wantSame(t, "Endpoint(created)", e, got, err)
}

func endpointOnce(t *testing.T, s StoreUnderTest) {
	e := create(t, s, sampleEndpoint("acme"))
	again := e
	again.UID = "another"
	wantCode(t, "CreateEndpoint(again)", s.CreateEndpoint(t.Context(), again), hook.CodeConflict)
	got, err := s.Endpoint(t.Context(), "acme", e.ID)
	wantSame(t, "Endpoint(created twice)", e, got, err)
	_, err = s.EndpointByUID(t.Context(), "acme", "another")
	wantCode(t, "EndpointByUID(refused)", err, hook.CodeNotFound)
}

func endpointUpdates(t *testing.T, s StoreUnderTest) {
	e := create(t, s, sampleEndpoint("acme"))
	for range 2 {
		e.Description += "x"
		e.Reason = ""
		e.Metadata = nil
		e.Secrets = e.Secrets[1:]
		e.Status = hook.StatusActive
		check(t, s.UpdateEndpoint(t.Context(), e))
		e.Version++
		got, err := s.Endpoint(t.Context(), "acme", e.ID)
		wantSame(t, "Endpoint(updated)", e, got, err)
	}
}

func endpointConflict(t *testing.T, s StoreUnderTest) {
	e := create(t, s, sampleEndpoint("acme"))
	check(t, s.UpdateEndpoint(t.Context(), e))
	e.Version++
	before, err := s.TenantVersion(t.Context(), "acme")
	check(t, err)

	stale := map[string]hook.Endpoint{"unknown": sampleEndpoint("acme"), "another tenant's": e, "another uid": e}
	for _, version := range []int64{0, 1, 3} {
		other := e
		other.Version = version
		stale[fmt.Sprintf("version %d, 2 stored", version)] = other
	}
	foreign, renamed := e, e
	foreign.Tenant, renamed.UID = "globex", ""
	moved := e
	moved.URL = "https://example.org"
	stale["another tenant's"], stale["another uid"], stale["another URL"] = foreign, renamed, moved
	for name, other := range stale {
		other.Description = "stale"
		wantCode(t, "MoveEndpoint("+name+")", s.MoveEndpoint(t.Context(), other, "https://example.net"), hook.CodeConflict)
		wantCode(t, "UpdateEndpoint("+name+")", s.UpdateEndpoint(t.Context(), other), hook.CodeConflict)
		wantCode(t, "DeleteEndpoint("+name+")", s.DeleteEndpoint(t.Context(), other), hook.CodeConflict)
	}
	got, err := s.Endpoint(t.Context(), "acme", e.ID)
	wantSame(t, "Endpoint(after refused changes)", e, got, err)
	after, err := s.TenantVersion(t.Context(), "acme")
	wantSame(t, "TenantVersion(after refused changes)", before, after, err)
}

func endpointRace(t *testing.T, s StoreUnderTest) {
	e := create(t, s, sampleEndpoint("acme"))
	writer := func(i int) hook.Endpoint {
		w := e
		w.Description = fmt.Sprintf("writer %d", i)
		return w
	}
	winners := race(t, 20, func(ctx context.Context, i int) error { return s.UpdateEndpoint(ctx, writer(i)) })
	want := writer(wantOne(t, winners))
	want.Version = 2
	got, err := s.Endpoint(t.Context(), "acme", e.ID)
	wantSame(t, "Endpoint(raced for)", want, got, err)
}

func endpointDeletes(t *testing.T, s StoreUnderTest) {
	e, other := create(t, s, sampleEndpoint("acme")), create(t, s, smallEndpoint("acme"))
	check(t, s.DeleteEndpoint(t.Context(), e))
	_, err := s.Endpoint(t.Context(), "acme", e.ID)
	wantCode(t, "Endpoint(deleted)", err, hook.CodeNotFound)
	left, err := s.Endpoints(t.Context(), "acme")
	wantSame(t, "Endpoints(after one was deleted)", []hook.Endpoint{other}, left, err)
	wantCode(t, "UpdateEndpoint(deleted)", s.UpdateEndpoint(t.Context(), e), hook.CodeConflict)
	wantCode(t, "DeleteEndpoint(deleted)", s.DeleteEndpoint(t.Context(), e), hook.CodeConflict)
}

func tenantVersionChanges(t *testing.T, s StoreUnderTest) {
	seen := make(map[int64]string)
	changed := func(by string) {
		t.Helper()
		v, err := s.TenantVersion(t.Context(), "acme")
		check(t, err)
		if before, ok := seen[v]; ok {
			t.Errorf("TenantVersion(after %s) = %d, as after %s; want a different version", by, v, before)
		}
		seen[v] = by
	}
	changed("nothing")
	if _, ok := seen[0]; !ok {
		t.Errorf("TenantVersion(no endpoints ever) = %v; want 0", seen)
	}
	e := create(t, s, sampleEndpoint("acme"))
	changed("a create")
	check(t, s.UpdateEndpoint(t.Context(), e))
	e.Version++
	changed("an update")
	check(t, s.DeleteEndpoint(t.Context(), e))
	changed("a delete")
	create(t, s, smallEndpoint("acme"))
	changed("a create after a delete")

	other, err := s.TenantVersion(t.Context(), "globex")
	wantSame(t, "TenantVersion(another tenant)", int64(0), other, err)
}

func tenantsAreApart(t *testing.T, s StoreUnderTest) {
	mine, theirs := create(t, s, sampleEndpoint("acme")), create(t, s, sampleEndpoint("acme.eu"))
	_, err := s.Endpoint(t.Context(), "acme", theirs.ID)
	wantCode(t, "Endpoint(another tenant's)", err, hook.CodeNotFound)
	found, err := s.EndpointByID(t.Context(), theirs.ID)
	wantSame(t, "EndpointByID()", theirs, found, err)
	_, err = s.EndpointByID(t.Context(), hook.NewEndpointID())
	wantCode(t, "EndpointByID(unknown)", err, hook.CodeNotFound)
	_, err = s.EndpointByUID(t.Context(), "acme", theirs.UID)
	wantCode(t, "EndpointByUID(another tenant's)", err, hook.CodeNotFound)
	got, err := s.Endpoints(t.Context(), "acme")
	wantSame(t, "Endpoints(acme)", []hook.Endpoint{mine}, got, err)
	got, err = s.Endpoints(t.Context(), "acm")
	wantSame(t, "Endpoints(acm)", []hook.Endpoint(nil), got, err)
	got, err = s.EndpointsOf(t.Context(), "acme", []hook.EndpointID{theirs.ID, mine.ID, hook.NewEndpointID(), mine.ID})
	wantSame(t, "EndpointsOf(acme, also another tenant's)", []hook.Endpoint{mine}, got, err)
	second := smallEndpoint("acme")
	second.ID = mine.ID + "0" // the next one
	create(t, s, second)
	for _, tt := range []struct {
		after hook.EndpointID
		limit int
		want  []hook.EndpointID
	}{{"", 0, []hook.EndpointID{mine.ID, second.ID}}, {"", 1, []hook.EndpointID{mine.ID}}, {mine.ID, 0, []hook.EndpointID{second.ID}}, {mine.ID, 5, []hook.EndpointID{second.ID}}, {second.ID, 1, nil}} {
		ids, err := s.EndpointIDs(t.Context(), "acme", tt.after, tt.limit)
		wantSame(t, fmt.Sprintf("EndpointIDs(after %q, %d)", tt.after, tt.limit), tt.want, ids, err)
	}
}

func endpointOfOneTenant(t *testing.T, s StoreUnderTest) {
	mine := create(t, s, sampleEndpoint("acme"))
	theirs := mine
	theirs.Tenant, theirs.URL = "globex", "https://example.org"
	wantCode(t, "CreateEndpoint(another tenant's id)", s.CreateEndpoint(t.Context(), theirs), hook.CodeConflict)
	got, err := s.Endpoint(t.Context(), "acme", mine.ID)
	wantSame(t, "Endpoint(acme)", mine, got, err)
	_, err = s.Endpoint(t.Context(), "globex", mine.ID)
	wantCode(t, "Endpoint(globex)", err, hook.CodeNotFound)
	_, err = s.EndpointByUID(t.Context(), "globex", mine.UID)
	wantCode(t, "EndpointByUID(globex)", err, hook.CodeNotFound)
	all, err := s.Endpoints(t.Context(), "globex")
	wantSame(t, "Endpoints(globex)", []hook.Endpoint(nil), all, err)
	version, err := s.TenantVersion(t.Context(), "globex")
	wantSame(t, "TenantVersion(globex)", int64(0), version, err)

	snapshot, err := s.Load(t.Context(), []hook.Task{
		hook.NewTask("globex", placeOf(newEventID(t), mine.ID, 1), 1),
	})
	wantSame(t, "Load(task of globex)", emptySnapshot(), snapshot, err)

	check(t, s.DeleteEndpoint(t.Context(), mine))
	theirs.Version = 1
	create(t, s, theirs)
	got, err = s.Endpoint(t.Context(), "globex", mine.ID)
	wantSame(t, "Endpoint(globex, after the delete)", theirs, got, err)
}

// listAfterChange changes endpoints of one tenant at the same time. An event must
// reach an endpoint that exists when the event is posted, and a listing that is not torn
// is of one moment: two of one version are the same, also by changes since an earlier one.
func listAfterChange(t *testing.T, s StoreUnderTest) {
	var mu sync.Mutex
	ofVersion := make(map[int64]string)
	same := func(l ingest.Listing) {
		var text strings.Builder
		for _, e := range l.Endpoints {
			fmt.Fprintf(&text, " %s/%d", e.ID, e.Version)
		}
		mu.Lock()
		defer mu.Unlock()

		if other, ok := ofVersion[l.Version]; ok && other != text.String() {
			t.Errorf("version %d has%s and%s", l.Version, other, text.String())
		}
		ofVersion[l.Version] = text.String()
	}
	has := func(ctx context.Context, known *ingest.Listing, id hook.EndpointID, version int64) error {
		c, complete, err := s.Changes(ctx, "acme", known.Mark, versionIn(*known))
		if err != nil {
			return err
		}
		if complete {
			*known = changedBy(*known, c)
			same(*known)
			if got := versionIn(*known)(id); got != version {
				t.Errorf("Changes() after the write of version %d of %s shows %d", version, id, got)
			}
		}
		all, err := s.Endpoints(ctx, "acme")
		if err != nil {
			return err
		}
		l, err := s.Listing(ctx, "acme")
		if err != nil {
			return err
		}
		var parts []ingest.Subscriber
		for _, e := range all {
			parts = append(parts, ingest.SubscriberOf(e))
		}
		for call, all := range map[string][]ingest.Subscriber{"Endpoints": parts, "Listing": l.Endpoints} {
			i := slices.IndexFunc(all, func(e ingest.Subscriber) bool { return e.ID == id })
			switch {
			case version == 0 && i >= 0:
				t.Errorf("%s() after the delete of %s has the endpoint", call, id)
			case version > 0 && (i < 0 || all[i].Version != version):
				t.Errorf("%s() after the write of version %d of %s does not have the version", call, version, id)
			}
		}
		if !l.Torn {
			same(l)
			*known = l
		}
		return nil
	}
	race(t, 10, func(ctx context.Context, _ int) error {
		e := sampleEndpoint("acme")
		var known ingest.Listing
		if err := s.CreateEndpoint(ctx, e); err != nil {
			return err
		}
		e.Version = 1
		if err := has(ctx, &known, e.ID, 1); err != nil {
			return err
		}
		if err := s.UpdateEndpoint(ctx, e); err != nil {
			return err
		}
		e.Version = 2
		if err := has(ctx, &known, e.ID, 2); err != nil {
			return err
		}
		if err := s.DeleteEndpoint(ctx, e); err != nil {
			return err
		}
		return has(ctx, &known, e.ID, 0)
	})
}

// versionIn returns the versions of the endpoints in the listing.
func versionIn(l ingest.Listing) func(hook.EndpointID) int64 {
	return func(id hook.EndpointID) int64 {
		for _, e := range l.Endpoints {
			if e.ID == id {
				return e.Version
			}
		}
		return 0
	}
}

// changedBy returns the listing after the changes.
func changedBy(l ingest.Listing, c ingest.Changes) ingest.Listing {
	left := slices.DeleteFunc(slices.Clone(l.Endpoints), func(e ingest.Subscriber) bool { return slices.Contains(c.Changed, e.ID) })
	left = append(left, c.Endpoints...)
	slices.SortFunc(left, func(a, b ingest.Subscriber) int { return strings.Compare(string(a.ID), string(b.ID)) })
	return ingest.Listing{Mark: c.Mark, Limits: c.Limits, Endpoints: left}
}

func changesOfList(t *testing.T, s StoreUnderTest) {
	first, second := create(t, s, sampleEndpoint("acme")), create(t, s, sampleEndpoint("acme"))
	known, err := s.Listing(t.Context(), "acme")
	check(t, err)
	third := sampleEndpoint("acme")
	for name, change := range map[string]func() error{
		"create": func() error { return s.CreateEndpoint(t.Context(), third) },
		"update": func() error {
			first.EventTypes = []string{"user.*"}
			return s.UpdateEndpoint(t.Context(), first)
		},
		"delete": func() error { return s.DeleteEndpoint(t.Context(), second) },
		"limits": func() error {
			return s.SetTenantLimits(t.Context(), "acme", hook.TenantLimits{EventsPerSecond: 9})
		},
	} {
		check(t, change())
		c, complete, err := s.Changes(t.Context(), "acme", known.Mark, versionIn(known))
		if err != nil || !complete || len(c.Changed) != 1 && name != "limits" || len(c.Changed) != 0 && name == "limits" {
			t.Errorf("Changes() after %s = %+v, %t, %v; want what changed", name, c, complete, err)
		}
		known = changedBy(known, c)
		whole, err := s.Listing(t.Context(), "acme")
		wantSame(t, "the listing by changes after "+name, whole, known, err)
	}
}

func tooManyChanges(t *testing.T, s StoreUnderTest) {
	known, err := s.Listing(t.Context(), "acme")
	check(t, err)
	for range 60 {
		create(t, s, smallEndpoint("acme"))
	}
	c, complete, err := s.Changes(t.Context(), "acme", known.Mark, versionIn(known))
	if err != nil || complete {
		t.Errorf("Changes() since 60 creations = %d endpoints, %t, %v; want that a listing is needed", len(c.Endpoints), complete, err)
	}
}

func endpointsInOrder(t *testing.T, s StoreUnderTest) {
	limits := hook.TenantLimits{EventsPerSecond: 7}
	check(t, s.SetTenantLimits(t.Context(), "acme", limits))
	create(t, s, sampleEndpoint("globex"))
	var want []hook.Endpoint
	var listed []ingest.Subscriber
	for range 60 { // several transactions
		want = append(want, create(t, s, sampleEndpoint("acme")))
	}
	slices.SortFunc(want, func(a, b hook.Endpoint) int { return strings.Compare(string(a.ID), string(b.ID)) })
	for _, e := range want {
		listed = append(listed, ingest.SubscriberOf(e))
	}
	got, err := s.Endpoints(t.Context(), "acme")
	wantSame(t, "Endpoints(acme)", want, got, err)
	version, err := s.TenantVersion(t.Context(), "acme")
	check(t, err)
	l, err := s.Listing(t.Context(), "acme")
	if l.Version != version {
		t.Errorf("Listing() has version %d; want %d", l.Version, version)
	}
	wantSame(t, "Listing(acme)", ingest.Listing{Mark: l.Mark, Limits: limits, Endpoints: listed}, l, err)
	l, err = s.Listing(t.Context(), "initech")
	wantSame(t, "Listing(unknown)", ingest.Listing{}, l, err)
}

func endpointLimit(t *testing.T, s StoreUnderTest) {
	var last hook.Endpoint
	for range hook.DefaultEndpoints {
		e := smallEndpoint("acme")
		e.Description = strings.Repeat("x", hook.MaxDescription) // the list then exceeds one page of DynamoDB, 1 MB
		e.Metadata = map[string]string{"a": strings.Repeat("x", hook.MaxMetadataValue), "b": strings.Repeat("x", hook.MaxMetadataValue)}
		last = create(t, s, e)
	}
	err := s.CreateEndpoint(t.Context(), smallEndpoint("acme"))
	wantCode(t, "CreateEndpoint(501st)", err, hook.CodeConflict)
	wantMessage(t, err, "a tenant has at most 500 endpoints")
	create(t, s, smallEndpoint("globex"))

	all, err := s.Endpoints(t.Context(), "acme")
	if err != nil || len(all) != hook.DefaultEndpoints {
		t.Errorf("Endpoints(acme) = %d endpoints, %v; want %d", len(all), err, hook.DefaultEndpoints)
	}
	check(t, s.DeleteEndpoint(t.Context(), last))
	create(t, s, smallEndpoint("acme"))
	wantCode(t, "CreateEndpoint(501st again)", s.CreateEndpoint(t.Context(), smallEndpoint("acme")), hook.CodeConflict)
	check(t, s.SetTenantLimits(t.Context(), "acme", hook.TenantLimits{Endpoints: hook.DefaultEndpoints + 1}))
	create(t, s, smallEndpoint("acme"))
	wantCode(t, "CreateEndpoint(502nd)", s.CreateEndpoint(t.Context(), smallEndpoint("acme")), hook.CodeForbidden)
}
