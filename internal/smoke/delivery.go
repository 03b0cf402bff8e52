package smoke

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"surehook.example/surehook/client/openapi"
)

// body is the payload of the first event of a check, see target.post.
const body = `{"n":0}`

// signed sends one event to a healthy endpoint.
func (f *Flows) signed(ctx context.Context) (string, error) {
	t := f.target(ctx, "signed", openapi.EndpointCreate{}, http.StatusOK)
	event, id := t.postOne(ctx)
	d := t.await(ctx, id, delivered)
	got := t.arrivals(ctx, 1)
	return t.end(func() (string, error) {
		return "the signature verifies, and the bytes are those posted", judgeAttempts(event, d, got, 1)
	})
}

// judgeSignatures checks that the requests have signatures of the endpoint's secret.
func judgeSignatures(got []Request) error {
	for i, r := range got {
		if !r.Verified {
			return fmt.Errorf("request %d has no valid signature of the endpoint's secret", i+1)
		}
	}
	return nil
}

// judgeRequests checks the signatures and the bytes of an event's requests.
func judgeRequests(event string, got []Request) error {
	for i, r := range got {
		switch {
		case r.ID != event:
			return fmt.Errorf("request %d is of event %s, and not of %s", i+1, r.ID, event)
		case r.Body != body:
			return fmt.Errorf("request %d has the body %.100q, and not the posted %q", i+1, r.Body, body)
		}
	}
	return judgeSignatures(got)
}

// judgeAttempts checks the only delivery of an event: it has n attempts, and each arrived once.
func judgeAttempts(event string, d *openapi.DeliveryDetail, got []Request, n int) error {
	if err := judgeRequests(event, got); err != nil {
		return err
	}
	if d.Attempts != n || len(got) != n {
		return fmt.Errorf("%d attempts are recorded and %d requests arrived; want %d of each", d.Attempts, len(got), n)
	}
	return nil
}

// retryAfter is the delay of the retry in the retry check.
const retryAfter = time.Second

// retry sends one event to an endpoint that answers 503 first.
func (f *Flows) retry(ctx context.Context) (string, error) {
	t := f.target(ctx, "retry", openapi.EndpointCreate{Retry: plan(retryAfter.String())}, http.StatusServiceUnavailable, http.StatusOK)
	event, id := t.postOne(ctx)
	d := t.await(ctx, id, delivered)
	got := t.arrivals(ctx, 2)
	return t.end(func() (string, error) {
		return fmt.Sprintf("503, then 200 after %.1f s", got[1].At.Sub(got[0].At).Seconds()), judgeRetry(event, d, got, retryAfter)
	})
}

// clockError bounds the difference between the clocks of two sandboxes of the
// receiver.
const clockError = 200 * time.Millisecond

// judgeRetry checks the two requests of a delivery that was retried after a time.
func judgeRetry(event string, d *openapi.DeliveryDetail, got []Request, after time.Duration) error {
	if err := judgeAttempts(event, d, got, 2); err != nil {
		return err
	}
	if got[0].Answered != http.StatusServiceUnavailable || got[1].Answered != http.StatusOK {
		return fmt.Errorf("the receiver answered %d and %d, and not 503 and 200", got[0].Answered, got[1].Answered)
	}
	if gap := got[1].At.Sub(got[0].At); gap < after-clockError {
		return fmt.Errorf("the retry came %v after the first attempt, and not %v", gap, after)
	}
	return nil
}

// deadLetter lets a delivery die, repairs the endpoint, and replays the delivery.
func (f *Flows) deadLetter(ctx context.Context) (string, error) {
	t := f.target(ctx, "dead", openapi.EndpointCreate{Retry: plan("1s")}, http.StatusServiceUnavailable)
	event, id := t.postOne(ctx)
	died := t.await(ctx, id, dead)
	letters := t.awaitListed(ctx, openapi.ListEndpointDeliveriesParamsStateDead, 1)
	t.answer(ctx, http.StatusOK)
	if t.err != nil {
		return "", t.err
	}
	next, err := t.API.Deliveries.Replay(ctx, t.Tenant, id)
	if err != nil {
		return "", fmt.Errorf("replay the delivery %s: %w", id, err)
	}
	replayed := t.await(ctx, next.Id, delivered)
	got := t.arrivals(ctx, 3)
	return t.end(func() (string, error) {
		return "dead after 2 attempts, delivered by a replay", judgeDeadLetter(event, died, letters, replayed, got)
	})
}

// judgeDeadLetter checks a delivery that died, and its replay.
func judgeDeadLetter(event string, died *openapi.DeliveryDetail, letters []string, replayed *openapi.DeliveryDetail, got []Request) error {
	switch {
	case died.Attempts != 2 || died.Reason == nil || *died.Reason != openapi.DeliveryDetailReasonExhausted:
		return fmt.Errorf("the delivery died after %d attempts, and not after 2, reason exhausted: %s", died.Attempts, whyOf(died))
	case !slices.Equal(letters, []string{died.Id}):
		return fmt.Errorf("the endpoint's list of dead deliveries has %d entries, and not the one delivery", len(letters))
	case replayed.Generation != 2 || replayed.EventId != event:
		return fmt.Errorf("the replay is generation %d of event %s, and not 2 of %s", replayed.Generation, replayed.EventId, event)
	case len(got) != 3:
		return fmt.Errorf("%d requests arrived, and not 3", len(got))
	}
	return judgeRequests(event, got)
}
