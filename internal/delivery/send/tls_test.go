package send_test

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"surehook.example/surehook/internal/delivery/send"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/proof/certificate"
)

// private returns the configuration of a server that has the certificate, asks for a client
// certificate of the authority clients, and counts its connections.
func private(t *testing.T, cert, key, clients string, connections *atomic.Int32) func(*httptest.Server) {
	t.Helper()

	pair, err := tls.X509KeyPair([]byte(cert), []byte(key))
	if err != nil {
		t.Fatal(err)
	}
	return func(server *httptest.Server) {
		server.TLS = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
		if clients != "" {
			server.TLS.ClientAuth, server.TLS.ClientCAs = tls.RequireAndVerifyClientCert, x509.NewCertPool()
			server.TLS.ClientCAs.AppendCertsFromPEM([]byte(clients))
		}
		server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
			if state == http.StateNew {
				connections.Add(1)
			}
		}
		server.StartTLS()
	}
}

// The endpoint's own authorities replace the roots of the system, for its requests only, and the
// endpoint sees the client certificate. Attempts reuse the connection.
func TestSender_Send_tlsSettings(t *testing.T) {
	t.Parallel()

	ours, oursKey := certificate.Authority(t, "ours")
	theirs, theirsKey := certificate.Authority(t, "theirs")
	other, otherKey := certificate.Authority(t, "other")
	public, _ := serve(t, answer(http.StatusOK), withTLS)
	var privates, mutuals atomic.Int32
	closed, _ := serve(t, answer(http.StatusOK), private(t, theirs, theirsKey, "", &privates))
	mutual, _ := serve(t, answer(http.StatusOK), private(t, theirs, theirsKey, ours, &mutuals))
	s := sender(t, public)

	trust := send.TLS{CA: theirs}
	both := send.TLS{CA: theirs, Certificate: ours, Key: oursKey}
	for _, step := range []struct {
		name  string
		url   string
		tls   send.TLS
		class hook.Class
		text  string
		again *atomic.Int32 // connections; not nil: attempts like the one before, until one shares a connection
	}{
		{name: "no settings at a public server", url: public.URL, tls: send.TLS{}, class: hook.ClassDelivered, text: ""},
		{name: "no settings", url: closed.URL, tls: send.TLS{}, class: hook.ClassTLS, text: selfSigned},
		{name: "the authority", url: closed.URL, tls: trust, class: hook.ClassDelivered, text: ""},
		{name: "the authority again", url: closed.URL, tls: trust, class: hook.ClassDelivered, text: "", again: &privates},
		{name: "another authority", url: closed.URL, tls: send.TLS{CA: other}, class: hook.ClassTLS, text: selfSigned},
		{name: "a public server is not trusted by the authority", url: public.URL, tls: trust, class: hook.ClassTLS, text: selfSigned},
		{name: "the certificate", url: mutual.URL, tls: both, class: hook.ClassDelivered, text: ""},
		{name: "the certificate again", url: mutual.URL, tls: both, class: hook.ClassDelivered, text: "", again: &mutuals},
		{name: "no certificate", url: mutual.URL, tls: trust, class: hook.ClassTLS, text: wantsOne},
		{name: "another certificate", url: mutual.URL, tls: send.TLS{CA: theirs, Certificate: other, Key: otherKey}, class: hook.ClassTLS, text: wantsOther},
		{name: "another key", url: mutual.URL, tls: send.TLS{Certificate: ours, Key: otherKey}, class: hook.ClassTLS, text: "The TLS settings of the endpoint cannot be used."},
	} {
		r := request(t, step.url)
		r.TLS = step.tls
		attempt := func() {
			if outcome := s.Send(t.Context(), r); outcome.Class != step.class || outcome.Error != step.text {
				t.Errorf("%s: Send() = %+v; want %s, %q", step.name, outcome, step.class, step.text)
			}
		}
		if step.again == nil {
			attempt()
			continue
		}
		for before, n := step.again.Load()-1, 0; step.again.Load() != before; n++ {
			if n == tries {
				t.Fatalf("%s: each of %d attempts has a connection of its own", step.name, n)
			}
			before = step.again.Load()
			attempt()
		}
	}
}

// A redirect to another origin gets no client certificate and no trust in the endpoint's
// authorities; a redirect within the origin gets both.
func TestSender_Send_tlsSettingsAreForTheOrigin(t *testing.T) {
	t.Parallel()

	ours, oursKey := certificate.Authority(t, "ours")
	theirs, theirsKey := certificate.Authority(t, "theirs")
	asked := make(chan int, 1)
	elsewhere, _ := serve(t, func(_ http.ResponseWriter, r *http.Request) { asked <- len(r.TLS.PeerCertificates) }, func(server *httptest.Server) {
		server.TLS = &tls.Config{ClientAuth: tls.RequestClientCert, MinVersion: tls.VersionTLS12}
		server.StartTLS()
	})
	var connections atomic.Int32
	mux := http.NewServeMux()
	mux.HandleFunc("/away", redirect(http.StatusTemporaryRedirect, elsewhere.URL))
	mux.HandleFunc("/within", redirect(http.StatusTemporaryRedirect, "/here"))
	mux.HandleFunc("/here", answer(http.StatusOK))
	mutual, _ := serve(t, mux.ServeHTTP, private(t, theirs, theirsKey, ours, &connections))
	s := sender(t, elsewhere)
	for _, path := range []string{"/within", "/away"} {
		r := request(t, mutual.URL+path)
		r.TLS = send.TLS{CA: theirs, Certificate: ours, Key: oursKey}
		if outcome := s.Send(t.Context(), r); outcome.Class != hook.ClassDelivered {
			t.Errorf("%s: Send() = %+v; want delivered", path, outcome)
		}
	}
	if got := <-asked; got != 0 {
		t.Errorf("another origin got %d certificates; want none", got)
	}
}

// The server names other authorities than the issuers in the chain, as a server that names only
// their root. The client certificate is presented anyway: the server decides.
func TestSender_Send_presentsTheCertificateWhateverTheServerNames(t *testing.T) {
	t.Parallel()

	ours, oursKey := certificate.Authority(t, "ours")
	theirs, _ := certificate.Authority(t, "theirs")
	got := make(chan int, 1)
	server, _ := serve(t, func(_ http.ResponseWriter, r *http.Request) { got <- len(r.TLS.PeerCertificates) }, func(server *httptest.Server) {
		named := x509.NewCertPool()
		named.AppendCertsFromPEM([]byte(theirs))
		server.TLS = &tls.Config{ClientAuth: tls.RequestClientCert, ClientCAs: named, MinVersion: tls.VersionTLS12}
		server.StartTLS()
	})
	r := request(t, server.URL)
	r.TLS = send.TLS{Certificate: ours, Key: oursKey}
	if outcome := sender(t, server).Send(t.Context(), r); outcome.Class != hook.ClassDelivered {
		t.Fatalf("Send() = %+v; want delivered", outcome)
	}
	if n := <-got; n != 1 {
		t.Errorf("the server got %d certificates; want 1", n)
	}
}
