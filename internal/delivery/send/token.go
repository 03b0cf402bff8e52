package send

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"

	"surehook.example/surehook/internal/hook"
)

// Bounds of access tokens, also listed in docs/limits.md.
const (
	maxTokens      = 2 << 20         // bytes of those in one process; an unused token makes room for a newer one
	maxTokenAnswer = 64 << 10        // bytes read of an answer of a token endpoint
	unknownLife    = 5 * time.Minute // life of a token without expires_in
	longestLife    = 365 * 24 * time.Hour
	tokenMargin    = 30 * time.Second // a token is used until this long before its end; at most half of its life
)

// Grant says how to get the access token of a request: OAuth 2.0 client credentials.
type Grant struct {
	hook.OAuth

	For    hook.EndpointID `json:"for"`    // no other endpoint uses the token
	Secret string          `json:"secret"` // of the client
}

type accessToken struct {
	text string
	ends time.Time
}

// fetched is the answer of a token endpoint.
type fetched struct {
	token   accessToken
	problem string        // for the endpoint's owner; empty with a token
	wait    time.Duration // that the answer asked for; 0: none
	cut     bool          // the attempt that asked for the token ended first
}

// postPrepared posts the request, with an access token if it needs one. If a kept token is
// answered with 401, postPrepared gets another one and posts once more. If a token that was
// requested for this attempt is answered with 401, that is the outcome. Without a URL, the access
// token is the outcome.
func (s *Sender) postPrepared(ctx context.Context, p *Prepared) hook.Outcome {
	if p.URL == "" && p.Grant != nil {
		if fresh := s.fetchOnce(ctx, p, accessToken{}); fresh.problem != "" {
			return withoutToken(p, fresh)
		}
		return hook.Outcome{Class: hook.ClassDelivered, URL: p.Grant.TokenURL}
	}
	if problem := s.Policy.CheckURL(p.URL); problem != "" {
		return hook.Outcome{Class: hook.ClassBlocked, URL: p.URL, Error: "The endpoint's URL " + problem + "."}
	}
	if p.Grant == nil {
		outcome, _ := s.postAndFollow(ctx, p)
		return outcome
	}
	kept, ok := s.tokens.Get(*p.Grant)
	if ok && s.Now().Before(kept.ends) {
		outcome, whole := s.postAndFollow(ctx, p.with(kept))
		if outcome.Status != http.StatusUnauthorized || !whole {
			return outcome
		}
	}
	fresh := s.fetchOnce(ctx, p, kept)
	if fresh.problem != "" {
		return withoutToken(p, fresh)
	}
	outcome, _ := s.postAndFollow(ctx, p.with(fresh.token))
	return outcome
}

func withoutToken(p *Prepared, f fetched) hook.Outcome {
	return hook.Outcome{Class: hook.ClassToken, URL: p.Grant.TokenURL, Error: "No access token: " + f.problem, RetryAfter: f.wait}
}

// with returns the request with the token in its Authorization header.
func (p Prepared) with(token accessToken) *Prepared {
	own := make(map[string]string, len(p.Own)+1)
	maps.Copy(own, p.Own)
	own[hook.AuthorizationHeader] = hook.Auth{Type: hook.AuthOAuth2}.Authorization(token.text)
	p.Own = own
	return &p
}

// fetchOnce returns another token than old, which has ended or was refused. All attempts that
// want a token of the same grant at the same time wait for one request, each at most until its
// own end, and share its failure. The request ends with the attempt that started it; if others
// still wait, one of them asks again.
func (s *Sender) fetchOnce(ctx context.Context, p *Prepared, old accessToken) fetched {
	grant := *p.Grant
	for {
		result := s.flights.DoChan(grant.key(), func() (any, error) {
			if kept, ok := s.tokens.Get(grant); ok && kept.text != old.text && s.Now().Before(kept.ends) {
				return fetched{token: kept}, nil // another attempt was faster
			}
			f := s.fetch(ctx, grant, p.Header.Get("User-Agent"))
			if f.problem == "" {
				s.tokens.Add(grant, f.token, len(grant.key())+len(f.token.text))
			}
			f.cut = f.problem != "" && ctx.Err() != nil
			return f, nil
		})
		select {
		case r := <-result:
			if f, _ := r.Val.(fetched); !f.cut || ctx.Err() != nil {
				return f
			}
		case <-ctx.Done():
			return fetched{problem: problemOf(failure{err: ctx.Err(), ended: context.Cause(ctx)}, grant)}
		}
	}
}

