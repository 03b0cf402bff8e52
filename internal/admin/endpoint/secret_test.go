package endpoint_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"surehook.example/surehook/internal/admin/endpoint"
	"surehook.example/surehook/internal/admin/page"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/sign"
)

func TestAdmin_Rotate(t *testing.T) {
	t.Parallel()

	b := setup(t)
	e, first := b.create(t, nil)
	rotate := func(secret string, overlap time.Duration) (hook.Endpoint, string) {
		t.Helper()
		e, got, err := b.Rotate(t.Context(), tenant, string(e.ID), secret, overlap)
		if err != nil {
			t.Fatalf("Rotate = %v", err)
		}
		return e, got
	}
	check := func(when string, want ...string) {
		t.Helper()
		if got := b.opened(t, b.stored(t, e.ID)); !slices.Equal(got, want) {
			t.Errorf("%s, secrets = %q; want %q", when, got, want)
		}
	}

	given := sign.NewSecret()
	if _, second := rotate(given, 24*time.Hour); second != given {
		t.Errorf("Rotate returned %q; want the secret that was given", second)
	}
	check("after a rotation", given, first)
	b.now = b.now.Add(24*time.Hour - time.Millisecond)
	check("just before the overlap ends", given, first)
	b.now = b.now.Add(time.Millisecond)
	check("when the overlap has ended", given)

	e, third := rotate("", 24*time.Hour)
	if len(e.Secrets) != 2 {
		t.Errorf("%d secrets are stored; want 2, the expired one removed", len(e.Secrets))
	}
	b.now = b.now.Add(time.Hour)
	_, fourth := rotate("", 7*24*time.Hour)
	check("after another rotation", fourth, third, given)
	b.now = b.now.Add(23 * time.Hour)
	check("when the earlier overlap has ended", fourth, third)

	_, fifth := rotate("", 0)
	check("after a rotation without overlap", fifth)
}

func TestAdmin_Rotate_refusals(t *testing.T) {
	t.Parallel()

	b := setup(t)
	e, _ := b.create(t, nil)
	for _, overlap := range []time.Duration{-time.Nanosecond, hook.MaxRotationOverlap + time.Nanosecond} {
		if _, _, err := b.Rotate(t.Context(), tenant, string(e.ID), "", overlap); !slices.Equal(fieldsOf(t, err), []string{"overlap"}) {
			t.Errorf("Rotate(overlap %v) = %v; want the field overlap", overlap, err)
		}
	}
	if _, _, err := b.Rotate(t.Context(), tenant, string(e.ID), "whsec_AAAA", 0); !slices.Equal(fieldsOf(t, err), []string{"secret"}) {
		t.Errorf("Rotate(short secret) = %v; want the field secret", err)
	}
	for range endpoint.MaxSecrets - 1 {
		if _, _, err := b.Rotate(t.Context(), tenant, string(e.ID), "", time.Hour); err != nil {
			t.Fatalf("Rotate = %v", err)
		}
	}
	if _, _, err := b.Rotate(t.Context(), tenant, string(e.ID), "", time.Hour); hook.CodeOf(err) != hook.CodeConflict {
		t.Errorf("Rotate past %d valid secrets = %v; want CodeConflict", endpoint.MaxSecrets, err)
	}
	if _, _, err := b.Rotate(t.Context(), tenant, string(e.ID), "", 0); err != nil {
		t.Errorf("Rotate without overlap = %v; want success", err)
	}
}

func TestAdmin_EndOverlap(t *testing.T) {
	t.Parallel()

	b := setup(t)
	e, _ := b.create(t, func(f *endpoint.Fields) { f.Profiles = &[]string{"github"} })
	listed := func(by sign.Signers) int {
		t.Helper()
		l, err := b.ListSignedBy(t.Context(), tenant, by, page.Request{Limit: 10})
		if err != nil {
			t.Fatal(err)
		}
		return len(l.Data)
	}
	if listed(sign.SignedByNew) != 1 {
		t.Errorf("no endpoint is signed by its new secret before a rotation")
	}
	_, second, err := b.Rotate(t.Context(), tenant, string(e.ID), "", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	if status, err := b.Status(t.Context(), tenant, string(e.ID)); err != nil || status.SignedBy != sign.SignedByOld || listed(sign.SignedByOld) != 1 || listed(sign.SignedByNew) != 0 {
		t.Errorf("after a rotation, signed by %s, %v; want old", status.SignedBy, err)
	}
	ended, err := b.EndOverlap(t.Context(), tenant, string(e.ID))
	if err != nil || !slices.Equal(b.opened(t, b.stored(t, e.ID)), []string{second}) || listed(sign.SignedByNew) != 1 {
		t.Errorf("EndOverlap = %v; want the new secret alone", err)
	}
	if again, err := b.EndOverlap(t.Context(), tenant, string(e.ID)); err != nil || again.Version != ended.Version {
		t.Errorf("EndOverlap(again) = version %d, %v; want no change", again.Version, err)
	}
}

func TestAdmin_keyPairs(t *testing.T) {
	t.Parallel()

	b := setup(t)
	both := &[]hook.Scheme{hook.SchemeV1, hook.SchemeV1a}
	e, _ := b.create(t, nil)
	if endpoint.PublicKey(e) != "" {
		t.Errorf("PublicKey = %q; want none before v1a is asked for", endpoint.PublicKey(e))
	}
	e, err := b.Change(t.Context(), tenant, string(e.ID), 0, endpoint.Fields{Schemes: both})
	if err != nil {
		t.Fatalf("Change = %v", err)
	}
	first := endpoint.PublicKey(e)
	if texts := b.opened(t, e); len(texts) != 2 || !strings.HasPrefix(texts[0], "whsk_") || !strings.HasPrefix(first, "whpk_") {
		t.Errorf("%d secrets, public key %q; want a key pair and the v1 secret", len(texts), first)
	} else if key, err := sign.Parse(texts[0]); err != nil || key.Public() != first {
		t.Errorf("Parse = %v, %v; want the pair of %s", key.Public(), err, first)
	}

	again, err := b.Change(t.Context(), tenant, string(e.ID), 0, endpoint.Fields{Schemes: both})
	if err != nil || endpoint.PublicKey(again) != first {
		t.Errorf("Change to the same schemes = %q, %v; want the key pair kept", endpoint.PublicKey(again), err)
	}
	rotated, _, err := b.Rotate(t.Context(), tenant, string(e.ID), "", time.Hour)
	if err != nil || len(rotated.Active(b.now)) != 4 || endpoint.PublicKey(rotated) == first {
		t.Errorf("Rotate = %d secrets, %q, %v; want new and old of both schemes", len(rotated.Active(b.now)), endpoint.PublicKey(rotated), err)
	}

	// An expiring pair does not count when scheme v1a is added again.
	v1 := endpoint.Fields{Schemes: &[]hook.Scheme{hook.SchemeV1}}
	if _, err = b.Change(t.Context(), tenant, string(e.ID), 0, v1); err != nil {
		t.Fatalf("Change = %v", err)
	}
	if _, _, err = b.Rotate(t.Context(), tenant, string(e.ID), "", time.Hour); err != nil {
		t.Fatalf("Rotate = %v", err)
	}
	if e, err = b.Change(t.Context(), tenant, string(e.ID), 0, endpoint.Fields{Schemes: both}); err != nil {
		t.Fatalf("Change = %v", err)
	}
	b.now = b.now.Add(time.Hour)
	if texts := b.opened(t, e); len(texts) != 2 {
		t.Errorf("%d secrets after the overlap; want one of each scheme", len(texts))
	}
}
