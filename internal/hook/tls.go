package hook

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Bounds of the TLS settings of an endpoint, in bytes of PEM, also listed in docs/limits.md.
const (
	MaxTLSCA          = 16 << 10
	MaxTLSCertificate = 16 << 10
	MaxTLSKey         = 8 << 10
	MaxTLSRSA         = 4096 // bits of the client's key; one signature with RSA-8192 takes 145 ms
	maxTLSSubject     = 256
)

// TLS describes the endpoint's TLS settings. The material itself is in a record of its own,
// because every read of an endpoint would pay for its size. The zero TLS means no settings.
type TLS struct {
	ID       string    `stored:"id"`        // id of the material, new with each change; empty: no settings
	CA       bool      `stored:"ca"`        // only the endpoint's own certificate authorities are trusted
	Client   bool      `stored:"client"`    // Surehook presents a client certificate
	Subject  string    `stored:"subject"`   // of the client certificate
	NotAfter time.Time `stored:"not_after"` // of the client certificate

	// Material is the material to write with the endpoint; nil: unchanged. Reads leave it nil.
	Material *Material
}

// On reports whether the endpoint has TLS settings.
func (t TLS) On() bool { return t.ID != "" }

// Material is the content of TLS settings: certificates and a private key. The zero Material is
// empty.
type Material struct {
	ID          string `stored:"id"`
	CA          string `stored:"ca"`          // PEM of certificates; empty: the roots of the system
	Certificate string `stored:"certificate"` // PEM of the client certificate, followed by its chain; empty: none
	Key         string // PEM of the private key in plain text: only in API requests, never stored
	Sealed      []byte `stored:"sealed"` // KeyText of the private key, encrypted with the endpoint id as context
}

const keyText = "tls key: "

// KeyText returns the text to encrypt for a private key. Its prefix ensures that no other
// ciphertext can be used as a key.
func KeyText(key string) string { return keyText + key }

// KeyOf is the inverse of KeyText; false for any other text.
func KeyOf(text string) (string, bool) { return strings.CutPrefix(text, keyText) }

// NewTLS returns the settings with the material under the id. A new key must fit the certificate,
// and the certificate must be valid at now. A certificate that comes with a sealed key was
// checked when it was first saved, and is not checked again.
func NewTLS(id string, m Material, now time.Time) (TLS, []FieldError) {
	var errs Fields
	m.ID = id
	t := TLS{ID: id, CA: m.CA != "", Client: m.Certificate != "", Material: &m}
	if m.CA != "" {
		wrong := checkCA(m.CA)
		errs.Refuse(wrong != "", "tls.ca", "%s", wrong)
	}
	hasKey := m.Key != "" || len(m.Sealed) > 0
	switch {
	case m.Certificate == "" && hasKey:
		errs.Add("tls.certificate", "is missing")
		return t, errs
	case m.Certificate != "" && !hasKey:
		errs.Add("tls.key", "is missing")
	case m.Certificate == "":
		return t, errs
	}
	chain, wrong := certificates(m.Certificate, MaxTLSCertificate)
	if wrong != "" {
		errs.Add("tls.certificate", "%s", wrong)
		return t, errs
	}
	leaf := chain[0]
	t.Subject, t.NotAfter = leaf.Subject.String(), leaf.NotAfter.UTC()
	if len(t.Subject) > maxTLSSubject {
		t.Subject = strings.ToValidUTF8(t.Subject[:maxTLSSubject], "")
	}
	if m.Key != "" {
		errs = append(errs, checkPair(m, chain, now)...)
	}
	return t, errs
}

