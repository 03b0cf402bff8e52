package dynamo

import (
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"surehook/internal/hook"
	"surehook/internal/names"
)

// key is the primary key of an item. Its tags are names.PartitionKey and names.SortKey.
type key struct {
	PK string `dynamodbav:"pk"`
	SK string `dynamodbav:"sk"`
}

// attributes returns the key as the API takes it.
func (k key) attributes() map[string]types.AttributeValue {
	return map[string]types.AttributeValue{names.PartitionKey: text(k.PK), names.SortKey: text(k.SK)}
}

// Sort keys, and beginnings of sort keys, that tell the kind of an item.
const (
	tenantSort     = "tenant"
	eventSort      = "event"
	apiKeySort     = "key"
	circuitSort    = "circuit"
	limitsSort     = "limits"
	endpointPrefix = "endpoint#"
	uidPrefix      = "uid#"
	deliveryPrefix = "delivery#"
	attemptPrefix  = "attempt#"
	apiKeyPrefix   = "key#"
	statsPrefix    = "stats#"
	historyPrefix  = "history#"
	jobPrefix      = "replay#"
	tallyPrefix    = "tally#"

	apiKeysPartition = "keys"
)

func tenantPartition(tenant hook.TenantID) string { return "tenant#" + string(tenant) }

func eventPartition(id hook.EventID) string { return "event#" + string(id) }

func tenantKey(tenant hook.TenantID) key { return key{tenantPartition(tenant), tenantSort} }

func endpointKey(tenant hook.TenantID, id hook.EndpointID) key {
	return key{tenantPartition(tenant), endpointPrefix + string(id)}
}

func uidKey(tenant hook.TenantID, uid string) key {
	return key{tenantPartition(tenant), uidPrefix + uid}
}

func eventKey(id hook.EventID) key { return key{eventPartition(id), eventSort} }

// deliveryKey pads the generation to the digits of hook.MaxGeneration, so that keys sort by it.
func deliveryKey(id hook.DeliveryID) key {
	return key{eventPartition(id.Event), fmt.Sprintf("%s%s#%04d", deliveryPrefix, id.Endpoint, id.Generation)}
}

// attemptKey pads the number, so that keys sort by it.
func attemptKey(id hook.DeliveryID, number int) key {
	return key{eventPartition(id.Event), fmt.Sprintf("%s%s#%04d#%03d", attemptPrefix, id.Endpoint, id.Generation, number)}
}

func endpointPartition(id hook.EndpointID) string { return endpointPrefix + string(id) }

func circuitKey(id hook.EndpointID) key { return key{endpointPartition(id), circuitSort} }

func limitsKey(id hook.EndpointID) key { return key{endpointPartition(id), limitsSort} }

// statsHour is how hours are written: they sort as the time does.
const statsHour = "2006-01-02T15"

// statsKey is that of the hour, in UTC, that t is in.
func statsKey(id hook.EndpointID, t time.Time) key {
	return key{endpointPartition(id), statsPrefix + t.UTC().Format(statsHour)}
}

// activeState is the hash key, in the index by_state, of the counts of an hour.
func activeState(t time.Time) string { return "active#" + t.UTC().Format(statsHour) }

// activeRange is their range key. Neither part has a #.
func activeRange(tenant hook.TenantID, id hook.EndpointID) string {
	return string(tenant) + "#" + string(id)
}

// historyKey sorts notices by their time.
func historyKey(n hook.Notification) key {
	return key{endpointPartition(n.Endpoint), historyPrefix + n.At.UTC().Format(indexTime) + "#" + n.Key}
}

func jobKey(tenant hook.TenantID, id hook.JobID) key {
	return key{tenantPartition(tenant), jobPrefix + string(id)}
}

func jobPartition(id hook.JobID) string { return "job#" + string(id) }

// tallyKey is that of the tallySlots slots that slot is one of.
func tallyKey(id hook.JobID, slot int) key {
	return key{jobPartition(id), fmt.Sprintf("%s%06d", tallyPrefix, slot/tallySlots)}
}

func apiKeyKey(hash string) key { return key{apiKeyPrefix + hash, apiKeySort} }

func apiKeyRow(id hook.KeyID) key { return key{apiKeysPartition, apiKeyPrefix + string(id)} }

// indexTime is RFC 3339 in UTC with milliseconds, of fixed width: it sorts as the time does.
const indexTime = "2006-01-02T15:04:05.000Z"

// circuitState is the hash key, in the index by_state, of endpoints that are to be attended to.
const circuitState = "circuit"

// attendRange is their range key.
func attendRange(at time.Time, id hook.EndpointID) string {
	return at.UTC().Format(indexTime) + "#" + string(id)
}

// indexRange is the range key of a delivery in the index by_endpoint.
func indexRange(state hook.State, createdAt time.Time, id hook.DeliveryID) string {
	return indexPrefix(state) + createdAt.UTC().Format(indexTime) + "#" + id.String()
}

// indexPrefix begins the range keys of all deliveries in the state.
func indexPrefix(state hook.State) string { return state.String() + "#" }

// indexEnd is after the range keys of all deliveries in the state, and before
// those of any other: '$' is the character after '#'.
func indexEnd(state hook.State) string { return state.String() + "$" }

// indexBound is before the range keys of the deliveries in the state that were
// created at t or later, and after those that were created before.
func indexBound(state hook.State, t time.Time) string {
	at := t.Truncate(time.Millisecond) // as stored
	if at.Before(t) {
		at = at.Add(time.Millisecond)
	}
	return indexPrefix(state) + at.UTC().Format(indexTime)
}

// indexedDelivery returns the delivery that a range key of the index ends with.
func indexedDelivery(rangeKey string) (hook.DeliveryID, error) {
	id, err := hook.ParseDeliveryID(rangeKey[strings.LastIndexByte(rangeKey, '#')+1:])
	if err != nil {
		return hook.DeliveryID{}, fmt.Errorf("read index key %q: %w", rangeKey, err)
	}
	return id, nil
}
