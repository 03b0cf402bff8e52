package dynamo

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

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
	rows, last, err = s.look(ctx, index, deliveryPartition(part.Endpoint, part.Shard), prefix, span, look, func(item attributes) (d hook.Delivery, err error) {
		if part.State == 0 {
			return decode[hook.Delivery](s, item)
		}
		var k key
		if err := decodeItem(item, &k); err != nil {
			return d, err
		}
		ref, err := refOf(k)
		return d.At(ref), err
	})
	if last != nil {
		last.Endpoint = part.Endpoint
	}
	return rows, last, translate(err, "list deliveries of endpoint "+string(part.Endpoint))
}

// UntargetedRows makes one query of the index by_state.
func (s *Store) UntargetedRows(
	ctx context.Context, tenant hook.TenantID, n int, span status.Span, look int,
) (rows []status.Row, last *status.Position, err error) {
	none := func(attributes) (d hook.Delivery, err error) { return d, nil }
	rows, last, err = s.look(ctx, names.IndexByState, shard(untargetedList(tenant), n), "", span, look, none)
	return rows, last, translate(err, "list events without a target of tenant "+string(tenant))
}

// look makes one query for at most limit rows in the span, newest first. Their positions follow the prefix
// of the sort key. Store.Unreadable learns of the rows that this build cannot read; last is the position of the last
// row even so, and nil at the end.
func (s *Store) look(
	ctx context.Context, index, partition, prefix string, within status.Span, limit int,
	delivery func(item attributes) (hook.Delivery, error),
) (rows []status.Row, last *status.Position, err error) {
	from, to := spanBounds(within)
	if from >= to { // DynamoDB rejects a lower bound above the upper bound
		return nil, nil, nil
	}
	source := s.span(index, partition, prefix, from, to)
	source.query.ScanIndexForward = aws.Bool(false)
	items, more, err := s.page(ctx, source.query, min(max(limit, 1), maxRows))
	for _, item := range items {
		at, placeErr := source.place(item)
		d, err := delivery(item)
		if err := errors.Join(placeErr, err); err != nil {
			s.unreadable(ctx, item, err)
			continue
		}
		at.Endpoint = d.ID.Endpoint
		rows = append(rows, status.Row{Position: at, Delivery: d})
	}
	if err == nil && more && len(items) > 0 {
		last = new(status.Position)
		*last, err = source.place(items[len(items)-1])
	}
	return rows, last, err
}

// place returns the position of the row, without the endpoint.
func (f source) place(item attributes) (status.Position, error) {
	var row indexRow
	decodeErr := decodeItem(item, &row)
	at, event, generation, err := parsePosition(f.position(row))
	return status.Position{At: millis(at), DeliveryID: hook.DeliveryID{Event: event, Generation: generation}}, errors.Join(decodeErr, err)
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
// payloads, but does not send them, nor the nonces.
func (s *Store) EventHeads(ctx context.Context, ids []hook.EventID) ([]hook.Event, error) {
	items, err := s.batchGetAs(ctx, keysFor(ids, eventKey), false, names.PartitionKey, names.SortKey, "id", "tenant", "type", "trace_parent",
		"idempotency_key", "ordering_key", "targets", "numbers", "accepted_at", "expires_at", "erased_at")
	if err != nil {
		return nil, translate(err, fmt.Sprintf("read %d events", len(ids)))
	}
	return readable[hook.Event](ctx, s, items), nil
}
