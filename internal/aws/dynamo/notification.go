package dynamo

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"surehook.example/surehook/internal/hook"
)

// historyKept is the time to keep a notification.
const historyKept = 90 * 24 * time.Hour

type notificationItem struct {
	key
	hook.Notification

	ExpiresAt time.Time `stored:"expires_at,seconds"`
}

// PutNotification writes one item, keyed by time and notification key. The item
// expires after 90 days.
func (s *Store) PutNotification(ctx context.Context, n hook.Notification) error {
	op := "put notification of endpoint " + string(n.Endpoint)
	put := s.put(notificationItem{historyKey(n), n, n.At.Add(historyKept)}, condition{})
	return translate(s.write(ctx, put), op)
}

// Notifications makes one query. limit is cut to 1 to 100.
func (s *Store) Notifications(ctx context.Context, endpoint hook.EndpointID, cursor string, limit int) (page []hook.Notification, next string, err error) {
	op := "list notifications of endpoint " + string(endpoint)
	before := historyPrefix + "~"
	if cursor != "" {
		before = historyPrefix + cursor
	}
	limit = min(max(limit, 1), maxPage)
	out, err := s.db.Query(ctx, &dynamodb.QueryInput{
		TableName:              s.table,
		ConsistentRead:         aws.Bool(true),
		KeyConditionExpression: aws.String("pk = :pk AND sk BETWEEN :first AND :before"),
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":pk": text(endpointPartition(endpoint)), ":first": text(historyPrefix), ":before": text(before),
		},
		ScanIndexForward: aws.Bool(false),
		Limit:            aws.Int32(int32(limit + 2)), // one more for the row of the cursor, one more to learn whether another page exists
	})
	if err != nil {
		return nil, "", translate(err, op)
	}
	for _, item := range out.Items {
		var it notificationItem
		err := decodeItem(item, &it)
		order := it.SK[len(historyPrefix):]
		if order == cursor {
			continue
		}
		if len(page) == limit {
			return page, historyKey(page[limit-1]).SK[len(historyPrefix):], nil
		}
		if err != nil {
			s.unreadable(ctx, item, err)
			continue
		}
		page = append(page, it.Notification)
	}
	return page, "", nil
}
