package dynamo

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"surehook/internal/hook"
	"surehook/internal/names"
)

// maxPage bounds a page of deliveries: one BatchGetItem reads 100 keys.
const maxPage = maxBatchKeys

// DeliveriesByEndpoint makes one index query and one batch read. limit is cut to
// 1 to 100. A page may be shorter than limit because stale index rows are
// dropped. A cursor of another list, or an invalid cursor, is CodeInvalid.
func (s *Store) DeliveriesByEndpoint(
	ctx context.Context, endpoint hook.EndpointID, state hook.State, cursor string, limit int,
) (page []hook.Delivery, next string, err error) {
	op := fmt.Sprintf("list %s deliveries of endpoint %s", state, endpoint)
	p := spanOf(endpoint, state)
	start, err := openCursor(cursor, p)
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", op, err)
	}
	page, next, err = s.pageOf(ctx, p, false, start, limit)
	return page, next, translate(err, op)
}

// Parked makes at most 5 index queries, each with a batch read. limit is cut to 1
// to 1000. The index may lag a moment: a delivery parked just now may be absent,
// but every returned delivery is parked.
func (s *Store) Parked(ctx context.Context, endpoint hook.EndpointID, limit int) ([]hook.Delivery, error) {
	queries := []*dynamodb.QueryInput{spanOf(endpoint, hook.StateParked).query()}
	parked, err := pageThrough(ctx, s, queries, limit, fromDeliveryItem, deliveryRange)
	return parked, translate(err, "list parked deliveries of endpoint "+string(endpoint))
}

// span is a range of the index by_endpoint: deliveries of one endpoint in one
// state. No row has from or to as range key.
type span struct {
	endpoint hook.EndpointID
	state    hook.State
	from, to string
}

// spanOf returns the span of all deliveries of the endpoint in the state.
func spanOf(endpoint hook.EndpointID, state hook.State) span {
	return span{endpoint, state, indexPrefix(state), indexEnd(state)}
}

// empty reports whether the span contains no range key. DynamoDB rejects a query
// with a lower bound above the upper bound.
func (p span) empty() bool { return p.from >= p.to }

func (p span) query() *dynamodb.QueryInput {
	return &dynamodb.QueryInput{
		IndexName:              aws.String(names.IndexByEndpoint),
		KeyConditionExpression: aws.String("endpoint_id = :endpoint AND endpoint_sk BETWEEN :from AND :to"),
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":endpoint": text(string(p.endpoint)), ":from": text(p.from), ":to": text(p.to),
		},
	}
}

// pageOf reads a page of the span, after start unless start is nil. pageOf reads
// one index row more than limit to learn whether another page exists.
func (s *Store) pageOf(
	ctx context.Context, p span, forward bool, start map[string]types.AttributeValue, limit int,
) (page []hook.Delivery, next string, err error) {
	if p.empty() {
		return nil, "", nil
	}
	limit = min(max(limit, 1), maxPage)
	query := p.query()
	query.TableName = s.table
	query.ExclusiveStartKey = start
	query.ScanIndexForward = aws.Bool(forward)
	query.Limit = aws.Int32(int32(limit + 1))
	out, err := s.db.Query(ctx, query)
	if err != nil {
		return nil, "", err //nolint:wrapcheck // the caller translates
	}
	var rows []indexRow
	if err := attributevalue.UnmarshalListOfMaps(out.Items, &rows); err != nil {
		return nil, "", err //nolint:wrapcheck // the caller translates
	}
	if len(rows) > limit {
		rows = rows[:limit]
		next = newCursor(rows[limit-1].rangeKey())
	}
	page, err = current(ctx, s, rows, fromDeliveryItem, deliveryRange)
	return page, next, err
}

// deliveryRange returns the range key of the delivery in the index by_endpoint.
func deliveryRange(d hook.Delivery) string { return indexRange(d.State, d.CreatedAt, d.ID) }

// newCursor returns a cursor for the rows after the range key. A range key holds
// state, time and delivery, so openCursor can rebuild the whole index key.
func newCursor(rangeKey string) string { return base64.RawURLEncoding.EncodeToString([]byte(rangeKey)) }

// openCursor returns the index key encoded in the cursor, or nil for the empty
// cursor. A key outside the span is CodeInvalid.
func openCursor(cursor string, p span) (map[string]types.AttributeValue, error) {
	if cursor == "" {
		return nil, nil
	}
	invalid := hook.Invalid(hook.FieldError{Field: "cursor", Message: "is not a cursor of this list"})
	b, err := base64.RawURLEncoding.DecodeString(cursor)
	rangeKey := string(b)
	if err != nil {
		return nil, invalid
	}
	id, err := indexedDelivery(rangeKey)
	if err != nil || id.Endpoint != p.endpoint {
		return nil, invalid
	}
	// DynamoDB accepts a start key without a row, but rejects a malformed key and a
	// key outside the queried range.
	created, err := time.Parse(indexTime, strings.TrimSuffix(strings.TrimPrefix(rangeKey, indexPrefix(p.state)), "#"+id.String()))
	if err != nil || rangeKey != indexRange(p.state, created, id) || rangeKey < p.from || rangeKey > p.to {
		return nil, invalid
	}
	start := deliveryKey(id).attributes()
	start[names.ByEndpointHash] = text(string(p.endpoint))
	start[names.ByEndpointRange] = text(rangeKey)
	return start, nil
}
