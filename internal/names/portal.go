package names

import (
	"net"
	"net/url"
	"regexp"
)

// ValidAccent reports whether the text is a color: "#" and six hexadecimal digits.
func ValidAccent(text string) bool { return accent.MatchString(text) }

var accent = regexp.MustCompile(`^#[0-9A-Fa-f]{6}$`)

// ValidOrigin reports whether the text is an origin for Content-Security-Policy: https, a
// host and perhaps a port, or http with a loopback host.
func ValidOrigin(text string) bool {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || text != u.Scheme+"://"+u.Host || !host.MatchString(u.Host) {
		return false
	}
	loopback := u.Hostname() == "localhost"
	if ip := net.ParseIP(u.Hostname()); ip != nil {
		loopback = ip.IsLoopback()
	}
	return u.Scheme == "https" || u.Scheme == "http" && loopback
}

// host holds no separator of Content-Security-Policy. A first label * permits all subdomains.
var host = regexp.MustCompile(`^(\*\.)?[A-Za-z0-9.-]+(:[0-9]{1,5})?$`)
