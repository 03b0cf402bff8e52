package dynamo

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"surehook.example/surehook/internal/admin/tenant"
	"surehook.example/surehook/internal/delivery/deliver"
	"surehook.example/surehook/internal/delivery/replay"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
	"surehook.example/surehook/internal/rule/order"
	"surehook.example/surehook/internal/store"
)

// Load makes one batch read per 100 items: a task needs 4 items, and one more each for a
// replay and for a claimed slot, so one request serves at least 16 tasks. The sequences of ordered
// deliveries are named by their events, so they take another batch read. The endpoint's
// key does not name the tenant, so Load drops endpoints of other tenants than the
// tasks' own.
func (s *Store) Load(ctx context.Context, tasks []hook.Task) (deliver.Snapshot, error) {
	const op = "load tasks"
	var wanted []key
	owned := make(map[owner]bool)
	snapshot := deliver.Snapshot{
		Events:     make(map[hook.EventID]*hook.Event),
		Endpoints:  make(map[hook.EndpointID]*hook.Endpoint),
		Circuits:   make(map[hook.EndpointID]admission.Record),
		Deliveries: make(map[hook.DeliveryRef]*hook.Delivery),
		Limits:     make(map[hook.EndpointID]admission.Limits),
		Sequences:  make(map[order.ID]order.Sequence),
		Faults:     make(map[hook.Task]error),
	}
	for _, t := range tasks {
		wanted = append(wanted, keysOf(t)...)
		owned[owner{t.Tenant, t.Delivery.Endpoint}] = true
		if t.Slot {
			snapshot.Limits[t.Delivery.Endpoint] = admission.Limits{}
		}
	}
	faults := make(map[key]error)
	if err := s.loadInto(ctx, &snapshot, wanted, faults); err != nil {
		return deliver.Snapshot{}, translate(err, op)
	}
	wanted = nil
	for _, t := range tasks {
		wanted = append(wanted, orderOf(t, snapshot.Events)...)
	}
	if err := s.loadInto(ctx, &snapshot, wanted, faults); err != nil {
		return deliver.Snapshot{}, translate(err, op)
	}
	for _, t := range tasks {
		for _, k := range append(keysOf(t), orderOf(t, snapshot.Events)...) {
			if err := faults[k]; err != nil {
				snapshot.Faults[t] = translate(fmt.Errorf("%s %s: %w", k.PK, k.SK, err), op)
				break
			}
		}
	}
	maps.DeleteFunc(snapshot.Endpoints, func(id hook.EndpointID, e *hook.Endpoint) bool { return !owned[owner{e.Tenant, id}] })
	return snapshot, nil
}

// loadInto reads the items into the snapshot, with a fault for each that could not be read.
func (s *Store) loadInto(ctx context.Context, snapshot *deliver.Snapshot, wanted []key, faults map[key]error) error {
	items, unread, err := s.batchGetEach(ctx, wanted, true)
	maps.Copy(faults, unread)
	for _, item := range items {
		if err := s.add(snapshot, item); err != nil {
			faults[s.unreadable(ctx, item, err)] = err
		}
	}
	return err
}

// orderOf returns the key of the sequence of the task's delivery, if it has a number.
func orderOf(t hook.Task, events map[hook.EventID]*hook.Event) []key {
	if e := events[t.Delivery.Event]; e != nil && e.Numbers[t.Delivery.Endpoint] > 0 {
		return []key{sequenceKey(order.ID{Endpoint: t.Delivery.Endpoint, Key: e.OrderingKey})}
	}
	return nil
}

// keysOf returns the keys of the records for the task.
func keysOf(t hook.Task) []key {
	keys := []key{eventKey(t.Delivery.Event), endpointKey(t.Delivery.Endpoint), circuitKey(t.Delivery.Endpoint), deliveryKey(t.Delivery)}
	if before, ok := t.Delivery.Predecessor(); ok {
		keys = append(keys, deliveryKey(before))
	}
	if t.Slot {
		keys = append(keys, limitsKey(t.Delivery.Endpoint))
	}
	return keys
}

// owner is a tenant and an endpoint named by a task.
type owner struct {
	tenant   hook.TenantID
	endpoint hook.EndpointID
}

// add decodes an item by kind into the snapshot.
func (s *Store) add(snapshot *deliver.Snapshot, item attributes) error {
	var k key
	if err := decodeItem(item, &k); err != nil {
		return err
	}
	switch {
	case k.SK == eventSort:
		return addTo(s, item, func(e hook.Event) { snapshot.Events[e.ID] = &e })
	case k.SK == endpointSort:
		return addTo(s, item, func(e hook.Endpoint) { snapshot.Endpoints[e.ID] = &e })
	case k.SK == circuitSort:
		return addTo(s, item, func(r admission.Record) { snapshot.Circuits[r.Endpoint] = r })
	case k.SK == limitsSort:
		id := hook.EndpointID(strings.TrimPrefix(k.PK, endpointPrefix))
		return addTo(s, item, func(l admission.Limits) { snapshot.Limits[id] = l })
	case k.SK == sequenceSort:
		return addTo(s, item, func(q order.Sequence) { snapshot.Sequences[q.ID] = q })
	case strings.HasPrefix(k.SK, deliveryPrefix):
		return addTo(s, item, func(d hook.Delivery) { snapshot.Deliveries[d.Ref()] = &d })
	}
	return nil
}

