package ingest

import (
	"errors"
	"fmt"

	"surehook/internal/hook"
	"surehook/internal/rule/filter"
	"surehook/internal/rule/schema"
)

// Bounds of the work of one request, in steps of the packages filter and schema.
const (
	// MaxFilterSteps bounds the filters of all endpoints for all events. The filters of one
	// event always fit.
	MaxFilterSteps = hook.MaxEndpointsPerTenant * filter.MaxSteps
	// MaxCheckSteps bounds the checks of all events. The most expensive take 1.3 s of a
	// processor, and ingest has 2.6 s before its timeout.
	MaxCheckSteps = 5 * schema.MaxSteps
)

// budget is what is left for the events of a request. The filters and checks of an event
// past the end do not run: the event gets an error and a smaller batch, or goes alone.
type budget struct {
	filters, checks int
}

func newBudget() *budget { return &budget{filters: MaxFilterSteps, checks: MaxCheckSteps} }

// ErrSteps is the cause of a refusal for the other events of the request: the event may pass
// in a smaller batch.
var ErrSteps = errors.New("the events of the request take too many steps")

// errFilters returns the refusal of an event past MaxFilterSteps.
func errFilters() error {
	return &hook.Error{Code: hook.CodeTooLarge, Err: ErrSteps, Message: fmt.Sprintf(
		"the filters of the endpoints take more than %d steps for the events of the request: post the event again in a smaller batch", MaxFilterSteps,
	)}
}

// unchecked returns what is wrong with an event past MaxCheckSteps.
func unchecked() []hook.FieldError {
	return []hook.FieldError{{Field: "payload", Message: fmt.Sprintf(
		"is not checked: the checks of the events of the request take more than %d steps; post the event again in a smaller batch", MaxCheckSteps,
	)}}
}
