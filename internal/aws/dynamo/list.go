package dynamo

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"surehook.example/surehook/internal/admin/status"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/names"
)

// DeliveryRows makes one query: of the shard's partition for all states, or of the
// index by_endpoint for one state.
func (s *Store) DeliveryRows(ctx context.Context, part status.Part, span status.Span, look int) (rows []status.Row, last *status.Position, err error) {
	index, prefix := "", deliveryPrefix
	if part.State != 0 {
		index, prefix = names.IndexByEndpoint, indexPrefix(part.State)
	}
	rows, last, err = s.look(ctx, index, deliveryPartition(part.Endpoint, part.Shard), prefix, span, look, func(item map[string]types.AttributeValue) (status.Row, error) {
		return s.deliveryRow(item, part.State)
	})
	if last != nil {
		last.Endpoint = part.Endpoint
	}
	return rows, last, translate(err, "list deliveries of endpoint "+string(part.Endpoint))
}

// deliveryRow decodes a row of the partition, or of the index for a state.
func (s *Store) deliveryRow(item map[string]types.AttributeValue, state hook.State) (status.Row, error) {
	if state == 0 {
		d, err := decode[hook.Delivery](s, item)
		return status.Row{Position: status.Position{At: d.AcceptedAt, DeliveryID: d.ID}, Delivery: d}, err
	}
	var it indexRow
	if err := decodeItem(item, &it); err != nil {
		return status.Row{}, err
	}
	ref, err := refOf(it.key)
	if err != nil {
		return status.Row{}, err
	}
	at, _, _, err := parsePosition(strings.TrimPrefix(it.EndpointSK, indexPrefix(state)))
	if err != nil {
		return status.Row{}, err
	}
	return status.Row{Position: status.Position{At: millis(at), DeliveryID: ref.DeliveryID}, Delivery: hook.Delivery{}.At(ref)}, nil
}

// UntargetedRows makes one query of the index by_state.
func (s *Store) UntargetedRows(
	ctx context.Context, tenant hook.TenantID, n int, span status.Span, look int,
) (rows []status.Row, last *status.Position, err error) {
	rows, last, err = s.look(ctx, names.IndexByState, shard(untargetedList(tenant), n), "", span, look, func(item map[string]types.AttributeValue) (row status.Row, err error) {
		var it indexRow
		if err := decodeItem(item, &it); err != nil {
			return row, err
		}
		at, event, _, err := parsePosition(it.StateSK)
		return status.Row{Position: status.Position{At: millis(at), DeliveryID: hook.DeliveryID{Event: event}}}, err
	})
	return rows, last, translate(err, "list events without a target of tenant "+string(tenant))
}

// look makes one query for at most limit rows in the span, newest first. Their positions follow the prefix
// of the sort key. Store.Unreadable learns of the rows that this build cannot read; last is the position of the last
// row even so, and nil at the end.
func (s *Store) look(
	ctx context.Context, index, partition, prefix string, within status.Span, limit int, row func(item map[string]types.AttributeValue) (status.Row, error),
) (rows []status.Row, last *status.Position, err error) {
	from, to := spanBounds(within)
	if from >= to { // DynamoDB rejects a lower bound above the upper bound
		return nil, nil, nil
	}
	query := s.query(index, partition, between, prefix+from, prefix+to)
	query.ScanIndexForward = aws.Bool(false)
	items, more, err := s.page(ctx, query, min(max(limit, 1), maxRows))
	for _, item := range items {
		found, err := row(item)
		if err != nil {
			s.unreadable(ctx, item, err)
			continue
		}
		rows = append(rows, found)
	}
	if err == nil && more && len(items) > 0 {
		last, err = lastPosition(items, index, prefix)
	}
	return rows, last, err
}

// lastPosition returns the position of the last row of the index; empty: of the table.
func lastPosition(items []map[string]types.AttributeValue, index, prefix string) (*status.Position, error) {
	var it indexRow
	if err := decodeItem(items[len(items)-1], &it); err != nil {
		return nil, err
	}
	sk := map[string]string{"": it.SK, names.IndexByEndpoint: it.EndpointSK, names.IndexByState: it.StateSK}[index]
	at, event, generation, err := parsePosition(strings.TrimPrefix(sk, prefix))
	return &status.Position{At: millis(at), DeliveryID: hook.DeliveryID{Event: event, Generation: generation}}, err
}

// spanBounds returns the bounds of positions in the span. A time alone is before all
// positions of the time. No bound is empty, because DynamoDB rejects empty keys.
func spanBounds(span status.Span) (from, to string) {
	from, to = "0", "~" // before all years, and after all digits
	if !span.Since.IsZero() {
		from = timeBound(span.Since)
	}
	if !span.Until.IsZero() {
		to = timeBound(span.Until)
	}
	if span.From != nil {
		to = min(to, position(time.UnixMilli(span.From.At), span.From.DeliveryID))
	}
	return from, to
}

// EventHeads makes one batch read per 100 ids, eventually consistent. DynamoDB still reads the
// payloads, but does not send them.
func (s *Store) EventHeads(ctx context.Context, ids []hook.EventID) ([]hook.Event, error) {
	op := fmt.Sprintf("read %d events", len(ids))
	items, err := s.batchGetAs(ctx, keysFor(ids, eventKey), headRequest())
	if err != nil {
		return nil, translate(err, op)
	}
	return readable[hook.Event](ctx, s, items), nil
}

// headRequest reads all attributes of an event except the payload and the nonce.
func headRequest() types.KeysAndAttributes {
	return types.KeysAndAttributes{
		ProjectionExpression:     aws.String("pk, sk, id, tenant, #type, trace_parent, idempotency_key, ordering_key, targets, numbers, accepted_at, expires_at, erased_at"),
		ExpressionAttributeNames: map[string]string{"#type": "type"}, // a reserved word
	}
}
