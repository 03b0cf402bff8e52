package cost_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"surehook.example/surehook/internal/aws/kms"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/memory"
	"surehook.example/surehook/internal/proof/cost"
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

	var requests atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { // its ciphertext is the plaintext
		requests.Add(1)
		var in struct {
			Plaintext      []byte `json:"Plaintext"`
			CiphertextBlob []byte `json:"CiphertextBlob"`
		}
		_ = json.NewDecoder(r.Body).Decode(&in)
		_ = json.NewEncoder(w).Encode(map[string]any{"Plaintext": in.CiphertextBlob, "CiphertextBlob": in.Plaintext})
	}))
	t.Cleanup(server.Close)
	cfg := aws.Config{
		Region: "us-east-1", BaseEndpoint: &server.URL, Credentials: credentials.NewStaticCredentialsProvider("a", "b", ""), HTTPClient: server.Client(),
	}
	const keyARN = "arn:aws:kms:us-east-1:123456789012:key/3ee50705-5a82-4f5b-9753-05c4f473922f"
	sealer, err := kms.NewSealer(cfg, keyARN, memory.NewStore())
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	var sandboxes [keySandboxes]*kms.Opener
	for i := range sandboxes {
		if sandboxes[i], err = kms.NewOpener(cfg, keyARN, func() time.Time { return now }); err != nil {
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
