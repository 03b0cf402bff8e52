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
	t, err := f.target(ctx, "circuit", openapi.EndpointCreate{
		Retry:   plan("5s", "5s", "5s", "5s", "5s", "5s"),
		Circuit: &openapi.Circuit{Failures: new(failures), Cooldown: new(cooldown.String()), MaxCooldown: new((2 * cooldown).String())},
	}, http.StatusServiceUnavailable)
	if err != nil {
		return "", err
	}
	if _, err := t.post(ctx, "circuit", failures); err != nil {
		return "", err
	}
	if err := t.awaitCircuit(ctx, false); err != nil {
		return "", err
	}
	opened := f.Now()
	before, err := t.Receiver.Requests(ctx, t.path)
	if err != nil {
		return "", err
	}
	if _, err := t.post(ctx, "circuit", backlog); err != nil {
		return "", err
	}
	seen := outage{Opening: len(before)}
	if seen.Parked, err = t.awaitParked(ctx); err != nil {
		return "", err
	}
	probed, err := t.arrivals(ctx, seen.Opening+1) // the probe during the outage
	if err != nil {
		return "", fmt.Errorf("no probe during the outage: %w", err)
	}
	seen.Requests = len(probed)
	seen.Down = f.Now().Sub(opened)
	if err := t.recover(ctx, &seen); err != nil {
		return "", err
	}
	return fmt.Sprintf("opened after %d failures, parked %d, probed, released %d", seen.Opening, seen.Parked, seen.Delivered), judgeOutage(seen)
}

// awaitCircuit waits until the circuit is closed, or is not.
func (t *target) awaitCircuit(ctx context.Context, closed bool) error {
	return until(ctx, func() (string, error) {
		e, err := t.Endpoints.Get(ctx, t.tenant, t.id)
		if err != nil {
			return "", fmt.Errorf("read the endpoint: %w", err)
		}
		if (e.CircuitState.State == openapi.CircuitStateStateClosed) == closed {
			return "", nil
		}
		return fmt.Sprintf("the circuit is %s", e.CircuitState.State), nil
	})
}

// awaitParked waits until the backlog is parked. The delivery of a probe under way
// may be missing from the list.
func (t *target) awaitParked(ctx context.Context) (most int, err error) {
	err = until(ctx, func() (string, error) {
		parked, err := t.listed(ctx, t.id, openapi.ListEndpointDeliveriesParamsStateParked)
		most = max(most, len(parked))
		if err != nil || most >= backlog {
			return "", err
		}
		return fmt.Sprintf("%d of %d deliveries are parked", most, backlog), nil
	})
	return most, err
}

// recover mends the endpoint and waits for the release.
func (t *target) recover(ctx context.Context, seen *outage) error {
	if err := t.answer(ctx, http.StatusOK); err != nil {
		return err
	}
	if err := until(ctx, func() (string, error) {
		done, err := t.listed(ctx, t.id, openapi.ListEndpointDeliveriesParamsStateDelivered)
		seen.Delivered = len(done)
		if err != nil || seen.Delivered >= failures+backlog {
			return "", err
		}
		return fmt.Sprintf("%d of %d deliveries were released and delivered", seen.Delivered, failures+backlog), nil
	}); err != nil {
		return err
	}
	if err := t.awaitCircuit(ctx, true); err != nil {
		return err
	}
	seen.Closed = true
	all, err := t.Receiver.Requests(ctx, t.path)
	if err != nil {
		return err
	}
	for _, r := range all {
		if !r.Verified {
			seen.Refused++
		}
	}
	return nil
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
