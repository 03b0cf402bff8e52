package dynamo

import (
	"context"
	"fmt"
	"maps"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"surehook/internal/delivery/gate"
	"surehook/internal/hook"
)

// limitsKept is the time to keep limits after the last reserved slot and the last
// lease. After the last moment, a stored record means the same as no record.
const limitsKept = 24 * time.Hour

type limitsItem struct {
	Slot    int64            `dynamodbav:"rate_slot_ns"` // nanoseconds since 1970, because a slot may be shorter than a millisecond; 0: none
	Leases  map[string]int64 `dynamodbav:"leases"`       // milliseconds since 1970
	Version int64            `dynamodbav:"version"`
}

// Limits reads one item.
func (s *Store) Limits(ctx context.Context, endpoint hook.EndpointID) (gate.Limits, error) {
	var it limitsItem
	err := s.get(ctx, limitsKey(endpoint), &it, "limits", string(endpoint))
	if hook.CodeOf(err) == hook.CodeNotFound {
		return gate.Limits{}, nil
	}
	if err != nil {
		return gate.Limits{}, err
	}
	l := gate.Limits{Leases: make(map[string]time.Time, len(it.Leases)), Version: it.Version}
	if it.Slot != 0 {
		l.RateSlot = time.Unix(0, it.Slot).UTC()
	}
	for holder, until := range it.Leases {
		l.Leases[holder] = fromMillis(until)
	}
	return l, nil
}

// SaveLimits makes one conditional update. The write is an update, not a put:
// limits without slot and leases have no expiry time, so the stored expiry time
// stays.
func (s *Store) SaveLimits(ctx context.Context, endpoint hook.EndpointID, l gate.Limits) error {
	op := "save limits " + string(endpoint)
	it := limitsItem{Leases: make(map[string]int64, len(l.Leases)), Version: l.Version + 1}
	last := l.RateSlot
	if !l.RateSlot.IsZero() {
		it.Slot = l.RateSlot.UnixNano()
	}
	for holder, until := range l.Leases {
		it.Leases[holder] = millis(until)
		if until.After(last) {
			last = until
		}
	}
	leases, err := attributevalue.Marshal(it.Leases)
	if err != nil {
		return translate(fmt.Errorf("encode leases: %w", err), op)
	}
	set := "SET rate_slot_ns = :slot, leases = :leases, version = :next"
	guard := asRead(l.Version)
	values := map[string]types.AttributeValue{":slot": number(it.Slot), ":leases": leases, ":next": number(it.Version)}
	maps.Copy(values, guard.values)
	if !last.IsZero() {
		set += ", expires_at = :expires"
		values[":expires"] = number(ttl(last.Add(limitsKept)))
	}
	_, err = s.db.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName:                 s.table,
		Key:                       limitsKey(endpoint).attributes(),
		UpdateExpression:          aws.String(set),
		ConditionExpression:       &guard.expression,
		ExpressionAttributeValues: values,
	})
	return translate(err, op)
}
