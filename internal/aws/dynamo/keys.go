package dynamo

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"surehook.example/surehook/internal/admin/audit"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/names"
	"surehook.example/surehook/internal/rule/order"
)

// key is the primary key of an item. The tags are names.PartitionKey and names.SortKey.
type key struct {
	PK string `stored:"pk"`
	SK string `stored:"sk"`
}

// keyed is a record with its key.
type keyed[T any] struct {
	key
	Record T `stored:",inline"`
}

// attributes returns the key in the form of the API.
func (k key) attributes() attributes {
	return attributes{names.PartitionKey: text(k.PK), names.SortKey: text(k.SK)}
}

// Sort keys, and prefixes of partition keys and sort keys.
const (
	tenantSort     = "tenant"
	dataKeySort    = "datakey"
	rateSort       = "rate"
	eventSort      = "event"
	apiKeySort     = "key"
	circuitSort    = "circuit"
	limitsSort     = "limits"
	endpointSort   = "endpoint"
	tlsSort        = "tls"
	sequenceSort   = "sequence"
	endpointPrefix = "endpoint#"
	sharesPrefix   = "shares#"
	orderPrefix    = "order#"
	placePrefix    = "wait#"
	uidPrefix      = "uid#"
	deliveryPrefix = "delivery#"
	attemptPrefix  = "attempt#"
	apiKeyPrefix   = "key#"
	statsPrefix    = "stats#"
	historyPrefix  = "history#"
	auditPrefix    = "audit#"
	jobPrefix      = "replay#"
	linkPrefix     = "link#"
	outcomesPrefix = "outcomes#"
	openJobsSort   = "open-replays"
	urlPrefix      = "url#"
	erasurePrefix  = "erasure#"
	recentPrefix   = "recent_" // of attributes of a tenant
	eventPrefix    = "event#"
	jobPartPrefix  = "job#"
	tenantPrefix   = "tenant#"
	catalogueSort  = "catalogue"

	apiKeysPartition    = "keys"
	eventTypesPartition = "event-types"
	eventTypePrefix     = "event-type#"
	bucketsPartition    = "buckets"
	keyBucketPrefix     = "bucket#"
)

func tenantPartition(tenant hook.TenantID) string { return tenantPrefix + string(tenant) }

func tenantKey(tenant hook.TenantID) key { return key{tenantPartition(tenant), tenantSort} }

func dataKeyKey(tenant hook.TenantID) key { return key{tenantPartition(tenant), dataKeySort} }

func bucketKey(bucket int) key {
	return key{bucketsPartition, keyBucketPrefix + strconv.Itoa(bucket)}
}

// rateKey returns the key of the tenant's next-free time for what it spends: hook.Spend.Of.
func rateKey(tenant hook.TenantID, of string) key {
	sort := rateSort
	if of != "" {
		sort += "#" + of
	}
	return key{tenantPartition(tenant), sort}
}

func endpointKey(id hook.EndpointID) key { return key{endpointPartition(id), endpointSort} }

// endpointRow returns the key of the endpoint's row in the tenant's list, which sorts by id. The row has
// what ingest must know of the endpoint.
func endpointRow(tenant hook.TenantID, id hook.EndpointID) key {
	return key{tenantPartition(tenant), endpointPrefix + string(id)}
}

func uidKey(tenant hook.TenantID, uid string) key {
	return key{tenantPartition(tenant), uidPrefix + uid}
}

func eventKey(id hook.EventID) key { return key{eventPrefix + string(id), eventSort} }

// deliveryPartition returns the partition of a shard of the endpoint's deliveries.
func deliveryPartition(id hook.EndpointID, shard int) string {
	return fmt.Sprintf("%s#%02d", endpointPartition(id), shard)
}

// position orders the deliveries of an endpoint: by time, event and generation. The
// generation has the digits of hook.MaxGeneration, so positions have a fixed width.
func position(at time.Time, id hook.DeliveryID) string {
	return fmt.Sprintf("%s#%s#%04d", at.UTC().Format(indexTime), id.Event, id.Generation)
}

