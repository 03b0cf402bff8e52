package smoke

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"surehook.example/surehook/client/openapi"
)

// The outage of the circuit check.
const (
	failures = 3 // in a row, to open the circuit; failures in flight together count once
	backlog  = 5 // events posted while the circuit is open
	cooldown = time.Second
)

// circuit takes an endpoint through an outage: failures open the circuit,
// further deliveries are parked, a probe fails, a probe succeeds, and everything
// is released.
func (f *Flows) circuit(ctx context.Context) (string, error) {
	t := f.target(ctx, "circuit", openapi.EndpointCreate{
		Retry:   plan("5s", "5s", "5s", "5s", "5s", "5s"),
		Circuit: &openapi.Circuit{Failures: new(failures), Cooldown: new(cooldown.String()), MaxCooldown: new((2 * cooldown).String())},
	}, http.StatusServiceUnavailable)
	t.post(ctx, failures)
	t.awaitCircuit(ctx, false)
	opened, opening := f.Now(), len(t.arrivals(ctx, 0))
	t.post(ctx, backlog)
	parked := len(t.awaitListed(ctx, openapi.ListEndpointDeliveriesParamsStateParked, backlog))
	probes := len(t.arrivals(ctx, opening+1)) - opening
	down := f.Now().Sub(opened)
	t.answer(ctx, http.StatusOK)
	released := len(t.awaitListed(ctx, openapi.ListEndpointDeliveriesParamsStateDelivered, failures+backlog))
	t.awaitCircuit(ctx, true)
	got := t.arrivals(ctx, 0)
	return t.end(func() (string, error) {
		return fmt.Sprintf("opened after %d failures, parked %d, probed, released %d", opening, parked, released), judgeOutage(probes, down, got)
	})
}

// awaitCircuit waits until the circuit is closed, or is not.
func (t *target) awaitCircuit(ctx context.Context, closed bool) {
	t.until(ctx, func() (string, error) {
		e, err := t.API.Endpoints.Get(ctx, t.Tenant, t.id)
		if err != nil {
			return "", fmt.Errorf("read the endpoint: %w", err)
		}
		if (e.CircuitState.State == openapi.CircuitStateStateClosed) == closed {
			return "", nil
		}
		return fmt.Sprintf("the circuit is %s", e.CircuitState.State), nil
	})
}

// judgeOutage checks the probes while the endpoint was down, and the signatures of all requests. A probe
// may pass per cooldown, and one more at either end.
func judgeOutage(probes int, down time.Duration, got []Request) error {
	if most := int(down/cooldown) + 2; probes > most {
		return fmt.Errorf("%d requests came during %.1f s of outage beside those that opened the circuit: more than %d probes", probes, down.Seconds(), most)
	}
	return judgeSignatures(got)
}
