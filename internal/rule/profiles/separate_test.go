package profiles_test

import (
	"strings"
	"testing"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/profiles"
	"surehook.example/surehook/internal/rule/sign"
)

// defined returns every profile with what it signs.
func defined() map[string]hook.SignatureProfile {
	all := sign.Profiles()
	all[hook.ProfileStandard] = hook.SignatureProfile{Signed: sign.StandardSigned}
	for name, p := range all {
		p.Name = name
		all[name] = p
	}
	return all
}

// TestSeparate_all checks each pair of Surehook's profiles: one secret signs under both.
func TestSeparate_all(t *testing.T) {
	t.Parallel()

	for _, a := range defined() {
		for _, b := range defined() {
			if !profiles.Separate(a, b) {
				t.Errorf("%s signs %s, and %s signs %s: one text can be both", a.Name, a.Signed, b.Name, b.Signed)
			}
		}
	}
}

func TestSeparate(t *testing.T) {
	t.Parallel()

	tests := []struct {
		a, b string
		want bool
	}{
		{a: "{timestamp}.{body}", b: "{timestamp}.{body}", want: true},
		{a: "{body}", b: "{timestamp}.{body}", want: true},
		{a: "{body}", b: "{body}.{timestamp}", want: true},
		{a: "{timestamp}{body}", b: "{timestamp}.{body}", want: true},
		{a: "{id}{body}", b: "{timestamp}{body}", want: false}, // an id may look like a time
		{a: "{body}", b: "[{timestamp}]{body}", want: false},   // a body may begin like the other template
		{a: "{body}", b: "[{timestamp}]{body}.", want: true},
		{a: "{body}{timestamp}", b: "{body}1{timestamp}", want: false},
		{a: "{url}{body}", b: "{url}.{body}", want: false}, // the customer chooses the URL
		{a: "{url}{body}", b: "{body}", want: true},
		{a: "{url}{body}", b: "{method}{body}", want: true},
		{a: "{body} {url}", b: "{body}", want: false}, // the URL may end with a bracket
		{a: "v1:{body}", b: "v1:1{body}", want: true},
		{a: " {body}", b: "{body}", want: false}, // white space belongs to JSON
		{a: "{body}x", b: "{body}xx", want: true},
	}
	for _, tt := range tests {
		a, b := hook.SignatureProfile{Signed: tt.a}, hook.SignatureProfile{Signed: tt.b}
		if got, back := profiles.Separate(a, b), profiles.Separate(b, a); got != tt.want || back != tt.want {
			t.Errorf("Separate(%s, %s) = %t, and %t the other way; want %t", tt.a, tt.b, got, back, tt.want)
		}
	}
	standard := defined()[hook.ProfileStandard]
	if profiles.Separate(standard, hook.SignatureProfile{Signed: "{id}.{timestamp}.v1{body}"}) {
		t.Error("Separate() of a template that a text under standard can be = true; want false")
	}
	if !profiles.Separate(standard, hook.SignatureProfile{Signed: standard.Signed}) {
		t.Error("Separate() of the template of standard = false; want true")
	}
	if long := (hook.SignatureProfile{Signed: strings.Repeat("{id}", 60) + "{body}"}); !profiles.Separate(long, hook.SignatureProfile{Signed: long.Signed + "."}) {
		t.Error("Separate() of two long templates = false; want true")
	}
}
