package memory

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"surehook/internal/admin/erasure"
	"surehook/internal/hook"
)

var _ erasure.Store = (*Store)(nil)

// Bounds of a part of an erasure, small so that tests meet them.
const (
	foundRecords   = 25
	scannedRecords = 50
)

// BeginErasure marks the tenant and stores the job.
func (s *Store) BeginErasure(ctx context.Context, e erasure.Erasure) (erasure.Erasure, error) {
	if err := available(ctx, "begin erasure "+string(e.ID)); err != nil {
		return erasure.Erasure{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	t := s.tenantOf(e.Tenant)
	if t.closing != "" {
		return s.erasures[t.closing], nil
	}
	t.closing = e.ID
	s.bump(t)
	e = storedErasure(e)
	s.erasures[e.ID] = e
	return e, nil
}

// Erasure returns the job.
func (s *Store) Erasure(ctx context.Context, tenant hook.TenantID, id hook.ErasureID) (erasure.Erasure, error) {
	op := "read erasure " + string(id)
	if err := available(ctx, op); err != nil {
		return erasure.Erasure{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	if e, ok := s.erasures[id]; ok && e.Tenant == tenant {
		return e, nil
	}
	return erasure.Erasure{}, fmt.Errorf("%s: %w", op, hook.NotFound("erasure"))
}

// SaveErasure stores the next version of the job.
func (s *Store) SaveErasure(ctx context.Context, e erasure.Erasure) error {
	return s.saveErasure(ctx, e, func() bool { return true })
}

// FinishErasure also removes the tenant and the data key. The versions of a later tenant
// with the name are higher.
func (s *Store) FinishErasure(ctx context.Context, e erasure.Erasure) error {
	return s.saveErasure(ctx, e, func() bool {
		t := s.tenantOf(e.Tenant)
		if t.closing != e.ID {
			return false
		}
		s.erasedVersions = max(s.erasedVersions, t.version)
		delete(s.tenants, e.Tenant)
		delete(s.dataKeys, e.Tenant)
		return true
	})
}

func (s *Store) saveErasure(ctx context.Context, e erasure.Erasure, do func() bool) error {
	op := "save erasure " + string(e.ID)
	if err := available(ctx, op); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	if s.erasures[e.ID].Version != e.Version || !do() {
		return fmt.Errorf("%s: %w", op, hook.Conflict("the erasure was changed meanwhile"))
	}
	s.erasures[e.ID] = storedErasure(e)
	return nil
}

// storedErasure returns the next version of e in the stored form.
func storedErasure(e erasure.Erasure) erasure.Erasure {
	e.Version++
	e.CreatedAt, e.UpdatedAt, e.ExpiresAt = storedTime(e.CreatedAt), storedTime(e.UpdatedAt), storedExpiry(e.ExpiresAt)
	e.EndedAt, e.NotBefore = storedTime(e.EndedAt), storedTime(e.NotBefore)
	return e
}

// FindRecords pages through the records in the order of their keys.
func (s *Store) FindRecords(ctx context.Context, tenant hook.TenantID, stage erasure.Stage, cursor string) (part erasure.Part, err error) {
	if err := available(ctx, "find records of tenant "+string(tenant)); err != nil {
		return part, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	limit := foundRecords
	if stage == erasure.StageScan {
		limit = scannedRecords
	}
	for _, r := range s.erasable(tenant) {
		if !r.in(stage) || r.Key <= cursor {
			continue
		}
		if len(part.Records) == limit {
			part.Next = part.Records[limit-1].Key
			break
		}
		part.Records = append(part.Records, r.Record)
	}
	return part, nil
}

// RemoveRecords removes the records that are still there.
func (s *Store) RemoveRecords(ctx context.Context, tenant hook.TenantID, records []erasure.Record) error {
	if err := available(ctx, "remove records of tenant "+string(tenant)); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	for _, r := range s.erasable(tenant) {
		if slices.Contains(records, r.Record) {
			r.remove()
		}
	}
	return nil
}

// Remains returns the keys of all records of the tenant, but records of changes and jobs
// of erasure.
func (s *Store) Remains(tenant hook.TenantID) (keys []string) {
	s.mu.Lock()
	defer s.mu.Unlock()

	for _, r := range s.erasable(tenant) {
		keys = append(keys, r.Key)
	}
	if t, ok := s.tenants[tenant]; ok && t.version > 0 {
		keys = append(keys, "tenant/"+string(tenant))
	}
	if _, ok := s.dataKeys[tenant]; ok {
		keys = append(keys, "datakey/"+string(tenant))
	}
	return keys
}

// erasable is a record of a tenant.
type erasable struct {
	erasure.Record

	endpoint hook.EndpointID // of the record; empty: of the tenant
	listed   bool            // a list of the tenant names the record
	row      bool            // lists an endpoint until the end
	remove   func()
}

// in reports whether the stage finds the record.
func (r erasable) in(stage erasure.Stage) bool {
	switch stage {
	case erasure.StageStop:
		return r.Kind == erasure.KindKey || r.Kind == erasure.KindEndpoint
	case erasure.StageWalk:
		return r.listed && !r.row
	case erasure.StageScan:
		return !r.row
	case erasure.StageFinish:
		return r.row
	case erasure.StageDone:
	}
	return false
}

// erasables collects records.
type erasables struct {
	s      *Store
	tenant hook.TenantID
	all    []erasable
}

// erasable returns all records of the tenant in the order of the keys, without the tenant
// itself and the data key.
func (s *Store) erasable(tenant hook.TenantID) []erasable {
	c := &erasables{s: s, tenant: tenant}
	c.ofTenant()
	c.ofEndpoints()
	c.ofEvents()
	slices.SortFunc(c.all, func(a, b erasable) int { return strings.Compare(a.Key, b.Key) })
	return c.all
}

// add adds a record. A record of an endpoint is listed when the tenant lists the endpoint.
func (c *erasables) add(kind erasure.Kind, name, id string, endpoint hook.EndpointID, remove func()) {
	listed := endpoint == ""
	if t, ok := c.s.tenants[c.tenant]; ok && endpoint != "" {
		listed = t.rows[endpoint]
	}
	c.all = append(c.all, erasable{
		Record: erasure.Record{Kind: kind, Key: name + "/" + id}, endpoint: endpoint, listed: listed, row: name == "row", remove: remove,
	})
}

// owns reports whether the tenant ever created the endpoint.
func (c *erasables) owns(id hook.EndpointID) bool { return c.s.creators[id] == c.tenant }

func (c *erasables) ofTenant() {
	s := c.s
	for id, k := range s.keys {
		if k.Tenant == c.tenant {
			c.add(erasure.KindKey, "key", string(id), "", func() { delete(s.keys, id); delete(s.keyHashes, k.Hash) })
		}
	}
	for id, l := range s.links {
		if l.Tenant == c.tenant {
			c.add(erasure.KindKey, "link", string(id), "", func() { s.removeLink(l) })
		}
	}
	if _, ok := s.places[c.tenant]; ok {
		c.add(erasure.KindOther, "places", string(c.tenant), "", func() { delete(s.places, c.tenant) })
	}
	t, ok := s.tenants[c.tenant]
	if !ok {
		return
	}
	for id, e := range t.endpoints {
		c.add(erasure.KindEndpoint, "endpoint", string(id), "", func() {
			delete(t.endpoints, id)
			delete(s.materials, id)
			delete(t.uids, e.UID)
			delete(s.owners, id)
		})
	}
	for id := range t.rows {
		c.add(erasure.KindOther, "row", string(id), "", func() { delete(t.rows, id) })
	}
	for j := range t.jobs.all() {
		c.add(erasure.KindReplay, "replay", string(j.ID), "", func() {
			t.jobs.remove(j)
			delete(t.open, j.ID)
			delete(s.outcomes, j.ID)
		})
	}
}

func (c *erasables) ofEndpoints() {
	s := c.s
	other := func(name string, id hook.EndpointID, remove func()) {
		if c.owns(id) {
			c.add(erasure.KindOther, name, string(id), id, remove)
		}
	}
	for id, r := range s.circuits {
		other("circuit", id, func() { s.due.remove(r); delete(s.circuits, id) })
	}
	for id := range s.limits {
		other("limits", id, func() { delete(s.limits, id) })
	}
	for id := range s.notifications {
		other("notifications", id, func() { delete(s.notifications, id) })
	}
	for id := range s.hours {
		other("counts", id, func() {
			delete(s.hours, id)
			delete(s.counts, id)
			for _, checks := range s.active {
				maps.DeleteFunc(checks, func(check hook.CircuitCheck, _ bool) bool { return check.Endpoint == id })
			}
		})
	}
}

func (c *erasables) ofEvents() {
	s := c.s
	for id := range s.events {
		r := s.records(id)
		targeted := false
		for _, d := range r.deliveries {
			if d.Tenant != c.tenant {
				continue
			}
			targeted = targeted || s.tenants[c.tenant] != nil && s.tenants[c.tenant].rows[d.ID.Endpoint]
			c.add(erasure.KindDelivery, "delivery", d.Ref().String(), d.ID.Endpoint, func() { s.removeDelivery(d.Ref()) })
		}
		for _, a := range r.attempts {
			if c.owns(a.Delivery.Endpoint) {
				c.add(erasure.KindAttempt, "attempt", fmt.Sprintf("%s/%03d", a.Delivery, a.Number), a.Delivery.Endpoint, func() {
					r := s.opened(id)
					r.attempts = slices.DeleteFunc(r.attempts, func(b hook.Attempt) bool { return compareAttempts(a, b) == 0 })
					s.drop(r)
				})
			}
		}
		if r.hasEvent() && r.event.Tenant == c.tenant {
			c.add(erasure.KindEvent, "event", string(id), "", func() { s.removeEvent(id) })
			c.all[len(c.all)-1].listed = targeted
		}
	}
}
