package deliver_test

import (
	"context"
	"sync/atomic"
	"testing"

	"surehook.example/surehook/internal/delivery/attempt"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/proof/world"
)

// countingVault counts the texts that it opens.
type countingVault struct {
	attempt.Vault

	opened atomic.Int64
}

func (v *countingVault) Open(ctx context.Context, sealed []byte, tenant hook.TenantID, endpoint hook.EndpointID) (string, error) {
	v.opened.Add(1)
	return v.Vault.Open(ctx, sealed, tenant, endpoint)
}

func TestProcessBatch_OpensASecretOncePerEndpoint(t *testing.T) {
	t.Parallel()

	w := setup(t)
	w.Answer = world.Always(200)
	endpoint := w.Endpoint(nil)
	w.Post(endpoint)
	w.Post(endpoint)
	d := w.Deliverer()
	maker, _ := d.Attempts.(*attempt.Maker)
	vault := &countingVault{Vault: maker.Vault}
	maker.Vault = vault
	failed := d.ProcessBatch(w.Context(), batchOf(w.Queue.Receive(hook.QueueLive, 2)...))
	if opened := vault.opened.Load(); failed != nil || len(w.Posts) != 2 || opened != 1 {
		t.Errorf("ProcessBatch() = %v with %d requests, opened %d secrets; want 2 requests and one opened secret", failed, len(w.Posts), opened)
	}
}
