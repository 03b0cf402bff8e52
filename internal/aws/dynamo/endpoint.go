package dynamo

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"surehook.example/surehook/internal/delivery/ingest"
	"surehook.example/surehook/internal/hook"
)

// tenantItem counts a tenant's endpoints and changes, and has the limits.
type tenantItem struct {
	key
	Version   int64             `stored:"version"`   // number of changes of endpoints and limits, ever
	Digest    int64             `stored:"digest"`    // of the endpoints in the list: see endpointDigest
	Endpoints int64             `stored:"endpoints"` // number of endpoints now
	Limits    hook.TenantLimits `stored:"limits"`    // absent: no limits
	Closing   hook.ErasureID    `stored:"closing"`   // absent: no erasure is under way
	Rest      map[string]string `stored:",inline"`   // the newest changes, by slot, and the place in the list of tenants
}

func (it tenantItem) mark() ingest.Mark {
	m := ingest.Mark{Version: it.Version, Digest: it.Digest}
	for name, change := range it.Rest {
		if strings.HasPrefix(name, recentPrefix) {
			m.Recent = append(m.Recent, change)
		}
	}
	slices.Sort(m.Recent)
	return m
}

// uidItem reserves an alias.
type uidItem struct {
	EndpointID hook.EndpointID `stored:"id"`
}

// CreateEndpoint writes the endpoint, the tenant, the count of the URL, the row in
// the tenant's list and the uid in one transaction. An id of another tenant is CodeConflict, too.
func (s *Store) CreateEndpoint(ctx context.Context, e hook.Endpoint) error {
	e.Version = 0
	writes := []write{s.next(endpointKey(e.ID), 0, e).orElse(hook.Conflict("the endpoint exists already"))}
	if e.UID != "" {
		writes = append(writes, s.put(uidKey(e.Tenant, e.UID), absent(), uidItem{e.ID}).orElse(hook.Conflict("uid "+e.UID+" is taken")))
	}
	fits := where("attribute_not_exists(closing) AND "+
		"(attribute_not_exists(endpoints) OR endpoints < limits.endpoints OR (attribute_not_exists(limits.endpoints) AND endpoints < :most))",
		attributes{":most": number(hook.DefaultEndpoints)})
	tenant := s.countChange(e, 1, fits.and(atTenantVersion(e))).asking(func(item attributes) error {
		var stored tenantItem
		switch err := decodeItem(item, &stored); {
		case err != nil:
			return err
		case stored.Closing != "":
			return hook.TenantClosing(e.Tenant)
		case e.TenantVersion != nil && *e.TenantVersion != stored.Version:
			return hook.TenantChanged()
		}
		return stored.Limits.TooManyEndpoints()
	})
	writes = append(writes, s.countURL(e.Tenant, e.URL, 1), tenant, s.nextRow(e))
	return s.commit(ctx, "create endpoint "+string(e.ID), append(writes, s.writeMaterial(e)...)...)
}

// UpdateEndpoint writes the endpoint, its row and the tenant in one transaction. A stored
// uid other than e.UID and a stored URL other than e.URL are CodeConflict, too.
func (s *Store) UpdateEndpoint(ctx context.Context, e hook.Endpoint) error {
	return s.MoveEndpoint(ctx, e, e.URL)
}

// DisableEndpoint is UpdateEndpoint with the record in the same transaction.
func (s *Store) DisableEndpoint(ctx context.Context, e hook.Endpoint, r hook.AuditRecord) error {
	return s.changeEndpoint(ctx, e, e.URL, s.put(auditKey(r), condition{}, r))
}

// MoveEndpoint writes the endpoint, the tenant and, for another receiver, both
// counts of URLs in one transaction.
func (s *Store) MoveEndpoint(ctx context.Context, e hook.Endpoint, from string) error {
	if hook.Receiver(e.URL) == hook.Receiver(from) {
		return s.changeEndpoint(ctx, e, from)
	}
	return s.changeEndpoint(ctx, e, from, s.countURL(e.Tenant, e.URL, 1), s.countURL(e.Tenant, from, -1))
}

