package smoke

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"surehook.example/surehook/client/openapi"
)

// Schedules finds the schedules of an event.
type Schedules interface {
	// Schedules returns the expressions of the event's schedules, such as
	// "at(2026-11-22T09:30:00)".
	Schedules(ctx context.Context, event string) (expressions []string, err error)
	// Remove removes the event's schedules.
	Remove(ctx context.Context, event string) error
}

// beyond is a delay above SQS's maximum of 15 minutes.
const beyond = 16 * time.Minute

// atFormat is a one-time schedule's expression.
const atFormat = "at(2006-01-02T15:04:05)"

// schedule makes a retry that is due in 16 minutes, and finds its schedule. With
// Long, schedule waits for the retry.
func (f *Flows) schedule(ctx context.Context) (note string, err error) {
	if f.Schedules == nil {
		return "", Skipped("EventBridge Scheduler does not exist here")
	}
	t := f.target(ctx, "schedule", openapi.EndpointCreate{Retry: plan(beyond.String())}, http.StatusServiceUnavailable, http.StatusOK)
	event, id := t.postOne(ctx)
	if event != "" { // a schedule that the check does not wait for would fire after the test
		defer func() { err = errors.Join(err, f.Schedules.Remove(context.WithoutCancel(ctx), event)) }()
	}
	d := t.await(ctx, id, retrying)
	var found []string
	t.until(ctx, func() (_ string, err error) {
		if found, err = f.Schedules.Schedules(ctx, event); err != nil || len(found) > 0 {
			return "", err
		}
		return "the event has no schedule", nil
	})
	if t.err != nil {
		return "", t.err
	}
	if err := judgeSchedule(d, found); err != nil {
		return "", err
	}
	if !f.Long {
		_, err := t.API.Deliveries.Cancel(ctx, t.Tenant, id)
		return "the schedule is made; LONG=1 also waits for it", err
	}
	t.fail(pause(ctx, aws.ToTime(d.NextAttemptAt).Sub(f.Now()))) // questions before the time would only cost
	d = t.await(ctx, id, delivered)
	got := t.arrivals(ctx, 2)
	return t.end(func() (string, error) {
		return fmt.Sprintf("fired after %v", got[1].At.Sub(got[0].At).Round(time.Second)), judgeRetry(event, d, got, beyond)
	})
}

// judgeSchedule checks the one schedule of a retry: at the planned time, rounded
// up to a second.
func judgeSchedule(d *openapi.DeliveryDetail, found []string) error {
	if len(found) != 1 {
		return fmt.Errorf("the event has %d schedules, and not 1", len(found))
	}
	at, err := time.Parse(atFormat, found[0])
	if err != nil {
		return fmt.Errorf("the schedule is %s, and not of the form %s", found[0], atFormat)
	}
	planned := aws.ToTime(d.NextAttemptAt)
	if late := at.Sub(planned); late < 0 || late > time.Second {
		return fmt.Errorf("the schedule is %s, and the attempt is planned for %s", found[0], planned.Format(time.RFC3339))
	}
	return nil
}
