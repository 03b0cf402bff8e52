package ingest

import (
	"errors"
	"fmt"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/filter"
	"surehook.example/surehook/internal/rule/schema"
)

// Bounds of the work of one request, in steps of the packages filter and schema.
const (
	// MaxFilterSteps limits the filters of all endpoints for all events, and the decoding of the
	// events for them. For a single event it is enough for DefaultEndpoints of any filters.
	MaxFilterSteps = hook.DefaultEndpoints*filter.MaxSteps + hook.MaxPayload/hook.BytesPerStep
	// MaxCheckSteps limits the checks of all events. The most expensive checks take 1.3 s of a
	// processor, and ingest has 2.6 s before its timeout.
	MaxCheckSteps = 5 * schema.MaxSteps
)

// budget is the number of steps left for the events of a request. When it is used up, no
// further filter or check runs: such an event gets an error, and can be posted in a smaller
// batch or alone.
type budget struct {
	filters, checks int
}

func newBudget() *budget { return &budget{filters: MaxFilterSteps, checks: MaxCheckSteps} }

// ErrSteps is the cause of refusing an event because the other events of the request used up
// the steps: it may pass in a smaller batch.
var ErrSteps = errors.New("the events of the request take too many steps")

// errFilters returns the refusal of an event when MaxFilterSteps are used up.
func errFilters() error {
	return &hook.Error{Code: hook.CodeTooLarge, Err: ErrSteps, Message: fmt.Sprintf(
		"the filters of the endpoints take more than %d steps for the events of the request: post the event again in a smaller batch", MaxFilterSteps,
	)}
}

// unchecked returns what is wrong with an event when MaxCheckSteps are used up.
func unchecked() []hook.FieldError {
	return []hook.FieldError{{Field: "payload", Message: fmt.Sprintf(
		"is not checked: the checks of the events of the request take more than %d steps; post the event again in a smaller batch", MaxCheckSteps,
	)}}
}
