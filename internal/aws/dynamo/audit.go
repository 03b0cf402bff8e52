package dynamo

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"surehook.example/surehook/internal/admin/audit"
	"surehook.example/surehook/internal/hook"
)

type auditItem struct {
	key
	ID        hook.AuditID  `dynamodbav:"id"`
	Tenant    hook.TenantID `dynamodbav:"tenant"`
	At        int64         `dynamodbav:"at"`
	Key       hook.KeyID    `dynamodbav:"by,omitempty"`
	KeyName   string        `dynamodbav:"key_name,omitempty"`
	From      string        `dynamodbav:"from,omitempty"`
	Action    string        `dynamodbav:"action"`
	Target    string        `dynamodbav:"target,omitempty"`
	Request   string        `dynamodbav:"request,omitempty"` // JSON
	Changes   string        `dynamodbav:"changes,omitempty"` // JSON
	Outcome   string        `dynamodbav:"outcome"`
	Code      string        `dynamodbav:"code,omitempty"`
	ExpiresAt int64         `dynamodbav:"expires_at,omitempty"`
}

func toAuditItem(r hook.AuditRecord) auditItem {
	return auditItem{
		key: auditKey(r), ID: r.ID, Tenant: r.Tenant, At: millis(r.At), Key: r.Key, KeyName: r.KeyName, From: r.From,
		Action: r.Action, Target: r.Target, Request: string(r.Request), Changes: string(r.Changes),
		Outcome: word(r.Outcome), Code: r.Code, ExpiresAt: ttl(r.ExpiresAt),
	}
}

func fromAuditItem(it auditItem) (hook.AuditRecord, error) {
	outcome, err := parse[hook.AuditOutcome](it.Outcome)
	return hook.AuditRecord{
		ID: it.ID, Tenant: it.Tenant, At: fromMillis(it.At), Key: it.Key, KeyName: it.KeyName, From: it.From,
		Action: it.Action, Target: it.Target, Request: []byte(it.Request), Changes: []byte(it.Changes),
		Outcome: outcome, Code: it.Code, ExpiresAt: fromTTL(it.ExpiresAt),
	}, err
}

// PutAudit writes one item without a condition.
func (s *Store) PutAudit(ctx context.Context, r hook.AuditRecord) error {
	op := "put change " + string(r.ID)
	put, err := s.put(toAuditItem(r), condition{})
	if err != nil {
		return translate(err, op)
	}
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
	var items []auditItem
	if err := attributevalue.UnmarshalListOfMaps(out.Items, &items); err != nil {
		return nil, "", translate(err, op)
	}
	for i, it := range items {
		position := it.SK[len(auditPrefix):]
		if position == cursor {
			continue
		}
		if len(page) == limit {
			return page, audit.Position(page[limit-1]), nil
		}
		r, err := fromAuditItem(it)
		if err != nil {
			s.unreadable(ctx, out.Items[i], err)
			next = position
			continue
		}
		page, next = append(page, r), position
	}
	if len(out.LastEvaluatedKey) == 0 {
		next = ""
	}
	return page, next, nil
}
