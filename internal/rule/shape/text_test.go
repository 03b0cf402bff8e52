package shape_test

import (
	"cmp"
	"os"
	"testing"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/shape"
	"surehook.example/surehook/internal/rule/sign"
)

// TestShaper_Shape_text checks which bodies a profile signs: one that takes a text first would sign
// what another profile signs, such as an id and a time that never were.
func TestShaper_Shape_text(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name, expression, payload string
		structured                bool
	}{
		{name: "the signed text of another profile", expression: `{"body": "evt_x.4102444800.{}"}`},
		{name: "a text that looks like JSON", expression: `{"body": "{}.4102444800"}`},
		{name: "a text of the payload", expression: `{"body": event.data.a}`, payload: `{"a": "4102444800.{}"}`},
		{name: "a number", expression: `{"body": 4102444800.5}`},
		{name: "nothing", expression: `{"body": null}`},
		{name: "a map", expression: `{"body": {}}`, structured: true},
		{name: "a list", expression: `{"body": []}`, structured: true},
		{name: "a raw number", payload: `4102444800.5`},
		{name: "a raw text", payload: `"a"`},
		{name: "a raw object after white space", payload: " \n{}", structured: true},
	}
	for _, tt := range tests {
		for name := range sign.Known(map[string]hook.SignatureProfile{"own": {Signed: "{body}"}}) {
			e := &hook.Endpoint{Transformation: tt.expression, Envelope: hook.EnvelopeRaw, Profiles: hook.ProfilesNamed("standard", name)}
			_, err := new(shape.Shaper).Shape(nil, e, event(cmp.Or(tt.payload, "{}")))
			want := tt.structured || name == "standard" || name == "svix"
			if (err == nil) != want || err != nil && err.Error() != shape.ErrText {
				t.Errorf("%s with %s: %v; want shaped: %t", tt.name, name, err, want)
			}
		}
	}
}

// TestShaper_Shape_named checks that the payload of a caller who may not post events is in no body
// that does not name its type, whatever the endpoint was when the test event was accepted.
func TestShaper_Shape_named(t *testing.T) {
	t.Parallel()

	preset, err := os.ReadFile("presets/cloudevents.cel")
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name string
		e    hook.Endpoint
		want bool
	}{
		{name: "raw", e: hook.Endpoint{Envelope: hook.EnvelopeRaw}},
		{name: "an expression", e: hook.Endpoint{Envelope: hook.EnvelopeStandard, Transformation: `{"body": event.data}`}},
		{name: "a preset", e: hook.Endpoint{Envelope: hook.EnvelopeRaw, Transformation: string(preset)}, want: true},
		{name: "standard", e: hook.Endpoint{Envelope: hook.EnvelopeStandard}, want: true},
		{name: "thin", e: hook.Endpoint{Envelope: hook.EnvelopeThin}, want: true},
	}
	for _, tt := range tests {
		for _, named := range []bool{false, true} {
			of := event(`{"type": "payment.succeeded"}`)
			of.ID = of.ID.ForTest(named)
			got, err := new(shape.Shaper).Shape(nil, &tt.e, of)
			if want := tt.want || !named; (err == nil) != want || err != nil && err.Error() != shape.ErrUnnamed {
				t.Errorf("%s, to be named: %t: %s, %v; want a body: %t", tt.name, named, got.Body, err, want)
			}
		}
	}
}
