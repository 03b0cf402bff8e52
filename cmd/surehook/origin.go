package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"

	"surehook.example/surehook/client"
)

// origins remembers the addresses that have answered as the API, with an empty file for each in
// the user's cache folder. Without that folder, each command asks again.
type origins struct{ folder string }

// file returns the file of an address.
func (o origins) file(address string) string {
	sum := sha256.Sum256([]byte(address))
	return filepath.Join(o.folder, hex.EncodeToString(sum[:]))
}

func (o origins) known(address string) bool {
	_, err := os.Stat(o.file(address))
	return o.folder != "" && err == nil
}

func (o origins) remember(address string) {
	if o.folder != "" && os.MkdirAll(o.folder, 0o700) == nil {
		_ = os.WriteFile(o.file(address), nil, 0o600) // if this fails, the next command asks again
	}
}

// checkOrigin asks the address for the contract, without a key, unless it has given the contract
// before. A wrong address, such as the URL of an endpoint, must not receive the key. This
// protects against mistakes, not against a server that pretends to be the API.
func (p *program) checkOrigin(ctx context.Context, address string, o client.Options) error {
	known := origins{}
	if folder, err := p.Cache(); err == nil {
		known.folder = filepath.Join(folder, "surehook", "origins")
	}
	if known.known(address) {
		return nil
	}
	anonymous, err := client.New(address, "", o)
	if err != nil {
		return usagef("%w", err)
	}
	answer, err := anonymous.GetDocumentWithResponse(ctx)
	refused, answered := errors.AsType[*client.Problem](err)
	switch {
	case err == nil && bytes.HasPrefix(answer.Body, []byte("openapi: 3.")) && bytes.Contains(answer.Body, []byte("\n  title: Surehook\n")):
		known.remember(address)
		return nil
	case err == nil:
		return usagef("%s does not answer as the API of Surehook: its /v1/openapi.yaml is another document; the key was not sent", address)
	case answered && refused.Status != http.StatusTooManyRequests && refused.Status < http.StatusInternalServerError:
		return usagef("%s does not answer as the API of Surehook: its /v1/openapi.yaml answered %d; the key was not sent", address, refused.Status)
	default:
		return fmt.Errorf("ask %s for the API's contract, before the key is sent: %w", address, err)
	}
}
