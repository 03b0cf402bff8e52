package smoke

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"surehook.example/surehook/client"
	"surehook.example/surehook/client/openapi"
)

// Receiver is the server behind the endpoints of the checks.
type Receiver interface {
	// URL returns the URL at which the deployment reaches the path.
	URL(path string) string
	// Script sets the answers and the secret of the path. It replaces an earlier
	// script, and begins with its first answer.
	Script(ctx context.Context, path string, s Script) error
	// Requests returns the requests to the path, oldest first.
	Requests(ctx context.Context, path string) ([]Request, error)
	// Clock returns the receiver's time.
	Clock(ctx context.Context) (time.Time, error)
}

// Script is the behavior of a path.
type Script struct {
	Secret  string // whsec_...; a request without its signature gets 401
	Answers []int  // statuses in order; the last repeats
}

// Request is a received request.
type Request struct {
	At       time.Time // by the receiver's clock
	ID       string    // the header Webhook-Id: the event
	Verified bool      // a signature was made with the path's secret
	Answered int       // the status of the answer
	Body     string
}

// The states that the flows wait for.
const (
	delivered = openapi.DeliveryDetailStateDelivered
	dead      = openapi.DeliveryDetailStateDead
	retrying  = openapi.DeliveryDetailStateRetrying
)

// Flows are the checks that send events through the API.
type Flows struct {
	API       *client.Client // with a key of the tenant
	Tenant    string
	Receiver  Receiver
	Schedules Schedules // nil without EventBridge Scheduler
	Latency   LatencyLimits
	Long      bool // wait for the schedule beyond 15 minutes
	Now       func() time.Time
}

// Limits of the flows. They are generous, for a cold deployment: otherwise a flow
// takes a few seconds.
const (
	flowLimit = 90 * time.Second
	longLimit = 20 * time.Minute // the 16 minutes of the schedule, and some reserve
	pollEvery = 400 * time.Millisecond
)

// Checks returns the checks of the flows.
func (f *Flows) Checks() []Check {
	limit := flowLimit
	if f.Long {
		limit = longLimit
	}
	return []Check{
		{Name: "signed delivery", Limit: flowLimit, Run: f.signed},
		{Name: "retry after 503", Limit: flowLimit, Run: f.retry},
		{Name: "dead letter and replay", Limit: flowLimit, Run: f.deadLetter},
		{Name: "circuit", Limit: flowLimit, Run: f.circuit},
		{Name: "rate limit", Limit: flowLimit, Run: f.rate},
		{Name: "schedule beyond 15 minutes", Limit: limit, Run: f.schedule},
		{Name: "time from post to arrival", Limit: flowLimit, Run: f.latency},
	}
}

// target is an endpoint of a check, at the receiver's path, with the progress of the check: after the
// first error its methods do nothing.
type target struct {
	*Flows

	name, path, secret, id string
	err                    error
}

// target creates an endpoint at the path of its name, where the receiver gives the
// answers. The endpoint subscribes to the event type of its name, and has the settings.
func (f *Flows) target(ctx context.Context, name string, settings openapi.EndpointCreate, answers ...int) *target {
	t := &target{Flows: f, name: name, path: "/" + f.Tenant + "/" + name}
	settings.Url, settings.EventTypes, settings.Uid = f.Receiver.URL(t.path), []string{name}, name
	// The receiver verifies standard signatures, and the flows compare the payload, whatever the deployment's defaults.
	settings.Envelope, settings.SignatureProfiles = openapi.EndpointCreateEnvelopeRaw, []string{"standard"}
	// The end of ctx does not end the call: the removal must find what was made.
	made, err := f.API.Endpoints.Create(context.WithoutCancel(ctx), f.Tenant, settings)
	if err != nil {
		t.err = fmt.Errorf("create an endpoint: %w", err)
		return t
	}
	t.id, t.secret = made.Id, made.Secret
	t.answer(ctx, answers...)
	return t
}

// fail ends the check with the error, if there is one.
func (t *target) fail(err error) {
	if t.err == nil {
		t.err = err
	}
}

// until is the function until, unless the check has ended.
func (t *target) until(ctx context.Context, ask func() (missing string, err error)) {
	if t.err == nil {
		t.err = until(ctx, ask)
	}
}

// end returns the result of the check: its first error, or what judge says.
func (t *target) end(judge func() (note string, err error)) (note string, err error) {
	if t.err != nil {
		return "", t.err
	}
	return judge()
}

// answer sets the next answers of the receiver to the target.
func (t *target) answer(ctx context.Context, answers ...int) {
	if t.err == nil {
		t.err = t.Receiver.Script(ctx, t.path, Script{Secret: t.secret, Answers: answers})
	}
}