// changeEndpoint writes the endpoint, the tenant and the further items in one
// transaction. from is the stored URL.
func (s *Store) changeEndpoint(ctx context.Context, e hook.Endpoint, from string, further ...write) error {
	writes := []write{
		s.nextIf(endpointKey(e.ID), e.Version, unchanged(e, from), e).orElse(errEndpointChanged),
		s.countChange(e, 0, atTenantVersion(e)).orElse(hook.TenantChanged()),
	}
	row := []write{s.nextRow(e)}
	return s.commit(ctx, "update endpoint "+string(e.ID), slices.Concat(writes, further, row, s.writeMaterial(e))...)
}

// DeleteEndpoint removes the endpoint, the row in the tenant's list and the uid,
// and writes the tenant and the count of the URL, in one transaction. A stored uid other than e.UID is CodeConflict, too.
func (s *Store) DeleteEndpoint(ctx context.Context, e hook.Endpoint) error {
	writes := []write{
		s.removal(endpointKey(e.ID), unchanged(e, e.URL)).orElse(errEndpointChanged),
		s.countChange(e, -1, condition{}),
		s.countURL(e.Tenant, e.URL, -1),
		s.removal(endpointRow(e.Tenant, e.ID), condition{}),
	}
	if e.UID != "" {
		writes = append(writes, s.removal(uidKey(e.Tenant, e.UID), condition{}))
	}
	if e.TLS.On() {
		writes = append(writes, s.removal(tlsKey(e.ID), condition{}))
	}
	return s.commit(ctx, "delete endpoint "+string(e.ID), writes...)
}

var errEndpointChanged = hook.Conflict("the endpoint was changed meanwhile")

// unchanged requires that the stored endpoint has the version, tenant and uid of e, and the URL
// url. The tenant is checked because the key does not name it. Checking the uid and the URL keeps
// a uid item from outliving its endpoint, and keeps the counts of URLs right.
func unchanged(e hook.Endpoint, url string) condition {
	c := atVersion(e.Version).and(condition{
		expression: "tenant = :tenant AND #url = :url",
		values:     attributes{":tenant": text(string(e.Tenant)), ":url": text(url)},
		names:      map[string]string{"#url": "url"},
	})
	if e.UID == "" {
		return c.and(condition{expression: "attribute_not_exists(uid)"})
	}
	return c.and(where("uid = :uid", attributes{":uid": text(e.UID)}))
}

// countChange returns the write of the tenant for a change of the stored endpoint e. more is added to
// the number of endpoints: 1, 0 or -1.
func (s *Store) countChange(e hook.Endpoint, more int64, guard condition) write {
	digest := -endpointDigest(e.ID, e.Version)
	if more >= 0 {
		digest += endpointDigest(e.ID, e.Version+1)
	}
	change := changeOf(e.ID, e.Version+1)
	return s.changeTenant(e.Tenant, ", "+recentSlot(change)+" = :change ADD endpoints :more, digest :digest", guard,
		attributes{":more": number(more), ":digest": number(digest), ":change": text(change)})
}

// atTenantVersion requires the version of the tenant that the endpoint requires.
func atTenantVersion(e hook.Endpoint) condition {
	switch {
	case e.TenantVersion == nil:
		return condition{}
	case *e.TenantVersion == 0:
		return condition{expression: "attribute_not_exists(version)"}
	}
	return where("version = :at", attributes{":at": number(*e.TenantVersion)})
}

// countURL returns the write that changes by more, 1 or -1, the number of the tenant's endpoints
// with the receiver of the URL.
func (s *Store) countURL(tenant hook.TenantID, url string, more int64) write {
	var room condition
	if more > 0 {
		room = where("attribute_not_exists(endpoints) OR endpoints < :most", attributes{":most": number(hook.MaxEndpointsPerURL)})
	}
	return s.update(urlKey(tenant, url), "ADD endpoints :more", room, attributes{":more": number(more)}).orElse(hook.TooManyForURL())
}

// TenantVersion reads one item.
func (s *Store) TenantVersion(ctx context.Context, tenant hook.TenantID) (int64, error) {
	it, err := s.tenant(ctx, tenant, "version", "closing")
	return it.Version, err
}

// tenant reads the attributes of a tenant, or all; the zero item for an unknown tenant.
func (s *Store) tenant(ctx context.Context, tenant hook.TenantID, only ...string) (tenantItem, error) {
	it, err := readOr(ctx, s, tenantKey(tenant), "tenant", string(tenant), tenantItem{}, only...)
	if err != nil {
		return tenantItem{}, err
	}
	if it.Closing != "" {
		return tenantItem{}, fmt.Errorf("read tenant %s: %w", tenant, hook.TenantClosing(tenant))
	}
	return it, nil
}

