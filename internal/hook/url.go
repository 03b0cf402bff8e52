package hook

import (
	"cmp"
	"net"
	"net/url"
	"strings"
)

// Receiver returns an endpoint's URL in the form that tells receivers apart: the host in lower
// case, without the default port, and "/" for an empty path. Paths and queries are kept,
// because both can name a receiver.
func Receiver(rawURL string) string {
	u, err := url.Parse(rawURL)
	if err != nil {
		return rawURL
	}
	u.Host = strings.TrimSuffix(strings.ToLower(u.Host), ":443")
	if u.Path == "" {
		u.Path = "/"
	}
	u.Fragment = ""
	return u.String()
}

// Origin returns the scheme, host and port of a URL, with the host in lower case and always
// with the port. URLs with the same origin lead to the same server.
func Origin(rawURL string) string {
	u, err := url.Parse(rawURL)
	if err != nil {
		return rawURL
	}
	port := cmp.Or(u.Port(), map[string]string{"http": "80"}[u.Scheme], "443")
	return u.Scheme + "://" + net.JoinHostPort(strings.ToLower(u.Hostname()), port)
}

// Host returns the host of a URL in lower case, without the port; the URL itself if it has no
// host.
func Host(rawURL string) string {
	u, err := url.Parse(rawURL)
	if err != nil || u.Host == "" {
		return rawURL
	}
	return strings.ToLower(u.Hostname())
}

// IsWithin reports whether the host is the domain or a name below it. Both are in lower case, without
// a dot at the end.
func IsWithin(host, domain string) bool { return host == domain || strings.HasSuffix(host, "."+domain) }