func addTo[T any](s *Store, item attributes, add func(T)) error {
	record, err := decode[T](s, item)
	if err == nil {
		add(record)
	}
	return err
}

// decode decodes an item. After an error, the record may have a part of it.
func decode[T any](s *Store, item attributes) (record T, err error) {
	switch out := any(&record).(type) {
	case *hook.Event:
		*out, err = decodeAs(item, s.payload.fromEventItem)
	case *hook.Delivery:
		*out, err = decodeAs(item, s.payload.fromDeliveryItem)
	case *hook.Attempt:
		*out, err = decodeAs(item, s.payload.fromAttemptItem)
	case *replay.Job:
		*out, err = decodeAs(item, fromJobItem)
	case *tenant.Tenant:
		*out, err = decodeAs(item, fromTenantItem)
	case *hourItem:
		*out, err = hourOf(item)
	default:
		err = decodeItem(item, &record)
	}
	return record, err
}

// decodeAs decodes the item of a record by way of the struct that is stored for it.
func decodeAs[I, T any](item attributes, from func(I) (T, error)) (record T, err error) {
	var it I
	if err := decodeItem(item, &it); err != nil {
		return record, err
	}
	return from(it)
}

// unreadable reports an item that this build cannot read, and returns the key.
func (s *Store) unreadable(ctx context.Context, item attributes, err error) key {
	var k key
	_ = decodeItem(item, &k) // the empty key names no item
	if s.Unreadable != nil {
		s.Unreadable(ctx, k.PK+" "+k.SK, err)
	}
	return k
}

// readable decodes the items of a list, without those that this build cannot read.
func readable[T any](ctx context.Context, s *Store, items []attributes) []T {
	return decodeEach(ctx, s, items, func(_ T, err error) bool { return err == nil })
}

// decodeEach decodes the items of a list that are wanted. Store.Unreadable learns of those that this
// build cannot read.
func decodeEach[T any](ctx context.Context, s *Store, items []attributes, wanted func(T, error) bool) []T {
	records := make([]T, 0, len(items))
	for _, item := range items {
		record, err := decode[T](s, item)
		if err != nil {
			s.unreadable(ctx, item, err)
		}
		if wanted(record, err) {
			records = append(records, record)
		}
	}
	return records
}

// Bounds of batchGet.
const (
	maxBatchKeys = 100 // keys per BatchGetItem
	// maxRounds bounds the requests for the keys of one BatchGetItem. DynamoDB leaves
	// keys unprocessed under a throttle, and above 16 MB: 100 events have 25 MB at most.
	// The waits between 10 rounds add up to 1.6 s at most.
	maxRounds = 10
)

// errUnprocessed means that keys of a batch read stay unprocessed.
var errUnprocessed = &hook.Error{Code: hook.CodeUnavailable, Message: "keys of a batch read are unprocessed"}

// batchGet reads the existing items, with consistent reads, in no particular
// order. Keys may repeat. batchGet requests unprocessed keys again, after a
// jittered wait, up to maxRounds times, and then returns errUnprocessed.
func (s *Store) batchGet(ctx context.Context, keys []key) ([]attributes, error) {
	return s.batchGetAs(ctx, keys, true)
}

// batchGetAs is batchGet with consistent reads or not, and of some attributes only.
func (s *Store) batchGetAs(ctx context.Context, keys []key, consistent bool, only ...string) ([]attributes, error) {
	items, faults, err := s.batchGetEach(ctx, keys, consistent, only...)
	for _, fault := range faults {
		return nil, fault
	}
	return items, err
}

// batchGetEach is batchGetAs with a separate fault for each key that could not be read, so that
// one throttled partition does not keep the items of the others from the caller. An error means
// that no key was read.
func (s *Store) batchGetEach(
	ctx context.Context, keys []key, consistent bool, only ...string,
) (items []attributes, faults map[key]error, err error) {
	as := types.KeysAndAttributes{ConsistentRead: &consistent}
	as.ProjectionExpression, as.ExpressionAttributeNames = projected(only)
	faults = make(map[key]error)
	once := make(map[key]bool, len(keys)) // DynamoDB refuses a batch with one key twice
	keys = slices.DeleteFunc(slices.Clone(keys), func(k key) bool {
		again := once[k]
		once[k] = true
		return again
	})
	for chunk := range slices.Chunk(keys, maxBatchKeys) {
		request := as
		for _, k := range chunk {
			request.Keys = append(request.Keys, k.attributes())
		}
		fault := store.Persist(ctx, s.Wait, maxRounds, func() error {
			got, err := s.db.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{
				RequestItems: map[string]types.KeysAndAttributes{*s.table: request},
			})
			if err != nil {
				return err
			}
			items = append(items, got.Responses[*s.table]...)
			if request.Keys = got.UnprocessedKeys[*s.table].Keys; len(request.Keys) > 0 {
				return errUnprocessed
			}
			return nil
		})
		if fault == nil {
			continue
		}
		for _, unread := range request.Keys {
			var k key
			if err := decodeItem(unread, &k); err != nil {
				return nil, nil, err
			}
			faults[k], err = fault, fault
		}
	}
	if len(faults) < len(keys) && ctx.Err() == nil {
		err = nil
	}
	return items, faults, err
}
