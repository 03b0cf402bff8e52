package send

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"surehook.example/surehook/internal/hook"
)

// maxRedirects limits the redirects of one attempt.
const maxRedirects = 3

// postAndFollow posts to the endpoint and follows redirects. The endpoint's own headers may hold
// credentials, so they are left out from the first redirect to another scheme, host or port on,
// even if a later redirect leads back. So are the TLS settings: no other server is shown the
// client certificate. whole reports whether the last request had both.
func (s *Sender) postAndFollow(ctx context.Context, p *Prepared) (outcome hook.Outcome, whole bool) {
	h, at := p.Headers(), p.URL
	whole = true
	shared := s.Client.Transport
	via := shared
	if p.TLS != (TLS{}) {
		var err error
		if via, err = s.secured(p.TLS); err != nil {
			return hook.Outcome{Class: hook.ClassTLS, URL: p.URL, Error: "The TLS settings of the endpoint cannot be used."}, whole
		}
	}

	if p.Fresh {
		var release [2]func()
		shared, release[0] = unpooled(shared)
		via, release[1] = unpooled(via)
		defer release[0]()
		defer release[1]()
	}
	defer func() { p.describe(&outcome, whole) }()
	for redirects := 0; ; redirects++ {
		a := s.post(ctx, via, at, h, p)
		if !isRedirect(a.outcome.Status) {
			return a.outcome, whole
		}
		if class, problem := s.checkRedirect(a, redirects); problem != "" {
			a.outcome.Class, a.outcome.Error = class, problem
			return a.outcome, whole
		}
		if hook.Origin(a.from.String()) != hook.Origin(a.location.String()) {
			if p.OneOrigin {
				a.outcome.Class = hook.ClassRedirect
				a.outcome.Error = "The endpoint redirected to another origin, whose receiver has not been asked: set the URL to " + a.location.String()
				return a.outcome, whole
			}
			h, via, whole = p.Header, shared, false
		}
		at = a.location.String()
	}
}

// unpooled returns a transport like via that knows no connection of an earlier request. The caller
// must call release after the last response.
func unpooled(via http.RoundTripper) (fresh http.RoundTripper, release func()) {
	if t, ok := via.(*http.Transport); ok {
		t = t.Clone()
		return t, t.CloseIdleConnections
	}
	return via, func() {}
}

// isRedirect reports whether the status asks to repeat the same request at another URL. 303 does
// not: it asks for a GET, without the event.
func isRedirect(status int) bool {
	return slices.Contains([]int{http.StatusMovedPermanently, http.StatusFound, http.StatusTemporaryRedirect, http.StatusPermanentRedirect}, status)
}

// checkRedirect returns why the redirect must not be followed; empty if it may. It removes the
// fragment of the location, because fragments are not sent to servers.
func (s *Sender) checkRedirect(a answer, redirects int) (class hook.Class, problem string) {
	if redirects == maxRedirects {
		return hook.ClassRedirect, fmt.Sprintf("The endpoint redirected more than %d times.", maxRedirects)
	}
	if a.location == nil {
		return hook.ClassRedirect, "The endpoint redirected without a valid Location."
	}
	if a.from.Scheme == "https" && a.location.Scheme == "http" {
		return hook.ClassBlocked, "The endpoint redirected from https to http."
	}
	a.location.Fragment, a.location.RawFragment = "", ""
	if problem := s.Policy.CheckURL(a.location.String()); problem != "" {
		return hook.ClassBlocked, "The endpoint redirected to a URL that is refused: it " + problem + "."
	}
	return 0, ""
}
