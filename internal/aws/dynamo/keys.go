package dynamo

import (
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"surehook/internal/hook"
	"surehook/internal/names"
)

// key is the primary key of an item. The tags are names.PartitionKey and names.SortKey.
type key struct {
	PK string `dynamodbav:"pk"`
	SK string `dynamodbav:"sk"`
}

// attributes returns the key in the form of the API.
func (k key) attributes() map[string]types.AttributeValue {
	return map[string]types.AttributeValue{names.PartitionKey: text(k.PK), names.SortKey: text(k.SK)}
}

// Sort keys and prefixes of sort keys, one for each kind of item.
const (
	tenantSort     = "tenant"
	eventSort      = "event"
	apiKeySort     = "key"
	circuitSort    = "circuit"
	limitsSort     = "limits"
	endpointSort   = "endpoint"
	endpointPrefix = "endpoint#"
	uidPrefix      = "uid#"
	deliveryPrefix = "delivery#"
	attemptPrefix  = "attempt#"
	apiKeyPrefix   = "key#"
	statsPrefix    = "stats#"
	historyPrefix  = "history#"
	jobPrefix      = "replay#"
	outcomesPrefix = "outcomes#"

	apiKeysPartition = "keys"
)

func tenantPartition(tenant hook.TenantID) string { return "tenant#" + string(tenant) }

func eventPartition(id hook.EventID) string { return "event#" + string(id) }

func tenantKey(tenant hook.TenantID) key { return key{tenantPartition(tenant), tenantSort} }

func endpointKey(id hook.EndpointID) key { return key{endpointPartition(id), endpointSort} }

// endpointRow returns the key of the endpoint in the tenant's list.
func endpointRow(tenant hook.TenantID, id hook.EndpointID) key {
	return key{tenantPartition(tenant), endpointPrefix + string(id)}
}

func uidKey(tenant hook.TenantID, uid string) key {
	return key{tenantPartition(tenant), uidPrefix + uid}
}

func eventKey(id hook.EventID) key { return key{eventPartition(id), eventSort} }

// deliveryKey pads the generation to the digits of hook.MaxGeneration, so that
// keys sort by generation.
func deliveryKey(id hook.DeliveryID) key {
	return key{eventPartition(id.Event), fmt.Sprintf("%s%s#%04d", deliveryPrefix, id.Endpoint, id.Generation)}
}

// attemptKey pads the number, so that keys sort by number.
func attemptKey(id hook.DeliveryID, number int) key {
	return key{eventPartition(id.Event), fmt.Sprintf("%s%s#%04d#%03d", attemptPrefix, id.Endpoint, id.Generation, number)}
}

func endpointPartition(id hook.EndpointID) string { return endpointPrefix + string(id) }

func circuitKey(id hook.EndpointID) key { return key{endpointPartition(id), circuitSort} }

func limitsKey(id hook.EndpointID) key { return key{endpointPartition(id), limitsSort} }

// statsHour is the format of hours. The text sorts by time.
const statsHour = "2006-01-02T15"

// statsKey returns the key of the UTC hour of t.
func statsKey(id hook.EndpointID, t time.Time) key {
	return key{endpointPartition(id), statsPrefix + t.UTC().Format(statsHour)}
}

// activeList returns the name of the list of counts of the hour of t.
func activeList(t time.Time) string { return "active#" + t.UTC().Format(statsHour) }

// activeShard returns the hash key of the counts in the index by_state.
func activeShard(t time.Time, id hook.EndpointID) string { return shard(activeList(t), shardOf(id)) }

// activeRange returns the range key of the counts in the index by_state.
// Tenants and endpoint ids contain no "#".
func activeRange(tenant hook.TenantID, id hook.EndpointID) string {
	return string(tenant) + "#" + string(id)
}

// historyKey returns the key of a notification. Keys sort by time.
func historyKey(n hook.Notification) key {
	return key{endpointPartition(n.Endpoint), historyPrefix + n.At.UTC().Format(indexTime) + "#" + n.Key}
}

func jobKey(tenant hook.TenantID, id hook.JobID) key {
	return key{tenantPartition(tenant), jobPrefix + string(id)}
}

func jobPartition(id hook.JobID) string { return "job#" + string(id) }

// outcomesKey returns the key of the item for the delivery with the index. Each
// item covers deliveriesPerItem deliveries.
func outcomesKey(id hook.JobID, index int) key {
	return key{jobPartition(id), fmt.Sprintf("%s%06d", outcomesPrefix, index/deliveriesPerItem)}
}

func apiKeyKey(hash string) key { return key{apiKeyPrefix + hash, apiKeySort} }

func apiKeyRow(id hook.KeyID) key { return key{apiKeysPartition, apiKeyPrefix + string(id)} }

// indexTime is RFC 3339 in UTC with milliseconds. The text has a fixed width and
// sorts by time.
const indexTime = "2006-01-02T15:04:05.000Z"

// circuitList is the name of the list of circuits with an AttendAt.
const circuitList = "circuit"

// circuitShard returns the hash key of the circuit in the index by_state.
func circuitShard(id hook.EndpointID) string { return shard(circuitList, shardOf(id)) }

// attendRange returns the range key of a circuit in the index by_state.
func attendRange(at time.Time, id hook.EndpointID) string {
	return at.UTC().Format(indexTime) + "#" + string(id)
}

// indexRange returns the range key of a delivery in the index by_endpoint.
func indexRange(state hook.State, createdAt time.Time, id hook.DeliveryID) string {
	return indexPrefix(state) + createdAt.UTC().Format(indexTime) + "#" + id.String()
}

// indexPrefix returns the common prefix of the range keys of all deliveries in
// the state.
func indexPrefix(state hook.State) string { return state.String() + "#" }

// indexEnd returns a bound after the range keys of all deliveries in the state
// and before the range keys of every other state: '$' is the character after '#'.
func indexEnd(state hook.State) string { return state.String() + "$" }

// indexBound returns a bound before the range keys of deliveries created at t or
// later, and after the range keys of deliveries created earlier.
func indexBound(state hook.State, t time.Time) string {
	at := t.Truncate(time.Millisecond) // the stored precision
	if at.Before(t) {
		at = at.Add(time.Millisecond)
	}
	return indexPrefix(state) + at.UTC().Format(indexTime)
}

// indexedDelivery returns the delivery id at the end of a range key of the index
// by_endpoint.
func indexedDelivery(rangeKey string) (hook.DeliveryID, error) {
	id, err := hook.ParseDeliveryID(rangeKey[strings.LastIndexByte(rangeKey, '#')+1:])
	if err != nil {
		return hook.DeliveryID{}, fmt.Errorf("read index key %q: %w", rangeKey, err)
	}
	return id, nil
}
