package dynamo

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"golang.org/x/sync/errgroup"

	"surehook.example/surehook/internal/delivery/ingest"
	"surehook.example/surehook/internal/hook"
)

// Listing makes one query of the tenant's rows, which have what ingest must know of the endpoints, and
// then reads the tenant. The tenant's digest tells a list that has half of a transaction.
func (s *Store) Listing(ctx context.Context, tenant hook.TenantID) (ingest.Listing, error) {
	op := "list endpoints of tenant " + string(tenant)
	var it tenantItem
	var rows []map[string]types.AttributeValue
	torn, err := s.untorn(ctx, func() (err error) {
		if rows, err = s.endpointRows(ctx, tenant, op); err != nil {
			return err
		}
		if it, err = s.tenant(ctx, tenant); err != nil {
			return err
		}
		if it.listsAll() && it.Digest != digestOf(rows) {
			return errTorn
		}
		return nil
	})
	if err != nil {
		return ingest.Listing{}, err
	}
	if !it.listsAll() {
		return s.relist(ctx, tenant, rows, op)
	}
	return ingest.Listing{Mark: it.mark(), Limits: it.Limits, Endpoints: s.subscribers(ctx, rows), Torn: torn}, nil
}

// maxRowPages bounds the pages of 1 MB that a list of endpoints takes, and so the memory of a process that
// reads it. hook.DefaultEndpoints take 9 pages at most.
const maxRowPages = 10

// endpointRows reads the rows of the tenant's list. More than maxRowPages are CodeForbidden.
func (s *Store) endpointRows(ctx context.Context, tenant hook.TenantID, op string) (rows []map[string]types.AttributeValue, err error) {
	pages := dynamodb.NewQueryPaginator(s.db, s.sorted(tenantPartition(tenant), endpointPrefix))
	for n := 0; pages.HasMorePages(); n++ {
		if n == maxRowPages {
			return nil, fmt.Errorf("%s: %w", op, hook.OverLimit(fmt.Sprintf("the event types and filters of the tenant's endpoints take more than %d MB", maxRowPages)))
		}
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, translate(err, op)
		}
		rows = append(rows, page.Items...)
	}
	return rows, nil
}

// Changes reads the tenant, and makes a batch read of the rows that changed.
func (s *Store) Changes(
	ctx context.Context, tenant hook.TenantID, since ingest.Mark, versionOf func(hook.EndpointID) int64,
) (c ingest.Changes, all bool, err error) {
	op := "read changes of tenant " + string(tenant)
	torn, err := s.untorn(ctx, func() error {
		it, err := s.tenant(ctx, tenant)
		if err != nil {
			return err
		}
		c = ingest.Changes{Mark: it.mark(), Limits: it.Limits}
		if all = it.listsAll() && it.Version-since.Version <= recentSlots; !all {
			return nil
		}
		var keys []key
		digest := since.Digest
		for _, id := range changed(since.Recent, c.Recent) {
			c.Changed, keys = append(c.Changed, id), append(keys, endpointRow(tenant, id))
			digest -= endpointDigest(id, versionOf(id))
		}
		rows, err := s.batchGet(ctx, keys)
		if err != nil {
			return translate(err, op)
		}
		if digest+digestOf(rows) != it.Digest {
			return errTorn
		}
		c.Endpoints = s.subscribers(ctx, rows)
		return nil
	})
	return c, all && !torn, err
}

