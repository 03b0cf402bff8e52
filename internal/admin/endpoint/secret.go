package endpoint

import (
	"context"
	"fmt"
	"slices"
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/sign"
)

// MaxSecrets limits the active secrets of one scheme: every active secret adds a
// signature to every request.
const MaxSecrets = 5

// Rotate gives the endpoint a new secret for each of the signature schemes and
// returns the endpoint and the clear text of the v1 secret. secret is the new
// v1 secret (whsec_...), or empty to generate a secret. No later call returns the
// clear text. Old secrets stay active for the overlap, 0 to
// hook.MaxRotationOverlap, or until the earlier end set by another rotation or EndOverlap.
//
// Errors: CodeInvalid names the wrong fields; CodeConflict when more than
// MaxSecrets secrets of a scheme would be active.
func (a *Admin) Rotate(ctx context.Context, tenant hook.TenantID, ref, secret string, overlap time.Duration) (hook.Endpoint, string, error) {
	secret, errs := chosenSecret(secret)
	errs.Refuse(overlap < 0 || overlap > hook.MaxRotationOverlap, "overlap", "must be 0s to %s", hook.FormatDuration(hook.MaxRotationOverlap))
	if len(errs) > 0 {
		return hook.Endpoint{}, "", hook.Invalid(errs...)
	}

	e, err := a.change(ctx, tenant, ref, 0, func(e *hook.Endpoint) (bool, error) {
		now := a.now()
		old := expiring(e.Active(now), now, overlap)
		v1, err := a.sealSecret(ctx, *e, secret)
		if err != nil {
			return false, err
		}
		e.Secrets = []hook.Secret{v1}
		if err := a.completeSecrets(ctx, e); err != nil {
			return false, err
		}
		e.Secrets = append(e.Secrets, old...)
		return true, checkCount(e.Secrets)
	})
	return e, secret, err
}

// EndOverlap ends the old secrets of a rotation: the newest secret of each scheme signs alone, and a
// receiver that knows only that one is tried at once: see admission.Record.Mended. It changes no secret
// without old ones. Rotate does not try: its receiver learns the new secret from the answer.
func (a *Admin) EndOverlap(ctx context.Context, tenant hook.TenantID, ref string) (hook.Endpoint, error) {
	e, err := a.change(ctx, tenant, ref, 0, func(e *hook.Endpoint) (bool, error) {
		before := len(e.Secrets)
		e.Secrets = slices.DeleteFunc(slices.Clone(e.Secrets), func(s hook.Secret) bool { return !s.ExpiresAt.IsZero() })
		return len(e.Secrets) != before, nil
	})
	if err != nil {
		return e, err
	}
	return e, a.mended(ctx, e, false)
}

// expiring returns copies of the secrets with an expiry of at most now+overlap;
// none for an overlap of 0.
func expiring(secrets []hook.Secret, now time.Time, overlap time.Duration) []hook.Secret {
	if overlap == 0 {
		return nil
	}
	end := now.Add(overlap)
	kept := slices.Clone(secrets)
	for i := range kept {
		if kept[i].ExpiresAt.IsZero() || kept[i].ExpiresAt.After(end) {
			kept[i].ExpiresAt = end
		}
	}
	return kept
}

// checkCount returns CodeConflict if a scheme has more than MaxSecrets secrets.
func checkCount(secrets []hook.Secret) error {
	count := make(map[hook.Scheme]int)
	for _, s := range secrets {
		if count[s.Scheme]++; count[s.Scheme] > MaxSecrets {
			return hook.Conflict(fmt.Sprintf(
				"at most %d secrets can be valid at once; wait for one to expire, or rotate with an overlap of 0s to end the old ones", MaxSecrets))
		}
	}
	return nil
}

// chosenSecret returns the given v1 secret, or a new secret if given is empty.
func chosenSecret(given string) (secret string, wrong hook.Fields) {
	if given == "" {
		return sign.NewSecret(), nil
	}
	key, err := sign.Parse(given)
	wrong.Refuse(err != nil || key.Scheme() != hook.SchemeV1, "secret", "must be whsec_ and the base64 of 24 to 64 bytes, or text: and 16 to 128 visible characters")
	return given, wrong
}

// seal encrypts the given secrets of e, adds the missing ones, and leaves no plain text.
func (a *Admin) seal(ctx context.Context, e *hook.Endpoint) error {
	for _, part := range []func(context.Context, *hook.Endpoint) error{a.sealHeaders, a.sealAuth, a.sealTLS, a.completeSecrets} {
		if err := part(ctx, e); err != nil {
			return err
		}
	}
	return nil
}

func (a *Admin) sealSecret(ctx context.Context, e hook.Endpoint, secret string) (hook.Secret, error) {
	sealed, err := a.Vault.Seal(ctx, secret, e.Tenant, e.ID)
	if err != nil {
		return hook.Secret{}, fmt.Errorf("seal secret of endpoint %s: %w", e.ID, err)
	}
	return hook.Secret{Scheme: hook.SchemeV1, Sealed: sealed, CreatedAt: a.now()}, nil
}

// completeSecrets adds a v1a key pair to an endpoint with scheme v1a and without a pair.
func (a *Admin) completeSecrets(ctx context.Context, e *hook.Endpoint) error {
	// An expiring pair does not count: the endpoint needs a pair after the expiry.
	hasPair := slices.ContainsFunc(e.Secrets, func(s hook.Secret) bool { return s.Scheme == hook.SchemeV1a && s.ExpiresAt.IsZero() })
	if hasPair || !slices.Contains(e.Schemes, hook.SchemeV1a) {
		return nil
	}
	private, public := sign.NewKeyPair()
	sealed, err := a.Vault.Seal(ctx, private, e.Tenant, e.ID)
	if err != nil {
		return fmt.Errorf("seal key pair of endpoint %s: %w", e.ID, err)
	}
	pair := hook.Secret{Scheme: hook.SchemeV1a, Sealed: sealed, Public: public, CreatedAt: a.now()}
	e.Secrets = append([]hook.Secret{pair}, e.Secrets...)
	return nil
}

// PublicKey returns the public key of the endpoint's newest v1a key pair; empty
// without scheme v1a.
func PublicKey(e hook.Endpoint) string {
	if !slices.Contains(e.Schemes, hook.SchemeV1a) {
		return ""
	}
	for _, s := range e.Secrets {
		if s.Scheme == hook.SchemeV1a {
			return s.Public
		}
	}
	return ""
}
