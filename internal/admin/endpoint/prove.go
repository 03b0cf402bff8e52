package endpoint

import (
	"context"
	"fmt"

	"surehook.example/surehook/internal/hook"
)

// prove asks the receiver of the endpoint, if the URL differs from that of before, belonged to a
// destination in AWS, or is in another network. A destination in AWS needs no question: its role is
// proof. It also asks the token endpoint, if its origin or network differs. secret is the new v1
// secret, or empty for a stored one.
func (a *Admin) prove(ctx context.Context, before, e hook.Endpoint, secret string) error {
	if a.Prover == nil || e.Destination.On() {
		return nil
	}
	elsewhere := e.Private() != before.Private() // where one URL may lead to another receiver
	if elsewhere || e.URL != before.URL || before.Destination.On() {
		if err := a.proveURL(ctx, e, secret); err != nil {
			return err
		}
	}
	if e.Auth.Type == hook.AuthOAuth2 && (elsewhere || hook.Origin(e.Auth.OAuth.TokenURL) != hook.Origin(before.Auth.OAuth.TokenURL)) {
		if err := a.Prover.ProveToken(ctx, e); err != nil {
			return fmt.Errorf("verify the token endpoint of endpoint %s: %w", e.ID, err)
		}
	}
	return nil
}

func (a *Admin) proveURL(ctx context.Context, e hook.Endpoint, secret string) error {
	if e.TLS.On() && e.TLS.Material == nil {
		stored, err := a.Store.TLSMaterial(ctx, e.Tenant, e.ID)
		if err != nil {
			return fmt.Errorf("read TLS settings of endpoint %s: %w", e.ID, err)
		}
		e.TLS.Material = &stored
	}
	if err := a.Prover.Prove(ctx, e, secret); err != nil {
		return fmt.Errorf("verify endpoint %s: %w", e.ID, err)
	}
	return nil
}
