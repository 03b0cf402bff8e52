package sim_test

import (
	"context"
	"net/http"

	"surehook.example/surehook/internal/delivery/send"
	"surehook.example/surehook/internal/hook"
)

// Some endpoints are queues and event buses of customers. Their answers are those of package
// destination: AWS throttles, refuses an entry of a request that it takes, denies the role for a
// while, or does not answer.

// cloudOf lets one endpoint in six be a destination in AWS. The endpoint's id chooses, as in place.
func cloudOf(e *hook.Endpoint) {
	d := hook.Destination{Type: hook.DestinationSQS, RoleARN: "arn:aws:iam::111122223333:role/surehook/orders", ExternalID: "external"}
	switch e.ID[9] % 12 {
	case 0:
		e.URL, e.Destination = "https://sqs.eu-west-1.amazonaws.com/111122223333/"+string(e.ID), d
	case 1:
		d.Type, d.Source = hook.DestinationEventBridge, "surehook"
		e.URL, e.Destination = "arn:aws:events:eu-west-1:111122223333:event-bus/"+string(e.ID), d
		e.Coalesce.MaxBytes = min(e.Coalesce.MaxBytes, hook.MaxBusCoalesceBytes)
	default:
		return
	}
	e.Region, e.Fixed = "", false // requests to AWS go to the region of the url
}

// cloud is AWS, as one process calls it.
type cloud struct{ p *process }

func (c cloud) Send(ctx context.Context, r send.Request) hook.Outcome {
	c.p.count("attempts at destinations in AWS")
	return wire{c.p, ofCloud}.Send(ctx, r)
}

// ofAWS returns the answer of a destination in the place of an answer over HTTP.
func (w *simulation) ofAWS(o hook.Outcome) hook.Outcome {
	o.RetryAfter = 0
	switch o.Class { //nolint:exhaustive // the other classes are the same
	case hook.ClassGone:
		o.Class, o.Status = hook.ClassRefused, http.StatusNotFound // the destination does not exist
	case hook.ClassRefused:
		o.Status = http.StatusBadRequest
	case hook.ClassUnavailable:
		if w.chance(0.3) {
			o.Class, o.Status = hook.ClassToken, http.StatusForbidden
		}
	}
	return o
}
