package ingest_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"surehook.example/surehook/internal/delivery/ingest"
	"surehook.example/surehook/internal/hook"
)

const day = 24 * time.Hour

// TestAcceptBatch_RetainFor posts events with a retention of their own. An invalid
// retention refuses one event of the batch, and names the field.
func TestAcceptBatch_RetainFor(t *testing.T) {
	t.Parallel()

	w := setup(t)
	requests := batch(4)
	for i, d := range []time.Duration{28 * day, 0, 28*day - 1, 90*day + 1} {
		requests[i].RetainFor = d
	}
	results := w.acceptor.AcceptBatch(t.Context(), "acme", requests)
	w.expires(results[0], 28*day)
	w.expires(results[1], 90*day)
	for _, r := range results[2:] {
		e, ok := errors.AsType[*hook.Error](r.Err)
		want := []hook.FieldError{{Field: "retain_for", Message: "must be 672h to 2160h"}}
		if !ok || !slices.Equal(e.Fields, want) {
			t.Errorf("AcceptBatch() = %v; want %v", r.Err, want)
		}
	}
}

// TestAccept_RetainForOfTheTenant shortens the retention of a tenant. This applies to its later
// events, test events and operational events included.
func TestAccept_RetainForOfTheTenant(t *testing.T) {
	t.Parallel()

	w := setup(t)
	e := w.endpoint("acme", "*", "webhook.*")
	before := w.accept(w.acceptor.Accept(t.Context(), "acme", paid("before")))
	w.limit(hook.TenantLimits{RetainFor: 30 * day})
	w.expires(before, 90*day)

	longer, shorter := paid("longer"), paid("shorter")
	longer.RetainFor, shorter.RetainFor = 60*day, 28*day
	w.expires(w.accept(w.acceptor.Accept(t.Context(), "acme", paid("plain"))), 30*day)
	w.expires(w.accept(w.acceptor.Accept(t.Context(), "acme", longer)), 30*day)
	w.expires(w.accept(w.acceptor.Accept(t.Context(), "acme", shorter)), 28*day)
	w.expires(w.accept(w.acceptor.AcceptFor(t.Context(), e, "test", []byte("1"), false)), 30*day)
	w.expires(w.accept(w.acceptor.AcceptOurs(t.Context(), "acme", "webhook.endpoint.disabled", []byte("1"), "k")), 30*day)
	w.expires(w.accept(w.acceptor.Accept(t.Context(), "other", paid("plain"))), 90*day)

	again := w.accept(w.acceptor.Accept(t.Context(), "acme", paid("shorter"))) // the first post's retention stays
	w.expires(again, 28*day)
	if !again.Duplicate {
		t.Error("a repeat with another retention is no duplicate; want a duplicate")
	}
}

func (w *bundle) accept(r ingest.Result, err error) ingest.Result {
	w.T.Helper()

	if err != nil {
		w.T.Fatal(err)
	}
	return r
}

// expires checks the retention of the stored event.
func (w *bundle) expires(r ingest.Result, want time.Duration) {
	w.T.Helper()

	e, err := w.Store.Event(w.T.Context(), r.ID)
	if err != nil || e.ExpiresAt.Sub(e.AcceptedAt) != want {
		w.T.Errorf("event %s is kept for %v, %v; want %v", r.ID, e.ExpiresAt.Sub(e.AcceptedAt), err, want)
	}
}
