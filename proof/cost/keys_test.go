package cost_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"surehook.example/surehook/internal/aws/kms"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/memory"
	"surehook.example/surehook/proof/cost"
	"surehook.example/surehook/proof/porttest"
)

// An hour of deliveries to many tenants, each alone in its batch: at ten a second, three sandboxes
// share them. More deliveries have more sandboxes, in proportion.
const (
	keyTenants    = 20_000
	keyZipf       = 1.1
	keyDeliveries = 10 * 3600
	keySandboxes  = 3
)

// keys counts the requests to KMS of an hour, and returns the usage of a million deliveries.
func keys(t *testing.T) cost.Usage {
	t.Helper()

	cfg, requests := porttest.PlainKMS(t)
	sealer, err := kms.NewSealer(cfg, porttest.KeyARN, memory.NewStore())
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	var sandboxes [keySandboxes]*kms.Opener
	for i := range sandboxes {
		if sandboxes[i], err = kms.NewOpener(cfg, porttest.KeyARN, func() time.Time { return now }); err != nil {
			t.Fatal(err)
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	zipf := rand.NewZipf(rng, keyZipf, 1, keyTenants-1)
	sealed := make(map[hook.TenantID][]byte)
	for range keyDeliveries {
		now = now.Add(time.Hour / keyDeliveries)
		tenant := hook.TenantID(fmt.Sprint("tenant-", zipf.Uint64()))
		if sealed[tenant] == nil {
			before := requests.Load()
			if sealed[tenant], err = sealer.Seal(t.Context(), "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", tenant, "ep_0123456789abcdef"); err != nil {
				t.Fatal(err)
			}
			requests.Store(before) // the endpoint was made before the hour
		}
		if _, err := sandboxes[rng.IntN(keySandboxes)].Open(t.Context(), sealed[tenant], tenant, "ep_0123456789abcdef"); err != nil {
			t.Fatal(err)
		}
	}
	return cost.Usage{cost.KeyRequest: float64(requests.Load()) / keyDeliveries * 1e6}
}
