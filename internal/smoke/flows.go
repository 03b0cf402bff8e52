package smoke

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"
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

// Flows are the checks that send events through the API.
type Flows struct {
	API       *API // with a key of the tenant
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

// target is an endpoint of a check, at the receiver's path.
type target struct {
	*Flows
	tenantAPI

	path   string
	secret string
	id     string
}

// target creates an endpoint at the path of its name, where the receiver gives the
// answers. The endpoint subscribes to the event type of its name. settings are
// further fields of the request.
func (f *Flows) target(ctx context.Context, name string, settings map[string]any, answers ...int) (*target, error) {
	t := &target{Flows: f, tenantAPI: tenantAPI{f.API, f.Tenant}, path: "/" + f.Tenant + "/" + name}
	in := map[string]any{"url": f.Receiver.URL(t.path), "event_types": []string{name}, "uid": name}
	for field, value := range settings {
		in[field] = value
	}
	// The receiver verifies standard signatures, and the flows compare the payload, whatever the deployment's defaults.
	in["envelope"], in["signature_profiles"] = "raw", []string{"standard"}
	e, err := t.createEndpoint(ctx, in)
	if err != nil {
		return nil, err
	}
	t.id, t.secret = e.ID, e.Secret
	return t, t.answer(ctx, answers...)
}

// answer sets the next answers of the receiver to the target.
func (t *target) answer(ctx context.Context, answers ...int) error {
	return t.Receiver.Script(ctx, t.path, Script{Secret: t.secret, Answers: answers})
}

// postOne posts an event of the type, and returns its id and its only delivery.
func (t *target) postOne(ctx context.Context, eventType string) (event string, d delivery, err error) {
	events, err := t.post(ctx, eventType, 1)
	if err != nil {
		return "", delivery{}, err
	}
	d, err = t.deliveryOf(ctx, events[0])
	return events[0], d, err
}

// await reads the delivery until it is in the state. It ends with an error as soon
// as the delivery is settled in another state.
func (t *target) await(ctx context.Context, id, state string) (d delivery, err error) {
	err = until(ctx, func() (string, error) {
		if d, err = t.delivery(ctx, id); err != nil || d.State == state {
			return "", err
		}
		missing := fmt.Sprintf("the delivery is %s after %d attempts, and not %s: %s%s", d.State, d.Attempts, state, lastOf(d), reasonOf(d))
		if final(d.State) {
			return "", errors.New(missing)
		}
		return missing, nil
	})
	return d, err
}

// final reports whether a delivery in the state is settled.
func final(state string) bool {
	return slices.Contains([]string{"delivered", "dead", "discarded", "cancelled"}, state)
}

// lastOf describes the last outcome of a delivery.
func lastOf(d delivery) string {
	switch {
	case d.Last.Status != 0:
		return fmt.Sprintf("the last answer was %d %s", d.Last.Status, http.StatusText(d.Last.Status))
	case d.Last.Class != "":
		return fmt.Sprintf("the last attempt was %s %s", d.Last.Class, d.Last.Error)
	}
	return "no attempt was recorded"
}

// reasonOf names the reason of a delivery's state.
func reasonOf(d delivery) string {
	if d.Reason == "" {
		return ""
	}
	return ", reason " + d.Reason
}

// arrivals waits for at least n requests to the target, and returns all.
func (t *target) arrivals(ctx context.Context, n int) (got []Request, err error) {
	err = until(ctx, func() (string, error) {
		if got, err = t.Receiver.Requests(ctx, t.path); err != nil || len(got) >= n {
			return "", err
		}
		return fmt.Sprintf("%d of %d requests arrived", len(got), n), nil
	})
	return got, err
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

// plan returns the setting of a retry policy with exactly these delays.
func plan(delays ...string) map[string]any {
	return map[string]any{"retry": map[string]any{"schedule": delays, "jitter": "none"}}
}
