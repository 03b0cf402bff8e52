package dynamo

import (
	"context"
	"time"

	"surehook.example/surehook/internal/hook"
)

// historyKept is the time to keep a notification.
const historyKept = 90 * 24 * time.Hour

// PutNotification writes one item, keyed by time and notification key. The item
// expires after 90 days.
func (s *Store) PutNotification(ctx context.Context, n hook.Notification) error {
	return s.commit(ctx, "put notification of endpoint "+string(n.Endpoint), s.put(historyKey(n), condition{}, n, removed{n.At.Add(historyKept)}))
}

// Notifications makes one query; see newest.
func (s *Store) Notifications(ctx context.Context, endpoint hook.EndpointID, cursor string, limit int) (page []hook.Notification, next string, err error) {
	page, next, err = newest[hook.Notification](ctx, s, endpointPartition(endpoint), historyPrefix, "", "~", cursor, limit)
	return page, next, translate(err, "list notifications of endpoint "+string(endpoint))
}
