package registry

import (
	"context"
	"fmt"
	"slices"
	"time"

	"surehook/internal/hook"
	"surehook/internal/rule/sign"
)

// MaxSecrets bounds the secrets of one scheme that are valid at the same time:
// each makes a signature in every request.
const MaxSecrets = 5

// Rotate gives the endpoint a new secret for each scheme it signs with. secret
// is the new v1 secret, whsec_..., or empty to have one made; it is returned
// in clear this once. The secrets before it sign along for the overlap, 0 to
// hook.MaxRotationOverlap, unless an earlier rotation ends them sooner.
//
// Errors: CodeInvalid names the wrong fields; CodeConflict when more than
// MaxSecrets would be valid at once.
func (r *Registry) Rotate(ctx context.Context, tenant hook.TenantID, ref, secret string, overlap time.Duration) (hook.Endpoint, string, error) {
	secret, errs := chosenSecret(secret)
	if overlap < 0 || overlap > hook.MaxRotationOverlap {
		errs = append(errs, hook.FieldError{Field: "overlap", Message: "must be 0s to " + hook.FormatDuration(hook.MaxRotationOverlap)})
	}
	if len(errs) > 0 {
		return hook.Endpoint{}, "", hook.Invalid(errs...)
	}

	e, err := r.change(ctx, tenant, ref, 0, func(e *hook.Endpoint) (bool, error) {
		now := r.now()
		old := outlive(e.Active(now), now, overlap)
		v1, err := r.sealSecret(ctx, e.ID, secret)
		if err != nil {
			return false, err
		}
		e.Secrets = []hook.Secret{v1}
		if err := r.completeSecrets(ctx, e); err != nil {
			return false, err
		}
		e.Secrets = append(e.Secrets, old...)
		return true, crowded(e.Secrets)
	})
	return e, secret, err
}

// outlive returns those of the secrets that are still valid after now, ended
// at now+overlap at the latest.
func outlive(secrets []hook.Secret, now time.Time, overlap time.Duration) []hook.Secret {
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

func crowded(secrets []hook.Secret) error {
	count := make(map[hook.Scheme]int)
	for _, s := range secrets {
		if count[s.Scheme]++; count[s.Scheme] > MaxSecrets {
			return hook.Conflict(fmt.Sprintf(
				"at most %d secrets can be valid at once; wait for one to expire, or rotate with an overlap of 0s to end the old ones", MaxSecrets))
		}
	}
	return nil
}

// chosenSecret returns the v1 secret that was given, or a fresh one.
func chosenSecret(given string) (string, []hook.FieldError) {
	if given == "" {
		return sign.NewSecret(), nil
	}
	key, err := sign.Parse(given)
	if err != nil || key.Scheme() != hook.SchemeV1 {
		return "", []hook.FieldError{{Field: "secret", Message: "must be whsec_ and the base64 of 24 to 64 bytes"}}
	}
	return given, nil
}

func (r *Registry) sealSecret(ctx context.Context, id hook.EndpointID, secret string) (hook.Secret, error) {
	sealed, err := r.Vault.Seal(ctx, secret, id)
	if err != nil {
		return hook.Secret{}, fmt.Errorf("seal secret of endpoint %s: %w", id, err)
	}
	return hook.Secret{Scheme: hook.SchemeV1, Sealed: sealed, CreatedAt: r.now()}, nil
}

// completeSecrets makes a v1a key pair for an endpoint that signs with v1a and has none.
func (r *Registry) completeSecrets(ctx context.Context, e *hook.Endpoint) error {
	// A pair that is about to expire does not count: it would leave none behind.
	hasPair := slices.ContainsFunc(e.Secrets, func(s hook.Secret) bool { return s.Scheme == hook.SchemeV1a && s.ExpiresAt.IsZero() })
	if hasPair || !slices.Contains(e.Schemes, hook.SchemeV1a) {
		return nil
	}
	private, public := sign.NewKeyPair()
	sealed, err := r.Vault.Seal(ctx, private, e.ID)
	if err != nil {
		return fmt.Errorf("seal key pair of endpoint %s: %w", e.ID, err)
	}
	pair := hook.Secret{Scheme: hook.SchemeV1a, Sealed: sealed, Public: public, CreatedAt: r.now()}
	e.Secrets = append([]hook.Secret{pair}, e.Secrets...)
	return nil
}

// PublicKey returns the public key of the newest v1a key pair of an endpoint
// that signs with v1a, else nothing.
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