// relist reads a tenant that a build changed which knows no digest: the rows do not show its changes.
// It reads the endpoints themselves, as of one moment, with one transaction per 24 endpoints. The tenant
// counts its endpoints, so a list that lacks a new row is torn, too. Then it makes the rows and the
// digest right, unless the tenant has changed.
func (s *Store) relist(ctx context.Context, tenant hook.TenantID, rows []map[string]types.AttributeValue, op string) (ingest.Listing, error) {
	var it tenantItem
	var items []map[string]types.AttributeValue
	torn, err := s.untorn(ctx, func() error {
		keys, err := s.endpointKeys(ctx, tenant, op)
		if err != nil {
			return err
		}
		m, err := s.asOfOneMoment(ctx, tenantKey(tenant), keys, attributeNames[subscriberItem]()...)
		if err != nil {
			return err
		}
		it, items = tenantItem{}, ownedBy(m.items, tenant)
		if err := decodeItem(m.head, &it); err != nil {
			return err
		}
		if it.Endpoints != int64(len(items)) {
			return errTorn
		}
		return nil
	})
	if err != nil {
		return ingest.Listing{}, translate(err, op)
	}
	if torn {
		return s.tornListing(ctx, tenant)
	}
	if it.Closing != "" {
		return ingest.Listing{}, fmt.Errorf("%s: %w", op, hook.TenantClosing(tenant))
	}
	l := ingest.Listing{Mark: it.mark(), Limits: it.Limits, Endpoints: s.subscribers(ctx, items)}
	l.Digest = digestOf(items)
	s.mendRows(ctx, tenant, l.Mark, rows, l.Endpoints)
	return l, nil
}

// mendRows writes the rows that do not show their endpoints, and then the digest of all of them, unless
// the tenant has another version by then. Whatever fails is left to the next read.
func (s *Store) mendRows(ctx context.Context, tenant hook.TenantID, m ingest.Mark, rows []map[string]types.AttributeValue, endpoints []ingest.Subscriber) {
	shown := make(map[hook.EndpointID]int64)
	for _, row := range rows {
		var e ingest.Subscriber
		_ = decodeItem(row, &e) // what is unreadable here is in the endpoint, too
		shown[e.ID] = e.Version
	}
	group, grouped := errgroup.WithContext(ctx)
	group.SetLimit(maxShardQueries)
	for _, e := range endpoints {
		if shown[e.ID] == e.Version {
			continue
		}
		group.Go(func() error {
			older := condition{
				expression: "attribute_exists(pk) AND (attribute_not_exists(version) OR version < :version)",
				values:     map[string]types.AttributeValue{":version": number(e.Version)},
			}
			return s.writeNext(grouped, s.nextIf(subscriberRow{endpointRow(tenant, e.ID), e}, e.Version, older))
		})
	}
	if group.Wait() != nil {
		return
	}
	same := condition{expression: "version = :version"}
	_ = s.change(ctx, s.update(tenantKey(tenant), "SET listed = version, digest = :digest", same,
		map[string]types.AttributeValue{":version": number(m.Version), ":digest": number(m.Digest)}))
}

// tornListing reads the tenant, and then the endpoints.
func (s *Store) tornListing(ctx context.Context, tenant hook.TenantID) (ingest.Listing, error) {
	it, err := s.tenant(ctx, tenant)
	if err != nil {
		return ingest.Listing{}, err
	}
	l := ingest.Listing{Mark: it.mark(), Limits: it.Limits, Torn: true}
	endpoints, err := s.Endpoints(ctx, tenant)
	for _, e := range endpoints {
		l.Endpoints = append(l.Endpoints, ingest.SubscriberOf(e))
	}
	return l, err
}

// subscriberRow is a row of the tenant's list. An update keeps the attributes that the build does not
// know, as that of the endpoint does.
type subscriberRow struct {
	key
	ingest.Subscriber
}

// rowOf returns the row of the next version of e.
func rowOf(e hook.Endpoint) subscriberRow {
	e.Version++
	return subscriberRow{endpointRow(e.Tenant, e.ID), ingest.SubscriberOf(e)}
}

// endpointDigest returns 48 bits that stand for the version of the endpoint; 0 for version 0.
func endpointDigest(id hook.EndpointID, version int64) int64 {
	if version == 0 {
		return 0
	}
	sum := sha256.Sum256([]byte(changeOf(id, version)))
	return int64(binary.BigEndian.Uint64(sum[:8]) >> 16)
}

