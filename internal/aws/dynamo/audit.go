package dynamo

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"surehook.example/surehook/internal/admin/audit"
	"surehook.example/surehook/internal/hook"
)

type auditItem struct {
	key
	hook.AuditRecord
}

// PutAudit writes one item without a condition.
func (s *Store) PutAudit(ctx context.Context, r hook.AuditRecord) error {
	op := "put change " + string(r.ID)
	put := s.put(auditItem{auditKey(r), r}, condition{})
	return translate(s.write(ctx, put), op)
}

// AuditRecords makes one query. limit is cut to 1 to 100. A page of large records is
// shorter: one query reads 1 MB.
func (s *Store) AuditRecords(
	ctx context.Context, tenant hook.TenantID, span hook.AuditSpan, cursor string, limit int,
) (page []hook.AuditRecord, next string, err error) {
	op := "list changes of tenant " + string(tenant)
	first, before := auditPrefix, auditPrefix+"~"
	if !span.Since.IsZero() {
		first = auditPrefix + audit.PositionAt(span.Since)
	}
	if !span.Until.IsZero() {
		before = auditPrefix + audit.PositionAt(span.Until)
	}
	if cursor != "" {
		before = min(before, auditPrefix+cursor)
	}
	if before < first { // DynamoDB refuses an empty range
		return nil, "", nil
	}
	limit = min(max(limit, 1), maxPage)
	out, err := s.db.Query(ctx, &dynamodb.QueryInput{
		TableName:              s.table,
		ConsistentRead:         aws.Bool(true),
		KeyConditionExpression: aws.String("pk = :pk AND sk BETWEEN :first AND :before"),
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":pk": text(auditPartition(tenant)), ":first": text(first), ":before": text(before),
		},
		ScanIndexForward: aws.Bool(false),
		Limit:            aws.Int32(int32(limit + 2)), // one more for the row of the cursor, one more to learn whether another page exists
	})
	if err != nil {
		return nil, "", translate(err, op)
	}
	for _, item := range out.Items {
		var it auditItem
		err := decodeItem(item, &it)
		position := it.SK[len(auditPrefix):]
		if position == cursor {
			continue
		}
		if len(page) == limit {
			return page, audit.Position(page[limit-1]), nil
		}
		if err != nil {
			s.unreadable(ctx, item, err)
			next = position
			continue
		}
		page, next = append(page, it.AuditRecord), position
	}
	if len(out.LastEvaluatedKey) == 0 {
		next = ""
	}
	return page, next, nil
}
