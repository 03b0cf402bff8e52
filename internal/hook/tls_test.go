package hook_test

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/proof/certificate"
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

// block returns a PEM block whose content is not of its type.
func block(kind string, headers map[string]string) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Headers: headers, Bytes: []byte("x")}))
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
		want     []string // the wrong fields, with the messages
	}{
		{name: "an authority", material: hook.Material{CA: authority}, want: nil},
		{name: "an authority among others", material: hook.Material{CA: leaf + "\n" + authority + "\n"}, want: nil},
		{name: "no authority", material: hook.Material{CA: leaf}, want: []string{"tls.ca must contain the certificate of a certificate authority"}},
		{name: "a key as an authority", material: hook.Material{CA: authority + key}, want: []string{"tls.ca must hold certificates only, and no private key"}},
		{name: "no PEM", material: hook.Material{CA: "x"}, want: []string{"tls.ca must be PEM, from -----BEGIN CERTIFICATE----- on"}},
		{name: "text after the PEM", material: hook.Material{CA: authority + "x"}, want: []string{"tls.ca must be PEM to the end, also after certificate 1"}},
		{name: "too long an authority", material: hook.Material{CA: authority + long}, want: []string{"tls.ca must be at most 16384 bytes"}},
		{name: "a pair", material: hook.Material{Certificate: leaf, Key: key}, want: nil},
		{name: "a pair for clients with a chain", material: hook.Material{Certificate: other + authority, Key: otherKey, CA: authority}, want: nil},
		{name: "a pair with a sealed key", material: hook.Material{Certificate: expired, Sealed: []byte{1}}, want: nil},
		{name: "another key", material: hook.Material{Certificate: leaf, Key: otherKey}, want: []string{"tls.key must be the private key of the certificate"}},
		{name: "a certificate as the key", material: hook.Material{Certificate: leaf, Key: leaf}, want: []string{"tls.key must be PEM with a private key, from -----BEGIN PRIVATE KEY----- on"}},
		{name: "expired", material: hook.Material{Certificate: expired, Key: expiredKey}, want: []string{"tls.certificate expired on 2026-11-23"}},
		{name: "not valid yet", material: hook.Material{Certificate: early, Key: earlyKey}, want: []string{"tls.certificate is not valid before 2026-11-23"}},
		{name: "of a server", material: hook.Material{Certificate: server, Key: serverKey}, want: []string{"tls.certificate must allow client authentication"}},
		{name: "no certificate", material: hook.Material{Key: key}, want: []string{"tls.certificate is missing"}},
		{name: "no key", material: hook.Material{Certificate: leaf}, want: []string{"tls.key is missing"}},
		{name: "a key as the certificate", material: hook.Material{Certificate: key, Key: key}, want: []string{"tls.certificate must hold certificates only, and no private key"}},
		{name: "too long a certificate", material: hook.Material{Certificate: leaf + long, Key: key}, want: []string{"tls.certificate must be at most 16384 bytes"}},
		{name: "a key before the certificate", material: hook.Material{Certificate: key + leaf, Key: key}, want: []string{"tls.certificate must hold certificates only, and no private key"}},
		{name: "a request for a certificate", material: hook.Material{Certificate: block("CERTIFICATE REQUEST", nil), Key: key}, want: []string{"tls.certificate must be the certificate, not the request for it"}},
		{name: "a broken certificate", material: hook.Material{Certificate: leaf + block("CERTIFICATE", nil), Key: key}, want: []string{"tls.certificate holds a broken certificate, number 2"}},
		{name: "something else", material: hook.Material{Certificate: block("X509 CRL", nil), Key: key}, want: []string{"tls.certificate must hold certificates only"}},
		{name: "spaces", material: hook.Material{Certificate: " ", Key: key}, want: []string{"tls.certificate must be PEM, from -----BEGIN CERTIFICATE----- on"}},
		{name: "the chain first", material: hook.Material{Certificate: authority + leaf, Key: key}, want: []string{"tls.certificate must begin with the certificate of the key; its chain follows"}},
		{name: "a key with a passphrase", material: hook.Material{Certificate: leaf, Key: block("ENCRYPTED PRIVATE KEY", nil)}, want: []string{"tls.key must have no passphrase; openssl pkey removes it"}},
		{name: "an old key with a passphrase", material: hook.Material{Certificate: leaf, Key: block("RSA PRIVATE KEY", map[string]string{"Proc-Type": "4,ENCRYPTED", "DEK-Info": "x"})}, want: []string{"tls.key must have no passphrase; openssl pkey removes it"}},
		{name: "a key after its parameters", material: hook.Material{Certificate: leaf, Key: block("EC PARAMETERS", nil) + key}, want: nil},
		{name: "too long a key", material: hook.Material{Certificate: leaf, Key: key + long}, want: []string{"tls.key must be at most 8192 bytes"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			settings, errs := hook.NewTLS("m1", tt.material, tlsNow)
			var got []string
			for _, e := range errs {
				got = append(got, e.Field+" "+e.Message)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("wrong fields (-want +got):\n%s", diff)
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

// TestNewTLS_keySizes gives certificates of every kind of key, each with the private key of
// another pair: a refused kind of key is reported as such, and an allowed one as a pair that does
// not match.
func TestNewTLS_keySizes(t *testing.T) {
	t.Parallel()

	rsaOf := func(bits uint) any {
		return &rsa.PublicKey{N: new(big.Int).SetBit(big.NewInt(1), int(bits)-1, 1), E: 65537}
	}
	ecdsaOf := func(curve elliptic.Curve) any {
		key, err := ecdsa.GenerateKey(curve, rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		return key.Public()
	}
	edwards, _, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	_, otherKey := pair(t, func(*x509.Certificate) {})
	for name, tt := range map[string]struct {
		public  any
		allowed bool
	}{
		"RSA-2048": {rsaOf(2048), true}, "RSA-4096": {rsaOf(4096), true}, "RSA-4097": {rsaOf(4097), false}, "RSA-8192": {rsaOf(8192), false},
		"P-224": {ecdsaOf(elliptic.P224()), false}, "P-256": {ecdsaOf(elliptic.P256()), true}, "P-384": {ecdsaOf(elliptic.P384()), true},
		"P-521": {ecdsaOf(elliptic.P521()), false}, "Ed25519": {edwards, true},
	} {
		signer, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: tlsNow.Add(-time.Hour), NotAfter: tlsNow.Add(time.Hour)}
		der, err := x509.CreateCertificate(rand.Reader, template, template, tt.public, signer)
		if err != nil {
			t.Fatalf("%s: CreateCertificate = %v", name, err)
		}
		leaf := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
		_, errs := hook.NewTLS("m1", hook.Material{Certificate: leaf, Key: otherKey}, tlsNow)
		if len(errs) != 1 || errs[0].Field != "tls.key" || strings.HasPrefix(errs[0].Message, "must be RSA of at most 4096 bits") == tt.allowed {
			t.Errorf("%s: NewTLS names %v; want the kinds of keys %t", name, errs, !tt.allowed)
		}
		if _, errs := hook.NewTLS("m1", hook.Material{Certificate: leaf, Sealed: []byte{1}}, tlsNow); len(errs) != 0 {
			t.Errorf("%s: NewTLS of a stored key names %v; want none", name, errs)
		}
	}
}

// The text of another kind of secret is not a key.
func TestKeyOf(t *testing.T) {
	t.Parallel()

	for text, want := range map[string]bool{hook.KeyText("k"): true, "k": false, hook.HeaderText("tls", "k"): false, hook.AuthText(hook.AuthBearer, "k"): false} {
		if key, ok := hook.KeyOf(text); ok != want || ok && key != "k" {
			t.Errorf("KeyOf(%q) = %q, %t; want %t", text, key, ok, want)
		}
	}
}
