package send

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/http"

	"surehook.example/surehook/internal/delivery/egress"
)

// maxTransports bounds the transports of endpoints with TLS settings in one process, in bytes.
// bytesOfTransport is more than one takes beside its settings, with a kept connection.
const (
	maxTransports    = 8 << 20
	bytesOfTransport = 100 << 10
)

var (
	errCA        = errors.New("the bundle has no certificate")
	errTransport = errors.New("the client has no transport for TLS settings")
)

// TLS holds what the requests to one endpoint trust, and their client certificate, as PEM: 40 KiB at most.
type TLS struct {
	CA          string `json:"ca,omitempty"`          // empty: the roots of the system
	Certificate string `json:"certificate,omitempty"` // with its chain; empty: none
	Key         string `json:"key,omitempty"`         // of the certificate, in clear
}

// Bytes returns the size of the settings.
func (t TLS) Bytes() int { return len(t.CA) + len(t.Certificate) + len(t.Key) }

// secured returns the transport for the settings: like the client's, with its guard of every dial, but
// with the trust of the settings.
func (s *Sender) secured(settings TLS) (http.RoundTripper, error) {
	if kept, ok := s.transports.Get(settings); ok {
		return kept, nil
	}
	plain, ok := s.Client.Transport.(*http.Transport)
	if !ok {
		return nil, errTransport
	}
	roots, pair := (*x509.CertPool)(nil), new(tls.Certificate)
	if settings.CA != "" {
		roots = x509.NewCertPool()
		if !roots.AppendCertsFromPEM([]byte(settings.CA)) {
			return nil, errCA
		}
	}
	if settings.Certificate != "" {
		var err error
		if *pair, err = tls.X509KeyPair([]byte(settings.Certificate), []byte(settings.Key)); err != nil {
			return nil, err
		}
	}
	secured := egress.WithTLS(plain, func(c *tls.Config) {
		if roots != nil {
			c.RootCAs = roots
		}
		c.GetClientCertificate = egress.Present(pair)
	})
	return s.transports.GetOrAdd(settings, secured, bytesOfTransport+3*settings.Bytes()), nil
}