// parsePosition is the inverse of position.
func parsePosition(s string) (at time.Time, event hook.EventID, generation int, err error) {
	parts := strings.Split(s, "#")
	if len(parts) != 3 {
		return at, "", 0, fmt.Errorf("read position %q: %d parts", s, len(parts))
	}
	at, timeErr := time.Parse(indexTime, parts[0])
	event, eventErr := hook.ParseEventID(parts[1])
	generation, numberErr := strconv.Atoi(parts[2])
	if err := errors.Join(timeErr, eventErr, numberErr); err != nil {
		return at, "", 0, fmt.Errorf("read position %q: %w", s, err)
	}
	if s != position(at, hook.DeliveryID{Event: event, Generation: generation}) {
		return at, "", 0, fmt.Errorf("read position %q: another form", s)
	}
	return at, event, generation, nil
}

// deliveryKey returns the key of a delivery: in a shard of its endpoint, at the time of acceptance.
func deliveryKey(ref hook.DeliveryRef) key {
	return key{deliveryPartition(ref.Endpoint, ref.Shard), deliveryPrefix + position(fromMillis(ref.AcceptedAt), ref.DeliveryID)}
}

// attemptKey pads the number, so that keys sort by number.
func attemptKey(ref hook.DeliveryRef, number int) key {
	at := position(fromMillis(ref.AcceptedAt), ref.DeliveryID)
	return key{deliveryPartition(ref.Endpoint, ref.Shard), fmt.Sprintf("%s%s#%03d", attemptPrefix, at, number)}
}

// refOf returns the delivery with the key: the inverse of deliveryKey.
func refOf(k key) (hook.DeliveryRef, error) {
	partition := strings.Split(k.PK, "#")
	at, event, generation, err := parsePosition(strings.TrimPrefix(k.SK, deliveryPrefix))
	if err != nil {
		return hook.DeliveryRef{}, err
	}
	if len(partition) != 3 {
		return hook.DeliveryRef{}, fmt.Errorf("read partition %q of a delivery: %d parts", k.PK, len(partition))
	}
	shard, err := strconv.Atoi(partition[2])
	if err != nil {
		return hook.DeliveryRef{}, fmt.Errorf("read partition %q of a delivery: %w", k.PK, err)
	}
	return hook.DeliveryRef{
		DeliveryID: hook.DeliveryID{Event: event, Endpoint: hook.EndpointID(partition[1]), Generation: generation},
		AcceptedAt: millis(at),
		Shard:      shard,
	}, nil
}

// dueListOf returns the name and the number of shards of the list that orders the deliveries in
// the state by hook.Delivery.ListedAt; 0 shards for a state without such a list.
func dueListOf(state hook.State) (name string, shards int) {
	switch state {
	case hook.StateQueued:
		return "queued", queuedShards
	case hook.StateRetrying:
		return "due", dueShards
	case hook.StateParked, hook.StateDelivered, hook.StateDead, hook.StateDiscarded, hook.StateCancelled:
	}
	return "", 0
}

func endpointPartition(id hook.EndpointID) string { return endpointPrefix + string(id) }

func circuitKey(id hook.EndpointID) key { return key{endpointPartition(id), circuitSort} }

// sequenceKey is in a partition of the endpoint and the ordering key: no item is for all keys.
func sequenceKey(id order.ID) key {
	return key{orderPrefix + string(id.Endpoint) + "#" + id.Key, sequenceSort}
}

// placeKey pads the number, so that keys sort by number.
func placeKey(id order.ID, number int64) key {
	return key{sequenceKey(id).PK, fmt.Sprintf("%s%012d", placePrefix, number)}
}

func limitsKey(id hook.EndpointID) key { return key{endpointPartition(id), limitsSort} }

// placesKey is in a partition of its own: a tenant with many slow endpoints changes its places at
// each of their attempts, which must not throttle its posts.
func sharesKey(tenant hook.TenantID) key { return key{sharesPrefix + string(tenant), limitsSort} }

// statsHour is the format of hours. The text sorts by time.
const statsHour = "2006-01-02T15"

// statsKey returns the key of the UTC hour of t.
func statsKey(id hook.EndpointID, t time.Time) key {
	return key{endpointPartition(id), statsPrefix + t.UTC().Format(statsHour)}
}

// activeList returns the name of the list of endpoints with counts in the hour of t.
func activeList(t time.Time) string { return "active#" + t.UTC().Format(statsHour) }

