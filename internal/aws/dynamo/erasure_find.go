package dynamo

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"surehook.example/surehook/internal/admin/erasure"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/names"
)

// Bounds of one part of an erasure. A part takes some seconds.
const (
	foundEndpoints = 100  // endpoints of a part of the stage stop
	foundTenant    = 20   // items of the tenant's partition: each replay among them may have thousands of outcomes
	foundItems     = 250  // items of an endpoint; their events may double the number
	scannedPages   = 10   // requests of 1 MB, so 2,560 read units: a partition of the table takes 3,000 a second
	scannedItems   = 1000 // items at which a part of a scan ends early
	maxBatchWrites = 25   // items of BatchWriteItem
)

// ownedItem is an item with the attributes that name the tenant.
type ownedItem struct {
	key
	Tenant  hook.TenantID `stored:"tenant"`
	StateSK string        `stored:"state_sk"` // of counts: names the tenant and the endpoint
}

var errStage = errors.New("the stage has no records")

// FindRecords makes one query per kind of list in the stages stop, walk and finish, and
// up to 10 requests of 1 MB in the stage scan, all with consistent reads.
func (s *Store) FindRecords(ctx context.Context, tenant hook.TenantID, stage erasure.Stage, cursor string) (erasure.Part, error) {
	var (
		found []key
		next  string
		err   error
	)
	switch stage {
	case erasure.StageStop:
		found, next, err = s.findCallers(ctx, tenant, cursor)
	case erasure.StageWalk:
		found, next, err = s.findListed(ctx, tenant, cursor)
	case erasure.StageScan:
		found, next, err = s.scan(ctx, tenant, cursor)
	case erasure.StageFinish:
		found, next, err = s.findTenantItems(ctx, tenant, cursor, func(sk string) bool { return sk != tenantSort && sk != dataKeySort })
	case erasure.StageDone:
		err = errStage
	}
	if err != nil {
		return erasure.Part{}, translate(err, fmt.Sprintf("find records of tenant %s in stage %s", tenant, stage))
	}
	part := erasure.Part{Records: make([]erasure.Record, len(found)), Next: next}
	for i, k := range found {
		part.Records[i] = recordOf(k)
	}
	return part, nil
}

// findCallers finds the tenant's keys and endpoints. The cursor is the last endpoint.
func (s *Store) findCallers(ctx context.Context, tenant hook.TenantID, cursor string) (found []key, next string, err error) {
	if cursor == "" {
		if found, err = s.findKeys(ctx, tenant); err != nil {
			return nil, "", err
		}
	}
	rows, next, err := s.keysAfter(ctx, tenantPartition(tenant), endpointPrefix, cursor, foundEndpoints)
	if err != nil {
		return nil, "", err
	}
	existing, err := s.findExisting(ctx, tenant, keysFor(rows, listedEndpoint))
	return append(found, existing...), next, err
}

// findKeys finds the API keys and the portal links of the tenant, with the items for
// authentication.
func (s *Store) findKeys(ctx context.Context, tenant hook.TenantID) (found []key, err error) {
	keys, err := listRecords[hook.APIKey](ctx, s, apiKeysPartition, apiKeyPrefix, "list keys")
	if err != nil {
		return nil, err
	}
	for _, k := range keys {
		if k.Tenant == tenant {
			found = append(found, apiKeyKey(k.Hash), apiKeyRow(k.ID))
		}
	}
	links, err := listRecords[hook.PortalLink](ctx, s, tenantPartition(tenant), linkPrefix, "list portal links")
	if err != nil {
		return nil, err
	}
	for _, l := range links {
		if l.Opened() {
			found = append(found, apiKeyKey(l.KeyHash))
		}
		found = append(found, linkKey(tenant, l.ID))
	}
	return found, nil
}

// findListed finds what the tenant's items name: first the keys and the items of the
// tenant, and then endpoint by endpoint. The cursor is "t" and the last item of the
// tenant, or "e" and the last completed endpoint.
func (s *Store) findListed(ctx context.Context, tenant hook.TenantID, cursor string) (found []key, next string, err error) {
	if last, ok := strings.CutPrefix(cursor, "e"); ok {
		return s.findEndpoint(ctx, tenant, last)
	}
	found, next, err = s.findTenantItems(ctx, tenant, strings.TrimPrefix(cursor, "t"), ofTenant)
	if err != nil {
		return nil, "", err
	}
	if cursor == "" {
		callers, _, err := s.findCallers(ctx, tenant, "")
		if err != nil {
			return nil, "", err
		}
		shares, _, err := s.keysAfter(ctx, sharesKey(tenant).PK, "", "", 0)
		if err != nil {
			return nil, "", err
		}
		found = slices.Concat(found, callers, shares)
	}
	if next == "" {
		return found, "e", nil
	}
	return found, "t" + next, nil
}

