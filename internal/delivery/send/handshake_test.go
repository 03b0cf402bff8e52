package send_test

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"surehook.example/surehook/internal/delivery/send"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/proof/certificate"
)

// TestSender_Send_namesTheProblemOfTheTLS checks the texts against servers on real connections, each
// with one fault. All certificates are of an authority in the endpoint's own settings.
func TestSender_Send_namesTheProblemOfTheTLS(t *testing.T) {
	t.Parallel()

	authority, authorityKey := certificate.New(t, &x509.Certificate{Subject: pkix.Name{CommonName: "root"}, IsCA: true, KeyUsage: x509.KeyUsageCertSign})
	stranger, strangerKey := certificate.New(t, &x509.Certificate{Subject: pkix.Name{CommonName: "stranger"}, IsCA: true})
	middle, middleKey := certificate.Issue(t, &x509.Certificate{Subject: pkix.Name{CommonName: "middle"}, IsCA: true}, authority, authorityKey)
	late, lateKey := certificate.Issue(t, &x509.Certificate{Subject: pkix.Name{CommonName: "late"}, IsCA: true, NotAfter: time.Unix(1e9, 0)}, authority, authorityKey)
	here := []net.IP{net.IPv4(127, 0, 0, 1)}
	leaf := func(change func(*x509.Certificate), by, byKey, rest string) func(*tls.Config) {
		template := &x509.Certificate{Subject: pkix.Name{CommonName: "127.0.0.1"}, IPAddresses: here}
		if change != nil {
			change(template)
		}
		cert, key := certificate.Issue(t, template, by, byKey)
		return func(c *tls.Config) { c.Certificates = []tls.Certificate{pair(t, cert+rest, key)} }
	}
	good := leaf(nil, authority, authorityKey, "")
	with := func(change func(*tls.Config)) func(*tls.Config) {
		return func(c *tls.Config) { good(c); change(c) }
	}
	outdated, outdatedKey := rsaLeaf(t, authority, authorityKey)

	for _, tt := range []struct {
		name   string
		server func(*tls.Config)
		text   string // empty: delivered
	}{
		{name: "a good server", server: good, text: ""},
		{name: "a good chain", server: leaf(nil, middle, middleKey, middle), text: ""},
		{name: "TLS 1.2 with ECDHE", server: with(func(c *tls.Config) { c.MaxVersion = tls.VersionTLS12 }), text: ""},
		{name: "TLS 1.1", server: with(func(c *tls.Config) { c.MinVersion, c.MaxVersion = tls.VersionTLS10, tls.VersionTLS11 }), text: oldTLS},
		{name: "RSA key exchange only", server: func(c *tls.Config) {
			*c = tls.Config{Certificates: []tls.Certificate{pair(t, outdated, outdatedKey)}, MaxVersion: tls.VersionTLS12, CipherSuites: []uint16{tls.TLS_RSA_WITH_AES_256_GCM_SHA384}, MinVersion: tls.VersionTLS12}
		}, text: noSuite},
		{name: "a client certificate is wanted", server: with(func(c *tls.Config) { c.ClientAuth = tls.RequireAnyClientCert }), text: wantsOne},
		{name: "a client certificate is wanted with TLS 1.2", server: with(func(c *tls.Config) { c.ClientAuth, c.MaxVersion = tls.RequireAnyClientCert, tls.VersionTLS12 }), text: wantsOne},
		{name: "a common name only", server: leaf(func(c *x509.Certificate) { c.IPAddresses = nil }, authority, authorityKey, ""), text: commonName},
		{name: "another host", server: leaf(func(c *x509.Certificate) { c.IPAddresses, c.DNSNames = nil, []string{"other.example"} }, authority, authorityKey, ""), text: otherHost},
		{name: "SHA-1", server: func(c *tls.Config) { c.Certificates = []tls.Certificate{pair(t, outdated, outdatedKey)} }, text: sha1},
		{name: "a missing intermediate", server: leaf(nil, middle, middleKey, ""), text: alone},
		{name: "a chain of a stranger", server: leaf(nil, stranger, strangerKey, stranger), text: chain},
		{name: "self-signed", server: func(c *tls.Config) {
			cert, key := certificate.New(t, &x509.Certificate{IPAddresses: here})
			c.Certificates = []tls.Certificate{pair(t, cert, key)}
		}, text: selfSigned},
		{name: "expired", server: leaf(func(c *x509.Certificate) { c.NotAfter = time.Unix(1e9, 0) }, authority, authorityKey, ""), text: expired},
		{name: "not valid yet", server: leaf(func(c *x509.Certificate) { c.NotBefore = time.Date(2199, 1, 1, 0, 0, 0, 0, time.UTC) }, authority, authorityKey, ""), text: expired},
		{name: "an intermediate has expired", server: leaf(nil, late, lateKey, late), text: expired},
		{name: "a certificate for clients", server: leaf(func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth} }, authority, authorityKey, ""), text: clientOnly},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			server, received := serve(t, answer(http.StatusOK), func(server *httptest.Server) {
				server.TLS = new(tls.Config)
				tt.server(server.TLS)
				server.StartTLS()
			})
			r := request(t, server.URL)
			r.TLS = send.TLS{CA: authority}
			outcome := sender(t).Send(t.Context(), r)
			class := hook.ClassTLS
			if tt.text == "" {
				class = hook.ClassDelivered
			}
			if outcome.Class != class || outcome.Error != tt.text || len(received) > 0 && tt.text != "" {
				t.Errorf("Send() = %s, %q; want %s, %q", outcome.Class, outcome.Error, class, tt.text)
			}
		})
	}
}