// key returns the grant as a text. Each part is quoted, so different grants have different texts.
func (g Grant) key() string {
	return fmt.Sprintf("%q", []string{string(g.For), g.TokenURL, g.ClientID, g.Secret, g.Scope, g.Audience, strconv.FormatBool(g.InBody)})
}

// fetch asks the token endpoint for a token (RFC 6749, section 4.4.2). It follows no redirect,
// which would send the client's secret to another URL.
func (s *Sender) fetch(ctx context.Context, g Grant, userAgent string) fetched {
	if problem := s.Policy.CheckURL(g.TokenURL); problem != "" {
		return fetched{problem: "token_url " + problem + "."}
	}
	config := clientcredentials.Config{
		ClientID: g.ClientID, ClientSecret: g.Secret, TokenURL: g.TokenURL, Scopes: strings.Fields(g.Scope), AuthStyle: oauth2.AuthStyleInHeader,
	}
	if g.InBody {
		config.AuthStyle = oauth2.AuthStyleInParams
	}
	if g.Audience != "" {
		config.EndpointParams = url.Values{"audience": {g.Audience}}
	}
	traced, seen, release := watch(ctx, s.Now)
	defer release()
	client := &http.Client{
		Transport:     bounded{s.Client.Transport, userAgent},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	began := s.Now()
	token, err := config.Token(context.WithValue(traced, oauth2.HTTPClient, client))
	switch {
	case err != nil:
		f := fetched{problem: problemOf(seen.failure(ctx, err), g)}
		if refused, ok := errors.AsType[*oauth2.RetrieveError](err); ok {
			f.wait = s.waitOf(refused.Response)
		}
		return f
	case !strings.EqualFold(token.Type(), "Bearer") && !strings.EqualFold(token.Type(), "BearerToken"): // Apigee says BearerToken
		return fetched{problem: "the token endpoint answered with a token of another type than Bearer."}
	case !hook.ValidAccessToken(token.AccessToken):
		return fetched{problem: "the token endpoint answered with a token that does not fit into a header."}
	}
	life := unknownLife
	if !token.Expiry.IsZero() { // which is by the library's clock
		seconds, _ := strconv.ParseFloat(fmt.Sprint(token.Extra("expires_in")), 64) // the library has parsed it
		life = time.Duration(min(seconds, longestLife.Seconds()) * float64(time.Second))
	}
	return fetched{token: accessToken{text: token.AccessToken, ends: began.Add(life - min(tokenMargin, life/2))}}
}

// The library refuses an expires_in with a fraction, and one that is no number, such as "never".
var (
	decimal = regexp.MustCompile(`("expires_in"\s*:\s*"?[0-9]+)\.[0-9]+`)
	endless = regexp.MustCompile(`("expires_in"\s*:\s*)"[^"]*[^"0-9][^"]*"`)
)

// bounded limits the size of answers, and sets the user agent.
type bounded struct {
	http.RoundTripper

	userAgent string
}

func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Accept", "application/json")
	r.Header.Set("User-Agent", b.userAgent)
	response, err := b.RoundTripper.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxTokenAnswer))
	if err != nil {
		return nil, err
	}
	text = bytes.TrimPrefix(text, []byte("\ufeff")) // a byte order mark
	text = endless.ReplaceAll(decimal.ReplaceAll(text, []byte("$1")), []byte("${1}null"))
	response.Body = io.NopCloser(bytes.NewReader(text))
	return response, nil
}
