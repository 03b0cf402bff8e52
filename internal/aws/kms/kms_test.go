package kms_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/aws/kms"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/memory"
	"surehook.example/surehook/proof/porttest"
)

const (
	keyARN   = "arn:aws:kms:us-east-1:123456789012:key/3ee50705-5a82-4f5b-9753-05c4f473922f"
	secret   = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	tenant   = hook.TenantID("acme")
	endpoint = hook.EndpointID("ep_0123456789abcdef")
)

// vault is a sealer and an opener under one KMS key.
type vault struct {
	*kms.Sealer
	*kms.Opener
}

// fakeKMS encrypts by reversing the bits, and refuses a ciphertext under another
// encryption context.
type fakeKMS struct {
	mu     sync.Mutex
	calls  map[string]int // by operation
	fault  string         // error code of every answer, if not empty
	status int            // of the fault
}

func (f *fakeKMS) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()

	operation := strings.TrimPrefix(r.Header.Get("X-Amz-Target"), "TrentService.")
	var in struct {
		KeyID             string            `json:"KeyId"`
		Plaintext         []byte            `json:"Plaintext"`
		CiphertextBlob    []byte            `json:"CiphertextBlob"`
		EncryptionContext map[string]string `json:"EncryptionContext"`
	}
	_ = json.NewDecoder(r.Body).Decode(&in)
	f.calls[operation]++
	prefix := fmt.Appendf(nil, "kms:%v:", in.EncryptionContext)
	fail := func(status int, code string) {
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(map[string]string{"__type": code, "message": "no"})
	}
	w.Header().Set("Content-Type", "application/x-amz-json-1.1")
	switch {
	case f.fault != "":
		fail(f.status, f.fault)
	case in.KeyID != keyARN || len(in.EncryptionContext) != 1 || in.EncryptionContext["bucket"] == "":
		fail(http.StatusBadRequest, "NotFoundException")
	case operation == "Encrypt":
		_ = json.NewEncoder(w).Encode(map[string]any{"KeyId": keyARN, "CiphertextBlob": append(prefix, invert(in.Plaintext)...)})
	default:
		key, ok := bytes.CutPrefix(in.CiphertextBlob, prefix)
		if !ok {
			fail(http.StatusBadRequest, "InvalidCiphertextException")
			return
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"KeyId": keyARN, "Plaintext": invert(key)})
	}
}

func (f *fakeKMS) fail(status int, code string) {
	f.mu.Lock()
	defer f.mu.Unlock()

	f.fault, f.status = code, status
}

// wantCalls compares the calls since the last comparison, and forgets them.
func (f *fakeKMS) wantCalls(t *testing.T, want map[string]int) {
	t.Helper()

	f.mu.Lock()
	defer f.mu.Unlock()
	if diff := cmp.Diff(want, f.calls); diff != "" {
		t.Errorf("KMS calls (-want +got):\n%s", diff)
	}
	f.calls = map[string]int{}
}

func invert(b []byte) []byte {
	out := make([]byte, len(b))
	for i := range b {
		out[i] = ^b[i]
	}
	return out
}

func config(t *testing.T) (aws.Config, *fakeKMS) {
	t.Helper()

	fake := &fakeKMS{calls: map[string]int{}}
	return aws.Config{
		Region:       "us-east-1",
		Credentials:  credentials.NewStaticCredentialsProvider("id", "key", ""),
		BaseEndpoint: aws.String("http://kms.test"),
		HTTPClient:   fake,
		Retryer:      func() aws.Retryer { return aws.NopRetryer{} },
	}, fake
}

// Do answers without a network, so that a bubble knows when KMS works on an answer.
func (f *fakeKMS) Do(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	f.ServeHTTP(w, r)
	return w.Result(), nil
}

// newVault returns a vault like those of a new sandbox of each function.
func newVault(t *testing.T, cfg aws.Config, keys kms.DataKeys, now func() time.Time) vault {
	t.Helper()

	sealer, err := kms.NewSealer(cfg, keyARN, keys)
	if err != nil {
		t.Fatal(err)
	}
	opener, err := kms.NewOpener(cfg, keyARN, now)
	if err != nil {
		t.Fatal(err)
	}
	return vault{sealer, opener}
}

func setup(t *testing.T) (vault, *fakeKMS) {
	t.Helper()

	cfg, fake := config(t)
	return newVault(t, cfg, memory.NewStore(), time.Now), fake
}

