package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"

	"github.com/spf13/cobra"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

func (p *program) verify() *cobra.Command {
	var secretFile, body, id, timestamp, signature string
	var old bool
	c := &cobra.Command{
		Use: "verify", Short: "Verify the signature of a webhook by hand", Args: arguments,
		Long: "Verify the signature of a webhook by hand: the three headers as received, and the exact bytes of the body.\n" +
			"The exit code is 1 for a wrong signature.",
		Example: "  surehook verify --secret-file secret --id evt_01... --timestamp 1763715000 --signature 'v1,K5oZ...' --body body.json",
	}
	c.Flags().StringVar(&secretFile, "secret-file", "", "file with the endpoint's secret (whsec_...)")
	c.Flags().StringVar(&id, "id", "", "header webhook-id")
	c.Flags().StringVar(&timestamp, "timestamp", "", "header webhook-timestamp")
	c.Flags().StringVar(&signature, "signature", "", "header webhook-signature")
	c.Flags().StringVar(&body, "body", "-", "file with the body, or - for standard input")
	c.Flags().BoolVar(&old, "ignore-age", false, "accept a timestamp more than 5 minutes away")
	c.RunE = func(*cobra.Command, []string) error {
		for flag, value := range map[string]string{"secret-file": secretFile, "id": id, "timestamp": timestamp, "signature": signature} {
			if value == "" {
				return usagef("--%s is missing", flag)
			}
		}
		v, err := newVerifier(secretFile)
		if err != nil {
			return err
		}
		read := func() ([]byte, error) { return io.ReadAll(p.In) }
		if body != "-" {
			read = func() ([]byte, error) { return os.ReadFile(body) } //nolint:gosec // the user names the file
		}
		text, err := read()
		if err != nil {
			return usagef("read the body: %w", err)
		}
		header := http.Header{"Webhook-Id": {id}, "Webhook-Timestamp": {timestamp}, "Webhook-Signature": {signature}}
		if err := v.check(text, header, old); err != nil {
			return failure("the signature is not valid: " + err.Error())
		}
		fmt.Fprintln(p.Out, "The signature is valid.")
		return nil
	}
	return c
}

// verifier verifies requests with the public Standard Webhooks library, as
// receivers do.
type verifier struct{ hook *standardwebhooks.Webhook }

// newVerifier reads the secret of a file.
func newVerifier(file string) (*verifier, error) {
	secret, err := readSecret("secret", file)
	if err != nil {
		return nil, err
	}
	v, err := verifierOf(secret)
	if err != nil {
		return nil, usagef("%s: %w", file, err)
	}
	return v, nil
}

var errSecret = errors.New("want a secret such as whsec_ and base64; the secret of an endpoint is shown once, at its creation and rotation")

func verifierOf(secret string) (*verifier, error) {
	if !strings.HasPrefix(secret, "whsec_") {
		return nil, errSecret
	}
	hook, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		return nil, errSecret // the library's error may hold a part of the secret
	}
	return &verifier{hook}, nil
}

// check returns nil for a valid signature, or the reason in words for a person.
func (v *verifier) check(body []byte, header http.Header, old bool) error {
	verify := v.hook.Verify
	if old {
		verify = v.hook.VerifyIgnoringTimestamp
	}
	err := verify(body, header)
	for known, text := range map[error]string{
		standardwebhooks.ErrRequiredHeaders:     "a header webhook-id, webhook-timestamp or webhook-signature is missing; an endpoint with classic headers has others",
		standardwebhooks.ErrInvalidHeaders:      "the header webhook-timestamp is not a Unix time in seconds",
		standardwebhooks.ErrNoMatchingSignature: "no signature matches: compare the secret, and verify the exact bytes of the body",
		standardwebhooks.ErrMessageTooOld:       "the timestamp is more than 5 minutes old; --ignore-age accepts old requests",
		standardwebhooks.ErrMessageTooNew:       "the timestamp is more than 5 minutes in the future: compare the clocks",
	} {
		if errors.Is(err, known) {
			return failure(text)
		}
	}
	return err
}
