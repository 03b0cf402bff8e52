package hook

import (
	"encoding/json"
	"fmt"
	"time"
)

// AuditKept is the time to keep the record of a change.
const AuditKept = 400 * 24 * time.Hour

// AuditID is "aud_" and 16 random characters.
type AuditID string

// NewAuditID returns a fresh random id.
func NewAuditID() AuditID { return AuditID(auditPrefix + randomSuffix()) }

const auditPrefix = "aud_"

// AuditRecord is the record of a change: who changed what, when and from where. The
// record holds no secret.
type AuditRecord struct {
	ID        AuditID
	Tenant    TenantID // AllTenants: a change outside of the tenants, such as a new key
	At        time.Time
	Key       KeyID  // of the caller; empty: Surehook itself
	KeyName   string // at the time of the change
	From      string // IP address of the caller; empty: Surehook itself
	Action    string // such as "endpoint.change"
	Target    string // id of the changed resource, or the name by which the caller named the resource
	Request   []byte // the body of the request as JSON, secrets masked; empty for none
	Changes   []byte // a JSON object: for each changed field {"old": ..., "new": ...}; empty for none
	Outcome   AuditOutcome
	Code      string // of the problem, with AuditRefused and AuditFailed
	ExpiresAt time.Time
}

// AuditSpan bounds the time of records. The zero AuditSpan has no bounds.
type AuditSpan struct {
	Since time.Time // inclusive
	Until time.Time // exclusive
}

// AuditOutcome says what came of a change.
type AuditOutcome uint8

// The outcomes. The zero AuditOutcome is not valid.
const (
	AuditPending AuditOutcome = iota + 1 // the change began, and the record of its end is missing
	AuditDone                            // the change took effect
	AuditRefused                         // the caller's request was refused
	AuditFailed                          // Surehook failed: the change may have taken effect, in whole or in part
)

// String returns the outcome as it appears in the API and in records.
func (o AuditOutcome) String() string {
	switch o {
	case AuditPending:
		return "pending"
	case AuditDone:
		return "done"
	case AuditRefused:
		return "refused"
	case AuditFailed:
		return "failed"
	}
	return "unknown"
}

// ActionDisable is the action of a disabled endpoint, by a caller or by Surehook.
const ActionDisable = "endpoint.disable"

// AuditDisabling returns the record of the endpoint's disabling by Surehook. e is the
// endpoint before the change, and after the endpoint as written.
func AuditDisabling(e, after Endpoint) (AuditRecord, error) {
	type values struct {
		Old string `json:"old"`
		New string `json:"new"`
	}
	changes, err := json.Marshal(map[string]values{
		"status": {e.Status.String(), after.Status.String()},
		"reason": {string(e.Reason), string(after.Reason)},
	})
	if err != nil {
		return AuditRecord{}, fmt.Errorf("record disabling of endpoint %s: %w", e.ID, err)
	}
	return AuditRecord{
		ID: NewAuditID(), Tenant: e.Tenant, At: after.UpdatedAt, Action: ActionDisable, Target: string(e.ID),
		Changes: changes, Outcome: AuditDone, ExpiresAt: after.UpdatedAt.Add(AuditKept),
	}, nil
}
