package dynamo

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"surehook.example/surehook/internal/hook"
)

// eventItem has StatePK and StateSK for an event without a target: the event is in a list
// of the tenant. All other events are found by their deliveries.
type eventItem struct {
	key
	hook.Event

	StatePK  string `stored:"state_pk"` // names.ByStateHash
	StateSK  string `stored:"state_sk"` // names.ByStateRange
	Payload  []byte `stored:"payload"`
	Encoding string `stored:"encoding"` // of Payload; empty: not encoded
}

func (c codec) toEventItem(e hook.Event) eventItem {
	it := eventItem{key: eventKey(e.ID), Event: e}
	it.Payload, it.Encoding = c.encode(e.Payload)
	if len(e.Targets) == 0 {
		it.StatePK = shard(untargetedList(e.Tenant), hook.ShardOf(e.ID, hook.UntargetedShards))
		it.StateSK = position(e.AcceptedAt, hook.DeliveryID{Event: e.ID})
	}
	return it
}

func (c codec) fromEventItem(it eventItem) (e hook.Event, err error) {
	e = it.Event
	e.Payload, err = c.decode(it.Payload, it.Encoding)
	return e, err
}

// unused requires that no event has the id, except an event expired at the time. The
// table removes expired events up to some days late.
func unused(at time.Time) condition {
	return condition{
		expression: "attribute_not_exists(pk) OR expires_at <= :now",
		values:     map[string]types.AttributeValue{":now": number(ttl(at))},
	}
}

// PutEvent makes one conditional write. After CodeConflict, the stored nonce
// shows whether an earlier try of the same call made the write.
func (s *Store) PutEvent(ctx context.Context, e hook.Event) error {
	op := "put event " + string(e.ID)
	put := s.put(s.payload.toEventItem(e), unused(e.AcceptedAt))
	return translate(s.write(ctx, put), op)
}

// Event reads one item.
func (s *Store) Event(ctx context.Context, id hook.EventID) (hook.Event, error) {
	var it eventItem
	if err := s.get(ctx, eventKey(id), &it, "event", string(id)); err != nil {
		return hook.Event{}, err
	}
	e, err := s.payload.fromEventItem(it)
	return e, translate(err, "read event "+string(id))
}

// AddTarget makes one conditional update, at the price of a write of the whole event. The
// condition names the endpoint with every number of shards, because the stored text of a
// target has the number.
func (s *Store) AddTarget(ctx context.Context, e hook.Event, target hook.Target) error {
	op := fmt.Sprintf("add endpoint %s to event %s", target.Endpoint, e.ID)
	added := text(target.String())
	condition := "accepted_at = :at AND tenant = :tenant AND attribute_not_exists(erased_at) AND " +
		"(attribute_not_exists(targets) OR (size(targets) < :most"
	values := map[string]types.AttributeValue{
		":none": &types.AttributeValueMemberL{}, ":added": &types.AttributeValueMemberL{Value: []types.AttributeValue{added}},
		":at": number(millis(e.AcceptedAt)), ":tenant": text(string(e.Tenant)), ":most": number(hook.MaxTargets),
	}
	for shards := 1; shards <= hook.MaxShards; shards++ {
		value := ":in" + strconv.Itoa(shards)
		condition += " AND NOT contains(targets, " + value + ")"
		values[value] = text(hook.Target{Endpoint: target.Endpoint, Shards: shards}.String())
	}
	condition += "))"
	_, err := s.db.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: s.table, Key: eventKey(e.ID).attributes(),
		UpdateExpression:    aws.String("SET targets = list_append(if_not_exists(targets, :none), :added)"),
		ConditionExpression: &condition, ExpressionAttributeValues: values,
	})
	if _, failed := errors.AsType[*types.ConditionalCheckFailedException](err); failed {
		return fmt.Errorf("%s: %w", op, hook.Conflict("the event was changed meanwhile, or takes no further endpoint"))
	}
	return translate(err, op)
}

// EraseEvent makes one conditional update.
func (s *Store) EraseEvent(ctx context.Context, e hook.Event) error {
	op := "erase event " + string(e.ID)
	_, err := s.db.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName:           s.table,
		Key:                 eventKey(e.ID).attributes(),
		UpdateExpression:    aws.String("SET erased_at = if_not_exists(erased_at, :at) REMOVE payload, encoding"),
		ConditionExpression: aws.String("accepted_at = :accepted"),
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":at": number(millis(e.ErasedAt)), ":accepted": number(millis(e.AcceptedAt)),
		},
	})
	return translate(err, op)
}
