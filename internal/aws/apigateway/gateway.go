// Package apigateway adapts an http.Handler to API Gateway. The package converts
// HTTP API events (payload format 2.0) to requests and answers to responses, and
// passes the authorizer's principal to the handler.
//
// Public adapters have drawbacks: some unescape the path twice, so a stray percent
// sign becomes a server error; others depend on net/http/httptest.
package apigateway

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/httpapi"
	"surehook.example/surehook/internal/names"
)

// transportSecurity makes browsers use only https for a year. API Gateway serves nothing else,
// and browsers ignore the header of an emulator without TLS. It leaves out subdomains, because the
// API must not decide about other hosts of the operator's domain.
const transportSecurity = "max-age=31536000"

// Function is a Lambda handler of HTTP API events.
type Function func(context.Context, events.APIGatewayV2HTTPRequest) (events.APIGatewayV2HTTPResponse, error)

// Handle returns a Lambda function backed by h.
func Handle(h http.Handler) Function {
	return func(ctx context.Context, e events.APIGatewayV2HTTPRequest) (events.APIGatewayV2HTTPResponse, error) {
		r, err := request(ctx, e)
		if err != nil {
			return events.APIGatewayV2HTTPResponse{}, fmt.Errorf("read request %s: %w", e.RequestContext.RequestID, err)
		}
		w := &answer{header: make(http.Header)}
		h.ServeHTTP(w, r)
		return w.response(), nil
	}
}

func request(ctx context.Context, e events.APIGatewayV2HTTPRequest) (*http.Request, error) {
	body := []byte(e.Body)
	if e.IsBase64Encoded {
		var err error
		if body, err = base64.StdEncoding.DecodeString(e.Body); err != nil {
			return nil, fmt.Errorf("decode body: %w", err)
		}
	}
	if p, ok := principal(e); ok {
		ctx = httpapi.WithPrincipal(ctx, p)
	}
	r, err := http.NewRequestWithContext(ctx, e.RequestContext.HTTP.Method, "/", bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("make request: %w", err)
	}
	r.URL = &url.URL{Path: e.RawPath, RawQuery: e.RawQueryString}
	r.RequestURI = r.URL.RequestURI()
	for name, value := range e.Headers {
		r.Header.Set(name, value)
	}
	r.Host = r.Header.Get("Host")
	r.RemoteAddr = e.RequestContext.HTTP.SourceIP // of the connection; headers of the caller do not count
	return r, nil
}

// principal returns the principal that functions/authorize put into the event; ok is false
// without one.
func principal(e events.APIGatewayV2HTTPRequest) (hook.Principal, bool) {
	if e.RequestContext.Authorizer == nil {
		return hook.Principal{}, false
	}
	text := func(name string) string {
		s, _ := e.RequestContext.Authorizer.Lambda[name].(string)
		return s
	}
	p := hook.Principal{Key: hook.KeyID(text(names.AuthKeyID)), Name: text(names.AuthKeyName), Tenant: hook.TenantID(text(names.AuthTenant))}
	if p.Key == "" || p.Tenant == "" {
		return hook.Principal{}, false
	}
	for scope := range strings.SplitSeq(text(names.AuthScopes), ",") {
		if scope != "" { // empty for a person without a role
			p.Scopes = append(p.Scopes, hook.Scope(scope))
		}
	}
	var err error
	p.Restriction, err = restriction(text(names.AuthExpiresAt), text(names.AuthNetworks))
	return p, err == nil // a key whose restriction cannot be read gives no access
}

// restriction reads the restriction of a key from the texts that Authorizer wrote.
func restriction(expiresAt, networks string) (hook.Restriction, error) {
	var r hook.Restriction
	if expiresAt != "" {
		ms, err := strconv.ParseInt(expiresAt, 10, 64)
		if err != nil {
			return hook.Restriction{}, fmt.Errorf("read expiry: %w", err)
		}
		r.ExpiresAt = time.UnixMilli(ms).UTC()
	}
	if networks != "" {
		for cidr := range strings.SplitSeq(networks, ",") {
			network, err := netip.ParsePrefix(cidr)
			if err != nil {
				return hook.Restriction{}, fmt.Errorf("read network: %w", err)
			}
			r.Networks = append(r.Networks, network)
		}
	}
	return r, nil
}

// Authorizer returns the authorizer context of functions/authorize for p.
func Authorizer(p hook.Principal) map[string]any {
	scopes := make([]string, len(p.Scopes))
	for i, s := range p.Scopes {
		scopes[i] = string(s)
	}
	networks := make([]string, len(p.Networks))
	for i, network := range p.Networks {
		networks[i] = network.String()
	}
	expiresAt := ""
	if !p.ExpiresAt.IsZero() {
		expiresAt = strconv.FormatInt(p.ExpiresAt.UnixMilli(), 10)
	}
	return map[string]any{
		names.AuthKeyID:     string(p.Key),
		names.AuthKeyName:   p.Name,
		names.AuthTenant:    string(p.Tenant),
		names.AuthScopes:    strings.Join(scopes, ","),
		names.AuthExpiresAt: expiresAt,
		names.AuthNetworks:  strings.Join(networks, ","),
	}
}

// answer buffers the answer of a handler.
type answer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (a *answer) Header() http.Header { return a.header }

func (a *answer) WriteHeader(status int) {
	if a.status == 0 {
		a.status = status
	}
}

func (a *answer) Write(b []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	return a.body.Write(b)
}

func (a *answer) response() events.APIGatewayV2HTTPResponse {
	a.WriteHeader(http.StatusOK)
	a.header.Set("Strict-Transport-Security", transportSecurity)
	headers := make(map[string]string, len(a.header))
	for name, values := range a.header {
		headers[name] = strings.Join(values, ",")
	}
	if binary(a.header) {
		return events.APIGatewayV2HTTPResponse{
			StatusCode: a.status, Headers: headers, Body: base64.StdEncoding.EncodeToString(a.body.Bytes()), IsBase64Encoded: true,
		}
	}
	return events.APIGatewayV2HTTPResponse{StatusCode: a.status, Headers: headers, Body: a.body.String()}
}

// binary reports whether the body of an answer is not text: a compressed file or a font. JSON
// between Lambda and API Gateway holds only text.
func binary(header http.Header) bool {
	return header.Get("Content-Encoding") != "" || strings.HasPrefix(header.Get("Content-Type"), "font/")
}
