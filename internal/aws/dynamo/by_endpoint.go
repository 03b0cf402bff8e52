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

// maxPage bounds a page of deliveries: as many as one BatchGetItem reads.
const maxPage = maxBatchKeys

// DeliveriesByEndpoint returns recorded deliveries of the endpoint in the
// state, newest first, at most limit (1 to 100), after the cursor that an
// earlier call returned (empty: from the newest; CodeInvalid if it is another
// list's or none). next is empty at the end. A page may be shorter than limit,
// because deliveries that have left the state since the index saw them are left out.
func (s *Store) DeliveriesByEndpoint(
	ctx context.Context, endpoint hook.EndpointID, state hook.State, cursor string, limit int,
) (page []hook.Delivery, next string, err error) {
	op := fmt.Sprintf("list %s deliveries of endpoint %s", state, endpoint)
	start, err := openCursor(cursor, endpoint, state)
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", op, err)
	}
	limit = min(max(limit, 1), maxPage)
	rows, err := s.indexRows(ctx, endpoint, state, start, limit+1) // the one too many tells that there are more
	if err != nil {
		return nil, "", translate(err, op)
	}
	if len(rows) > limit {
		rows = rows[:limit]
		next = newCursor(rows[limit-1].rangeKey())
	}
	page, err = current(ctx, s, rows, fromDeliveryItem, deliveryRange)
	return page, next, translate(err, op)
}

// indexRows reads rows of the index, newest first.
func (s *Store) indexRows(
	ctx context.Context, endpoint hook.EndpointID, state hook.State, start map[string]types.AttributeValue, limit int,
) ([]indexRow, error) {
	out, err := s.db.Query(ctx, &dynamodb.QueryInput{
		TableName:              s.table,
		IndexName:              aws.String(names.IndexByEndpoint),
		KeyConditionExpression: aws.String("endpoint_id = :endpoint AND begins_with(endpoint_sk, :state)"),
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":endpoint": text(string(endpoint)), ":state": text(indexPrefix(state)),
		},
		ExclusiveStartKey: start,
		ScanIndexForward:  aws.Bool(false),
		Limit:             aws.Int32(int32(limit)), //nolint:gosec // at most maxPage+1
	})
	if err != nil {
		return nil, err //nolint:wrapcheck // the caller translates
	}
	var rows []indexRow
	err = attributevalue.UnmarshalListOfMaps(out.Items, &rows)
	return rows, err //nolint:wrapcheck // the caller translates
}

// Parked returns parked deliveries of the endpoint, the oldest first, at most
// limit (1 to 1000). The index behind it may lag a moment: one parked just now
// may be missing; one that is parked no more is not returned.
func (s *Store) Parked(ctx context.Context, endpoint hook.EndpointID, limit int) ([]hook.Delivery, error) {
	parked, err := pageThrough(ctx, s, &dynamodb.QueryInput{
		IndexName:              aws.String(names.IndexByEndpoint),
		KeyConditionExpression: aws.String("endpoint_id = :endpoint AND begins_with(endpoint_sk, :state)"),
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":endpoint": text(string(endpoint)), ":state": text(indexPrefix(hook.StateParked)),
		},
	}, limit, fromDeliveryItem, deliveryRange)
	return parked, translate(err, "list parked deliveries of endpoint "+string(endpoint))
}

// deliveryRange is the range key that the delivery has in the index by_endpoint.
func deliveryRange(d hook.Delivery) string { return indexRange(d.State, d.CreatedAt, d.ID) }

// newCursor returns a cursor that continues after the row with the range key.
// The key names all that the index needs to know: state, time and delivery.
func newCursor(rangeKey string) string { return base64.RawURLEncoding.EncodeToString([]byte(rangeKey)) }

// openCursor returns the index key that the cursor continues after, nil for the
// empty cursor.
func openCursor(cursor string, endpoint hook.EndpointID, state hook.State) (map[string]types.AttributeValue, error) {
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
	if err != nil || id.Endpoint != endpoint {
		return nil, invalid
	}
	// DynamoDB takes a start between its rows, but not one that cannot be a key.
	created, err := time.Parse(indexTime, strings.TrimSuffix(strings.TrimPrefix(rangeKey, indexPrefix(state)), "#"+id.String()))
	if err != nil || rangeKey != indexRange(state, created, id) {
		return nil, invalid
	}
	start := deliveryKey(id).attributes()
	start[names.ByEndpointHash] = text(string(endpoint))
	start[names.ByEndpointRange] = text(rangeKey)
	return start, nil
}
