package send

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"math"
	"net"
	"slices"
	"strings"

	"surehook.example/surehook/internal/delivery/egress"
)

// The alerts by which a server refuses what the client offers (RFC 8446, section 6).
const (
	alertHandshakeFailure      = 40
	alertProtocolVersion       = 70
	alertInsufficientSecurity  = 71
	alertNoRenegotiation       = 100
	alertUnrecognizedName      = 112
	alertCertificateRequired   = 116
	alertNoApplicationProtocol = 120
)

// tlsProblem returns what is wrong with the TLS connection, and how to mend it, for the endpoint's
// owner; empty if the failure has another cause. docs/receiving.md says what is accepted.
func tlsProblem(f failure) string {
	alert, alerted := alertOf(f.err, "remote error")
	refused := f.asked && (alerted || f.handshake && egress.ConnectionClosed(f.err))
	renegotiation, ours := alertOf(f.err, "local error")
	rows := []struct {
		applies bool
		text    string
	}{
		{withoutSAN(f.err), "The certificate names its host in the common name only, which no longer counts: issue it with a subject alternative name."},
		{is[x509.HostnameError](f.err), "The certificate is for another host name: let the server present one for the host of the URL."},
		{invalid(f.err, x509.Expired), "The certificate, or one of its chain, has expired or is not valid yet: renew it, and reload the server."},
		{invalid(f.err, x509.IncompatibleUsage), "The certificate is not for servers: its extended key usage must have serverAuth."},
		{is[x509.UnknownAuthorityError](f.err), untrusted(f.err)},
		{is[*tls.CertificateVerificationError](f.err), "The certificate cannot be verified."},
		{is[x509.CertificateInvalidError](f.err), "The certificate cannot be verified."},

		{is[tls.RecordHeaderError](f.err), "The port does not speak TLS: correct the port of the URL."},
		{alert == alertProtocolVersion || says(f.err, "server selected unsupported protocol version"), "The endpoint's TLS is too old: let the server speak TLS 1.2 or 1.3."},
		{alert == alertCertificateRequired || refused && !f.presented, "The endpoint asks for a client certificate and got none: set certificate and key of tls."},
		{refused && f.presented, "The endpoint refused the client certificate: let the server trust it, or set another in tls."},
		{ours && renegotiation == alertNoRenegotiation, "The endpoint asks for a client certificate by a renegotiation, which is not supported: let the server ask in the first handshake."},
		{
			alert == alertHandshakeFailure || alert == alertInsufficientSecurity || says(f.err, "server chose an unconfigured cipher suite"),
			"The endpoint has no cipher suite in common with Surehook, perhaps RSA or DHE key exchange alone: let the server offer ECDHE with AES-GCM, or TLS 1.3.",
		},
		{alert == alertNoApplicationProtocol, "The endpoint speaks HTTP/2 alone: let the server offer HTTP/1.1, too (ALPN http/1.1)."},
		{says(f.err, "server sent certificate containing RSA key larger"), "The certificate has an RSA key of more than 8192 bits: issue it with one of 2048 to 4096 bits."},
		{alert == alertUnrecognizedName, "The endpoint does not know the host name of the URL: give the server a certificate for this name."},
		{alerted, "The endpoint broke off the TLS handshake with the alert " + strings.TrimPrefix(tls.AlertError(alert).Error(), "tls: ") + ": the log of the server says why."},
	}
	for _, row := range rows {
		if row.applies {
			return row.text
		}
	}
	return ""
}

// alertOf returns the code of the TLS alert that one side sent: "remote error" or "local error". The alerts of
// crypto/tls have an unexported type, but the texts of tls.AlertError.
func alertOf(err error, side string) (code uint8, ok bool) {
	network, ok := errors.AsType[*net.OpError](err)
	if !ok || network.Op != side || network.Err == nil {
		return 0, false
	}
	for code := range uint8(math.MaxUint8) {
		if network.Err.Error() == tls.AlertError(code).Error() {
			return code, true
		}
	}
	return 0, false
}

// says reports whether the error has the text. It is for errors of crypto/tls that have no type.
func says(err error, text string) bool {
	return err != nil && strings.Contains(err.Error(), "tls: "+text)
}

func invalid(err error, reason x509.InvalidReason) bool {
	certificate, ok := errors.AsType[x509.CertificateInvalidError](err)
	return ok && certificate.Reason == reason
}

// withoutSAN reports whether the certificate has no alternative name at all.
func withoutSAN(err error) bool {
	host, ok := errors.AsType[x509.HostnameError](err)
	if !ok || host.Certificate == nil {
		return false
	}
	c := host.Certificate
	return len(c.DNSNames)+len(c.IPAddresses)+len(c.URIs)+len(c.EmailAddresses) == 0
}

// untrusted returns why the certificates lead to no authority.
func untrusted(err error) string {
	verification, ok := errors.AsType[*tls.CertificateVerificationError](err)
	if !ok || len(verification.UnverifiedCertificates) == 0 {
		return "The certificate is not signed by a known authority."
	}
	sent := verification.UnverifiedCertificates
	selfSigned := func(c *x509.Certificate) bool { return string(c.RawIssuer) == string(c.RawSubject) }
	outdated := func(c *x509.Certificate) bool {
		return !selfSigned(c) && slices.Contains([]x509.SignatureAlgorithm{x509.SHA1WithRSA, x509.ECDSAWithSHA1, x509.MD5WithRSA}, c.SignatureAlgorithm)
	}
	switch {
	case slices.ContainsFunc(sent, outdated):
		return "The certificate, or one of its chain, is signed with SHA-1 or MD5: issue it with SHA-256."
	case selfSigned(sent[0]):
		return "The certificate is self-signed: use one of a known authority, or set its authority in the field ca of tls."
	case len(sent) == 1:
		return "The certificate is not signed by a known authority, and comes without an intermediate certificate: let the server send the whole chain, or set a private authority in the field ca of tls."
	}
	return "The certificate's chain does not end at a known authority: complete it, or set a private authority in the field ca of tls."
}
