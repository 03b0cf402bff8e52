package hook

import (
	"encoding/json"
	"time"
)

// AuditKept is how long the record of a change is kept.
const AuditKept = 400 * 24 * time.Hour

// AuditID is "aud_" and 16 random characters.
type AuditID string

// NewAuditID returns a fresh random id.
func NewAuditID() AuditID { return AuditID(auditPrefix + randomSuffix()) }

const auditPrefix = "aud_"

// AuditRecord is the record of a change: who changed what, when and from where. It contains no
// secrets.
type AuditRecord struct {
	ID        AuditID      `stored:"id"`
	Tenant    TenantID     `stored:"tenant"` // AllTenants: a change that belongs to no tenant, such as a new key
	At        time.Time    `stored:"at"`
	Key       KeyID        `stored:"by"`           // of the caller; empty: Surehook itself
	KeyName   string       `stored:"key_name"`     // at the time of the change
	From      string       `stored:"from"`         // IP address of the caller; empty: Surehook itself
	Action    string       `stored:"action"`       // such as "endpoint.change"
	Target    string       `stored:"target"`       // id of the changed resource, or the name that the caller used for it
	Request   []byte       `stored:"request,text"` // the body of the request as JSON, secrets masked; empty for none
	Changes   []byte       `stored:"changes,text"` // a JSON object: for each changed field {"old": ..., "new": ...}; empty for none
	Outcome   AuditOutcome `stored:"outcome"`
	Code      string       `stored:"code"` // code of the problem; only with AuditRefused and AuditFailed
	ExpiresAt time.Time    `stored:"expires_at,seconds"`
}

// AuditSpan is a period of time. The zero AuditSpan has no bounds.
type AuditSpan struct {
	Since time.Time // inclusive
	Until time.Time // exclusive
}

// AuditOutcome is how a change ended.
type AuditOutcome uint8

// The outcomes. The zero AuditOutcome is not valid.
const (
	AuditPending AuditOutcome = iota + 1 // the change began; how it ended is not recorded (yet)
	AuditDone                            // the change took effect
	AuditRefused                         // the caller's request was refused
	AuditFailed                          // Surehook failed: the change may have taken effect, in whole or in part
)

// String returns the outcome as it appears in the API and in records.
func (o AuditOutcome) String() string {
	return Names[AuditOutcome]{AuditPending: "pending", AuditDone: "done", AuditRefused: "refused", AuditFailed: "failed"}.Of(o)
}

// ActionDisable is the action of disabling an endpoint, by a caller or by Surehook.
const ActionDisable = "endpoint.disable"

// AuditDisabling returns the record of Surehook disabling an endpoint. e is the endpoint before
// the change, and after is the endpoint as written.
func AuditDisabling(e, after Endpoint) AuditRecord {
	type values struct {
		Old string `json:"old"`
		New string `json:"new"`
	}
	changes, _ := json.Marshal(map[string]values{ //nolint:errchkjson // texts only: no error
		"status": {e.Status.String(), after.Status.String()},
		"reason": {string(e.Reason), string(after.Reason)},
	})
	return AuditRecord{
		ID: NewAuditID(), Tenant: e.Tenant, At: after.UpdatedAt, Action: ActionDisable, Target: string(e.ID),
		Changes: changes, Outcome: AuditDone, ExpiresAt: after.UpdatedAt.Add(AuditKept),
	}
}
