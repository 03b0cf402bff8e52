package kms_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/google/go-cmp/cmp"

	"surehook/internal/aws/kms"
	"surehook/internal/hook"
	"surehook/internal/proof/porttest"
)

const (
	keyARN   = "arn:aws:kms:us-east-1:123456789012:key/3ee50705-5a82-4f5b-9753-05c4f473922f"
	secret   = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	endpoint = hook.EndpointID("ep_0123456789abcdef")
)

// fakeKMS encrypts a data key by reversing the bytes.
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
	f.calls[operation]++
	var in struct {
		KeyID          string `json:"KeyId"`
		Plaintext      []byte `json:"Plaintext"`
		CiphertextBlob []byte `json:"CiphertextBlob"`
	}
	_ = json.NewDecoder(r.Body).Decode(&in)
	fail := func(status int, code string) {
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(map[string]string{"__type": code, "message": "no"})
	}
	w.Header().Set("Content-Type", "application/x-amz-json-1.1")
	switch {
	case f.fault != "":
		fail(f.status, f.fault)
	case in.KeyID != keyARN:
		fail(http.StatusBadRequest, "NotFoundException")
	case operation == "Encrypt":
		_ = json.NewEncoder(w).Encode(map[string]any{"KeyId": keyARN, "CiphertextBlob": append([]byte("kms:"), invert(in.Plaintext)...)})
	default:
		key, ok := bytes.CutPrefix(in.CiphertextBlob, []byte("kms:"))
		if !ok {
			fail(http.StatusBadRequest, "InvalidCiphertextException")
			return
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"KeyId": keyARN, "Plaintext": invert(key)})
	}
}

func invert(b []byte) []byte {
	out := make([]byte, len(b))
	for i := range b {
		out[i] = ^b[i]
	}
	return out
}

func setup(t *testing.T) (*kms.Vault, *fakeKMS) {
	t.Helper()

	fake := &fakeKMS{calls: map[string]int{}}
	server := httptest.NewServer(fake)
	t.Cleanup(server.Close)
	v, err := kms.New(aws.Config{
		Region:       "us-east-1",
		Credentials:  credentials.NewStaticCredentialsProvider("id", "key", ""),
		BaseEndpoint: aws.String(server.URL),
		HTTPClient:   server.Client(),
		Retryer:      func() aws.Retryer { return aws.NopRetryer{} },
	}, keyARN)
	if err != nil {
		t.Fatal(err)
	}
	return v, fake
}

func TestVault(t *testing.T) {
	t.Parallel()

	porttest.Vault(t, func(t *testing.T) porttest.SecretVault {
		t.Helper()

		v, _ := setup(t)
		return v
	})
}

func TestVault_Open_CallsKMSOncePerSecret(t *testing.T) {
	t.Parallel()

	v, kms := setup(t)
	first, err := v.Seal(t.Context(), secret, endpoint)
	if err != nil {
		t.Fatal(err)
	}
	second, err := v.Seal(t.Context(), secret, endpoint)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		for _, sealed := range [][]byte{first, second} {
			if got, err := v.Open(t.Context(), sealed, endpoint); err != nil || got != secret {
				t.Fatalf("Open = %q, %v; want %q", got, err, secret)
			}
		}
	}
	if diff := cmp.Diff(map[string]int{"Encrypt": 2, "Decrypt": 2}, kms.calls); diff != "" {
		t.Errorf("KMS calls (-want +got):\n%s", diff)
	}
}

func TestVault_Open_CachesNoFailure(t *testing.T) {
	t.Parallel()

	v, kms := setup(t)
	sealed, err := v.Seal(t.Context(), secret, endpoint)
	if err != nil {
		t.Fatal(err)
	}
	kms.fault, kms.status = "ThrottlingException", http.StatusBadRequest
	if got, err := v.Open(t.Context(), sealed, endpoint); err == nil || got != "" {
		t.Errorf("Open while KMS throttles = %q, %v; want an error", got, err)
	}
	kms.fault = ""
	if got, err := v.Open(t.Context(), sealed, endpoint); err != nil || got != secret {
		t.Errorf("Open afterwards = %q, %v; want %q", got, err, secret)
	}
}

func TestVault_TranslatesErrors(t *testing.T) {
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
		{fault: "AccessDeniedException", status: http.StatusBadRequest, want: hook.CodeInternal},
		{fault: "DisabledException", status: http.StatusBadRequest, want: hook.CodeInternal},
		{fault: "InvalidCiphertextException", status: http.StatusBadRequest, want: hook.CodeInternal},
	}
	for _, tt := range tests {
		t.Run(tt.fault, func(t *testing.T) {
			t.Parallel()

			v, kms := setup(t)
			sealed, err := v.Seal(t.Context(), secret, endpoint)
			if err != nil {
				t.Fatal(err)
			}
			kms.fault, kms.status = tt.fault, tt.status
			_, sealErr := v.Seal(t.Context(), secret, endpoint)
			_, openErr := v.Open(t.Context(), sealed, endpoint)
			for operation, err := range map[string]error{"Seal": sealErr, "Open": openErr} {
				if err == nil || hook.CodeOf(err) != tt.want || strings.Contains(err.Error(), secret) {
					t.Errorf("%s = %v; want %s without the secret", operation, err, tt.want)
				}
			}
		})
	}
}

func TestVault_EndedContextIsUnavailable(t *testing.T) {
	t.Parallel()

	v, kms := setup(t)
	sealed, err := v.Seal(t.Context(), secret, endpoint)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := v.Open(ctx, sealed, endpoint); err == nil || hook.CodeOf(err) != hook.CodeUnavailable {
		t.Errorf("Open with an ended context = %v; want unavailable", err)
	}
	if _, err := v.Seal(ctx, secret, endpoint); err == nil || hook.CodeOf(err) != hook.CodeUnavailable {
		t.Errorf("Seal with an ended context = %v; want unavailable", err)
	}
	if kms.calls["Decrypt"] != 0 {
		t.Errorf("Decrypt calls with an ended context = %d; want 0", kms.calls["Decrypt"])
	}
}

func TestNew_RejectsAnInvalidARN(t *testing.T) {
	t.Parallel()

	if _, err := kms.New(aws.Config{}, "alias/surehook"); err == nil {
		t.Error("New(alias/surehook) = nil; want an error")
	}
}
