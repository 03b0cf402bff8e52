package dynamo

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"surehook/internal/delivery/deliver"
	"surehook/internal/delivery/gate"
	"surehook/internal/hook"
)

// Load makes one batch read per 100 items: a token needs 4 items, and one more each for a
// replay and for a claimed slot, so one request serves at least 16 tokens. The endpoint's
// key does not name the tenant, so Load drops endpoints of other tenants than the
// tokens' own.
func (s *Store) Load(ctx context.Context, tokens []hook.Token) (deliver.Snapshot, error) {
	const op = "load tokens"
	wanted := make(map[key]struct{})
	owned := make(map[owner]bool)
	limits := make(map[hook.EndpointID]gate.Limits)
	for _, t := range tokens {
		wanted[eventKey(t.Delivery.Event)] = struct{}{}
		wanted[endpointKey(t.Delivery.Endpoint)] = struct{}{}
		owned[owner{t.Tenant, t.Delivery.Endpoint}] = true
		wanted[circuitKey(t.Delivery.Endpoint)] = struct{}{}
		wanted[deliveryKey(t.Delivery)] = struct{}{}
		if before, ok := t.Delivery.Predecessor(); ok {
			wanted[deliveryKey(before)] = struct{}{}
		}
		if t.Slot {
			wanted[limitsKey(t.Delivery.Endpoint)] = struct{}{}
			limits[t.Delivery.Endpoint] = gate.Limits{}
		}
	}
	items, err := s.batchGet(ctx, slices.Collect(maps.Keys(wanted)))
	if err != nil {
		return deliver.Snapshot{}, translate(err, op)
	}
	snapshot := deliver.Snapshot{
		Events:     make(map[hook.EventID]*hook.Event),
		Endpoints:  make(map[hook.EndpointID]*hook.Endpoint),
		Circuits:   make(map[hook.EndpointID]gate.Record),
		Deliveries: make(map[hook.DeliveryRef]*hook.Delivery),
		Limits:     limits,
	}
	for _, item := range items {
		if err := s.add(&snapshot, item); err != nil {
			return deliver.Snapshot{}, translate(err, op)
		}
	}
	maps.DeleteFunc(snapshot.Endpoints, func(id hook.EndpointID, e *hook.Endpoint) bool { return !owned[owner{e.Tenant, id}] })
	return snapshot, nil
}

// owner is a tenant and an endpoint named by a token.
type owner struct {
	tenant   hook.TenantID
	endpoint hook.EndpointID
}

// add decodes an item by kind into the snapshot.
func (s *Store) add(snapshot *deliver.Snapshot, item map[string]types.AttributeValue) error {
	var k key
	if err := attributevalue.UnmarshalMap(item, &k); err != nil {
		return err //nolint:wrapcheck // the caller names the operation
	}
	switch {
	case k.SK == eventSort:
		e, err := decode(item, s.payload.fromEventItem)
		if err != nil {
			return err
		}
		snapshot.Events[e.ID] = &e
	case k.SK == endpointSort:
		e, err := decode(item, fromEndpointItem)
		if err != nil {
			return err
		}
		snapshot.Endpoints[e.ID] = &e
	case k.SK == circuitSort:
		r, err := decode(item, fromCircuitItem)
		if err != nil {
			return err
		}
		snapshot.Circuits[r.Endpoint] = r
	case k.SK == limitsSort:
		l, err := decode(item, fromLimitsItem)
		if err != nil {
			return err
		}
		snapshot.Limits[hook.EndpointID(strings.TrimPrefix(k.PK, endpointPrefix))] = l
	case strings.HasPrefix(k.SK, deliveryPrefix):
		d, err := decode(item, fromDeliveryItem)
		if err != nil {
			return err
		}
		snapshot.Deliveries[d.Ref()] = &d
	}
	return nil
}

// decode decodes an item by way of its struct.
func decode[I, T any](item map[string]types.AttributeValue, from func(I) (T, error)) (T, error) {
	var it I
	if err := attributevalue.UnmarshalMap(item, &it); err != nil {
		var none T
		return none, err //nolint:wrapcheck // the caller names the operation
	}
	return from(it)
}

// decodeAll decodes items by way of their struct.
func decodeAll[I, T any](items []map[string]types.AttributeValue, from func(I) (T, error)) ([]T, error) {
	records := make([]T, 0, len(items))
	for _, item := range items {
		record, err := decode(item, from)
		if err != nil {
			return nil, err
		}
		records = append(records, record)
	}
	return records, nil
}

// fromItems decodes the items of list.
func fromItems[I, T any](items []I, from func(I) (T, error), op string) ([]T, error) {
	records := make([]T, 0, len(items))
	for _, it := range items {
		record, err := from(it)
		if err != nil {
			return nil, translate(err, op)
		}
		records = append(records, record)
	}
	return records, nil
}

// Bounds of batchGet.
const (
	maxBatchKeys = 100 // keys per BatchGetItem
	// maxRounds bounds the requests for the keys of one BatchGetItem. DynamoDB leaves
	// keys unprocessed under a throttle, and above 16 MB: 100 events have 25 MB at most.
	// The waits of 10 rounds add up to 1.9 s at most.
	maxRounds = 10
)

// errUnprocessed means that keys of a batch read stay unprocessed.
var errUnprocessed = &hook.Error{Code: hook.CodeUnavailable, Message: "keys of a batch read are unprocessed"}

// batchGet reads the existing items, with consistent reads, in no particular
// order. Keys must not repeat. batchGet requests unprocessed keys again, after a
// jittered wait, up to maxRounds times, and then returns errUnprocessed.
func (s *Store) batchGet(ctx context.Context, keys []key) ([]map[string]types.AttributeValue, error) {
	return s.batchGetAs(ctx, keys, types.KeysAndAttributes{ConsistentRead: aws.Bool(true)})
}

// batchGetAs is batchGet with the consistency and the attributes of the request.
func (s *Store) batchGetAs(ctx context.Context, keys []key, as types.KeysAndAttributes) ([]map[string]types.AttributeValue, error) {
	var items []map[string]types.AttributeValue
	for chunk := range slices.Chunk(keys, maxBatchKeys) {
		request := as
		for _, k := range chunk {
			request.Keys = append(request.Keys, k.attributes())
		}
		err := hook.Persist(ctx, s.Wait, maxRounds, func() error {
			got, err := s.db.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{
				RequestItems: map[string]types.KeysAndAttributes{*s.table: request},
			})
			if err != nil {
				return err //nolint:wrapcheck // the caller translates
			}
			items = append(items, got.Responses[*s.table]...)
			if request.Keys = got.UnprocessedKeys[*s.table].Keys; len(request.Keys) > 0 {
				return errUnprocessed
			}
			return nil
		})
		if err != nil {
			return nil, err //nolint:wrapcheck // the caller translates
		}
	}
	return items, nil
}
