package hook_test

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook/internal/hook"
	"surehook/internal/proof/certificate"
)

var tlsNow = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

// pair returns the PEM of a certificate, valid for an hour around tlsNow, and of its key.
func pair(t *testing.T, change func(*x509.Certificate)) (cert, key string) {
	t.Helper()

	template := &x509.Certificate{
		Subject:   pkix.Name{CommonName: "surehook", Organization: []string{"Acme"}},
		NotBefore: tlsNow.Add(-time.Hour), NotAfter: tlsNow.Add(time.Hour),
	}
	change(template)
	return certificate.New(t, template)
}

func TestNewTLS(t *testing.T) {
	t.Parallel()

	leaf, key := pair(t, func(*x509.Certificate) {})
	other, otherKey := pair(t, func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth} })
	server, serverKey := pair(t, func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth} })
	expired, expiredKey := pair(t, func(c *x509.Certificate) { c.NotAfter = tlsNow.Add(-time.Second) })
	early, earlyKey := pair(t, func(c *x509.Certificate) { c.NotBefore = tlsNow.Add(time.Second) })
	authority, _ := pair(t, func(c *x509.Certificate) { c.IsCA = true })
	long := strings.Repeat(" ", hook.MaxTLSCA)

	tests := []struct {
		name     string
		material hook.Material
		want     []string // the wrong fields
	}{
		{name: "an authority", material: hook.Material{CA: authority}, want: nil},
		{name: "an authority among others", material: hook.Material{CA: leaf + "\n" + authority + "\n"}, want: nil},
		{name: "no authority", material: hook.Material{CA: leaf}, want: []string{"tls.ca"}},
		{name: "a key as an authority", material: hook.Material{CA: authority + key}, want: []string{"tls.ca"}},
		{name: "no PEM", material: hook.Material{CA: "x"}, want: []string{"tls.ca"}},
		{name: "text after the PEM", material: hook.Material{CA: authority + "x"}, want: []string{"tls.ca"}},
		{name: "too long an authority", material: hook.Material{CA: authority + long}, want: []string{"tls.ca"}},
		{name: "a pair", material: hook.Material{Certificate: leaf, Key: key}, want: nil},
		{name: "a pair for clients with a chain", material: hook.Material{Certificate: other + authority, Key: otherKey, CA: authority}, want: nil},
		{name: "a pair with a sealed key", material: hook.Material{Certificate: expired, Sealed: []byte{1}}, want: nil},
		{name: "another key", material: hook.Material{Certificate: leaf, Key: otherKey}, want: []string{"tls.key"}},
		{name: "a certificate as the key", material: hook.Material{Certificate: leaf, Key: leaf}, want: []string{"tls.key"}},
		{name: "expired", material: hook.Material{Certificate: expired, Key: expiredKey}, want: []string{"tls.certificate"}},
		{name: "not valid yet", material: hook.Material{Certificate: early, Key: earlyKey}, want: []string{"tls.certificate"}},
		{name: "of a server", material: hook.Material{Certificate: server, Key: serverKey}, want: []string{"tls.certificate"}},
		{name: "no certificate", material: hook.Material{Key: key}, want: []string{"tls.certificate"}},
		{name: "no key", material: hook.Material{Certificate: leaf}, want: []string{"tls.key"}},
		{name: "a key as the certificate", material: hook.Material{Certificate: key, Key: key}, want: []string{"tls.certificate"}},
		{name: "too long a certificate", material: hook.Material{Certificate: leaf + long, Key: key}, want: []string{"tls.certificate"}},
		{name: "too long a key", material: hook.Material{Certificate: leaf, Key: key + long}, want: []string{"tls.key"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			settings, errs := hook.NewTLS("m1", tt.material, tlsNow)
			var got []string
			for _, e := range errs {
				got = append(got, e.Field)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("wrong fields (-want +got):\n%s\n%v", diff, errs)
			}
			if len(errs) == 0 && (settings.CA != (tt.material.CA != "") || settings.Client != (tt.material.Certificate != "") || settings.ID != "m1" || settings.Material.ID != "m1") {
				t.Errorf("NewTLS() = %+v; want the id m1 and what the material has", settings)
			}
		})
	}
	settings, _ := hook.NewTLS("m1", hook.Material{Certificate: leaf + authority, Key: key}, tlsNow)
	if settings.Subject != "CN=surehook,O=Acme" || !settings.NotAfter.Equal(tlsNow.Add(time.Hour)) {
		t.Errorf("NewTLS() = %q until %s; want the first certificate's", settings.Subject, settings.NotAfter)
	}
}

// A sealed text of another kind is no key.
func TestKeyOf(t *testing.T) {
	t.Parallel()

	for text, want := range map[string]bool{hook.KeyText("k"): true, "k": false, hook.HeaderText("tls", "k"): false, hook.AuthText(hook.AuthBearer, "k"): false} {
		if key, ok := hook.KeyOf(text); ok != want || ok && key != "k" {
			t.Errorf("KeyOf(%q) = %q, %t; want %t", text, key, ok, want)
		}
	}
}
