package person

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/names"
)

// The age of keys, and the pauses between requests to the issuer.
const (
	freshFor     = 15 * time.Minute        // then the next token makes Surehook fetch the keys again
	keptFor      = 24 * time.Hour          // if the issuer does not answer
	fetchPause   = time.Minute             // between requests, while there are keys, because a token can name any kid
	retryPause   = 30 * time.Second        // between requests, without keys, because each request occupies an execution environment
	fetchTimeout = 1500 * time.Millisecond // for both documents
	maxDocument  = 256 << 10               // bytes of each document
)

var errFetchTimeout = errors.New("the issuer took too long")

// KeySet holds the keys of an issuer, discovered through its configuration. It fetches them again
// after 15 minutes, and for an unknown id at most once a minute. If the issuer does not answer,
// known keys stay valid for 24 hours. All exported fields are required.
type KeySet struct {
	Issuer string
	Client *http.Client // of NewClient
	Log    *slog.Logger
	Now    func() time.Time

	mu      sync.Mutex
	keys    []jose.JSONWebKey
	fetched time.Time // of the keys; zero, long ago: there are none
	tried   time.Time
}

// NewClient returns the client of a KeySet. It follows no redirects, because a redirect could leave
// https.
func NewClient() *http.Client {
	return &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return errors.New("redirects are not followed") }}
}

// Key returns the keys with the id; none if the issuer has no such key. CodeUnavailable if the keys of
// the issuer are not known.
func (s *KeySet) Key(ctx context.Context, id string) ([]jose.JSONWebKey, error) {
	s.mu.Lock()
	defer s.mu.Unlock()

	now := s.Now()
	age, pause := now.Sub(s.fetched), fetchPause
	if age >= keptFor {
		pause = retryPause
	}
	if (age >= freshFor || len(s.named(id)) == 0) && now.Sub(s.tried) >= pause {
		s.tried = now
		if keys, err := s.fetch(ctx); err == nil {
			s.keys, s.fetched = keys, now
		} else {
			s.Log.LogAttrs(ctx, slog.LevelWarn, "issuer.fetch_failed", slog.Any(names.LogError, err))
		}
	}
	if now.Sub(s.fetched) >= keptFor {
		return nil, &hook.Error{Code: hook.CodeUnavailable, Message: "the keys of the issuer are not known: try again later"}
	}
	return s.named(id), nil
}

func (s *KeySet) named(id string) []jose.JSONWebKey {
	set := jose.JSONWebKeySet{Keys: s.keys}
	return set.Key(id)
}

// fetch reads the configuration of the issuer and its keys.
func (s *KeySet) fetch(ctx context.Context) ([]jose.JSONWebKey, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, fetchTimeout, errFetchTimeout)
	defer cancel()

	var configuration struct {
		Issuer string `json:"issuer"`
		Keys   string `json:"jwks_uri"`
	}
	if err := s.get(ctx, strings.TrimSuffix(s.Issuer, "/")+"/.well-known/openid-configuration", &configuration); err != nil {
		return nil, err
	}
	if configuration.Issuer != s.Issuer {
		return nil, fmt.Errorf("the configuration at the issuer %s is of %.200q", s.Issuer, configuration.Issuer)
	}
	if scheme, _, _ := strings.Cut(s.Issuer, "://"); !strings.HasPrefix(configuration.Keys, scheme+"://") {
		return nil, fmt.Errorf("the address of the keys, %.200q, is not %s", configuration.Keys, scheme)
	}
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := s.get(ctx, configuration.Keys, &set); err != nil {
		return nil, err
	}
	var keys []jose.JSONWebKey
	for _, raw := range set.Keys {
		var key jose.JSONWebKey
		// A key that cannot be read, or not used to verify, is for another purpose, and not an error.
		if key.UnmarshalJSON(raw) == nil && verifies(key) {
			keys = append(keys, key)
		}
	}
	if len(keys) == 0 {
		return nil, fmt.Errorf("there is no key for signatures at %s", configuration.Keys)
	}
	return keys, nil
}

// verifies reports whether the key is a public key for the signatures of tokens.
func verifies(key jose.JSONWebKey) bool {
	return key.KeyID != "" && key.Valid() && key.IsPublic() && (key.Use == "" || key.Use == "sig") &&
		(key.Algorithm == "" || slices.Contains(algorithms(), jose.SignatureAlgorithm(key.Algorithm)))
}

func (s *KeySet) get(ctx context.Context, url string, into any) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return fmt.Errorf("make request: %w", err)
	}
	r.Header.Set("Accept", "application/json")
	response, err := s.Client.Do(r)
	if err != nil {
		return fmt.Errorf("ask the issuer: %w", err)
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %d", url, response.StatusCode)
	}
	raw, err := io.ReadAll(io.LimitReader(response.Body, maxDocument+1))
	switch {
	case err != nil:
		return fmt.Errorf("read %s: %w", url, err)
	case len(raw) > maxDocument:
		return fmt.Errorf("%s is larger than %d bytes", url, maxDocument)
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return fmt.Errorf("read %s: %w", url, err)
	}
	return nil
}
