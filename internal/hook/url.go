package hook

import (
	"net"
	"net/url"
	"strings"
)

// Receiver returns the form of an endpoint's URL that tells receivers apart: host
// in lower case, without the default port, and with "/" for an empty path. Paths
// and queries stay, because both can name a receiver.
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

// Origin returns the scheme, host and port of a URL, with the host in lower case and with
// the port also if it is the default one. URLs of one origin lead to the same server.
func Origin(rawURL string) string {
	u, err := url.Parse(rawURL)
	if err != nil {
		return rawURL
	}
	port := u.Port()
	switch {
	case port != "":
	case u.Scheme == "http":
		port = "80"
	default:
		port = "443"
	}
	return u.Scheme + "://" + net.JoinHostPort(strings.ToLower(u.Hostname()), port)
}

// Host returns the host of a URL without the port, in lower case; the URL itself if it
// has none.
func Host(rawURL string) string {
	u, err := url.Parse(rawURL)
	if err != nil || u.Host == "" {
		return rawURL
	}
	return strings.ToLower(u.Hostname())
}