// checkPair checks a new key and its certificate, the first of the chain.
func checkPair(m Material, chain []*x509.Certificate, now time.Time) (errs Fields) {
	leaf := chain[0]
	usages := leaf.ExtKeyUsage
	switch {
	case now.After(leaf.NotAfter):
		errs.Add("tls.certificate", "expired on %s", leaf.NotAfter.UTC().Format(time.DateOnly))
	case now.Before(leaf.NotBefore):
		errs.Add("tls.certificate", "is not valid before %s", leaf.NotBefore.UTC().Format(time.DateOnly))
	case len(usages) > 0 && !slices.Contains(usages, x509.ExtKeyUsageClientAuth) && !slices.Contains(usages, x509.ExtKeyUsageAny):
		errs.Add("tls.certificate", "must allow client authentication")
	}
	if len(m.Key) > MaxTLSKey {
		errs.Add("tls.key", "must be at most %d bytes", MaxTLSKey)
		return errs
	}
	if !cheap(leaf.PublicKey) {
		errs.Add("tls.key", "must be RSA of at most %d bits, ECDSA with P-256 or P-384, or Ed25519", MaxTLSRSA)
		return errs
	}
	key := privateKey(m.Key)
	switch {
	case key == nil:
		errs.Add("tls.key", "must be PEM with a private key, from -----BEGIN PRIVATE KEY----- on")
	case key.Type == "ENCRYPTED PRIVATE KEY", key.Headers["DEK-Info"] != "":
		errs.Add("tls.key", "must have no passphrase; openssl pkey removes it")
	case fits(leaf, m.Key):
	case len(chain) > 1 && fits(chain[len(chain)-1], m.Key):
		errs.Add("tls.certificate", "must begin with the certificate of the key; its chain follows")
	default:
		errs.Add("tls.key", "must be the private key of the certificate")
	}
	return errs
}

// privateKey returns the first private key of a PEM text, perhaps encrypted; nil if it has none.
func privateKey(text string) *pem.Block {
	for block, rest := pem.Decode([]byte(text)); block != nil; block, rest = pem.Decode(rest) {
		if strings.HasSuffix(block.Type, privateKeyType) {
			return block
		}
	}
	return nil
}

// fits reports whether the PEM text has the private key of the certificate.
func fits(c *x509.Certificate, key string) bool {
	_, err := tls.X509KeyPair(pem.EncodeToMemory(&pem.Block{Type: certificateType, Bytes: c.Raw}), []byte(key))
	return err == nil
}

// cheap reports whether signing with the private half of the key costs little: every connection
// needs one signature.
func cheap(public any) bool {
	switch k := public.(type) {
	case *rsa.PublicKey:
		return k.N.BitLen() <= MaxTLSRSA
	case *ecdsa.PublicKey:
		return k.Curve == elliptic.P256() || k.Curve == elliptic.P384()
	case ed25519.PublicKey:
		return true
	}
	return false
}

// checkCA returns the problem with a bundle of authorities; empty for none.
func checkCA(bundle string) string {
	all, wrong := certificates(bundle, MaxTLSCA)
	if wrong == "" && !slices.ContainsFunc(all, func(c *x509.Certificate) bool { return c.IsCA }) {
		return "must contain the certificate of a certificate authority"
	}
	return wrong
}

// Types of PEM blocks. Those of private keys end with privateKeyType.
const (
	certificateType = "CERTIFICATE"
	privateKeyType  = "PRIVATE KEY"
)

// certificates returns the certificates of a PEM text of at most the given bytes, or what is wrong
// with it.
func certificates(text string, most int) (all []*x509.Certificate, wrong string) {
	if len(text) > most {
		return nil, fmt.Sprintf("must be at most %d bytes", most)
	}
	rest := []byte(strings.TrimSpace(text))
	for len(rest) > 0 || len(all) == 0 {
		var block *pem.Block
		block, rest = pem.Decode(rest)
		switch {
		case block == nil && len(all) == 0:
			return nil, "must be PEM, from -----BEGIN CERTIFICATE----- on"
		case block == nil:
			return nil, fmt.Sprintf("must be PEM to the end, also after certificate %d", len(all))
		case strings.HasSuffix(block.Type, privateKeyType):
			return nil, "must hold certificates only, and no private key"
		case block.Type == certificateType+" REQUEST":
			return nil, "must be the certificate, not the request for it"
		case block.Type != certificateType:
			return nil, "must hold certificates only"
		}
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, fmt.Sprintf("holds a broken certificate, number %d", len(all)+1)
		}
		all = append(all, c)
	}
	return all, ""
}
