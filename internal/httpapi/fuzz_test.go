package httpapi_test

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"
	"time"

	"surehook.example/surehook/internal/hook"
)

// FuzzEventBody checks that no body breaks the handler, and that the payload of an accepted event
// is part of the body, byte for byte.
func FuzzEventBody(f *testing.F) {
	for _, seed := range []string{
		`{"event_type":"a","payload":1}`, `{"event_type":"a","payload":{ "b":[1e9,"\u00e9"]},"idempotency_key":"k"}`, `{"payload":null,"event_type":"a"}`,
		`{"event_type":"a","payload":{"a":1,"a":2}}`, `{`, `[]`, `null`, `{"event_type":"a","payload":"` + "\xff" + `"}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		b := setup(t)
		w := b.try(t, owner, "POST", eventsURL, body)
		if w.Code != 202 && w.Code != 400 && w.Code != 413 || !json.Valid(w.Body.Bytes()) {
			t.Fatalf("POST %q = %d %s", body, w.Code, w.Body)
		}
		if w.Code != 202 {
			return
		}
		var accepted object
		if err := json.Unmarshal(w.Body.Bytes(), &accepted); err != nil {
			t.Fatalf("POST %q = %s: %v", body, w.Body, err)
		}
		stored, err := b.store.Event(t.Context(), hook.EventID(idOf(t, accepted)))
		if err != nil || !json.Valid(stored.Payload) || !strings.Contains(body, string(stored.Payload)) {
			t.Fatalf("POST %q stored %q, %v; want bytes of the body", body, stored.Payload, err)
		}
		if w := b.try(t, owner, "GET", eventsURL+"/"+idOf(t, accepted), ""); w.Code != 200 || !json.Valid(w.Body.Bytes()) {
			t.Fatalf("GET after POST %q = %d %s", body, w.Code, w.Body)
		}
	})
}

// FuzzEndpointBody checks that no body breaks the handler, and that a list shows a created
// endpoint as the response to its creation did.
func FuzzEndpointBody(f *testing.F) {
	for _, seed := range []string{
		`{"url":"https://example.com/"}`,
		`{"url":"https://example.com/","uid":"a","headers":{"X":"y"},"metadata":{"a":"b"},"retry":{"schedule":["1s"],"jitter":"none"}}`,
		`{"url":"https://example.com/","retry":{"exponential":{"base":"1s","factor":1e308,"cap":"1h","attempts":99}}}`,
		`{"url":"https://example.com/","rate_per_second":1e-9,"max_in_flight":1e9,"circuit":{"rate":1e308,"cooldown":"1ns"}}`,
		`{"url":"https://example.com/","rate_per_second":0.3,"max_in_flight":1,"circuit":{"failures":1,"max_cooldown":"24h"}}`,
		`{"url":"https://example.com/","signature_schemes":["v1a"],"timeout":"1e9s","max_age":"9999999h","secret":"whsec_"}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		b := setup(t)
		w := b.try(t, owner, "POST", endpoints, body)
		if w.Code != 201 && w.Code != 400 && w.Code != 413 || !json.Valid(w.Body.Bytes()) {
			t.Fatalf("POST %q = %d %s", body, w.Code, w.Body)
		}
		if w.Code != 201 {
			return
		}
		created, _, _ := strings.Cut(w.Body.String(), `,"secret":"whsec_`)
		want := `{"data":[` + created + `}],"next_cursor":null}`
		if got := b.try(t, owner, "GET", endpoints, ""); got.Code != 200 || got.Body.String() != want {
			t.Fatalf("POST %q = %s, then GET = %d %s; want %s", body, w.Body, got.Code, got.Body, want)
		}
		if got := b.try(t, owner, "GET", w.Header().Get("Location"), ""); got.Code != 200 || !strings.HasPrefix(got.Body.String(), created+",") {
			t.Fatalf("POST %q = %s, then GET = %d %s", body, w.Body, got.Code, got.Body)
		}
	})
}

// FuzzCursor checks that a cursor that the list has not returned gives a 400.
func FuzzCursor(f *testing.F) {
	f.Add("")
	f.Add("AAAAAAAAAAAAAAAAAAAAAAAAAAAA")
	f.Add("\x00\xff")
	f.Fuzz(func(t *testing.T, cursor string) {
		b := setup(t)
		want := 400
		if cursor == "" {
			want = 200
		}
		if w := b.try(t, owner, "GET", endpoints+"?cursor="+url.QueryEscape(cursor), ""); w.Code != want {
			t.Fatalf("GET with cursor %q = %d %s; want %d", cursor, w.Code, w.Body, want)
		}
	})
}

// FuzzDuration checks that responses return an equal duration.
func FuzzDuration(f *testing.F) {
	for _, seed := range []string{"90s", "1h30m", "0", "-1s", "1.5h", "9999999h", "1ns", "72h0m0s", "", "1d"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, given string) {
		b := setup(t)
		body, err := json.Marshal(map[string]string{"url": "https://example.com/", "max_age": given})
		if err != nil {
			t.Fatal(err)
		}
		w := b.try(t, owner, "POST", endpoints, string(body))
		want, err := time.ParseDuration(given)
		valid := err == nil && want >= hook.MinMaxAge && want <= hook.MaxMaxAge
		if valid != (w.Code == 201) || !valid && w.Code != 400 {
			t.Fatalf("max_age %q = %d %s; valid: %t", given, w.Code, w.Body, valid)
		}
		if !valid {
			return
		}
		var e struct {
			MaxAge string `json:"max_age"`
		}
		if err := json.Unmarshal(w.Body.Bytes(), &e); err != nil {
			t.Fatal(err)
		}
		if got, err := time.ParseDuration(e.MaxAge); err != nil || got != want {
			t.Fatalf("max_age %q is answered as %q, %v", given, e.MaxAge, err)
		}
	})
}
