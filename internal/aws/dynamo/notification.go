package dynamo

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"surehook.example/surehook/internal/hook"
)

// historyKept is the time to keep a notification.
const historyKept = 90 * 24 * time.Hour

type notificationItem struct {
	key
	Type      string             `dynamodbav:"type"`
	Tenant    hook.TenantID      `dynamodbav:"tenant"`
	Endpoint  hook.EndpointID    `dynamodbav:"id"`
	Delivery  string             `dynamodbav:"delivery,omitempty"`
	At        int64              `dynamodbav:"at"`
	Reason    string             `dynamodbav:"reason"`
	Figures   map[string]float64 `dynamodbav:"figures,omitempty"`
	Key       string             `dynamodbav:"notification_key"`
	ExpiresAt int64              `dynamodbav:"expires_at"`
}

// PutNotification writes one item, keyed by time and notification key. The item
// expires after 90 days.
func (s *Store) PutNotification(ctx context.Context, n hook.Notification) error {
	op := "put notification of endpoint " + string(n.Endpoint)
	it := notificationItem{
		key: historyKey(n), Type: n.Type, Tenant: n.Tenant, Endpoint: n.Endpoint, At: millis(n.At), Reason: n.Reason,
		Figures: n.Figures, Key: n.Key, ExpiresAt: ttl(n.At.Add(historyKept)),
	}
	if n.Delivery.Generation > 0 {
		it.Delivery = n.Delivery.String()
	}
	put, err := s.put(it, condition{})
	if err != nil {
		return translate(err, op)
	}
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
	var items []notificationItem
	if err := attributevalue.UnmarshalListOfMaps(out.Items, &items); err != nil {
		return nil, "", translate(err, op)
	}
	for i, it := range items {
		order := it.SK[len(historyPrefix):]
		if order == cursor {
			continue
		}
		if len(page) == limit {
			return page, historyKey(page[limit-1]).SK[len(historyPrefix):], nil
		}
		n := hook.Notification{
			Type: it.Type, Tenant: it.Tenant, Endpoint: it.Endpoint, At: fromMillis(it.At), Reason: it.Reason, Figures: it.Figures, Key: it.Key,
		}
		if it.Delivery != "" {
			if n.Delivery, err = hook.ParseDeliveryID(it.Delivery); err != nil {
				s.unreadable(ctx, out.Items[i], err)
				continue
			}
		}
		page = append(page, n)
	}
	return page, "", nil
}
