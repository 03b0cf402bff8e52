package memory

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"surehook/internal/delivery/ingest"
	"surehook/internal/hook"
)

// CreateEndpoint stores a copy of the endpoint. An id of another tenant is
// CodeConflict, too.
func (s *Store) CreateEndpoint(ctx context.Context, e hook.Endpoint) error {
	op := "create endpoint " + string(e.ID)
	if err := available(ctx, op); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	t := s.tenantOf(e.Tenant)
	if t.closing != "" {
		return fmt.Errorf("%s: %w", op, hook.TenantClosing(e.Tenant))
	}
	if _, ok := s.owners[e.ID]; ok {
		return fmt.Errorf("%s: %w", op, hook.Conflict("the endpoint exists already"))
	}
	if _, ok := t.uids[e.UID]; ok && e.UID != "" {
		return fmt.Errorf("%s: %w", op, hook.Conflict("uid "+e.UID+" is taken"))
	}
	if at := e.TenantVersion; at != nil && *at != t.version {
		return fmt.Errorf("%s: %w", op, hook.TenantChanged())
	}
	if most := cmp.Or(t.limits.Endpoints, hook.MaxEndpointsPerTenant); len(t.endpoints) >= most {
		return fmt.Errorf("%s: %w", op, t.limits.TooManyEndpoints())
	}
	if t.receives(e.URL) >= hook.MaxEndpointsPerURL {
		return fmt.Errorf("%s: %w", op, hook.TooManyForURL())
	}
	e.Version, e.TenantVersion = 1, nil
	s.put(t, e)
	s.owners[e.ID], s.creators[e.ID], t.rows[e.ID] = e.Tenant, e.Tenant, true
	if e.UID != "" {
		t.uids[e.UID] = e.ID
	}
	s.bump(t)
	return nil
}

// UpdateEndpoint stores a copy of the endpoint. A stored uid other than e.UID is
// CodeConflict, too.
func (s *Store) UpdateEndpoint(ctx context.Context, e hook.Endpoint) error {
	return s.change(ctx, "update", e, e.URL, func(t *tenant) error {
		e.Version++
		s.put(t, e)
		return nil
	})
}

// DisableEndpoint is UpdateEndpoint with the record.
func (s *Store) DisableEndpoint(ctx context.Context, e hook.Endpoint, r hook.AuditRecord) error {
	return s.change(ctx, "disable", e, e.URL, func(t *tenant) error {
		e.Version++
		s.put(t, e)
		s.putAudit(r)
		return nil
	})
}

// MoveEndpoint is UpdateEndpoint for an endpoint with another URL.
func (s *Store) MoveEndpoint(ctx context.Context, e hook.Endpoint, from string) error {
	return s.change(ctx, "move", e, from, func(t *tenant) error {
		if at := e.TenantVersion; at != nil && *at != t.version {
			return hook.TenantChanged()
		}
		if hook.Receiver(from) != hook.Receiver(e.URL) && t.receives(e.URL) >= hook.MaxEndpointsPerURL {
			return hook.TooManyForURL()
		}
		e.Version++
		e.TenantVersion = nil
		s.put(t, e)
		return nil
	})
}

// DeleteEndpoint removes the endpoint and the uid. A stored uid other than e.UID is
// CodeConflict, too.
func (s *Store) DeleteEndpoint(ctx context.Context, e hook.Endpoint) error {
	return s.change(ctx, "delete", e, e.URL, func(t *tenant) error {
		delete(t.endpoints, e.ID)
		delete(s.materials, e.ID)
		delete(t.rows, e.ID)
		delete(s.owners, e.ID)
		delete(t.uids, e.UID)
		return nil
	})
}

// change calls do when version and uid of the stored endpoint are those of e, and
// the URL is url.
func (s *Store) change(ctx context.Context, verb string, e hook.Endpoint, url string, do func(*tenant) error) error {
	op := verb + " endpoint " + string(e.ID)
	if err := available(ctx, op); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	t := s.tenantOf(e.Tenant)
	stored, ok := t.endpoints[e.ID]
	if !ok || stored.Version != e.Version || stored.UID != e.UID || stored.URL != url {
		return fmt.Errorf("%s: %w", op, hook.Conflict("the endpoint was changed meanwhile"))
	}
	if err := do(t); err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	s.bump(t)
	return nil
}

