package egress

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"surehook.example/surehook/internal/hook"
)

var (
	// hostName matches two or more labels of letters, digits, - and _. DNS allows _, and some
	// hosts have names with it.
	hostName = regexp.MustCompile(`^([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?\.)+[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$`)
	// number matches a numeric last label. If the last label is numeric, the WHATWG URL standard
	// and the C library read the whole host as an IPv4 address.
	number = regexp.MustCompile(`(^|\.)([0-9]+|0x[0-9a-f]*)$`)
)

// maxHost limits a host name in bytes (RFC 1035, section 2.3.4).
const maxHost = 253

// CheckURL returns what is wrong with an endpoint's URL, as the end of a sentence after "url";
// empty if nothing is. The client judges the resolved addresses when it dials.
//
// CheckURL accepts each host in one form only. Parsers disagree about the other forms (2130706433,
// 0177.1, 127.1, [::1%lo], a trailing dot, backslashes): some read a name, others an address.
func (p Policy) CheckURL(raw string) string {
	switch {
	case raw == "":
		return "is missing"
	case len(raw) > hook.MaxURL:
		return fmt.Sprintf("must be at most %d bytes", hook.MaxURL)
	case !strings.Contains(raw, "/") && strings.Contains(raw, " "): // words, where an escaped space would help nobody
		return "must be a URL such as https://example.com/hooks"
	case strings.ContainsFunc(raw, func(r rune) bool { return r < '!' || r == 0x7f }):
		return "must not contain spaces, line breaks or other control characters; write a space as %20"
	case strings.ContainsFunc(raw, func(r rune) bool { return r > '~' }):
		return "must have visible ASCII characters only; write an international host name in its xn-- form, and others as their bytes, such as %C3%A9"
	case strings.Contains(raw, `\`):
		return "must not hold a backslash"
	case strings.Contains(raw, "#"):
		return "must not have a fragment, from # on"
	}

	u, err := url.Parse(raw)
	_, isEscape := errors.AsType[url.EscapeError](err)
	switch {
	case isEscape:
		return "must have % only before two hex digits, and not in the host; write % itself as %25"
	case err != nil:
		return "must be a URL such as https://example.com/hooks"
	case u.Scheme == "http" && !p.Loopback, u.Scheme != "http" && u.Scheme != "https":
		return "must begin with https://"
	case u.User != nil:
		return "must not hold a user name or password"
	case u.Hostname() == "":
		return "must name a host after https://"
	}

	port, ok := portOf(u)
	if !ok {
		return "must have a valid port or none"
	}
	return p.checkHost(u, port)
}

// portOf returns the port of the URL, or the default port of the scheme; false if the
// port is not a plain number from 1 to 65535.
func portOf(u *url.URL) (uint16, bool) {
	if text := u.Port(); text != "" {
		port, err := strconv.ParseUint(text, 10, 16)
		return uint16(port), err == nil && port > 0 && strconv.FormatUint(port, 10) == text
	}
	if u.Scheme == "http" {
		return 80, !strings.HasSuffix(u.Host, ":")
	}
	return 443, !strings.HasSuffix(u.Host, ":")
}

// checkHost is CheckURL for the host and the port of the URL.
func (p Policy) checkHost(u *url.URL, port uint16) string {
	host := strings.ToLower(u.Hostname())
	bracketed := strings.HasPrefix(u.Host, "[")

	if p.isOwn(host, port) {
		return "must not lead to the API of Surehook itself"
	}
	if p.isHost(host) {
		return ""
	}
	if ip, err := netip.ParseAddr(host); err == nil && ip.Is6() == bracketed {
		return explainVerdict(p.Judge(netip.AddrPortFrom(ip, port)))
	}
	switch {
	case bracketed, number.MatchString(host):
		return "must write an IP address in its plain form, such as 192.0.2.1 or [2001:db8::1]"
	case hook.IsWithin(host, "localhost"):
		return explainVerdict(p.Judge(netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), port)))
	case strings.HasSuffix(host, "."):
		return "must not end its host with a dot"
	case p.Private == nil && (!strings.Contains(host, ".") || hook.IsWithin(host, "internal") || hook.IsWithin(host, "local")):
		return "must name a host of the public internet"
	case len(host) > maxHost, !hostName.MatchString(host):
		return "must have a valid host name"
	case p.Private != nil:
		return explainVerdict(listed(p.Private.AllowsName(host, port)))
	}
	return explainVerdict(judgePort(port))
}

// isOwn reports whether the host and port belong to Surehook's API.
func (p Policy) isOwn(host string, port uint16) bool {
	return slices.ContainsFunc(p.Own, func(own string) bool {
		return strings.EqualFold(own, host) || strings.EqualFold(own, net.JoinHostPort(host, strconv.Itoa(int(port))))
	})
}

// explainVerdict returns the text of a verdict for the URL's owner.
func explainVerdict(v Verdict) string {
	switch v {
	case VerdictAllowed:
		return ""
	case VerdictPort:
		return "must use port 443, 8443, 80 or 8080"
	case VerdictUnlisted:
		return "must lead to a host and port that the deployment lists for private receivers"
	case VerdictReserved, VerdictRuntimeAPI:
		return "must not lead to a private, loopback or otherwise reserved address"
	}
	return "cannot be judged"
}