// digestOf returns the sum of the digests of the endpoints, also of those that this build cannot read.
func digestOf(items []map[string]types.AttributeValue) (sum int64) {
	for _, item := range items {
		var e struct {
			ID      hook.EndpointID `stored:"id"`
			Version int64           `stored:"version"`
		}
		_ = decodeItem(item, &e) // otherwise the sums differ
		sum += endpointDigest(e.ID, e.Version)
	}
	return sum
}

// recentSlots is how many changes of endpoints the item of a tenant names. The item stays below 1 KB, so
// they cost no write unit.
const recentSlots = 24

// changeOf names a change of an endpoint by the version after it.
func changeOf(id hook.EndpointID, version int64) string {
	return string(id) + "/" + strconv.FormatInt(version, 10)
}

// recentSlot returns the attribute of the tenant's item that names the change, in place of an older one.
func recentSlot(change string) string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(change)) // a hash accepts every write
	return fmt.Sprintf("%s%02d", recentPrefix, h.Sum32()%recentSlots)
}

// changed returns the endpoints whose changes are among the newer ones, and not among the older ones.
func changed(older, newer []string) []hook.EndpointID {
	var ids []hook.EndpointID
	for _, change := range newer {
		text, _, _ := strings.Cut(change, "/")
		if id := hook.EndpointID(text); !slices.Contains(older, change) && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// subscriberItem is a part of endpointItem.
type subscriberItem struct {
	key
	ingest.Subscriber

	Tenant hook.TenantID `stored:"tenant"`
}

// subscribers decodes the endpoints of a list, in the order of their ids.
func (s *Store) subscribers(ctx context.Context, items []map[string]types.AttributeValue) []ingest.Subscriber {
	all := readable(ctx, s, items, itself[ingest.Subscriber])
	slices.SortFunc(all, func(a, b ingest.Subscriber) int { return strings.Compare(string(a.ID), string(b.ID)) })
	return all
}

// endpointKeys reads the tenant's list of endpoints.
func (s *Store) endpointKeys(ctx context.Context, tenant hook.TenantID, op string) ([]key, error) {
	rows, err := listRecords[key](ctx, s, tenantPartition(tenant), endpointPrefix, op)
	if err != nil {
		return nil, err
	}
	return keysFor(rows, listedEndpoint), nil
}

// listedEndpoint returns the key of the endpoint of a row in the tenant's list.
func listedEndpoint(row key) key {
	return endpointKey(hook.EndpointID(strings.TrimPrefix(row.SK, endpointPrefix)))
}

// ownedBy returns the items of the tenant. The key of an endpoint does not name the
// tenant.
func ownedBy(items []map[string]types.AttributeValue, tenant hook.TenantID) []map[string]types.AttributeValue {
	return slices.DeleteFunc(items, func(item map[string]types.AttributeValue) bool {
		owner, _ := item["tenant"].(*types.AttributeValueMemberS)
		return owner == nil || owner.Value != string(tenant)
	})
}

// endpoints decodes the endpoints of a list, in the order of their ids. A word that this build
// does not know is left out of the endpoint, which still gets its events; Load then fails only
// the tasks of that endpoint.
func (s *Store) endpoints(ctx context.Context, items []map[string]types.AttributeValue) []hook.Endpoint {
	endpoints := make([]hook.Endpoint, 0, len(items))
	for _, item := range items {
		var e hook.Endpoint
		err := decodeItem(item, &e)
		if err != nil {
			s.unreadable(ctx, item, err)
		}
		if e.ID != "" { // empty: an attribute has another type
			endpoints = append(endpoints, e)
		}
	}
	slices.SortFunc(endpoints, func(a, b hook.Endpoint) int { return strings.Compare(string(a.ID), string(b.ID)) })
	return endpoints
}