// Endpoint reads one item. An endpoint of another tenant is CodeNotFound.
func (s *Store) Endpoint(ctx context.Context, tenant hook.TenantID, id hook.EndpointID) (hook.Endpoint, error) {
	e, err := s.EndpointByID(ctx, id)
	if err != nil {
		return hook.Endpoint{}, err
	}
	if e.Tenant != tenant {
		return hook.Endpoint{}, fmt.Errorf("read endpoint %s: %w", id, hook.NotFound("endpoint"))
	}
	return e, nil
}

// EndpointByID reads one item, of any tenant.
func (s *Store) EndpointByID(ctx context.Context, id hook.EndpointID) (hook.Endpoint, error) {
	return read[hook.Endpoint](ctx, s, endpointKey(id), "endpoint", string(id))
}

// EndpointByUID reads two items: the uid and the endpoint.
func (s *Store) EndpointByUID(ctx context.Context, tenant hook.TenantID, uid string) (hook.Endpoint, error) {
	it, err := read[uidItem](ctx, s, uidKey(tenant, uid), "endpoint", uid)
	if err != nil {
		return hook.Endpoint{}, err
	}
	return s.Endpoint(ctx, tenant, it.EndpointID)
}

// Endpoints makes the requests of EndpointIDs and EndpointsOf. An endpoint deleted between the two
// reads is absent.
func (s *Store) Endpoints(ctx context.Context, tenant hook.TenantID) ([]hook.Endpoint, error) {
	ids, err := s.EndpointIDs(ctx, tenant, "", 0)
	if err != nil {
		return nil, err
	}
	return s.EndpointsOf(ctx, tenant, ids)
}

// EndpointIDs reads the keys of rows of the tenant's list, with one query per 1 MB of rows.
func (s *Store) EndpointIDs(ctx context.Context, tenant hook.TenantID, after hook.EndpointID, limit int) (ids []hook.EndpointID, err error) {
	rows, _, err := s.keysAfter(ctx, tenantPartition(tenant), endpointPrefix, string(after), limit)
	for _, row := range rows {
		ids = append(ids, hook.EndpointID(strings.TrimPrefix(row.SK, endpointPrefix)))
	}
	return ids, translate(err, "list endpoints of tenant "+string(tenant))
}

// EndpointsOf makes one batch read per 100 endpoints. A word that this build does not know is left out of
// the endpoint, which still gets its events; Load then fails only the tasks of that endpoint.
func (s *Store) EndpointsOf(ctx context.Context, tenant hook.TenantID, ids []hook.EndpointID) ([]hook.Endpoint, error) {
	items, err := s.batchGet(ctx, keysFor(ids, endpointKey))
	if err != nil {
		return nil, translate(err, "read endpoints of tenant "+string(tenant))
	}
	endpoints := decodeEach(ctx, s, items, func(e hook.Endpoint, _ error) bool {
		return e.ID != "" && e.Tenant == tenant // the key of an endpoint does not name the tenant
	})
	slices.SortFunc(endpoints, func(a, b hook.Endpoint) int { return strings.Compare(string(a.ID), string(b.ID)) })
	return endpoints, nil
}

// materialItem is the content of the TLS settings, in the partition of the endpoint.
type materialItem struct {
	hook.Material

	Tenant hook.TenantID `stored:"tenant"`
}

func tlsKey(id hook.EndpointID) key { return key{endpointPartition(id), tlsSort} }

// writeMaterial returns the writes of the endpoint's material: none without a change.
func (s *Store) writeMaterial(e hook.Endpoint) []write {
	m := e.TLS.Material
	if m == nil {
		return nil
	}
	if !e.TLS.On() {
		return []write{s.removal(tlsKey(e.ID), condition{})}
	}
	return []write{s.put(tlsKey(e.ID), condition{}, materialItem{*m, e.Tenant})}
}

// TLSMaterial reads one item.
func (s *Store) TLSMaterial(ctx context.Context, tenant hook.TenantID, id hook.EndpointID) (hook.Material, error) {
	it, err := read[materialItem](ctx, s, tlsKey(id), "TLS settings", string(id))
	if err != nil {
		return hook.Material{}, err
	}
	if it.Tenant != tenant {
		return hook.Material{}, fmt.Errorf("read TLS settings %s: %w", id, hook.NotFound("TLS settings"))
	}
	return it.Material, nil
}