// post posts n events in one call and returns their ids. Event i has the payload {"n": i}.
func (t *target) post(ctx context.Context, n int) (events []string) {
	if t.err != nil {
		return nil
	}
	all := make([]openapi.BatchEvent, n)
	for i := range all {
		all[i] = openapi.BatchEvent{EventType: t.name, Payload: fmt.Appendf(nil, `{"n":%d}`, i)}
	}
	posted, err := t.API.Events.CreateBatch(ctx, t.Tenant, openapi.BatchRequest{Events: all})
	if err != nil {
		t.err = fmt.Errorf("post events: %w", err)
		return nil
	}
	for _, one := range posted.Data {
		e, err := one.AsAccepted()
		switch {
		case err != nil:
			t.fail(fmt.Errorf("read an accepted event: %w", err))
		case e.Deliveries != 1:
			t.fail(fmt.Errorf("event %s was accepted with %d deliveries instead of 1", e.Id, e.Deliveries))
		}
		events = append(events, e.Id)
	}
	return events
}

// postOne posts an event, and returns the ids of the event and of its only delivery.
func (t *target) postOne(ctx context.Context) (event, delivery string) {
	for _, event = range t.post(ctx, 1) {
		n := 0
		for d, err := range t.API.Events.Deliveries(ctx, t.Tenant, event) {
			if err != nil {
				t.fail(fmt.Errorf("list the deliveries of %s: %w", event, err))
				return event, ""
			}
			delivery, n = d.Id, n+1
		}
		if n != 1 {
			t.fail(fmt.Errorf("event %s has %d deliveries instead of 1", event, n))
		}
	}
	return event, delivery
}

// await reads the delivery until it is in the state. It ends with an error as soon
// as the delivery is settled in another state.
func (t *target) await(ctx context.Context, id string, state openapi.DeliveryDetailState) (d *openapi.DeliveryDetail) {
	t.until(ctx, func() (missing string, err error) {
		switch d, err = t.API.Deliveries.Get(ctx, t.Tenant, id); {
		case err != nil:
			return "", fmt.Errorf("read the delivery %s: %w", id, err)
		case d.State == state:
			return "", nil
		}
		missing = fmt.Sprintf("the delivery is %s after %d attempts, and not %s: %s", d.State, d.Attempts, state, whyOf(d))
		if final(d.State) {
			return "", errors.New(missing)
		}
		return missing, nil
	})
	return d
}

// awaitListed waits until n deliveries of the endpoint are in the state, and returns the ids of all.
func (t *target) awaitListed(ctx context.Context, state openapi.ListEndpointDeliveriesParamsState, n int) (ids []string) {
	t.until(ctx, func() (string, error) {
		ids = nil
		for d, err := range t.API.Endpoints.Deliveries(ctx, t.Tenant, t.id, openapi.ListEndpointDeliveriesParams{State: &state}) {
			if err != nil {
				return "", fmt.Errorf("list the %s deliveries: %w", state, err)
			}
			ids = append(ids, d.Id)
		}
		if len(ids) >= n {
			return "", nil
		}
		return fmt.Sprintf("%d of %d deliveries are %s", len(ids), n, state), nil
	})
	return ids
}

// arrivals waits for at least n requests to the target, and returns all.
func (t *target) arrivals(ctx context.Context, n int) (got []Request) {
	t.until(ctx, func() (_ string, err error) {
		if got, err = t.Receiver.Requests(ctx, t.path); err != nil || len(got) >= n {
			return "", err
		}
		return fmt.Sprintf("%d of %d requests arrived", len(got), n), nil
	})
	return got
}

// final reports whether a delivery in the state is settled.
func final(state openapi.DeliveryDetailState) bool {
	return slices.Contains([]openapi.DeliveryDetailState{delivered, dead, "discarded", "cancelled"}, state)
}

// whyOf describes the last outcome of a delivery, and the reason of its state.
func whyOf(d *openapi.DeliveryDetail) string {
	why := "no attempt was recorded"
	switch last := d.Last; {
	case last != nil && last.Status != nil:
		why = fmt.Sprintf("the last answer was %d %s", *last.Status, http.StatusText(*last.Status))
	case last != nil:
		why = fmt.Sprintf("the last attempt was %s %s", last.Class, aws.ToString(last.Error))
	}
	if d.Reason != nil {
		why += ", reason " + string(*d.Reason)
	}
	return why
}

// until asks again and again until nothing is missing. An error ends it. If ctx ends
// first, the error names what was missing at the last answer.
func until(ctx context.Context, ask func() (missing string, err error)) error {
	var missing string
	for {
		now, err := ask()
		switch {
		case err == nil && now == "":
			return nil
		case err == nil:
			missing = now
		case ctx.Err() == nil:
			return err
		case missing == "":
			missing = err.Error()
		}
		if err := pause(ctx, pollEvery); err != nil {
			return fmt.Errorf("%s: %w", missing, err)
		}
	}
}

// plan returns a retry policy with exactly these delays.
func plan(delays ...string) *openapi.Retry {
	return &openapi.Retry{Schedule: delays, Jitter: openapi.RetryJitterNone}
}
