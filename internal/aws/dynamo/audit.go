package dynamo

import (
	"context"

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