func seal(t *testing.T, v vault, tenant hook.TenantID, endpoint hook.EndpointID) []byte {
	t.Helper()

	sealed, err := v.Seal(t.Context(), secret, tenant, endpoint)
	if err != nil {
		t.Fatalf("Seal for %s, %s = %v; want nil", tenant, endpoint, err)
	}
	return sealed
}

func open(t *testing.T, v vault, sealed []byte, tenant hook.TenantID, endpoint hook.EndpointID) {
	t.Helper()

	if got, err := v.Open(t.Context(), sealed, tenant, endpoint); err != nil || got != secret {
		t.Errorf("Open for %s, %s = %q, %v; want %q", tenant, endpoint, got, err, secret)
	}
}

func TestVault(t *testing.T) {
	t.Parallel()

	porttest.Vault(t, func(t *testing.T) porttest.SecretVault {
		t.Helper()

		v, _ := setup(t)
		return v
	})
}

// TestVault_calls counts the calls of KMS for 500 endpoints of a tenant, and for 800 tenants
// in 512 buckets.
func TestVault_calls(t *testing.T) {
	t.Parallel()

	type whose struct {
		tenant   hook.TenantID
		endpoint hook.EndpointID
	}
	for _, tt := range []struct {
		name string
		of   func(i int) whose
		n    int
		most int
	}{
		{name: "endpoints", n: hook.DefaultEndpoints, most: 1, of: func(i int) whose { return whose{tenant, hook.EndpointID(fmt.Sprint("ep_", i))} }},
		{name: "tenants", n: 800, most: 512, of: func(i int) whose { return whose{hook.TenantID(fmt.Sprint("tenant-", i)), endpoint} }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			synctest.Test(t, func(t *testing.T) { // calls have time limits, and a busy machine may take long
				cfg, kms := config(t)
				keys := memory.NewStore()
				sealed := make(map[whose][]byte)
				for i := range tt.n {
					w := tt.of(i)
					sealed[w] = seal(t, newVault(t, cfg, keys, time.Now), w.tenant, w.endpoint) // in a sandbox of its own
				}
				encrypted := kms.calls["Encrypt"]
				if encrypted > tt.most {
					t.Errorf("%d calls of Encrypt; want at most %d", encrypted, tt.most)
				}
				kms.wantCalls(t, map[string]int{"Encrypt": encrypted})

				for range 2 { // sandboxes
					v := newVault(t, cfg, keys, time.Now)
					for range 2 {
						var opening sync.WaitGroup
						for w, text := range sealed {
							opening.Go(func() { open(t, v, text, w.tenant, w.endpoint) })
						}
						opening.Wait()
					}
					kms.wantCalls(t, map[string]int{"Decrypt": encrypted})
				}
			})
		})
	}
}

// TestSealer_race lets 20 sandboxes seal the first secret of a tenant at once.
func TestSealer_race(t *testing.T) {
	t.Parallel()

	cfg, kms := config(t)
	keys := &racingKeys{DataKeys: memory.NewStore()}
	keys.readers.Add(20)
	sealed := make([][]byte, 20)
	var sealing sync.WaitGroup
	for i := range sealed {
		v := newVault(t, cfg, keys, time.Now)
		sealing.Go(func() { sealed[i] = seal(t, v, tenant, endpoint) })
	}
	sealing.Wait()
	kms.wantCalls(t, map[string]int{"Encrypt": 20})

	v := newVault(t, cfg, keys, time.Now)
	for _, text := range sealed {
		open(t, v, text, tenant, endpoint)
	}
	kms.wantCalls(t, map[string]int{"Decrypt": 1}) // all under the stored data key
}

// racingKeys lets nobody store a key before all readers have found none.
type racingKeys struct {
	kms.DataKeys

	readers sync.WaitGroup
}

// BucketKey does not wait after the first key was put.
func (k *racingKeys) BucketKey(ctx context.Context, bucket int) ([]byte, error) {
	found, err := k.DataKeys.BucketKey(ctx, bucket)
	if err != nil {
		k.readers.Done()
		k.readers.Wait()
	}
	return found, err
}

