package sim_test

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"surehook.example/surehook/internal/delivery/send"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/destination"
)

// Some endpoints are resources of customers in AWS. Their answers are those of package
// destination: AWS throttles, refuses an entry of a request that it takes, denies the role for a
// while, or does not answer.

// cloudOf lets one endpoint in six be a destination in AWS. The endpoint's id chooses, as in place.
func cloudOf(e *hook.Endpoint) {
	if e.ID[9]%12 > 1 {
		return
	}
	types := slices.DeleteFunc(destination.Types(), func(t destination.Type) bool { return t.Name == hook.DestinationHTTP })
	to := types[int(e.ID[10])%len(types)]
	e.URL = strings.Replace(to.Example, "orders", "orders-"+string(e.ID), 1)
	e.Destination = hook.Destination{Type: to.Name, Settings: map[string]string{}, ExternalID: "external"}
	for _, s := range to.Settings {
		if !s.Optional || !e.Coalesce.On() { // groups and coalescing exclude each other
			e.Destination.Settings[s.Name] = s.Example
		}
	}
	e.Coalesce.MaxBytes = min(e.Coalesce.MaxBytes, to.MaxCoalesceBytes)
	e.Region, e.Fixed = "", false // requests to AWS go to the region of the url
}

// cloud is AWS, as one process calls it.
type cloud struct{ p *process }

func (c cloud) Send(ctx context.Context, r send.Request) hook.Outcome {
	defer c.p.count("attempts at destinations in AWS") // afterwards this goroutine alone has the turn
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