// ofTenant reports whether the item of the tenant's partition is removed before the end:
// all but the tenant with the mark, the data key, and the list of endpoints.
func ofTenant(sk string) bool {
	return sk != tenantSort && sk != dataKeySort && !strings.HasPrefix(sk, endpointPrefix)
}

// findTenantItems finds the items of the tenant's partition, with the outcomes of replays.
// The cursor is a sort key.
func (s *Store) findTenantItems(
	ctx context.Context, tenant hook.TenantID, cursor string, wanted func(sk string) bool,
) (found []key, next string, err error) {
	items, next, err := s.keysAfter(ctx, tenantPartition(tenant), "", cursor, foundTenant)
	if err != nil {
		return nil, "", err
	}
	for _, item := range items {
		if !wanted(item.SK) {
			continue
		}
		if id, ok := strings.CutPrefix(item.SK, jobPrefix); ok {
			outcomes, _, err := s.keysAfter(ctx, jobPartition(hook.JobID(id)), "", "", 0)
			if err != nil {
				return nil, "", err
			}
			found = append(found, outcomes...)
		}
		found = append(found, item)
	}
	return found, next, nil
}

// findEndpoint finds the first items in the partitions of the endpoint after last, and the events
// of its deliveries. The next part finds the items behind the removed ones, so the cursor moves
// on only when the endpoint has no further items.
func (s *Store) findEndpoint(ctx context.Context, tenant hook.TenantID, last string) (found []key, next string, err error) {
	rows, _, err := s.keysAfter(ctx, tenantPartition(tenant), endpointPrefix, last, 1)
	if err != nil || len(rows) == 0 {
		return nil, "", err
	}
	id := hook.EndpointID(strings.TrimPrefix(rows[0].SK, endpointPrefix))
	partitions := []string{endpointPartition(id)}
	for n := range hook.MaxShards {
		partitions = append(partitions, deliveryPartition(id, n))
	}
	next = "e" + string(id)
	var events []key
	for _, partition := range partitions {
		items, _, err := s.keysAfter(ctx, partition, "", "", foundItems-len(found))
		if err != nil {
			return nil, "", err
		}
		for _, item := range items {
			if !strings.HasPrefix(item.SK, deliveryPrefix) {
				continue
			}
			ref, err := refOf(item)
			if err != nil {
				return nil, "", err
			}
			events = append(events, eventKey(ref.Event))
		}
		if found = append(found, items...); len(found) >= foundItems {
			next = "e" + last
			break
		}
	}
	slices.SortFunc(events, compareKeys)
	existing, err := s.findExisting(ctx, tenant, slices.Compact(events))
	return append(found, existing...), next, err
}

func compareKeys(a, b key) int { return strings.Compare(a.PK+" "+a.SK, b.PK+" "+b.SK) }

// findExisting returns those items of the tenant that exist. A read costs a fraction of a
// removal, and an event with many endpoints is found once for each of them.
func (s *Store) findExisting(ctx context.Context, tenant hook.TenantID, keys []key) (found []key, err error) {
	items, err := s.batchGetAs(ctx, keys, true, names.PartitionKey, names.SortKey, "tenant")
	if err != nil {
		return nil, err
	}
	owned, err := decodeItems[ownedItem](items)
	for _, it := range owned {
		if it.Tenant == tenant {
			found = append(found, it.key)
		}
	}
	return found, err
}

// keysAfter returns the keys of a partition with the prefix of the sort key, after the sort key
// prefix+after, at most limit; 0: all. It makes one query per 1 MB of items. next is the after of the
// keys that follow; empty for none.
func (s *Store) keysAfter(ctx context.Context, partition, prefix, after string, limit int) (found []key, next string, err error) {
	query := s.sorted(partition, prefix)
	query.ProjectionExpression = aws.String(names.PartitionKey + ", " + names.SortKey)
	if limit > 0 {
		query.Limit = aws.Int32(int32(min(limit, maxRows)))
	}
	if after != "" { // a start key without an item is valid
		query.ExclusiveStartKey = key{partition, prefix + after}.attributes()
	}
	for pages := dynamodb.NewQueryPaginator(s.db, query); pages.HasMorePages(); {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, "", err
		}
		keys, err := decodeItems[key](page.Items)
		if err != nil {
			return nil, "", err
		}
		if found = append(found, keys...); limit > 0 && len(found) >= limit {
			if len(found) > limit || pages.HasMorePages() {
				found = found[:limit]
				next = strings.TrimPrefix(found[limit-1].SK, prefix)
			}
			break
		}
	}
	return found, next, nil
}

