// Function sender posts one signed request to an endpoint: from another region, from fixed
// addresses, or, with an allow-list, in a private network. It has no permissions on data, queues
// and keys, and logs nothing about a request.
package main

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"os"

	"surehook.example/surehook/functions/internal/lambdafn"
	"surehook.example/surehook/functions/internal/wire"
	"surehook.example/surehook/internal/delivery/egress"
	"surehook.example/surehook/internal/delivery/remote"
	"surehook.example/surehook/internal/delivery/send"
	"surehook.example/surehook/internal/rule/private"
)

func main() {
	os.Exit(lambdafn.Start(context.Background(), "sender", os.LookupEnv, newHandler))
}

// newHandler wires the handler, once per execution environment.
func newHandler(f lambdafn.Function) (any, error) {
	roots, err := rootsWith(f.PrivateCA)
	if err != nil {
		return nil, fmt.Errorf("read SUREHOOK_PRIVATE_CA: %w", err)
	}
	newSender := func(p egress.Policy) *send.Sender {
		return send.New(egress.NewClientWith(p, egress.Options{RootCAs: roots}), p, "", f.Now)
	}
	list, err := private.Parse([]byte(f.Private))
	if err != nil {
		return nil, fmt.Errorf("read SUREHOOK_PRIVATE_ALLOW: %w", err)
	}
	policy := wire.Policy(f)
	if list == nil {
		return remote.Handler{Sender: newSender(policy)}.Handle, nil
	}
	return remote.NewPrivate(list, policy, newSender).Handle, nil
}

// rootsWith returns the roots of the system and the authorities of a PEM text; nil, which means those
// of the system, without a text.
func rootsWith(text string) (*x509.CertPool, error) {
	if text == "" {
		return nil, nil //nolint:nilnil // nil is the system's
	}
	roots, err := x509.SystemCertPool()
	if err != nil {
		return nil, err
	}
	if !roots.AppendCertsFromPEM([]byte(text)) {
		return nil, errors.New("it has no certificate")
	}
	return roots, nil
}
