package httpapi

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"surehook.example/surehook/internal/admin/audit"
	"surehook.example/surehook/internal/admin/endpoint"
	"surehook.example/surehook/internal/admin/page"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
)

// Bounds of what a caller can write into a record, in bytes. Records are kept for 400 days, and
// nobody needs a refused request, or the whole of a large value, for that long.
const (
	maxTarget  = 256     // of a target named by the caller
	maxRefused = 2 << 10 // of the request of a refused change
	maxValue   = 2 << 10 // of a value in the request and the changes of another one
)

// change is the record of the change made by a call.
type change struct {
	recorder

	record  hook.AuditRecord
	request []byte // whole
	begun   bool
	result  error // the outcome if the action responds with results; nil: done
}

// perform calls the action of the route. The record of a change has the outcome of
// the action.
func (s *resource) perform(ctx context.Context, r route, c *call) (reply, error) {
	if r.Change == "" {
		return r.do(ctx, c)
	}
	from, _ := remoteAddr(c.r).MarshalText() // empty for none
	c.change = &change{recorder: s.changes, record: hook.AuditRecord{
		Tenant: c.tenant, Key: c.principal.Key, KeyName: c.principal.Name, From: string(from), Action: r.Change,
	}}
	if c.tenant == "" {
		c.change.record.Tenant = hook.AllTenants
	}
	answer, err := r.do(ctx, c)
	if c.change.begun {
		outcome := err
		if outcome == nil {
			outcome = c.change.result
		}
		c.change.end(ctx, outcome)
	}
	return answer, err
}

// begin records the intention to change the target. The action of every route that changes
// something must call it after checking the form of the request and before its first effect, and
// must stop after an error. request is the body of the request with secrets masked, or nil. While
// a tenant is being erased, only the erasure itself may change it. Such a refusal leaves no record,
// nor does one by the limit of changes, because that limit bounds the records.
func (c *call) begin(ctx context.Context, target string, request any) error {
	r := &c.change.record
	c.target(target)
	if r.Tenant != hook.AllTenants && r.Action != eraseAction {
		if err := c.change.guard.Check(ctx, r.Tenant, r.Action != endLinkAction && !strings.HasPrefix(r.Action, limitsActions)); err != nil {
			return err
		}
	}
	if request != nil {
		body, err := json.Marshal(request, written, json.Deterministic(true), json.OmitZeroStructFields(true))
		if err != nil {
			return fmt.Errorf("record request: %w", err)
		}
		if string(body) != "{}" {
			c.change.request, r.Request = body, withShortValues(body)
		}
	}
	begun, err := c.change.log.Begin(ctx, *r)
	if err != nil {
		return err
	}
	c.change.record, c.change.begun = begun, true
	return nil
}

// beginMatching is begin for a target with versions. It returns the version that the change requires, see
// ifMatch.
func (c *call) beginMatching(ctx context.Context, target string, request any) (version int64, err error) {
	if version, err = ifMatch(c); err == nil {
		err = c.begin(ctx, target, request)
	}
	return version, err
}

// begun returns an action of a request without a body that begins the record of a change of what has
// the id.
func begun[ID ~string](do func(context.Context, *call, ID) (reply, error)) func(context.Context, *call, ID) (reply, error) {
	return func(ctx context.Context, c *call, id ID) (reply, error) {
		if err := c.begin(ctx, string(id), nil); err != nil {
			return reply{}, err
		}
		return do(ctx, c, id)
	}
}

// begunOn is begun for what has any name in the path.
func begunOn(part string, do action) action {
	return func(ctx context.Context, c *call) (reply, error) {
		return begun(func(ctx context.Context, c *call, _ string) (reply, error) { return do(ctx, c) })(ctx, c, c.r.PathValue(part))
	}
}

// by makes p the caller in the record and in the log, for a request without a key.
func (c *call) by(p hook.Principal) {
	c.principal = p
	c.change.record.Key, c.change.record.KeyName = p.Key, p.Name
}

const (
	eraseAction   = "tenant.erase" // the erasure of a tenant
	limitsActions = "limits."      // the beginning of the changes of a tenant's limits
	endLinkAction = "portal_link.end"
)

// target sets the id of the changed resource.
func (c *call) target(id string) {
	if c.change == nil {
		return
	}
	c.change.record.Target = cut(strings.ToValidUTF8(id, "�"), maxTarget)
}

// facts are what the record of a change says of a resource without a view of its own, by name.
type facts map[string]any

