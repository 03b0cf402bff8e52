package hostile_test

import (
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"testing"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/proof/certificate"
)

// secured are receivers behind TLS, with the trusted certificates or others.
func secured(t *testing.T, trusted []tls.Certificate) []attack {
	t.Helper()

	good := &tls.Config{Certificates: trusted, MinVersion: tls.VersionTLS12}
	protocols := func(names ...string) *tls.Config {
		c := good.Clone()
		c.NextProtos = names
		return c
	}
	ok := saying("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
	return []attack{
		{name: "TLS: offers h2 and http/1.1", tls: protocols("h2", "http/1.1"), script: ok, classes: one(hook.ClassDelivered), status: 200},
		{name: "TLS: offers h2 alone", tls: protocols("h2"), script: ok, classes: one(hook.ClassDelivered), status: 200}, // crypto/tls then agrees on no protocol
		{name: "TLS: speaks HTTP/2 all the same", tls: good, script: func(p *peer) {
			p.say("\x00\x00\x06\x04\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x64" + canary)
			p.wait()
		}, classes: []hook.Class{hook.ClassTimeout, hook.ClassReset}}, // reset: the frames came before the request
		{name: "TLS: a certificate of nobody", tls: &tls.Config{Certificates: []tls.Certificate{named(t)}, MinVersion: tls.VersionTLS12}, script: ok, classes: one(hook.ClassTLS)},
		{name: "TLS: says nothing in the handshake", https: true, script: (*peer).wait, classes: one(hook.ClassTimeout)},
		{name: "TLS: trickles the handshake", https: true, script: func(p *peer) { p.say("\x16\x03\x03\x40\x00"); p.repeat("\x02", pause) }, classes: one(hook.ClassTimeout)},
		{name: "TLS: floods the handshake", https: true, script: func(p *peer) { p.repeat("\x16\x03\x03\x40\x00"+long(16<<10), 0) }, classes: one(hook.ClassTLS)},
		{name: "TLS: speaks plain HTTP", https: true, script: func(p *peer) { p.say("HTTP/1.1 200 " + canary + "\r\n\r\n"); p.wait() }, classes: one(hook.ClassTLS)},
		{name: "TLS: resets in the handshake", https: true, script: (*peer).reset, classes: []hook.Class{hook.ClassReset, hook.ClassConnect}}, // as without TLS
		{name: "TLS: stalls in a large request", tls: good, script: func(p *peer) { p.readHead(); p.wait() }, large: true, classes: one(hook.ClassTimeout)},
		{name: "TLS: stalls in its body", tls: good, script: stalling("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n" + canary), classes: one(hook.ClassDelivered), status: 200, cut: true},
		{name: "TLS: floods its body", tls: good, script: flooding("HTTP/1.1 200 OK\r\n\r\n", long(8<<10)), classes: one(hook.ClassDelivered), status: 200},
	}
}

// named is a certificate of its own authority, with the canary in its names.
func named(t *testing.T) tls.Certificate {
	t.Helper()

	cert, key := certificate.New(t, &x509.Certificate{Subject: pkix.Name{CommonName: canary}, DNSNames: []string{canary + ".example.com"}})
	pair, err := tls.X509KeyPair([]byte(cert), []byte(key))
	if err != nil {
		t.Fatal(err)
	}
	return pair
}
