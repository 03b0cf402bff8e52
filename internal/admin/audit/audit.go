// Package audit keeps the audit records: who changed what, when and from where.
//
// # Order
//
// Begin stores a record of the intention before the change, and End stores the outcome after it.
// If the process dies between the two, the outcome in the record stays pending, and the change may
// or may not have taken effect. So every change has a record, but a pending record does not prove
// that there was a change.
//
// The package knows neither HTTP nor storage, and leaves the masking of secrets to the callers.
package audit

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"surehook.example/surehook/internal/admin/page"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/names"
)

// Store keeps records. Every read sees every write acknowledged before the read began.
type Store interface {
	// PutAudit stores the record, or replaces the record with the same tenant, time
	// and id.
	PutAudit(ctx context.Context, r hook.AuditRecord) error
	// AuditRecords returns at most limit (1 to 100) records of the tenant in the span,
	// newest first. cursor is the next of an earlier call, or empty for the newest. A
	// page may be short before the end. next is empty at the end.
	AuditRecords(ctx context.Context, tenant hook.TenantID, s hook.AuditSpan, cursor string, limit int) (page []hook.AuditRecord, next string, err error)
}

// Log records changes. All fields are required.
type Log struct {
	Store Store
	Log   *slog.Logger
	Now   func() time.Time
}

// Begin stores the record with a new id, the current time and the outcome pending, and returns it.
// After an error the caller must not make the change.
func (l *Log) Begin(ctx context.Context, r hook.AuditRecord) (hook.AuditRecord, error) {
	r.ID, r.At, r.Outcome = hook.NewAuditID(), l.Now().UTC().Truncate(time.Millisecond), hook.AuditPending
	r.ExpiresAt = r.At.Add(hook.AuditKept)
	if err := l.Store.PutAudit(ctx, r); err != nil {
		return hook.AuditRecord{}, fmt.Errorf("record change %s: %w", r.Action, err)
	}
	return r, nil
}

// endTimeout limits how long End can delay a response.
const endTimeout = 3 * time.Second

var errEndTimeout = errors.New("recording the end of the change took too long")

// End stores the record of an ended change. The change cannot be undone, so a failure is only logged,
// and the record stays pending. End also works after ctx has ended.
func (l *Log) End(ctx context.Context, r hook.AuditRecord) {
	ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), endTimeout, errEndTimeout)
	defer cancel()

	if err := l.Store.PutAudit(ctx, r); err != nil {
		l.Log.LogAttrs(ctx, slog.LevelError, "audit.end_failed",
			slog.String(names.LogTenant, string(r.Tenant)),
			slog.String(names.LogAudit, string(r.ID)),
			slog.String(names.LogAction, r.Action),
			slog.String(names.LogKey, string(r.Key)),
			slog.Any(names.LogError, err))
	}
}

// Filter selects the records that match all fields. An empty field matches every record.
type Filter struct {
	hook.AuditSpan
	Action  string
	Target  string
	Aliases []string // other names of the target; a cursor also fits a list with others
	Key     hook.KeyID
}

func (f Filter) matches(r hook.AuditRecord) bool {
	return (f.Action == "" || r.Action == f.Action) &&
		(f.Target == "" || r.Target == f.Target || slices.Contains(f.Aliases, r.Target)) &&
		(f.Key == "" || r.Key == f.Key)
}

// MaxRead bounds the records read for one page: 10 reads of 100 records.
const MaxRead = 1000

// readSize is the number of records in one read.
const readSize = 100

// List returns a page of the tenant's records, newest first. hook.AllTenants lists the changes
// outside of the tenants. List reads at most MaxRead records, so a page before the end may have
// fewer records than asked for, or none. CodeInvalid for the cursor of another list.
func (l *Log) List(ctx context.Context, tenant hook.TenantID, f Filter, p page.Request) (page.List[hook.AuditRecord], error) {
	list := page.Scope("audit", string(tenant), f.Action, f.Target, string(f.Key), f.Since.UTC().String(), f.Until.UTC().String())
	return page.After(list, p, func(position string) (found []hook.AuditRecord, _ string, err error) {
		for range MaxRead / readSize {
			size := p.Limit - len(found) // enough without a filter, because every record matches
			if f.Action != "" || f.Target != "" || f.Key != "" {
				size = readSize
			}
			records, next, err := l.Store.AuditRecords(ctx, tenant, f.AuditSpan, position, size)
			if err != nil {
				return nil, "", fmt.Errorf("list changes of tenant %s: %w", tenant, err)
			}
			for i, r := range records {
				if !f.matches(r) {
					continue
				}
				found = append(found, r)
				if len(found) == p.Limit && (i < len(records)-1 || next != "") {
					return found, Position(r), nil
				}
			}
			if position = next; position == "" { // also if the last record of the list filled the page
				break
			}
		}
		return found, position, nil
	})
}

// positionTime is RFC 3339 in UTC with milliseconds, so the texts sort by time.
const positionTime = "2006-01-02T15:04:05.000Z"

// Position returns the position of the record in the tenant's list. Stores order records by
// position, and cursors hold positions.
func Position(r hook.AuditRecord) string { return PositionAt(r.At) + "#" + string(r.ID) }

// PositionAt returns a position before the positions of records at t or later, and after the
// positions of earlier records. The year in a position has four digits, so a t after the year 9999
// stands for its end.
func PositionAt(t time.Time) string {
	at := t.Truncate(time.Millisecond).UTC()
	if at.Before(t) {
		at = at.Add(time.Millisecond)
	}
	if last := time.Date(9999, 12, 31, 23, 59, 59, 999e6, time.UTC); at.After(last) {
		at = last
	}
	return at.Format(positionTime)
}