// TestSealer_crashes loses the process, or the data key, at every step of the first
// seal: a later seal succeeds, and every sealed secret opens.
func TestSealer_crashes(t *testing.T) {
	t.Parallel()

	cfg, _ := config(t)
	for _, tt := range []struct {
		name string
		keys *faultyKeys
	}{
		{name: "before the write", keys: &faultyKeys{DataKeys: memory.NewStore(), beforePut: true}},
		{name: "after the write", keys: &faultyKeys{DataKeys: memory.NewStore(), afterPut: true}},
		{name: "before the write of the bucket", keys: &faultyKeys{DataKeys: memory.NewStore(), beforePut: true, bucket: true}},
		{name: "after the write of the bucket", keys: &faultyKeys{DataKeys: memory.NewStore(), afterPut: true, bucket: true}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			v := newVault(t, cfg, tt.keys, time.Now)
			if sealed, err := v.Seal(t.Context(), secret, tenant, endpoint); err == nil || sealed != nil || hook.CodeOf(err) != hook.CodeUnavailable {
				t.Errorf("Seal = %d bytes, %v; want no bytes and unavailable", len(sealed), err)
			}
			tt.keys.beforePut, tt.keys.afterPut = false, false
			open(t, v, seal(t, v, tenant, endpoint), tenant, endpoint)
		})
	}

	t.Run("the data key is lost and made anew", func(t *testing.T) {
		t.Parallel()

		v := newVault(t, cfg, memory.NewStore(), time.Now)
		first := seal(t, v, tenant, endpoint)
		v = newVault(t, cfg, memory.NewStore(), time.Now)
		second := seal(t, v, tenant, endpoint)
		open(t, v, first, tenant, endpoint)
		open(t, v, second, tenant, endpoint)
	})
}

// faultyKeys fails on one side of the write of a tenant's key, or of a bucket's.
type faultyKeys struct {
	kms.DataKeys

	beforePut, afterPut bool
	bucket              bool
}

func (k *faultyKeys) PutDataKey(ctx context.Context, tenant hook.TenantID, key []byte) error {
	return k.put(!k.bucket, func() error { return k.DataKeys.PutDataKey(ctx, tenant, key) })
}

func (k *faultyKeys) PutBucketKey(ctx context.Context, bucket int, key []byte) error {
	return k.put(k.bucket, func() error { return k.DataKeys.PutBucketKey(ctx, bucket, key) })
}

func (k *faultyKeys) put(faulty bool, write func() error) error {
	unavailable := &hook.Error{Code: hook.CodeUnavailable, Message: "the table is not available"}
	if faulty && k.beforePut {
		return unavailable
	}
	err := write()
	if faulty && k.afterPut {
		return unavailable
	}
	return err
}

func TestOpener_forgetsKeysOfAnHour(t *testing.T) {
	t.Parallel()

	cfg, kms := config(t)
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	v := newVault(t, cfg, memory.NewStore(), func() time.Time { return now })
	sealed := seal(t, v, tenant, endpoint)
	open(t, v, sealed, tenant, endpoint)
	kms.fail(http.StatusBadRequest, "DisabledException")
	now = now.Add(time.Hour - time.Nanosecond)
	open(t, v, sealed, tenant, endpoint)
	now = now.Add(time.Nanosecond)
	if _, err := v.Open(t.Context(), sealed, tenant, endpoint); err == nil {
		t.Error("Open an hour after the last Decrypt, under a disabled key = nil; want an error")
	}
	kms.wantCalls(t, map[string]int{"Encrypt": 1, "Decrypt": 2})
}

// TestOpener_boundsItsCache opens more secrets than are kept: the first has left, its bucket has not.
func TestOpener_boundsItsCache(t *testing.T) {
	t.Parallel()

	cfg, calls := config(t)
	v := newVault(t, cfg, memory.NewStore(), time.Now)
	large := strings.Repeat("x", 64<<10)
	sealed := make([][]byte, 20)
	for i := range sealed {
		var err error
		if sealed[i], err = v.Seal(t.Context(), large, tenant, hook.EndpointID(fmt.Sprint("ep_", i))); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		for i, text := range sealed {
			if got, err := v.Open(t.Context(), text, tenant, hook.EndpointID(fmt.Sprint("ep_", i))); err != nil || got != large {
				t.Errorf("Open(%d) = %d bytes, %v; want %d", i, len(got), err, len(large))
			}
		}
	}
	if kept := v.Bytes(); kept > kms.MaxBytes {
		t.Errorf("%d bytes are kept; want at most %d", kept, kms.MaxBytes)
	}
	calls.wantCalls(t, map[string]int{"Encrypt": 1, "Decrypt": 1})
}

func TestOpener_cachesNoFailure(t *testing.T) {
	t.Parallel()

	v, kms := setup(t)
	sealed := seal(t, v, tenant, endpoint)
	kms.fail(http.StatusBadRequest, "ThrottlingException")
	if got, err := v.Open(t.Context(), sealed, tenant, endpoint); err == nil || got != "" {
		t.Errorf("Open while KMS throttles = %q, %v; want an error", got, err)
	}
	kms.fail(0, "")
	open(t, v, sealed, tenant, endpoint)
}

