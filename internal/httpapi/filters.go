package httpapi

import (
	"context"

	"github.com/go-json-experiment/json/jsontext"

	"surehook/internal/hook"
	"surehook/internal/rule/filter"
)

// filterTestBody is a filter with an event. All fields are required.
type filterTestBody struct {
	Filter  jsontext.Value `json:"filter"`
	Type    *string        `json:"event_type"`
	Payload jsontext.Value `json:"payload"`
}

type matchView struct {
	Matches bool `json:"matches"`
}

// testFilter tells whether a filter matches an event. Nothing is stored or sent.
func (h *manage) testFilter(_ context.Context, c *call) (reply, error) {
	var body filterTestBody
	wrong, err := decodeForm(c, maxEventBody, &body)
	if err != nil {
		return reply{}, err
	}
	var missing []hook.FieldError
	for name, given := range map[string]bool{"filter": body.Filter != nil, "event_type": body.Type != nil, "payload": body.Payload != nil} {
		if !given {
			missing = append(missing, hook.FieldError{Field: name, Message: "is missing"})
		}
	}
	if wrong = hook.AlsoWrong(wrong, missing); len(wrong) > 0 {
		return reply{}, hook.Invalid(wrong...)
	}
	f, faults := filter.Parse(compact(body.Filter), "filter")
	if len(faults) > 0 {
		return reply{}, hook.Invalid(faults...)
	}
	matches, _ := f.Matches(filter.NewDocument(*body.Type, body.Payload))
	return ok(matchView{Matches: matches}), nil
}

// filterOf returns the given filter of an endpoint: nil without the field, and empty
// for an object without fields.
func filterOf(v jsontext.Value) *[]byte {
	if len(v) == 0 {
		return nil
	}
	text := compact(v)
	if string(text) == "{}" {
		text = nil
	}
	return &text
}

func viewFilter(text []byte) jsontext.Value {
	if len(text) == 0 {
		return jsontext.Value("{}")
	}
	return text
}
