package endpoint

import (
	"context"
	"fmt"

	"surehook.example/surehook/internal/hook"
)

// prove asks the receiver of the endpoint, if the URL differs from that of before. A destination
// in AWS needs no question: its role is proof.
func (a *Admin) prove(ctx context.Context, before, e hook.Endpoint) error {
	if a.Prover == nil || e.Destination.On() || e.URL == before.URL {
		return nil
	}
	if e.TLS.On() && e.TLS.Material == nil {
		stored, err := a.Store.TLSMaterial(ctx, e.Tenant, e.ID)
		if err != nil {
			return fmt.Errorf("read TLS settings of endpoint %s: %w", e.ID, err)
		}
		e.TLS.Material = &stored
	}
	if err := a.Prover.Prove(ctx, e); err != nil {
		return fmt.Errorf("verify endpoint %s: %w", e.ID, err)
	}
	return nil
}
