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

// outage is what the circuit check saw.
type outage struct {
	Parked    int           // deliveries parked at one time
	Down      time.Duration // from the opening until the endpoint was mended
	Opening   int           // requests until the circuit was open
	Requests  int           // while the endpoint was down
	Delivered int           // deliveries in the end
	Closed    bool
	Refused   int // requests without a valid signature
}

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
	opened := f.Now()
	seen := outage{Opening: len(t.arrivals(ctx, 0))}
	t.post(ctx, backlog)
	seen.Parked = len(t.awaitListed(ctx, openapi.ListEndpointDeliveriesParamsStateParked, backlog))
	seen.Requests = len(t.arrivals(ctx, seen.Opening+1)) // with the probe during the outage
	seen.Down = f.Now().Sub(opened)
	t.answer(ctx, http.StatusOK)
	seen.Delivered = len(t.awaitListed(ctx, openapi.ListEndpointDeliveriesParamsStateDelivered, failures+backlog))
	t.awaitCircuit(ctx, true)
	seen.Closed = true
	for _, r := range t.arrivals(ctx, 0) {
		if !r.Verified {
			seen.Refused++
		}
	}
	return t.end(func() (string, error) {
		return fmt.Sprintf("opened after %d failures, parked %d, probed, released %d", seen.Opening, seen.Parked, seen.Delivered), judgeOutage(seen)
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

// judgeOutage checks what the circuit check saw. During the outage a probe may
// pass per cooldown, and one more at either end.
func judgeOutage(o outage) error {
	probes, most := o.Requests-o.Opening, int(o.Down/cooldown)+2
	switch {
	case o.Refused > 0:
		return fmt.Errorf("%d requests had no valid signature", o.Refused)
	case o.Parked < backlog:
		return fmt.Errorf("%d deliveries were parked, and not %d", o.Parked, backlog)
	case probes < 1:
		return fmt.Errorf("no probe came during the outage")
	case probes > most:
		return fmt.Errorf("%d requests came during %.1f s of outage beside the %d that opened the circuit: more than %d probes", probes, o.Down.Seconds(), o.Opening, most)
	case o.Delivered != failures+backlog:
		return fmt.Errorf("%d deliveries were delivered, and not %d", o.Delivered, failures+backlog)
	case !o.Closed:
		return fmt.Errorf("the circuit did not close")
	}
	return nil
}