// activeShard returns the hash key of the counts in the index by_state.
func activeShard(t time.Time, id hook.EndpointID) string {
	return shard(activeList(t), hook.ShardOf(id, endpointShards))
}

// activeRange returns the range key of the counts in the index by_state.
// Tenants and endpoint ids contain no "#".
func activeRange(tenant hook.TenantID, id hook.EndpointID) string {
	return string(tenant) + "#" + string(id)
}

// historyKey returns the key of a notification. Keys sort by time.
func historyKey(n hook.Notification) key {
	return key{endpointPartition(n.Endpoint), historyPrefix + n.At.UTC().Format(indexTime) + "#" + n.Key}
}

// auditPartition returns the partition of the tenant's audit records. No tenant can have the
// id hook.AllTenants.
func auditPartition(tenant hook.TenantID) string { return auditPrefix + string(tenant) }

// auditKey returns the key of an audit record. Keys sort by time.
func auditKey(r hook.AuditRecord) key {
	return key{auditPartition(r.Tenant), auditPrefix + audit.Position(r)}
}

func jobKey(tenant hook.TenantID, id hook.JobID) key {
	return key{tenantPartition(tenant), jobPrefix + string(id)}
}

// openJobsKey returns the key of the set of the tenant's open jobs.
func openJobsKey(tenant hook.TenantID) key { return key{tenantPartition(tenant), openJobsSort} }

// urlKey returns the key of the count of the tenant's endpoints with the receiver.
// A hash keeps the key below the limit of sort keys, 1,024 bytes.
func urlKey(tenant hook.TenantID, url string) key {
	sum := sha256.Sum256([]byte(hook.Receiver(url)))
	return key{tenantPartition(tenant), urlPrefix + hex.EncodeToString(sum[:])}
}

func jobPartition(id hook.JobID) string { return jobPartPrefix + string(id) }

// erasureKey is in a partition of its own: the job outlives the items of the tenant.
func erasureKey(tenant hook.TenantID, id hook.ErasureID) key {
	return key{erasurePrefix + string(tenant), erasurePrefix + string(id)}
}

// outcomesKey returns the key of the item for the delivery with the index. Each
// item covers deliveriesPerItem deliveries.
func outcomesKey(id hook.JobID, index int) key {
	return key{jobPartition(id), fmt.Sprintf("%s%06d", outcomesPrefix, index/deliveriesPerItem)}
}

func linkKey(tenant hook.TenantID, id hook.KeyID) key {
	return key{tenantPartition(tenant), linkPrefix + string(id)}
}

func apiKeyKey(hash string) key { return key{apiKeyPrefix + hash, apiKeySort} }

func apiKeyRow(id hook.KeyID) key { return key{apiKeysPartition, apiKeyPrefix + string(id)} }

// catalogueKey is in a partition of its own: every process of ingest reads the item, and
// each change of an event type writes it.
func catalogueKey() key { return key{catalogueSort, catalogueSort} }

func eventTypeKey(name string) key { return key{eventTypesPartition, eventTypePrefix + name} }

// indexTime is RFC 3339 in UTC with milliseconds. The text has a fixed width and
// sorts by time.
const indexTime = "2006-01-02T15:04:05.000Z"

// tenantList is the hash key of the list of tenants in the index by_state, by id. The row
// of a tenant is written only once: see changeTenant.
const tenantList = "tenants"

// untargetedList is the name of the list of the tenant's events without a target, by
// position with generation 0.
func untargetedList(tenant hook.TenantID) string { return "untargeted#" + string(tenant) }

// circuitList is the name of the list of circuits with an AttendAt, by that time.
const circuitList = "circuit"

// lookList is the name of the list of circuits with a LookAt and without an AttendAt, by LookAt.
const lookList = "look"

// turnList is the name of the list of sequences with a LookAt, by that time.
const turnList = "turn"

// indexPrefix returns the common prefix of the range keys of all deliveries in the
// state in the index by_endpoint. The position of the delivery by CreatedAt follows.
func indexPrefix(state hook.State) string { return state.String() + "#" }

// timeBound returns a bound before the positions of deliveries at t or later, and after
// the positions of earlier deliveries.
func timeBound(t time.Time) string {
	at := t.Truncate(time.Millisecond) // the stored precision
	if at.Before(t) {
		at = at.Add(time.Millisecond)
	}
	return at.UTC().Format(indexTime)
}
