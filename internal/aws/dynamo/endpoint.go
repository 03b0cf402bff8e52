package dynamo

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"surehook.example/surehook/internal/delivery/ingest"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/names"
)

// Positions of the writes in the transaction of an endpoint.
const (
	endpointWrite = iota
	tenantWrite
	urlWrite
	rowWrite
	uidWrite
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

type endpointItem struct {
	key
	hook.Endpoint
}

// toEndpointItem returns the next version of e.
func toEndpointItem(e hook.Endpoint) endpointItem {
	e.Version++
	return endpointItem{endpointKey(e.ID), e}
}

// uidItem reserves an alias.
type uidItem struct {
	key
	EndpointID hook.EndpointID `stored:"id"`
}

// CreateEndpoint writes the endpoint, the tenant, the count of the URL, the row in
// the tenant's list and the uid in one transaction. An id of another tenant is CodeConflict, too.
func (s *Store) CreateEndpoint(ctx context.Context, e hook.Endpoint) error {
	op := "create endpoint " + string(e.ID)
	e.Version = 0
	endpoint := s.put(toEndpointItem(e), absent())
	tenant := s.countChange(e, 1)
	const fits = "attribute_not_exists(closing) AND " +
		"(attribute_not_exists(endpoints) OR endpoints < limits.endpoints OR (attribute_not_exists(limits.endpoints) AND endpoints < :most))"
	tenant.ConditionExpression = aws.String(fits)
	if at := atTenantVersion(tenant, e); at != "" {
		tenant.ConditionExpression = aws.String(fits + " AND " + at)
	}
	tenant.ExpressionAttributeValues[":most"] = number(hook.DefaultEndpoints)
	tenant.ReturnValuesOnConditionCheckFailure = types.ReturnValuesOnConditionCheckFailureAllOld // names the limit
	row := s.put(rowOf(e), condition{})
	writes := []types.TransactWriteItem{endpointWrite: {Put: endpoint}, tenantWrite: {Update: tenant}, urlWrite: {Update: s.countURL(e.Tenant, e.URL, 1)}, rowWrite: {Put: row}}
	if e.UID != "" {
		uid := s.put(uidItem{key: uidKey(e.Tenant, e.UID), EndpointID: e.ID}, absent())
		writes = append(writes, types.TransactWriteItem{Put: uid})
	}
	material := s.writeMaterial(e)
	writes = append(writes, material...)

	err := s.transact(ctx, writes...)
	switch {
	case conditionFailed(err, endpointWrite):
		return fmt.Errorf("%s: %w", op, hook.Conflict("the endpoint exists already"))
	case conditionFailed(err, uidWrite):
		return fmt.Errorf("%s: %w", op, hook.Conflict("uid "+e.UID+" is taken"))
	case conditionFailed(err, urlWrite):
		return fmt.Errorf("%s: %w", op, hook.TooManyForURL())
	case conditionFailed(err, tenantWrite):
		var stored tenantItem
		if err := unmarshalRefused(err, tenantWrite, &stored); err != nil {
			return translate(err, op)
		}
		if stored.Closing != "" {
			return fmt.Errorf("%s: %w", op, hook.TenantClosing(e.Tenant))
		}
		if e.TenantVersion != nil && *e.TenantVersion != stored.Version {
			return fmt.Errorf("%s: %w", op, hook.TenantChanged())
		}
		return fmt.Errorf("%s: %w", op, stored.Limits.TooManyEndpoints())
	}
	return translate(err, op)
}

// UpdateEndpoint writes the endpoint, its row and the tenant in one transaction. A stored
// uid other than e.UID and a stored URL other than e.URL are CodeConflict, too.
func (s *Store) UpdateEndpoint(ctx context.Context, e hook.Endpoint) error {
	return s.MoveEndpoint(ctx, e, e.URL)
}

// DisableEndpoint is UpdateEndpoint with the record in the same transaction.
func (s *Store) DisableEndpoint(ctx context.Context, e hook.Endpoint, r hook.AuditRecord) error {
	put := s.put(auditItem{auditKey(r), r}, condition{})
	return s.changeEndpoint(ctx, e, e.URL, types.TransactWriteItem{Put: put})
}

// MoveEndpoint writes the endpoint, the tenant and, for another receiver, both
// counts of URLs in one transaction.
func (s *Store) MoveEndpoint(ctx context.Context, e hook.Endpoint, from string) error {
	var counts []types.TransactWriteItem
	if hook.Receiver(e.URL) != hook.Receiver(from) {
		counts = append(counts,
			types.TransactWriteItem{Update: s.countURL(e.Tenant, e.URL, 1)},
			types.TransactWriteItem{Update: s.countURL(e.Tenant, from, -1)},
		)
	}
	return s.changeEndpoint(ctx, e, from, counts...)
}

// changeEndpoint writes the endpoint, the tenant and the further items in one
// transaction. from is the stored URL.
func (s *Store) changeEndpoint(ctx context.Context, e hook.Endpoint, from string, further ...types.TransactWriteItem) error {
	op := "update endpoint " + string(e.ID)
	endpoint := s.nextIf(toEndpointItem(e), e.Version, unchanged(e, from))
	tenant := s.countChange(e, 0)
	if at := atTenantVersion(tenant, e); at != "" {
		tenant.ConditionExpression = &at
	}
	writes := []types.TransactWriteItem{endpointWrite: endpoint, tenantWrite: {Update: tenant}}
	row := s.nextIf(rowOf(e), e.Version, condition{})
	material := s.writeMaterial(e)
	err := s.transact(ctx, slices.Concat(writes, further, []types.TransactWriteItem{row}, material)...)
	switch {
	case conditionFailed(err, endpointWrite): // below
	case conditionFailed(err, tenantWrite):
		return fmt.Errorf("%s: %w", op, hook.TenantChanged())
	case conditionFailed(err, urlWrite):
		return fmt.Errorf("%s: %w", op, hook.TooManyForURL())
	}
	return endpointChanged(err, op)
}

// DeleteEndpoint removes the endpoint, the row in the tenant's list and the uid,
// and writes the tenant and the count of the URL, in one transaction. A stored uid other than e.UID is CodeConflict, too.
func (s *Store) DeleteEndpoint(ctx context.Context, e hook.Endpoint) error {
	op := "delete endpoint " + string(e.ID)
	writes := []types.TransactWriteItem{
		endpointWrite: s.removal(endpointKey(e.ID), unchanged(e, e.URL)),
		tenantWrite:   {Update: s.countChange(e, -1)},
		urlWrite:      {Update: s.countURL(e.Tenant, e.URL, -1)},
		rowWrite:      s.removal(endpointRow(e.Tenant, e.ID), condition{}),
	}
	if e.UID != "" {
		writes = append(writes, s.removal(uidKey(e.Tenant, e.UID), condition{}))
	}
	if e.TLS.On() {
		writes = append(writes, s.removal(tlsKey(e.ID), condition{}))
	}
	return endpointChanged(s.transact(ctx, writes...), op)
}

// unchanged requires that the stored endpoint has the version, tenant and uid of e, and the URL
// url. The tenant is checked because the key does not name it. Checking the uid and the URL keeps
// a uid item from outliving its endpoint, and keeps the counts of URLs right.
func unchanged(e hook.Endpoint, url string) condition {
	c := atVersion(e.Version)
	c.expression += " AND tenant = :tenant AND #url = :url"
	c.values[":tenant"], c.values[":url"] = text(string(e.Tenant)), text(url)
	c.names = map[string]string{"#url": "url"}
	if e.UID == "" {
		c.expression += " AND attribute_not_exists(uid)"
		return c
	}
	c.expression += " AND uid = :uid"
	c.values[":uid"] = text(e.UID)
	return c
}

// countChange returns the write of the tenant for a change of the stored endpoint e. more is added to
// the number of endpoints: 1, 0 or -1.
func (s *Store) countChange(e hook.Endpoint, more int64) *types.Update {
	digest := -endpointDigest(e.ID, e.Version)
	if more >= 0 {
		digest += endpointDigest(e.ID, e.Version+1)
	}
	change := changeOf(e.ID, e.Version+1)
	return s.changeTenant(e.Tenant, ", "+recentSlot(change)+" = :change ADD endpoints :more, digest :digest", condition{},
		map[string]types.AttributeValue{":more": number(more), ":digest": number(digest), ":change": text(change)})
}

// atTenantVersion returns the condition of the tenant's write for the version that the
// endpoint requires; empty for any.
func atTenantVersion(tenant *types.Update, e hook.Endpoint) string {
	switch {
	case e.TenantVersion == nil:
		return ""
	case *e.TenantVersion == 0:
		return "attribute_not_exists(version)"
	}
	tenant.ExpressionAttributeValues[":at"] = number(*e.TenantVersion)
	return "version = :at"
}

// countURL returns the write that changes by more, 1 or -1, the number of the tenant's endpoints
// with the receiver of the URL.
func (s *Store) countURL(tenant hook.TenantID, url string, more int64) *types.Update {
	var room condition
	if more > 0 {
		room.expression = "attribute_not_exists(endpoints) OR endpoints < :most"
		room.values = map[string]types.AttributeValue{":most": number(hook.MaxEndpointsPerURL)}
	}
	return s.update(urlKey(tenant, url), "ADD endpoints :more", room, map[string]types.AttributeValue{":more": number(more)})
}

func endpointChanged(err error, op string) error {
	if conditionFailed(err, endpointWrite) {
		return fmt.Errorf("%s: %w", op, hook.Conflict("the endpoint was changed meanwhile"))
	}
	return translate(err, op)
}

// TenantVersion reads one item.
func (s *Store) TenantVersion(ctx context.Context, tenant hook.TenantID) (int64, error) {
	it, err := s.tenant(ctx, tenant, "version", "closing")
	return it.Version, err
}

// tenant reads the attributes of a tenant, or all; the zero item for an unknown tenant.
func (s *Store) tenant(ctx context.Context, tenant hook.TenantID, attributes ...string) (tenantItem, error) {
	it, err := read[tenantItem](ctx, s, tenantKey(tenant), "tenant", string(tenant), attributes...)
	if err != nil && hook.CodeOf(err) != hook.CodeNotFound {
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

// EndpointIDs reads rows of the tenant's list, with one query per 1 MB of rows.
func (s *Store) EndpointIDs(ctx context.Context, tenant hook.TenantID, after hook.EndpointID, limit int) (ids []hook.EndpointID, err error) {
	query := s.sorted(tenantPartition(tenant), endpointPrefix)
	query.ProjectionExpression = aws.String(names.SortKey)
	if after != "" { // a start key without an item is valid
		query.ExclusiveStartKey = endpointRow(tenant, after).attributes()
	}
	if limit > 0 {
		query.Limit = aws.Int32(int32(min(limit, maxRows)))
	}
	for pages := dynamodb.NewQueryPaginator(s.db, query); pages.HasMorePages() && (limit == 0 || len(ids) < limit); {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, translate(err, "list endpoints of tenant "+string(tenant))
		}
		for _, row := range page.Items {
			sk, _ := row[names.SortKey].(*types.AttributeValueMemberS) // the type of the key
			ids = append(ids, hook.EndpointID(strings.TrimPrefix(sk.Value, endpointPrefix)))
		}
	}
	if limit > 0 {
		ids = ids[:min(limit, len(ids))]
	}
	return ids, nil
}

// EndpointsOf makes one batch read per 100 endpoints.
func (s *Store) EndpointsOf(ctx context.Context, tenant hook.TenantID, ids []hook.EndpointID) ([]hook.Endpoint, error) {
	items, err := s.batchGet(ctx, keysFor(ids, endpointKey))
	if err != nil {
		return nil, translate(err, "read endpoints of tenant "+string(tenant))
	}
	return s.endpoints(ctx, ownedBy(items, tenant)), nil
}
