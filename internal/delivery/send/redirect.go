package send

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"surehook/internal/hook"
)

// maxHops is how many redirects of one attempt are followed.
const maxHops = 3

// follow posts to the endpoint and to where it redirects. The endpoint's own
// headers may hold credentials, so they end at the first hop that leaves its
// scheme, host and port, even if a later hop comes back.
func (s *Sender) follow(ctx context.Context, r Request, now time.Time) hook.Outcome {
	if problem := s.Policy.CheckURL(r.Endpoint.URL); problem != "" {
		return hook.Outcome{Class: hook.ClassBlocked, URL: r.Endpoint.URL, Error: "The endpoint's URL " + problem + "."}
	}
	ours := s.header(r, now)
	h, at := withCustom(ours, r.Endpoint), r.Endpoint.URL

	for hop := 0; ; hop++ {
		a := s.post(ctx, at, h, r.Event.Payload)
		if !isRedirect(a.outcome.Status) {
			return a.outcome
		}
		if class, problem := s.checkHop(a, hop); problem != "" {
			a.outcome.Class, a.outcome.Error = class, problem
			return a.outcome
		}
		if !sameOrigin(a.from, a.location) {
			h = ours
		}
		at = a.location.String()
	}
}

// isRedirect reports whether the status is one that repeats the request
// elsewhere. 303 asks for a GET, which would deliver nothing.
func isRedirect(status int) bool {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	}
	return false
}

// checkHop returns what is wrong with following the redirect. Its fragment
// is not for the server, and is removed.
func (s *Sender) checkHop(a answer, hop int) (class hook.Class, problem string) {
	if hop == maxHops {
		return hook.ClassRedirect, fmt.Sprintf("The endpoint redirected more than %d times.", maxHops)
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

func sameOrigin(a, b *url.URL) bool { return a.Scheme == b.Scheme && a.Host == b.Host }
