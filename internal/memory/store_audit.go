package memory

import (
	"bytes"
	"context"
	"maps"
	"slices"

	"surehook/internal/admin/audit"
	"surehook/internal/hook"
)

var _ audit.Store = (*Store)(nil)

// PutAudit stores a copy of the record.
func (s *Store) PutAudit(ctx context.Context, r hook.AuditRecord) error {
	if err := available(ctx, "put change "+string(r.ID)); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	s.putAudit(r)
	return nil
}

func (s *Store) putAudit(r hook.AuditRecord) {
	if s.changes[r.Tenant] == nil {
		s.changes[r.Tenant] = make(map[string]hook.AuditRecord)
	}
	r = copyAudit(r)
	s.changes[r.Tenant][audit.Position(r)] = r
}

// AuditRecords cuts limit to 1 to 100.
func (s *Store) AuditRecords(
	ctx context.Context, tenant hook.TenantID, span hook.AuditSpan, cursor string, limit int,
) (page []hook.AuditRecord, next string, err error) {
	if err := available(ctx, "list changes of tenant "+string(tenant)); err != nil {
		return nil, "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	for _, position := range slices.Backward(slices.Sorted(maps.Keys(s.changes[tenant]))) {
		r := s.changes[tenant][position]
		if cursor != "" && position >= cursor || !span.Until.IsZero() && !r.At.Before(span.Until) || r.At.Before(span.Since) {
			continue
		}
		if len(page) == min(max(limit, 1), 100) {
			return page, audit.Position(page[len(page)-1]), nil
		}
		page = append(page, copyAudit(r))
	}
	return page, "", nil
}

func copyAudit(r hook.AuditRecord) hook.AuditRecord {
	r.Request, r.Changes = bytes.Clone(r.Request), bytes.Clone(r.Changes)
	r.At, r.ExpiresAt = storedTime(r.At), storedExpiry(r.ExpiresAt)
	return r
}
