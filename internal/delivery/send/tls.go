package send

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/http"

	lru "github.com/hashicorp/golang-lru/v2"
)

// keptTransports limits the transports of endpoints with TLS settings in one process.
const keptTransports = 200

var (
	errCA        = errors.New("the bundle has no certificate")
	errTransport = errors.New("the client has no transport for TLS settings")
)

// TLS is the trust and the client certificate of the requests to one endpoint, as PEM.
type TLS struct {
	CA          string // empty: the roots of the system
	Certificate string // with its chain; empty: none
	Key         string // of the certificate, in clear
}

// Transports keeps one transport for each TLS, so that attempts use connections again.
// No two TLS share a connection. Transports is safe for concurrent use.
type Transports struct {
	kept *lru.Cache[TLS, *http.Transport]
}

// NewTransports returns Transports without a transport.
func NewTransports() *Transports {
	kept, _ := lru.NewWithEvict(keptTransports, func(_ TLS, t *http.Transport) { t.CloseIdleConnections() }) // an error for a size of 0 only
	return &Transports{kept: kept}
}

// of returns the transport for the settings: the base, with its guard of every dial, and
// other trust.
func (t *Transports) of(base http.RoundTripper, settings TLS) (http.RoundTripper, error) {
	if kept, ok := t.kept.Get(settings); ok {
		return kept, nil
	}
	plain, ok := base.(*http.Transport)
	if !ok {
		return nil, errTransport
	}
	secured := plain.Clone()
	if settings.CA != "" {
		secured.TLSClientConfig.RootCAs = x509.NewCertPool()
		if !secured.TLSClientConfig.RootCAs.AppendCertsFromPEM([]byte(settings.CA)) {
			return nil, errCA
		}
	}
	if settings.Certificate != "" {
		pair, err := tls.X509KeyPair([]byte(settings.Certificate), []byte(settings.Key))
		if err != nil {
			return nil, err //nolint:wrapcheck // the caller drops the error: it is about a secret
		}
		// Certificates would hold the pair back from a server that names none of its
		// issuers, as a server that names their root.
		secured.TLSClientConfig.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &pair, nil }
	}
	if before, ok, _ := t.kept.PeekOrAdd(settings, secured); ok {
		return before, nil
	}
	return secured, nil
}