// changed adds to the record the fields whose values differ between before and after. nil means
// that there is no resource.
func (c *call) changed(before, after any) {
	changes, err := differences(before, after)
	if err == nil && len(changes) > 0 {
		c.change.record.Changes, err = json.Marshal(changes, json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
	}
	if err != nil { // views are always encodable
		c.change.record.Changes = nil
	}
}

// end records the outcome of the action.
func (c *change) end(ctx context.Context, err error) {
	c.record.Outcome = hook.AuditDone
	if err != nil {
		p := problemOf(err)
		c.record.Outcome, c.record.Code = hook.AuditRefused, p.Code
		if p.Status >= http.StatusInternalServerError {
			c.record.Outcome = hook.AuditFailed
		} else {
			c.record.Request = shortened(c.request)
		}
	}
	c.log.End(ctx, c.record)
}

// shortened returns the request of a record in at most maxRefused bytes: the largest values are
// replaced by their sizes. The names of a request are few and short, because the decoder has
// refused all others.
func shortened(request []byte) []byte {
	var values map[string]jsontext.Value
	if len(request) <= maxRefused || json.Unmarshal(request, &values) != nil {
		return request
	}
	names := slices.SortedFunc(maps.Keys(values), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(values[b]), len(values[a])), strings.Compare(a, b))
	})
	for _, name := range names {
		values[name] = fmt.Appendf(nil, "%q", fmt.Sprintf("%s (%d bytes)", hook.Masked, len(values[name])))
		short, err := json.Marshal(values, json.Deterministic(true))
		if err == nil && len(short) <= maxRefused {
			return short
		}
	}
	return nil
}

// withShortValues returns the request with at most maxValue bytes of each value.
func withShortValues(request []byte) []byte {
	var values map[string]jsontext.Value
	if len(request) <= maxValue || json.Unmarshal(request, &values) != nil {
		return request
	}
	for name, value := range values {
		values[name] = shortValue(value)
	}
	short, err := json.Marshal(values, json.Deterministic(true))
	if err != nil {
		return nil
	}
	return short
}

// shortValue returns the value, or a text that begins like a large one and ends with its size.
func shortValue(v jsontext.Value) jsontext.Value {
	if len(v) <= maxValue {
		return v
	}
	begin := string(v)
	if v.Kind() == '"' {
		if text, err := jsontext.AppendUnquote(nil, v); err == nil {
			begin = string(text)
		}
	}
	end := fmt.Sprintf("… (%d bytes)", len(v))
	for room := maxValue - len(end) - 2; room > 0; room /= 2 { // escapes need room, too
		short, err := jsontext.AppendQuote(nil, cut(begin, room)+end)
		if err == nil && len(short) <= maxValue {
			return short
		}
	}
	return nil
}

// difference is the change of one field. An absent value means that the field or the
// resource does not exist.
type difference struct {
	Old jsontext.Value `json:"old,omitzero"`
	New jsontext.Value `json:"new,omitzero"`
}

// differences returns the fields whose values differ between before and after, which are both
// views or nil: large ones by their beginning. The version and the time of the write are left out, because
// they differ with every change.
func differences(before, after any) (map[string]difference, error) {
	olds, err := fields(before)
	if err != nil {
		return nil, err
	}
	news, err := fields(after)
	if err != nil {
		return nil, err
	}
	changes := make(map[string]difference)
	for _, values := range []map[string]jsontext.Value{olds, news} {
		for name := range values {
			if !bytes.Equal(olds[name], news[name]) {
				changes[name] = difference{Old: shortValue(olds[name]), New: shortValue(news[name])}
			}
		}
	}
	for _, name := range []string{"version", "updated_at", "status_since"} {
		delete(changes, name)
	}
	return changes, nil
}

func fields(view any) (map[string]jsontext.Value, error) {
	if view == nil {
		return nil, nil
	}
	raw, err := marshal(view)
	if err != nil {
		return nil, err
	}
	var all map[string]jsontext.Value
	if err := json.Unmarshal(raw, &all, jsontext.AllowInvalidUTF8(true)); err != nil {
		return nil, fmt.Errorf("read view: %w", err)
	}
	return all, nil
}

// maskedFields returns the settings for a record: without header values, and without the user name
// and password of the URL. Secrets are masked wherever they are written.
func maskedFields(f endpoint.Fields) endpoint.Fields {
	if f.Headers != nil {
		headers := make(map[string]string, len(*f.Headers))
		for name, value := range *f.Headers {
			headers[name] = mask(value)
		}
		f.Headers = &headers
	}
	if f.URL != nil {
		f.URL = new(maskedURL(*f.URL))
	}
	if f.Auth != nil && f.Auth.OAuth.TokenURL != "" {
		f.Auth = new(*f.Auth)
		f.Auth.OAuth.TokenURL = maskedURL(f.Auth.OAuth.TokenURL)
	}
	return f
}

// maskedURL masks the user name and the password. Only a request can have them: an endpoint with
// a user name is never stored, and an ARN has none.
func maskedURL(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" && u.Scheme != "arn" { // the user name may be in another part of the URL
		return hook.Masked
	}
	if u.User != nil {
		u.User = url.User(hook.Masked)
	}
	return u.String()
}

