// Package certificate makes certificates for tests. Only tests import the package.
package certificate

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"testing"
	"time"
)

// New returns a self-signed certificate made from the template, and its key, both as PEM. Without
// times in the template, the certificate is valid from 1970 to 2200.
func New(t *testing.T, template *x509.Certificate) (cert, key string) {
	t.Helper()

	return sign(t, template, nil)
}

// Issue is New for a certificate that the authority signs.
func Issue(t *testing.T, template *x509.Certificate, authority, authorityKey string) (cert, key string) {
	t.Helper()

	pair, err := tls.X509KeyPair([]byte(authority), []byte(authorityKey))
	if err != nil {
		t.Fatal(err)
	}
	return sign(t, template, &pair)
}

// sign signs the certificate by the issuer; nil: by itself.
func sign(t *testing.T, template *x509.Certificate, issuer *tls.Certificate) (cert, key string) {
	t.Helper()

	full := *template
	full.SerialNumber, full.BasicConstraintsValid = big.NewInt(1), true
	if full.NotBefore.IsZero() {
		full.NotBefore = time.Unix(0, 0)
	}
	if full.NotAfter.IsZero() {
		full.NotAfter = time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	if issuer == nil {
		issuer = &tls.Certificate{Leaf: &full, PrivateKey: private}
	}
	der, err := x509.CreateCertificate(rand.Reader, &full, issuer.Leaf, private.Public(), issuer.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})),
		string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}))
}

// Authority returns a certificate that is its own authority, for a client and for a server at
// 127.0.0.1, and its key, both as PEM.
func Authority(t *testing.T, name string) (cert, key string) {
	t.Helper()

	return New(t, &x509.Certificate{
		Subject: pkix.Name{CommonName: name}, IsCA: true, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
	})
}
