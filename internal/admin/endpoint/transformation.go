package endpoint

import (
	"context"
	"errors"
	"fmt"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/shape"
)

// maxExamples limits the evaluations of one save.
const maxExamples = 5

// checkTransformation compiles a given transformation, and tries it on an event without data and on
// the examples of the first event types that the endpoint names exactly. It also tries one that the
// endpoint has already, if other signature profiles are given.
func (a *Admin) checkTransformation(ctx context.Context, f Fields, e hook.Endpoint) ([]hook.FieldError, error) {
	if f.Transformation == nil && f.Profiles == nil || e.Transformation == "" {
		return nil, nil
	}
	wrong := func(problem string) []hook.FieldError {
		return []hook.FieldError{{Field: "transformation", Message: problem}}
	}
	if mistake := shape.Compile(e.Transformation); mistake != nil {
		return wrong(mistake.Error()), nil
	}
	var shaper shape.Shaper
	example := hook.Event{ID: "evt_00000000000000000000000000", Tenant: e.Tenant, Type: SampleType, Payload: []byte("{}"), AcceptedAt: a.now()}
	if _, unshaped := shaper.Shape(ctx.Done(), &e, &example); unshaped != nil && unshaped.Error() == shape.ErrText { // data may be needed for another result
		return wrong(shape.ErrText), nil
	}
	tried := make(map[string]bool)
	for _, name := range e.EventTypes {
		if !hook.ValidEventType(name) || tried[name] {
			continue
		}
		if tried[name] = true; len(tried) > maxExamples {
			break
		}
		t, err := a.Store.EventType(ctx, name)
		switch {
		case hook.CodeOf(err) == hook.CodeNotFound && err != nil:
			continue
		case err != nil:
			return nil, fmt.Errorf("read event type %s: %w", name, err)
		case len(t.Example) == 0:
			continue
		}
		example.Type, example.Payload = name, t.Example
		_, unshaped := shaper.Shape(ctx.Done(), &e, &example)
		if errors.Is(unshaped, shape.ErrStopped) {
			return nil, fmt.Errorf("shape the example of %s: %w", name, unshaped)
		}
		if unshaped != nil {
			return wrong("cannot shape the example of " + name + ": " + unshaped.Error()), nil //nolint:nilerr // the error is of the field
		}
	}
	return nil, nil
}
