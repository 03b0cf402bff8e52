package dynamo

import (
	"context"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"surehook.example/surehook/internal/admin/audit"
	"surehook.example/surehook/internal/hook"
)

// PutAudit writes one item without a condition.
func (s *Store) PutAudit(ctx context.Context, r hook.AuditRecord) error {
	return s.commit(ctx, "put change "+string(r.ID), s.put(auditKey(r), condition{}, r))
}

// AuditRecords makes one query; see newest.
func (s *Store) AuditRecords(
	ctx context.Context, tenant hook.TenantID, span hook.AuditSpan, cursor string, limit int,
) (page []hook.AuditRecord, next string, err error) {
	first, before := "", "~" // "~" is after all digits
	if !span.Since.IsZero() {
		first = audit.PositionAt(span.Since)
	}
	if !span.Until.IsZero() {
		before = audit.PositionAt(span.Until)
	}
	page, next, err = newest[hook.AuditRecord](ctx, s, auditPartition(tenant), auditPrefix, first, before, cursor, limit)
	return page, next, translate(err, "list changes of tenant "+string(tenant))
}

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

// newest reads a page of the items of a partition with sort keys of the prefix and a position, from
// first to before and newest first. cursor is the next of the page before. A page of
// large items, or with items that this build cannot read, is shorter. limit is cut to 1 to 100.
func newest[T any](
	ctx context.Context, s *Store, partition, prefix, first, before, cursor string, limit int,
) (page []T, next string, err error) {
	if cursor != "" {
		before = min(before, cursor)
	}
	if before < first { // DynamoDB refuses an empty range
		return nil, "", nil
	}
	limit = min(max(limit, 1), maxPage)
	query := s.consistent(partition, between, prefix+first, prefix+before)
	query.ScanIndexForward = aws.Bool(false)
	if before == cursor {
		query.ExclusiveStartKey = key{partition, prefix + cursor}.attributes()
	}
	items, more, err := s.page(ctx, query, limit+1) // one more to learn whether another page exists
	if err != nil || len(items) == 0 {
		return nil, "", err
	}
	if len(items) > limit {
		items, more = items[:limit], true
	}
	if more {
		var last key
		err = decodeItem(items[len(items)-1], &last)
		next = strings.TrimPrefix(last.SK, prefix)
	}
	return readable[T](ctx, s, items), next, err
}
