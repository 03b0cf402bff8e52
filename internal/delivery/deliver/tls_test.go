package deliver_test

import (
	"fmt"
	"testing"
	"time"

	"surehook.example/surehook/internal/delivery/send"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/memory"
	"surehook.example/surehook/proof/world"
)

// secured gives the endpoint TLS settings with the sealed text.
func secured(t *testing.T, e *hook.Endpoint, text string) {
	t.Helper()

	sealed, err := memory.Vault{}.Seal(t.Context(), text, e.Tenant, e.ID)
	if err != nil {
		t.Fatal(err)
	}
	e.TLS = hook.TLS{ID: "m1", CA: true, Client: true, Subject: "CN=x", NotAfter: time.Unix(2e9, 0).UTC(), Material: &hook.Material{
		ID: "m1", CA: "ca", Certificate: "chain", Sealed: sealed,
	}}
}

// Every request has the TLS settings, also the request of a process that takes over after a
// crash.
func TestProcessBatch_TLSSettingsAfterAnyCrash(t *testing.T) {
	t.Parallel()

	want := send.TLS{CA: "ca", Certificate: "chain", Key: "hush"}
	for at := range 15 {
		t.Run(fmt.Sprintf("dies at %d", at), func(t *testing.T) {
			t.Parallel()

			w := setup(t)
			w.Answer = world.InTurn(503, 200)
			id := w.Post(w.Endpoint(func(e *hook.Endpoint) { secured(t, e, hook.KeyText("hush")) }))[0]
			w.Crash.Arm((at+1)/2, at%2 == 0)
			w.Run()
			if d := w.Delivery(id); d.State != hook.StateDelivered || len(w.Posts) < 2 || len(w.Posts) > 3 {
				t.Errorf("delivery is %s after %d requests; want it delivered after two, and one more after a crash", d.State, len(w.Posts))
			}
			for i, post := range w.Posts {
				if post.TLS != want {
					t.Errorf("request %d has %+v; want %+v", i+1, post.TLS, want)
				}
			}
		})
	}
}

// The table was changed by hand: nothing is sent without the TLS settings.
func TestProcessBatch_SendsNothingWithoutTheTLSSettings(t *testing.T) {
	t.Parallel()

	for name, change := range map[string]func(*testing.T, *hook.Endpoint){
		"no key":           func(t *testing.T, e *hook.Endpoint) { t.Helper(); secured(t, e, "hush") },
		"another material": func(t *testing.T, e *hook.Endpoint) { t.Helper(); secured(t, e, hook.KeyText("k")); e.TLS.ID = "m2" },
		"no material":      func(t *testing.T, e *hook.Endpoint) { t.Helper(); secured(t, e, ""); e.TLS.Material = nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w := setup(t)
			w.Answer = world.Always(200)
			w.Post(w.Endpoint(func(e *hook.Endpoint) { change(t, e) }))
			if _, failed := w.Invoke(hook.QueueLive); len(w.Posts) != 0 || failed != 1 {
				t.Errorf("%d requests, %d failed messages; want no request and a failed message", len(w.Posts), failed)
			}
		})
	}
}