// A server that asks for a certificate, and takes none, may close the connection for any other reason.
func TestSender_Send_blamesNoCertificateAfterTheHandshake(t *testing.T) {
	t.Parallel()

	authority, authorityKey := certificate.New(t, &x509.Certificate{Subject: pkix.Name{CommonName: "root"}, IsCA: true, KeyUsage: x509.KeyUsageCertSign})
	cert, key := certificate.Issue(t, &x509.Certificate{Subject: pkix.Name{CommonName: "127.0.0.1"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}, authority, authorityKey)
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		server, _ := serve(t, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, func(server *httptest.Server) {
			server.TLS = &tls.Config{Certificates: []tls.Certificate{pair(t, cert, key)}, ClientAuth: tls.RequestClientCert, MaxVersion: version}
			server.StartTLS()
		})
		r := request(t, server.URL)
		r.TLS = send.TLS{CA: authority}
		if outcome := sender(t).Send(t.Context(), r); outcome.Class != hook.ClassReset {
			t.Errorf("with TLS %x: Send() = %s, %q; want reset", version, outcome.Class, outcome.Error)
		}
	}
}

// An old server chooses its own version, and does not refuse the client's.
func TestSender_Send_namesAVersionThatTheServerChose(t *testing.T) {
	t.Parallel()

	hello := append([]byte{3, 1}, make([]byte, 33)...)          // version, random, and an empty session id
	hello = append(hello, 0xc0, 0x13, 0)                        // the cipher suite, and no compression
	hello = append([]byte{2, 0, 0, byte(len(hello))}, hello...) // the server's hello
	record := append([]byte{22, 3, 1, 0, byte(len(hello))}, hello...)
	outcome := sender(t).Send(t.Context(), request(t, "https://"+raw(t, string(record))))
	if outcome.Class != hook.ClassTLS || outcome.Error != oldTLS {
		t.Errorf("Send() = %s, %q; want tls, %q", outcome.Class, outcome.Error, oldTLS)
	}
}

func pair(t *testing.T, cert, key string) tls.Certificate {
	t.Helper()

	p, err := tls.X509KeyPair([]byte(cert), []byte(key))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// rsaLeaf returns a certificate for an RSA key that the authority signed with SHA-1.
func rsaLeaf(t *testing.T, authority, authorityKey string) (cert, key string) {
	t.Helper()

	private, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	issuer := pair(t, authority, authorityKey)
	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: big.NewInt(2), NotAfter: time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		SignatureAlgorithm: x509.ECDSAWithSHA1,
	}, issuer.Leaf, private.Public(), issuer.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})), string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}))
}
