// Package verify checks that a request comes from Surehook, for receivers in Go. A
// Verifier knows the secrets or public keys of one endpoint, and accepts the signatures
// of Standard Webhooks (https://www.standardwebhooks.com).
//
// The package is a module of its own, with the standard library alone.
package verify

import (
	"bytes"
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Tolerance is the greatest difference between the time of a request and the clock of
// the receiver. An older request may be a recorded one that somebody sends again.
const Tolerance = 5 * time.Minute

// MaxBody is the largest body that Handler reads, in bytes. A payload has at most a
// quarter of this, and a batch is always smaller.
const MaxBody = 1 << 20

// The reasons of a refusal.
var (
	ErrHeaders   = errors.New("a header of the signature is missing or malformed")
	ErrTime      = errors.New("the time of the request is too far from now")
	ErrSignature = errors.New("no signature is valid")
)

// Verifier verifies requests. A Verifier is safe for concurrent use.
type Verifier struct {
	secrets [][]byte
	public  []ed25519.PublicKey
	now     func() time.Time
}

// New returns a verifier for the secrets (whsec_...) and public keys (whpk_...) of an
// endpoint: more than one in a rotation. A request with a valid signature of any passes. The
// error counts the keys from 0, and does not repeat them.
func New(keys ...string) (*Verifier, error) {
	v := &Verifier{now: time.Now} //nolint:forbidigo // receivers have no clock to give
	for i, text := range keys {
		if encoded, ok := strings.CutPrefix(text, "whpk_"); ok {
			raw, err := base64.StdEncoding.DecodeString(encoded)
			if err != nil || len(raw) != ed25519.PublicKeySize {
				return nil, fmt.Errorf("read key %d: not whpk_ and the base64 of 32 bytes", i)
			}
			v.public = append(v.public, raw)
			continue
		}
		encoded, ok := strings.CutPrefix(text, "whsec_")
		key, err := base64.StdEncoding.DecodeString(encoded)
		if !ok || err != nil || len(key) < 24 || len(key) > 64 {
			return nil, fmt.Errorf("read key %d: not whsec_ and the base64 of 24 to 64 bytes, nor whpk_", i)
		}
		v.secrets = append(v.secrets, key)
	}
	if len(keys) == 0 {
		return nil, errors.New("verify needs a secret or a public key")
	}
	return v, nil
}

// Verify checks the headers of a request and the exact bytes of the body. The error is
// ErrHeaders, ErrTime or ErrSignature.
func (v *Verifier) Verify(header http.Header, body []byte) error {
	id, given := header.Get("Webhook-Id"), strings.Fields(header.Get("Webhook-Signature"))
	seconds, err := strconv.ParseInt(header.Get("Webhook-Timestamp"), 10, 64)
	if err != nil || id == "" || len(given) == 0 {
		return ErrHeaders
	}
	if age := v.now().Sub(time.Unix(seconds, 0)); age > Tolerance || age < -Tolerance {
		return ErrTime
	}
	content := slices.Concat([]byte(id+"."+strconv.FormatInt(seconds, 10)+"."), body)
	for _, signature := range given {
		if v.valid(signature, content) {
			return nil
		}
	}
	return ErrSignature
}

func (v *Verifier) valid(signature string, content []byte) bool {
	scheme, encoded, _ := strings.Cut(signature, ",")
	raw, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return false
	}
	switch scheme {
	case "v1":
		return slices.ContainsFunc(v.secrets, func(secret []byte) bool {
			mac := hmac.New(sha256.New, secret)
			_, _ = mac.Write(content) // never fails
			return hmac.Equal(mac.Sum(nil), raw)
		})
	case "v1a":
		return slices.ContainsFunc(v.public, func(k ed25519.PublicKey) bool { return ed25519.Verify(k, content, raw) })
	}
	return false
}

// Handler returns a handler that passes verified requests to next, with the whole body, and
// answers 401 to all others. It answers 400 if the body is larger than MaxBody or cannot be
// read. A verified challenge it answers itself, see Challenge.
func (v *Verifier) Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxBody))
		if err != nil {
			http.Error(w, "the body could not be read", http.StatusBadRequest)
			return
		}
		if err := v.Verify(r.Header, body); err != nil {
			http.Error(w, err.Error(), http.StatusUnauthorized)
			return
		}
		if answer := Challenge(r.Header, body); answer != nil {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write(answer) // fails when the sender disconnected
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		next.ServeHTTP(w, r)
	})
}
