package dynamo

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"surehook.example/surehook/internal/hook"
)

// eventItem has a stateRow for an event without a target: the event is in a list
// of the tenant. All other events are found by their deliveries.
type eventItem struct {
	hook.Event

	stateRow
	Payload  []byte `stored:"payload"`
	Encoding string `stored:"encoding"` // of Payload; empty: not encoded
}

func (c codec) toEventItem(e hook.Event) eventItem {
	it := eventItem{Event: e}
	it.Payload, it.Encoding = c.encode(e.Payload)
	if len(e.Targets) == 0 {
		list := shard(untargetedList(e.Tenant), hook.ShardOf(e.ID, hook.UntargetedShards))
		it.stateRow = stateRow{list, position(e.AcceptedAt, hook.DeliveryID{Event: e.ID})}
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
	return where("attribute_not_exists(pk) OR expires_at <= :now", attributes{":now": number(at.Unix())})
}

// PutEvent makes one conditional write. After CodeConflict, the stored nonce
// shows whether an earlier try of the same call made the write.
func (s *Store) PutEvent(ctx context.Context, e hook.Event) error {
	return s.commit(ctx, "put event "+string(e.ID), s.put(eventKey(e.ID), unused(e.AcceptedAt), s.payload.toEventItem(e)))
}

// Event reads one item.
func (s *Store) Event(ctx context.Context, id hook.EventID) (hook.Event, error) {
	return read[hook.Event](ctx, s, eventKey(id), "event", string(id))
}

// AddTarget makes one conditional update, at the price of a write of the whole event. The
// condition names the endpoint with every number of shards, because the stored text of a
// target has the number.
func (s *Store) AddTarget(ctx context.Context, e hook.Event, target hook.Target) error {
	op := fmt.Sprintf("add endpoint %s to event %s", target.Endpoint, e.ID)
	added := text(target.String())
	guard := "accepted_at = :at AND tenant = :tenant AND attribute_not_exists(erased_at) AND " +
		"(attribute_not_exists(targets) OR (size(targets) < :most"
	values := attributes{
		":none": &types.AttributeValueMemberL{}, ":added": &types.AttributeValueMemberL{Value: []types.AttributeValue{added}},
		":at": number(millis(e.AcceptedAt)), ":tenant": text(string(e.Tenant)), ":most": number(hook.MaxTargets),
	}
	for shards := 1; shards <= hook.MaxShards; shards++ {
		value := ":in" + strconv.Itoa(shards)
		guard += " AND NOT contains(targets, " + value + ")"
		values[value] = text(hook.Target{Endpoint: target.Endpoint, Shards: shards}.String())
	}
	guard += "))"
	add := s.update(eventKey(e.ID), "SET targets = list_append(if_not_exists(targets, :none), :added)", condition{expression: guard}, values)
	return s.commit(ctx, op, add.orElse(hook.Conflict("the event was changed meanwhile, or takes no further endpoint")))
}

// EraseEvent makes one conditional update.
func (s *Store) EraseEvent(ctx context.Context, e hook.Event) error {
	same := where("accepted_at = :accepted", attributes{":accepted": encode(e.AcceptedAt)})
	erase := s.update(eventKey(e.ID), "SET erased_at = if_not_exists(erased_at, :at) REMOVE payload, encoding", same,
		attributes{":at": encode(e.ErasedAt)})
	return s.commit(ctx, "erase event "+string(e.ID), erase)
}
