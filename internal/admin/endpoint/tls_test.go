package endpoint_test

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"surehook.example/surehook/internal/admin/endpoint"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/memory"
	"surehook.example/surehook/proof/certificate"
)

// TestAdmin_tls changes the TLS settings step by step. The stored record holds no key in
// clear.
func TestAdmin_tls(t *testing.T) {
	t.Parallel()

	b := setup(t)
	cert1, key1 := certificate.Authority(t, "client")
	cert2, key2 := certificate.Authority(t, "client")
	settings := func(ca, cert, key string) endpoint.Fields {
		return endpoint.Fields{TLS: &hook.Material{CA: ca, Certificate: cert, Key: key}}
	}
	e, _, err := b.Create(t.Context(), "acme", endpoint.Fields{URL: new("https://example.com/"), TLS: &hook.Material{CA: cert1}}, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		name          string
		change        endpoint.Fields
		ca, cert, key string
		version       int64
		code          hook.Code
	}{
		{name: "created", change: endpoint.Fields{}, ca: cert1, version: 1},
		{name: "as shown", change: settings("***", "", ""), ca: cert1, version: 1},
		{name: "a key without a certificate", change: settings("***", "", key1), ca: cert1, version: 1, code: hook.CodeInvalid},
		{name: "a pair beside", change: settings("***", cert1, key1), ca: cert1, cert: cert1, key: key1, version: 2},
		{name: "all as shown", change: settings("***", "***", "***"), ca: cert1, cert: cert1, key: key1, version: 2},
		{name: "another authority", change: settings(cert2, "***", "***"), ca: cert2, cert: cert1, key: key1, version: 3},
		{name: "a pair that does not fit", change: settings("***", cert2, key1), ca: cert2, cert: cert1, key: key1, version: 3, code: hook.CodeInvalid},
		{name: "the stored key with another certificate", change: settings("***", cert2, "***"), ca: cert2, cert: cert1, key: key1, version: 3, code: hook.CodeInvalid},
		{name: "another pair", change: settings("***", cert2, key2), ca: cert2, cert: cert2, key: key2, version: 4},
		{name: "another field", change: endpoint.Fields{Description: new("d")}, ca: cert2, cert: cert2, key: key2, version: 5},
		{name: "the pair alone", change: settings("", "***", "***"), cert: cert2, key: key2, version: 6},
		{name: "a mask of nothing", change: settings("***", "***", "***"), cert: cert2, key: key2, version: 6, code: hook.CodeInvalid},
		{name: "none", change: settings("", "", ""), version: 7},
		{name: "none again", change: settings("", "", ""), version: 7},
		{name: "a mask of no pair", change: settings("", "***", "***"), version: 7, code: hook.CodeInvalid},
	} {
		_, err := b.Change(t.Context(), "acme", string(e.ID), 0, step.change)
		if (err == nil) != (step.code == 0) || err != nil && hook.CodeOf(err) != step.code {
			t.Fatalf("%s: Change = %v; want code %v", step.name, err, step.code)
		}
		stored, err := b.store.Endpoint(t.Context(), "acme", e.ID)
		if err != nil {
			t.Fatal(err)
		}
		m, err := b.store.TLSMaterial(t.Context(), "acme", e.ID)
		if (err == nil) != stored.TLS.On() || m.ID != stored.TLS.ID || m.CA != step.ca || m.Certificate != step.cert || stored.Version != step.version {
			t.Errorf("after %s: %+v of %+v, %v in version %d; want version %d", step.name, m, stored.TLS, err, stored.Version, step.version)
		}
		if bytes.Contains(fmt.Append(nil, stored, m), []byte("PRIVATE KEY")) {
			t.Errorf("after %s: the record holds the key in clear", step.name)
		}
		if step.key == "" {
			continue
		}
		text, err := memory.Vault{}.Open(t.Context(), m.Sealed, e.Tenant, e.ID)
		if key, ok := hook.KeyOf(text); err != nil || !ok || key != step.key {
			t.Errorf("after %s: the sealed key is %q, %v; want the given key", step.name, key, err)
		}
	}
}

// withoutMaterial is a store whose TLS settings were removed after the read of the endpoint.
type withoutMaterial struct{ *memory.Store }

func (withoutMaterial) TLSMaterial(context.Context, hook.TenantID, hook.EndpointID) (hook.Material, error) {
	return hook.Material{}, hook.NotFound("TLS settings")
}

func TestAdmin_tlsRemovedMeanwhile(t *testing.T) {
	t.Parallel()

	b := setup(t)
	cert, key := certificate.Authority(t, "client")
	e, _, err := b.Create(t.Context(), "acme", endpoint.Fields{URL: new("https://example.com/"), TLS: &hook.Material{CA: cert}}, "")
	if err != nil {
		t.Fatal(err)
	}
	b.Store = withoutMaterial{b.store}
	_, err = b.Change(t.Context(), "acme", string(e.ID), 0, endpoint.Fields{TLS: &hook.Material{CA: "***", Certificate: cert, Key: key}})
	if hook.CodeOf(err) != hook.CodeConflict {
		t.Errorf("Change = %v; want a conflict: the endpoint exists", err)
	}
}
