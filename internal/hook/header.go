package hook

import (
	"slices"
	"strings"
)

// The names that users cannot set, as HeaderName normalises them. Proxies and frameworks use
// the headers of the second part of each list to report about the client: a receiver that
// trusts Surehook's address would trust whatever the tenant puts there. Sources:
//   - addresses of clients: the list of npm's request-ip, and the documentation of
//     Cloudflare, Fastly, Akamai, Fly, Vercel, Netlify, Azure Front Door, CloudFront, App
//     Engine and Envoy
//   - paths, hosts and schemes: CVE-2018-14773 (X-Original-URL, X-Rewrite-URL), RFC 7239
//     (Forwarded), X-Forwarded-*, and its older forms in the page of MDN on X-Forwarded-Proto
//   - methods: the README of npm's method-override
//   - how a request passes through a program: CVE-2016-5385 (Proxy), CVE-2025-29927 (X-Middleware-Subrequest)
//
// The third part names a user or a client certificate that a proxy has checked: RFC 3875
// (Remote-User), RFC 9440 (Client-Cert), and the documentation of Kubernetes, oauth2-proxy,
// Grafana, Tailscale, nginx, AWS's load balancers, Google's IAP and Azure App Service.
var (
	reservedNames = []string{
		"host", "content-length", "content-type", "content-encoding", "transfer-encoding", "connection", "keep-alive",
		"te", "trailer", "upgrade", "http2-settings", "expect", "user-agent", "date", "traceparent", "tracestate", "accept-encoding",
		"x-event-id", "x-idempotency-key", "cookie", "set-cookie", "via",

		"forwarded", "x-forwarded", "x-host", "x-http-host-override", "x-http-method", "x-scheme", "x-url-scheme", "front-end-https", "proxy",

		"client-cert", "client-cert-chain", "x-client-cert",
	}
	reservedPrefixes = []string{
		"webhook-", "x-webhook-", "svix-", "surehook-", "proxy-", "sec-",

		"forwarded-", "x-forwarded-", "x-original-", "x-rewrite-", "cf-", "cloudfront-", "x-azure-", "x-appengine-", "x-envoy-",
		"x-vercel-", "x-middleware-",

		"remote-", "x-remote-", "x-auth-request-", "x-webauth-", "tailscale-", "ssl-client-", "x-ssl-client-", "x-amzn-oidc-", "x-amzn-mtls-",
		"x-goog-authenticated-", "x-goog-iap-", "x-ms-client-principal", "x-arr-",
	}
	reservedSuffixes = []string{
		"client-ip", "clientip", "real-ip", "connecting-ip", "connection-ip", "remote-ip", "remote-addr", "originating-ip", "user-ip", "method-override",
	}
)

// HeaderName returns the name as the most lenient receivers read it: in lower case, with "-" for
// everything but letters and digits.
func HeaderName(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, strings.ToLower(name))
}

// ReservedHeader reports whether users cannot set the header: framing, hop-by-hop and signature
// headers, and headers with which a proxy or a framework passes on the client's address, user
// or certificate, or changes the host, the path or the method. Names are compared as by
// HeaderName, because many servers read "_" as "-".
func ReservedHeader(name string) bool {
	name = HeaderName(name)
	return slices.Contains(reservedNames, name) ||
		slices.ContainsFunc(reservedPrefixes, func(prefix string) bool { return strings.HasPrefix(name, prefix) }) ||
		slices.ContainsFunc(reservedSuffixes, func(suffix string) bool { return strings.HasSuffix(name, suffix) })
}
