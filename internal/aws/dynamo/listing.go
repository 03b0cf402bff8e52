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

	"surehook.example/surehook/internal/delivery/ingest"
	"surehook.example/surehook/internal/hook"
)

// Listing makes one query of the tenant's rows, which have what ingest must know of the endpoints, and
// then reads the tenant. The tenant's digest tells a list that has half of a transaction.
func (s *Store) Listing(ctx context.Context, tenant hook.TenantID) (ingest.Listing, error) {
	op := "list endpoints of tenant " + string(tenant)
	var it tenantItem
	var rows []attributes
	torn, err := s.untorn(ctx, func() (err error) {
		if rows, err = s.endpointRows(ctx, tenant, op); err != nil {
			return err
		}
		if it, err = s.tenant(ctx, tenant); err != nil {
			return err
		}
		if it.Digest != digestOf(rows) {
			return errTorn
		}
		return nil
	})
	if err != nil {
		return ingest.Listing{}, err
	}
	return ingest.Listing{Mark: it.mark(), Limits: it.Limits, Endpoints: s.subscribers(ctx, rows), Torn: torn}, nil
}

// maxRowPages bounds the pages of 1 MB that a list of endpoints takes, and so the memory of a process that
// reads it. hook.DefaultEndpoints take 9 pages at most.
const maxRowPages = 10

// endpointRows reads the rows of the tenant's list. More than maxRowPages are CodeForbidden.
func (s *Store) endpointRows(ctx context.Context, tenant hook.TenantID, op string) (rows []attributes, err error) {
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
		if all = it.Version-since.Version <= recentSlots; !all {
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

// nextRow returns the write of the row of the next version of e in the tenant's list. The endpoint's
// write guards it.
func (s *Store) nextRow(e hook.Endpoint) write {
	return s.nextIf(endpointRow(e.Tenant, e.ID), e.Version, condition{}, ingest.SubscriberOf(e))
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
func digestOf(items []attributes) (sum int64) {
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

// subscribers decodes the endpoints of a list, in the order of their ids.
func (s *Store) subscribers(ctx context.Context, items []attributes) []ingest.Subscriber {
	all := readable[ingest.Subscriber](ctx, s, items)
	slices.SortFunc(all, func(a, b ingest.Subscriber) int { return strings.Compare(string(a.ID), string(b.ID)) })
	return all
}

// listedEndpoint returns the key of the endpoint of a row in the tenant's list.
func listedEndpoint(row key) key {
	return endpointKey(hook.EndpointID(strings.TrimPrefix(row.SK, endpointPrefix)))
}