// scan reads a part of the table. The cursor is the last key read.
func (s *Store) scan(ctx context.Context, tenant hook.TenantID, cursor string) (found []key, next string, err error) {
	in := &dynamodb.ScanInput{
		TableName:            s.table,
		ConsistentRead:       aws.Bool(true),
		ProjectionExpression: aws.String("pk, sk, tenant, state_sk"),
		// Lets more items through than the tenant's: ownedBy decides.
		FilterExpression: aws.String("tenant = :tenant OR begins_with(state_sk, :counted) OR contains(pk, :named)"),
		ExpressionAttributeValues: attributes{
			":tenant": text(string(tenant)), ":counted": text(string(tenant) + "#"), ":named": text("#" + string(tenant)),
		},
	}
	if cursor != "" {
		in.ExclusiveStartKey = keyOf(cursor).attributes()
	}
	for range scannedPages {
		out, err := s.db.Scan(ctx, in)
		if err != nil {
			return nil, "", err
		}
		items, err := decodeItems[ownedItem](out.Items)
		if err != nil {
			return nil, "", err
		}
		for _, it := range items {
			if it.ownedBy(tenant) {
				found = append(found, it.key)
			}
		}
		var last key
		if err := decodeItem(out.LastEvaluatedKey, &last); err != nil {
			return nil, "", err
		}
		in.ExclusiveStartKey = out.LastEvaluatedKey
		if next = ""; len(out.LastEvaluatedKey) == 0 {
			break
		}
		if next = recordOf(last).Key; len(found) >= scannedItems {
			break
		}
	}
	return withLimits(found), next, nil
}

// ownedBy reports whether the stage scan removes the item. Records of changes and jobs of
// erasure stay, and the items of the stage finish are left.
func (it ownedItem) ownedBy(tenant hook.TenantID) bool {
	kind, id, _ := strings.Cut(it.PK, "#")
	switch kind + "#" {
	case auditPrefix, erasurePrefix:
		return false
	case tenantPrefix:
		return id == string(tenant) && ofTenant(it.SK)
	case eventPrefix, endpointPrefix, jobPartPrefix, apiKeyPrefix, apiKeysPartition + "#":
		counts := strings.HasPrefix(it.SK, statsPrefix) && strings.HasPrefix(it.StateSK, string(tenant)+"#")
		return it.Tenant == tenant || counts
	}
	owner, _, _ := strings.Cut(id, "#") // partitions of a tenant, such as places#T
	return it.Tenant == tenant || owner == string(tenant)
}

// withLimits adds the limits of each endpoint with another item: limits do not name their tenant.
func withLimits(found []key) []key {
	for _, k := range found {
		if id, ok := strings.CutPrefix(k.PK, endpointPrefix); ok {
			id, _, _ := strings.Cut(id, "#")
			if limits := limitsKey(hook.EndpointID(id)); !slices.Contains(found, limits) {
				found = append(found, limits)
			}
		}
	}
	return found
}

// recordOf is the inverse of keyOf. A partition key contains no space.
func recordOf(k key) erasure.Record {
	return erasure.Record{Kind: kindOf(k), Key: k.PK + " " + k.SK}
}

func keyOf(record string) key {
	pk, sk, _ := strings.Cut(record, " ")
	return key{pk, sk}
}

func kindOf(k key) erasure.Kind {
	switch {
	case k.PK == apiKeysPartition, strings.HasPrefix(k.PK, tenantPrefix) && strings.HasPrefix(k.SK, linkPrefix):
		return erasure.KindKey
	case strings.HasPrefix(k.PK, eventPrefix):
		return erasure.KindEvent
	case strings.HasPrefix(k.SK, deliveryPrefix):
		return erasure.KindDelivery
	case strings.HasPrefix(k.SK, attemptPrefix):
		return erasure.KindAttempt
	case strings.HasPrefix(k.PK, endpointPrefix) && k.SK == endpointSort:
		return erasure.KindEndpoint
	case strings.HasPrefix(k.PK, tenantPrefix) && strings.HasPrefix(k.SK, jobPrefix):
		return erasure.KindReplay
	}
	return erasure.KindOther
}
