// Package status answers questions about the state of deliveries: events with
// their deliveries and attempts, the health of an endpoint, and the health of
// the whole pipeline.
//
// # Tenants
//
// Every call except Pipeline and PipelineStatistics acts for one tenant. For a
// record of another tenant it returns CodeNotFound, as for an unknown record. Package httpapi authorizes the caller before the call.
//
// # Consistency
//
// Events, deliveries of an event and attempts are strongly consistent. Lists of a
// tenant or an endpoint, and counts, may lag by a moment.
//
// # Lists
//
// Deliveries are stored with their endpoints. A list of a tenant merges the deliveries of
// all the tenant's endpoints by time. The number of requests per page is bounded. At the
// bound the page ends early, and its cursor continues there.
//
// The package changes nothing, and knows neither HTTP nor storage.
package status

import (
	"time"

	"surehook.example/surehook/internal/admin/endpoint"
)

// Reader reads the state of deliveries. All fields are required.
type Reader struct {
	Endpoints *endpoint.Admin
	Store     Store
	Queues    Queues
	Now       func() time.Time
}

// now returns the current time in the stored form: UTC with milliseconds.
func (r *Reader) now() time.Time { return r.Now().UTC().Truncate(time.Millisecond) }
