package httpapi

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"surehook.example/surehook/internal/admin/endpoint"
	"surehook.example/surehook/internal/admin/page"
	"surehook.example/surehook/internal/admin/preview"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/shape"
	"surehook.example/surehook/internal/rule/sign"
)

// versionTag matches the ETag of an endpoint.
var versionTag = regexp.MustCompile(`^"([1-9][0-9]{0,18})"$`)

// manage serves the routes of Manage.
type manage struct {
	Admin
	log *slog.Logger
}

type rotateBody struct {
	Secret  *secret        `json:"secret"`
	Overlap *time.Duration `json:"overlap"`
}

type testBody struct {
	EventType *string        `json:"event_type"`
	Payload   jsontext.Value `json:"payload"`
}

func (b testBody) masked() testBody {
	if len(b.Payload) > 0 {
		b.Payload = jsontext.Value(`"` + hook.Masked + `"`)
	}
	return b
}

func (h *manage) createEndpoint(ctx context.Context, c *call, body createBody, wrong hook.Fields) (reply, error) {
	secret := optionalText(&wrong, "secret", body.Secret)
	body.Wrong = wrong
	if err := c.begin(ctx, "", createBody{maskedFields(body.Fields), body.Secret}); err != nil {
		return reply{}, err
	}
	e, secret, err := h.endpoints(c).Create(ctx, c.tenant, body.Fields, secret)
	if err != nil {
		return reply{}, fmt.Errorf("create endpoint: %w", err)
	}
	view := secretView{endpointView: viewEndpoint(e), Secret: secret}
	return reply{status: http.StatusCreated, body: view}.versioned(e.Version).with("Location", c.locate("endpoints", string(e.ID))), nil
}

func (h *manage) listEndpoints(ctx context.Context, c *call) (reply, error) {
	q := listQuery(c, "slow", "signed_by", "ids")
	slow, by, ids := q.flag("slow"), sign.Signers(q.Get("signed_by")), q.endpointIDs("ids")
	switch {
	case q.Has("ids") && (q.Has("slow") || q.Has("signed_by")):
		q.wrong.Add("ids", "must be absent with slow and signed_by")
	case q.Has("signed_by") && by != sign.SignedByNew && by != sign.SignedByBoth && by != sign.SignedByOld:
		q.wrong.Add("signed_by", "must be new, both or old")
	case by != "" && q.Has("slow"):
		q.wrong.Add("signed_by", "must be absent with slow")
	}
	return viewList(q, func(req page.Request) (page.List[hook.Endpoint], error) {
		if q.Has("ids") {
			return h.Endpoints.ListOf(ctx, c.tenant, ids, req)
		}
		if by != "" {
			return h.Endpoints.ListSignedBy(ctx, c.tenant, by, req)
		}
		if !q.Has("slow") {
			return h.Endpoints.List(ctx, c.tenant, req)
		}
		return h.Endpoints.ListSlow(ctx, c.tenant, slow, req)
	}, viewEndpoint)
}