// TenantVersion returns the number of changes of the tenant's endpoints and limits.
func (s *Store) TenantVersion(ctx context.Context, id hook.TenantID) (int64, error) {
	if err := available(ctx, "read tenant "+string(id)); err != nil {
		return 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	t := s.tenantOf(id)
	if t.closing != "" {
		return 0, fmt.Errorf("read tenant %s: %w", id, hook.TenantClosing(id))
	}
	return t.version, nil
}

// Endpoint returns a copy of the endpoint.
func (s *Store) Endpoint(ctx context.Context, id hook.TenantID, endpoint hook.EndpointID) (hook.Endpoint, error) {
	return s.endpoint(ctx, id, string(endpoint), func(t *tenant) (hook.Endpoint, bool) {
		e, ok := t.endpoints[endpoint]
		return e, ok
	})
}

// EndpointByUID returns a copy of the endpoint.
func (s *Store) EndpointByUID(ctx context.Context, id hook.TenantID, uid string) (hook.Endpoint, error) {
	return s.endpoint(ctx, id, uid, func(t *tenant) (hook.Endpoint, bool) {
		e, ok := t.endpoints[t.uids[uid]]
		return e, ok
	})
}

func (s *Store) endpoint(
	ctx context.Context, id hook.TenantID, ref string, find func(*tenant) (hook.Endpoint, bool),
) (hook.Endpoint, error) {
	op := "read endpoint " + ref
	if err := available(ctx, op); err != nil {
		return hook.Endpoint{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	e, ok := find(s.tenantOf(id))
	if !ok {
		return hook.Endpoint{}, fmt.Errorf("%s: %w", op, hook.NotFound("endpoint"))
	}
	return copyEndpoint(e), nil
}

// Endpoints returns copies of all endpoints of the tenant.
func (s *Store) Endpoints(ctx context.Context, id hook.TenantID) ([]hook.Endpoint, error) {
	if err := available(ctx, "list endpoints of tenant "+string(id)); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	return s.tenantOf(id).list(), nil
}

// Listing returns copies of the tenant's endpoints. A listing is never torn.
func (s *Store) Listing(ctx context.Context, id hook.TenantID) (ingest.Listing, error) {
	op := "list endpoints of tenant " + string(id)
	if err := available(ctx, op); err != nil {
		return ingest.Listing{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	t := s.tenantOf(id)
	if t.closing != "" {
		return ingest.Listing{}, fmt.Errorf("%s: %w", op, hook.TenantClosing(id))
	}
	return ingest.Listing{Version: t.version, Limits: t.limits, Endpoints: t.list()}, nil
}

// list returns copies of all endpoints of the tenant.
func (t *tenant) list() []hook.Endpoint {
	var all []hook.Endpoint
	for _, e := range t.endpoints {
		all = append(all, copyEndpoint(e))
	}
	slices.SortFunc(all, func(a, b hook.Endpoint) int { return strings.Compare(string(a.ID), string(b.ID)) })
	return all
}

// put stores a copy of the endpoint, and the material of its TLS settings.
func (s *Store) put(t *tenant, e hook.Endpoint) {
	switch m := e.TLS.Material; {
	case m == nil:
	case !e.TLS.On():
		delete(s.materials, e.ID)
	default:
		s.materials[e.ID] = hook.Material{ID: m.ID, CA: m.CA, Certificate: m.Certificate, Sealed: slices.Clone(m.Sealed)}
	}
	t.endpoints[e.ID] = copyEndpoint(e)
}

// TLSMaterial returns a copy of the material.
func (s *Store) TLSMaterial(ctx context.Context, tenant hook.TenantID, id hook.EndpointID) (hook.Material, error) {
	op := "read TLS settings " + string(id)
	if err := available(ctx, op); err != nil {
		return hook.Material{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	m, ok := s.materials[id]
	if !ok || s.owners[id] != tenant {
		return hook.Material{}, fmt.Errorf("%s: %w", op, hook.NotFound("TLS settings"))
	}
	m.Sealed = slices.Clone(m.Sealed)
	return m, nil
}

// tenantOf returns the tenant and creates a missing tenant.
func (s *Store) tenantOf(id hook.TenantID) *tenant {
	t, ok := s.tenants[id]
	if !ok {
		t = &tenant{
			id:        hook.TenantID(strings.Clone(string(id))),
			endpoints: make(map[hook.EndpointID]hook.Endpoint),
			uids:      make(map[string]hook.EndpointID),
			rows:      make(map[hook.EndpointID]bool),
			jobs:      newOrdered(compareJobs),
			open:      make(map[hook.JobID]bool),
		}
		s.tenants[id] = t
	}
	return t
}

// bump gives the tenant the next version, above those of an erased tenant.
func (s *Store) bump(t *tenant) {
	if t.version == 0 {
		t.version = s.erasedVersions
	}
	t.version++
}

// receives returns the number of endpoints with the receiver of the URL.
func (t *tenant) receives(url string) int {
	n, receiver := 0, hook.Receiver(url)
	for _, e := range t.endpoints {
		if hook.Receiver(e.URL) == receiver {
			n++
		}
	}
	return n
}

func copyEndpoint(e hook.Endpoint) hook.Endpoint {
	e.EventTypes = slices.Clone(e.EventTypes)
	e.Metadata = maps.Clone(e.Metadata)
	e.Headers = nil // never stored
	e.SealedHeaders = maps.Clone(e.SealedHeaders)
	for name, sealed := range e.SealedHeaders {
		e.SealedHeaders[name] = slices.Clone(sealed)
	}
	e.TLS.Material, e.TLS.NotAfter = nil, storedTime(e.TLS.NotAfter)
	e.Auth.Secret, e.Auth.Sealed = "", slices.Clone(e.Auth.Sealed)
	e.Retry.Schedule = slices.Clone(e.Retry.Schedule)
	e.Schemes = slices.Clone(e.Schemes)
	e.Secrets = slices.Clone(e.Secrets)
	for i, s := range e.Secrets {
		s.Sealed = slices.Clone(s.Sealed)
		s.CreatedAt = storedTime(s.CreatedAt)
		s.ExpiresAt = storedTime(s.ExpiresAt)
		e.Secrets[i] = s
	}
	e.StatusSince = storedTime(e.StatusSince)
	e.CreatedAt = storedTime(e.CreatedAt)
	e.UpdatedAt = storedTime(e.UpdatedAt)
	return e
}