func TestVault_translatesErrors(t *testing.T) {
	t.Parallel()

	tests := []struct {
		fault  string
		status int
		want   hook.Code
	}{
		{fault: "ThrottlingException", status: http.StatusBadRequest, want: hook.CodeUnavailable},
		{fault: "KMSInternalException", status: http.StatusInternalServerError, want: hook.CodeUnavailable},
		{fault: "DependencyTimeoutException", status: http.StatusServiceUnavailable, want: hook.CodeUnavailable},
		{fault: "KeyUnavailableException", status: http.StatusInternalServerError, want: hook.CodeUnavailable},
		{fault: "AccessDeniedException", status: http.StatusBadRequest, want: hook.CodeUnavailable},
		{fault: "DisabledException", status: http.StatusBadRequest, want: hook.CodeUnavailable},
		{fault: "InvalidCiphertextException", status: http.StatusBadRequest, want: hook.CodeInternal},
	}
	for _, tt := range tests {
		t.Run(tt.fault, func(t *testing.T) {
			t.Parallel()

			v, kms := setup(t)
			sealed := seal(t, v, tenant, endpoint)
			kms.fail(tt.status, tt.fault)
			_, sealErr := v.Seal(t.Context(), secret, "globex", endpoint)
			_, openErr := v.Open(t.Context(), sealed, tenant, endpoint)
			for operation, err := range map[string]error{"Seal": sealErr, "Open": openErr} {
				if err == nil || hook.CodeOf(err) != tt.want || strings.Contains(err.Error(), secret) || !strings.Contains(err.Error(), string(endpoint)) {
					t.Errorf("%s = %v; want %s with the endpoint and without the secret", operation, err, tt.want)
				}
			}
		})
	}
}

func TestVault_anEndedContextIsUnavailable(t *testing.T) {
	t.Parallel()

	v, kms := setup(t)
	sealed := seal(t, v, tenant, endpoint)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := v.Open(ctx, sealed, tenant, endpoint); err == nil || hook.CodeOf(err) != hook.CodeUnavailable {
		t.Errorf("Open with an ended context = %v; want unavailable", err)
	}
	if _, err := v.Seal(ctx, secret, "globex", endpoint); err == nil || hook.CodeOf(err) != hook.CodeUnavailable {
		t.Errorf("Seal with an ended context = %v; want unavailable", err)
	}
	kms.wantCalls(t, map[string]int{"Encrypt": 1})
}

func TestSealer_refusesAShortDataKey(t *testing.T) {
	t.Parallel()

	cfg, _ := config(t)
	keys := memory.NewStore()
	if err := keys.PutDataKey(t.Context(), tenant, make([]byte, 32)); err != nil {
		t.Fatal(err)
	}
	v := newVault(t, cfg, keys, time.Now)
	if _, err := v.Seal(t.Context(), secret, tenant, endpoint); err == nil || hook.CodeOf(err) != hook.CodeInternal {
		t.Errorf("Seal under a data key without a private half = %v; want internal", err)
	}
}

func TestNew_rejectsAnInvalidARN(t *testing.T) {
	t.Parallel()

	if _, err := kms.NewSealer(aws.Config{}, "alias/surehook", memory.NewStore()); err == nil {
		t.Error("NewSealer(alias/surehook) = nil; want an error")
	}
	if _, err := kms.NewOpener(aws.Config{}, "alias/surehook", time.Now); err == nil {
		t.Error("NewOpener(alias/surehook) = nil; want an error")
	}
}

// BenchmarkOpener_Open opens secrets under a cached data key.
func BenchmarkOpener_Open(b *testing.B) {
	fake := httptest.NewServer(&fakeKMS{calls: map[string]int{}})
	b.Cleanup(fake.Close)
	cfg := aws.Config{
		Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("id", "key", ""),
		BaseEndpoint: aws.String(fake.URL), HTTPClient: fake.Client(),
	}
	sealer, err := kms.NewSealer(cfg, keyARN, memory.NewStore())
	if err != nil {
		b.Fatal(err)
	}
	opener, err := kms.NewOpener(cfg, keyARN, time.Now)
	if err != nil {
		b.Fatal(err)
	}
	sealed, err := sealer.Seal(b.Context(), secret, tenant, endpoint)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := opener.Open(b.Context(), sealed, tenant, endpoint); err != nil {
			b.Fatal(err)
		}
	}
}