// endpointIDs returns the ids in a parameter, each once.
func (q *params) endpointIDs(name string) []hook.EndpointID {
	var ids []hook.EndpointID
	if !q.Has(name) {
		return ids
	}
	for text := range strings.SplitSeq(q.Get(name), ",") {
		id, err := hook.ParseEndpointID(text)
		if err != nil {
			q.wrong.Add(name, "must be ids of endpoints, separated by commas")
			return nil
		}
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	q.wrong.Refuse(len(ids) > page.MaxLimit, name, "must be at most %d ids", page.MaxLimit)
	return ids
}

func (h *manage) changeEndpoint(ctx context.Context, c *call, fields endpoint.Fields, wrong hook.Fields) (reply, error) {
	version, err := c.beginMatching(ctx, c.r.PathValue("endpoint"), maskedFields(fields))
	if err != nil {
		return reply{}, err
	}
	fields.Wrong = wrong
	e, err := h.endpoints(c).Change(ctx, c.tenant, c.r.PathValue("endpoint"), version, fields)
	return h.endpoint(c, e, err)
}

func (h *manage) deleteEndpoint(ctx context.Context, c *call) (reply, error) {
	version, err := c.beginMatching(ctx, c.r.PathValue("endpoint"), nil)
	if err != nil {
		return reply{}, err
	}
	if err := h.endpoints(c).Delete(ctx, c.tenant, c.r.PathValue("endpoint"), version); err != nil {
		return reply{}, fmt.Errorf("delete endpoint: %w", err)
	}
	return reply{status: http.StatusNoContent}, nil
}

// setStatus returns the action for a change of an endpoint's status.
func (h *manage) setStatus(
	set func(a *endpoint.Admin, ctx context.Context, tenant hook.TenantID, ref string) (hook.Endpoint, error),
) action {
	return begunOn("endpoint", func(ctx context.Context, c *call) (reply, error) {
		e, err := set(h.endpoints(c), ctx, c.tenant, c.r.PathValue("endpoint"))
		return h.endpoint(c, e, err)
	})
}

// endpoints returns the use case for a call that changes something: it adds the changes to the
// call's record.
func (h *manage) endpoints(c *call) *endpoint.Admin {
	a := *h.Endpoints
	a.PresetsOnly = !c.principal.May(hook.ScopeTransformations)
	a.PublicOnly = !c.principal.May(hook.ScopePrivate)
	a.Changed = c.changedEndpoint
	a.CircuitChanged = c.changedCircuit
	return &a
}

// endpointStatus returns an action with a statusView as the response.
func (h *manage) endpointStatus(
	do func(a *endpoint.Admin, ctx context.Context, tenant hook.TenantID, ref string) (endpoint.Status, error),
) action {
	return func(ctx context.Context, c *call) (reply, error) {
		s, err := do(h.endpoints(c), ctx, c.tenant, c.r.PathValue("endpoint"))
		if err != nil {
			return reply{}, err
		}
		c.target(string(s.Endpoint.ID)) // also without a change
		view := statusView{
			endpointView: viewEndpoint(s.Endpoint), Slow: s.Gate.Review.Slow, CircuitState: s.Circuit(),
			SignedBy: s.SignedBy, OldSecretsUntil: s.OldSecretsUntil,
		}
		return ok(view).versioned(s.Endpoint.Version), nil
	}
}

func (h *manage) rotateSecret(ctx context.Context, c *call, body rotateBody) (reply, error) {
	var wrong hook.Fields
	secret := optionalText(&wrong, "secret", body.Secret)
	if err := refusal(wrong); err != nil {
		return reply{}, err
	}
	overlap := hook.DefaultRotationOverlap
	set(&overlap, body.Overlap)
	if err := c.begin(ctx, c.r.PathValue("endpoint"), body); err != nil {
		return reply{}, err
	}
	e, secret, err := h.endpoints(c).Rotate(ctx, c.tenant, c.r.PathValue("endpoint"), secret, overlap)
	if err != nil {
		return reply{}, fmt.Errorf("rotate secret: %w", err)
	}
	return ok(secretView{endpointView: viewEndpoint(e), Secret: secret}).versioned(e.Version), nil
}

func (h *manage) testEndpoint(ctx context.Context, c *call, body testBody) (reply, error) {
	var wrong hook.Fields
	eventType := optionalText(&wrong, "event_type", body.EventType)
	if err := refusal(wrong); err != nil {
		return reply{}, err
	}
	if err := c.begin(ctx, c.r.PathValue("endpoint"), body.masked()); err != nil {
		return reply{}, err
	}
	payload, err := h.samplePayload(ctx, eventType, body.Payload)
	if err != nil {
		return reply{}, err
	}
	e, payload, err := h.Endpoints.Sample(ctx, c.tenant, c.r.PathValue("endpoint"), eventType, payload)
	if err != nil {
		return reply{}, fmt.Errorf("make test event: %w", err)
	}
	named := len(body.Payload) > 0 && !c.principal.May(hook.ScopeEventsWrite)
	if named && !shape.NamesType(&e) && !e.Coalesce.On() {
		return reply{}, &hook.Error{Code: hook.CodeForbidden, Message: "a test with a payload of yours needs the scope events:write, because no signed part of this endpoint's requests says that it is a test"}
	}
	result, err := h.Tester.AcceptFor(ctx, e, endpoint.SampleType, payload, named)
	if err != nil {
		return reply{}, fmt.Errorf("accept test event: %w", err)
	}
	c.target(string(e.ID))
	c.changed(nil, facts{"event_id": result.ID})
	// Test events do not count as accepted events: that metric reads only the log of ingest.
	h.log.LogAttrs(ctx, slog.LevelInfo, lineIngested, result.Attrs(c.tenant, endpoint.SampleType)...)
	return reply{status: http.StatusAccepted, body: viewAccepted(result)}, nil
}

// samplePayload returns the payload of a test event: the caller's, or else the example of the
// event type; nil if there is neither.
func (h *manage) samplePayload(ctx context.Context, eventType string, given []byte) ([]byte, error) {
	if len(given) > 0 || eventType == "" {
		return given, nil
	}
	t, err := h.Types.Get(ctx, eventType)
	if err != nil && hook.CodeOf(err) != hook.CodeNotFound {
		return nil, fmt.Errorf("find example: %w", err)
	}
	return t.Example, nil
}

// endpoint returns the response with the endpoint, or err.
func (h *manage) endpoint(c *call, e hook.Endpoint, err error) (reply, error) {
	if err != nil {
		return reply{}, err
	}
	c.target(string(e.ID)) // also without a change
	return ok(viewEndpoint(e)).versioned(e.Version), nil
}

// ifMatch returns the required version of the endpoint from the header If-Match
// (RFC 9110, section 13.1.1); 0 for any version.
func ifMatch(c *call) (int64, error) {
	tag := c.r.Header.Get("If-Match")
	if tag == "" || tag == "*" {
		return 0, nil
	}
	if parts := versionTag.FindStringSubmatch(tag); parts != nil {
		if version, err := strconv.ParseInt(parts[1], 10, 64); err == nil {
			return version, nil
		}
	}
	return 0, hook.Invalid(hook.FieldError{Field: "if-match", Message: `must be the ETag of a read, such as "3", or *`})
}

// requestPreviewBody is an event, with settings to try in place of the endpoint's. Absent fields
// are nil.
type requestPreviewBody struct {
	Event          *hook.EventID  `json:"event_id"`
	Type           *string        `json:"event_type"`
	Payload        jsontext.Value `json:"payload"`
	Filter         *[]byte        `json:"filter"`
	Envelope       *hook.Envelope `json:"envelope"`
	Transformation *string        `json:"transformation"`
}

// previewEndpoint shows the request that the endpoint would get for an event. Nothing is
// stored or sent.
func (h *manage) previewEndpoint(ctx context.Context, c *call, body requestPreviewBody, wrong hook.Fields) (reply, error) {
	q, wrong := body.query(wrong)
	if err := refusal(wrong); err != nil {
		return reply{}, err
	}
	q.Endpoint = c.r.PathValue("endpoint")
	return answer(h.Previewer.Preview(ctx, c.tenant, q))
}

func (b requestPreviewBody) query(errs hook.Fields) (preview.Query, hook.Fields) {
	q := preview.Query{Payload: b.Payload, Filter: b.Filter, Envelope: b.Envelope, Transformation: b.Transformation}
	var wrong hook.Fields
	switch {
	case (b.Event != nil) == (b.Type != nil):
		wrong.Add("event_type", "must be given, or event_id, and not both")
	case b.Event != nil && b.Payload != nil:
		wrong.Add("payload", "must be absent with event_id")
	case len(b.Payload) > hook.MaxPayload:
		wrong.Add("payload", "must be at most %d bytes", hook.MaxPayload)
	}
	set(&q.ID, b.Event)
	set(&q.Type, b.Type)
	return q, hook.AlsoWrong(errs, wrong)
}
