package dynamo

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"surehook.example/surehook/internal/delivery/ingest"
	"surehook.example/surehook/internal/hook"
)

// Listing makes one query of the tenant's list, and one transaction per 24 endpoints.
// The tenant counts its endpoints, so a list that lacks a new row is torn, too.
func (s *Store) Listing(ctx context.Context, tenant hook.TenantID) (ingest.Listing, error) {
	op := "list endpoints of tenant " + string(tenant)
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
	return ingest.Listing{Version: it.Version, Limits: it.Limits, Endpoints: s.subscribers(ctx, items)}, nil
}

// tornListing reads the tenant, and then the endpoints.
func (s *Store) tornListing(ctx context.Context, tenant hook.TenantID) (ingest.Listing, error) {
	it, err := s.tenant(ctx, tenant)
	if err != nil {
		return ingest.Listing{}, err
	}
	l := ingest.Listing{Version: it.Version, Limits: it.Limits, Torn: true}
	endpoints, err := s.Endpoints(ctx, tenant)
	for _, e := range endpoints {
		l.Endpoints = append(l.Endpoints, ingest.SubscriberOf(e))
	}
	return l, err
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
