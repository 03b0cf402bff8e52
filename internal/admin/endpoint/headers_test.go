package endpoint_test

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/admin/endpoint"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/memory"
)

// headersOf returns the values of the stored headers, by name.
func headersOf(t *testing.T, e hook.Endpoint) map[string]string {
	t.Helper()

	values := make(map[string]string)
	for name, sealed := range e.SealedHeaders {
		text, err := memory.Vault{}.Open(t.Context(), sealed, e.Tenant, e.ID)
		value, ok := hook.HeaderValue(name, text)
		if err != nil || !ok {
			t.Fatalf("Open(%s) = %q, %v; want the text of the header", name, text, err)
		}
		values[name] = value
	}
	return values
}

// TestAdmin_headers changes one header after the other. The stored record holds no
// value in clear.
func TestAdmin_headers(t *testing.T) {
	t.Parallel()

	b := setup(t)
	set := func(pairs ...string) endpoint.Fields {
		headers := make(map[string]string)
		for i := 0; i < len(pairs); i += 2 {
			headers[pairs[i]] = pairs[i+1]
		}
		return endpoint.Fields{Headers: &headers}
	}
	create := set("Authorization", "Bearer hush", "X-Env", "prod")
	create.URL = new("https://example.com/")
	e, _, err := b.Create(t.Context(), "acme", create, "")
	if err != nil {
		t.Fatal(err)
	}
	steps := []struct {
		name   string
		change endpoint.Fields
		want   map[string]string
	}{
		{name: "created", change: endpoint.Fields{}, want: map[string]string{"Authorization": "Bearer hush", "X-Env": "prod"}},
		{name: "one value", change: set("X-Env", "test"), want: map[string]string{"Authorization": "Bearer hush", "X-Env": "test"}},
		{name: "another header", change: set("X-New", "1"), want: map[string]string{"Authorization": "Bearer hush", "X-Env": "test", "X-New": "1"}},
		{name: "another spelling", change: set("x-env", "2"), want: map[string]string{"Authorization": "Bearer hush", "x-env": "2", "X-New": "1"}},
		{name: "removed", change: set("AUTHORIZATION", ""), want: map[string]string{"x-env": "2", "X-New": "1"}},
		{name: "removed again", change: set("AUTHORIZATION", ""), want: map[string]string{"x-env": "2", "X-New": "1"}},
		{name: "as shown", change: set("x-env", "***", "X-New", "***"), want: map[string]string{"x-env": "2", "X-New": "1"}},
		{name: "no header", change: set(), want: map[string]string{"x-env": "2", "X-New": "1"}},
	}
	for _, step := range steps {
		if _, err := b.Change(t.Context(), "acme", string(e.ID), 0, step.change); err != nil {
			t.Fatalf("%s: Change = %v", step.name, err)
		}
		stored, err := b.store.Endpoint(t.Context(), "acme", e.ID)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(step.want, headersOf(t, stored)); diff != "" || bytes.Contains(fmt.Append(nil, stored), []byte("hush")) {
			t.Errorf("headers after %s (-want +got):\n%s\nin %v; want no value in clear", step.name, diff, stored)
		}
	}
	many := set()
	for i := range hook.MaxHeaders - 1 {
		(*many.Headers)[fmt.Sprintf("X-%d", i)] = "v"
	}
	for name, f := range map[string]endpoint.Fields{
		"21 with the stored": many, "a mask of nothing": set("X-Other", "***"), "twice": set("X-A", "1", "x-a", "2"), "a newline": set("X-New", "a\nb"),
	} {
		if _, err := b.Change(t.Context(), "acme", string(e.ID), 0, f); hook.CodeOf(err) != hook.CodeInvalid {
			t.Errorf("Change to %s = %v; want CodeInvalid", name, err)
		}
	}
}

// A ciphertext belongs to one header: under another name it has no value, and neither has a
// signing secret in the place of a header.
func TestHeaderValue_ofAnotherHeader(t *testing.T) {
	t.Parallel()

	text := hook.HeaderText("Authorization", "Bearer x")
	for name, want := range map[string]bool{"authorization": true, "Authorization": true, "X-Env": false, "Auth": false} {
		if value, ok := hook.HeaderValue(name, text); ok != want || ok && value != "Bearer x" {
			t.Errorf("HeaderValue(%s) = %q, %t; want %t", name, value, ok, want)
		}
	}
	if value, ok := hook.HeaderValue("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"); ok {
		t.Errorf("HeaderValue(a secret) = %q; want none", value)
	}
}

// A header that is given twice is refused, whatever the values and the order of the map.
func TestAdmin_Change_headerTwice(t *testing.T) {
	t.Parallel()

	b := setup(t)
	e, _ := b.create(t, func(f *endpoint.Fields) { f.Headers = &map[string]string{"X-Api-Key": "theirs"} })
	values := []string{"***", "", "mine"}
	for _, one := range values {
		for _, other := range values {
			for range 20 { // the order of a map is random
				_, err := b.Change(t.Context(), tenant, string(e.ID), 0, endpoint.Fields{Headers: &map[string]string{"X-Api-Key": one, "x-api-key": other}})
				if got := fieldsOf(t, err); !slices.Equal(got, []string{"headers"}) {
					t.Fatalf("Change with %q and %q = %v, naming %v; want headers", one, other, err, got)
				}
			}
		}
	}
	if got := headersOf(t, b.stored(t, e.ID)); !maps.Equal(got, map[string]string{"X-Api-Key": "theirs"}) {
		t.Errorf("the headers are %v; want the stored one", got)
	}
}