// auditedEndpoint is an endpoint as compared with another version of itself: with the times of
// the secrets, with marks for changed header values and a changed authentication, and with the id
// of the TLS settings.
type auditedEndpoint struct {
	endpointView
	TLS     *auditedTLS     `json:"tls,omitzero"` // in place of that of the view
	Secrets []auditedSecret `json:"secrets"`
}

// auditedTLS has another id if the texts differ. The texts themselves are masked.
type auditedTLS struct {
	tlsView
	ID string `json:"id"`
}

type auditedSecret struct {
	Scheme    hook.Scheme `json:"scheme"`
	Secret    string      `json:"secret"`
	CreatedAt time.Time   `json:"created_at"`
	ExpiresAt time.Time   `json:"expires_at,omitzero"`
}

// changedEndpoint records a change of an endpoint. A new endpoint has no before, and a deleted
// one no after.
func (c *call) changedEndpoint(before, after hook.Endpoint) {
	var old, now any
	if before.ID != "" {
		c.target(string(before.ID))
		old = audited(before, hook.Endpoint{})
	}
	if after.ID != "" {
		c.target(string(after.ID))
		now = audited(after, before)
	}
	c.changed(old, now)
}

// changedCircuit records a change of a circuit's state.
func (c *call) changedCircuit(before, after admission.Record) {
	c.target(string(after.Endpoint))
	c.changed(facts{"circuit_state": before.State.String()}, facts{"circuit_state": after.State.String()})
}

// newValue is the mask of a changed header value or secret.
const newValue = hook.Masked + " (new value)"

// audited returns the endpoint in the form for comparing it with before.
func audited(e, before hook.Endpoint) auditedEndpoint {
	view := auditedEndpoint{endpointView: viewEndpoint(e), Secrets: each(e.Secrets, viewOf[auditedSecret])}
	if before.Auth.Type == e.Auth.Type && !bytes.Equal(before.Auth.Sealed, e.Auth.Sealed) {
		view.Auth.Secret = newValue
	}
	if e.TLS.On() {
		view.TLS = &auditedTLS{*viewTLS(e.TLS), e.TLS.ID}
	}
	for name, sealed := range e.SealedHeaders {
		if old, ok := before.SealedHeaders[name]; ok && !bytes.Equal(old, sealed) {
			(*view.Headers)[name] = newValue
		}
	}
	for i := range view.Secrets {
		view.Secrets[i].Secret = hook.Masked
	}
	return view
}

// auditView is the record of a change.
type auditView struct {
	ID      hook.AuditID      `json:"id"`
	At      time.Time         `json:"at"`
	Actor   string            `json:"actor"` // key or system
	Key     hook.KeyID        `json:"key_id,omitzero"`
	KeyName string            `json:"key_name,omitzero"`
	From    string            `json:"source_ip,omitzero"`
	Action  string            `json:"action"`
	Target  string            `json:"target,omitzero"`
	Request []byte            `json:"request,omitempty"`
	Changes []byte            `json:"changes,omitempty"`
	Outcome hook.AuditOutcome `json:"outcome"`
	Code    string            `json:"code,omitzero"`
}

// listChanges lists the changes of the tenant of the path, or the changes outside of
// the tenants.
func (h *manage) listChanges(ctx context.Context, c *call) (reply, error) {
	q := listQuery(c, "action", "target", "key", sinceParam, untilParam)
	filter := audit.Filter{Action: q.given("action"), Target: q.given("target"), Key: hook.KeyID(q.given("key"))}
	filter.Since, filter.Until = q.time(sinceParam), q.time(untilParam)
	tenant, err := c.tenant, refusal(q.wrong)
	if tenant == "" {
		tenant = hook.AllTenants
	} else if err == nil {
		filter.Aliases, err = h.aliases(ctx, tenant, filter.Target)
	}
	if err != nil {
		return reply{}, err
	}
	return viewList(q, func(req page.Request) (page.List[hook.AuditRecord], error) {
		return h.Audit.List(ctx, tenant, filter, req)
	}, viewAudit)
}

// aliases returns the id and the uid of the endpoint if the target is one of them. The record of
// a refused change has the name that its caller used, and all others have the id. It makes at
// most two reads.
func (h *manage) aliases(ctx context.Context, tenant hook.TenantID, target string) ([]string, error) {
	if target == "" {
		return nil, nil
	}
	e, err := h.Endpoints.Get(ctx, tenant, target)
	switch {
	case hook.CodeOf(err) == hook.CodeNotFound: // the target is not an endpoint, or is deleted
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("find the target: %w", err)
	case e.UID == "":
		return nil, nil
	}
	return []string{string(e.ID), e.UID}, nil
}

func viewAudit(r hook.AuditRecord) auditView {
	v := viewOf[auditView](r)
	v.Actor = "key"
	if r.Key == "" {
		v.Actor = "system"
	}
	return v
}
