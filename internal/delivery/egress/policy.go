// Package egress guards against server-side request forgery: no URL of an endpoint
// can lead Surehook to a machine of its own network. It decides which addresses are
// allowed, and makes the HTTP client.
//
// # Two checks
//
// CheckURL reads a URL when an endpoint is saved and at a redirect, and returns what
// is wrong with it, for the owner. The client from NewClient judges every address when
// it dials, after the name is resolved. Only the second check protects Surehook: after
// the first one, the name may resolve to another address.
//
// # Boundaries
//
// The package knows no endpoints, signatures or responses.
package egress

import (
	"net/netip"
	"slices"
	"strings"

	"code.dny.dev/ssrf"

	"surehook.example/surehook/internal/rule/private"
)

// Policy decides about addresses. The zero Policy is strict: https to public
// addresses on the ports 443, 8443, 80 and 8080.
type Policy struct {
	// Loopback also allows http, and 127.0.0.0/8 and ::1 on every port. Loopback is
	// for the local stack only.
	Loopback bool
	// Host is the name of one more allowed host, on every port, at private IPv4 addresses: the
	// machine on which the containers of the local stack run. It is ignored without Loopback.
	Host string
	// RuntimeAPI is the address of the Lambda runtime API, refused for every endpoint.
	// 127.0.0.1:9001 is always refused.
	RuntimeAPI netip.AddrPort
	// Own holds the hosts of Surehook's API, each for all ports, or with a port as "host:port".
	// CheckURL refuses them: a delivery to the API could create more events than the one
	// delivered.
	Own []string
	// Private allows what its list allows, and nothing else: no public address, and no loopback.
	// nil: the policy above.
	Private *private.List
}

// lambdaPort is the port of the runtime API in the sandboxes of Lambda.
const lambdaPort = 9001

// Verdict is a decision about an address, as the log has it.
type Verdict string

// The verdicts.
const (
	VerdictAllowed    Verdict = "allowed"
	VerdictReserved   Verdict = "reserved address" // no address of the public internet
	VerdictPort       Verdict = "port"             // a public address, but a port that is not for webhooks
	VerdictRuntimeAPI Verdict = "runtime API"      // the Lambda runtime API: source of events and credentials
	VerdictUnlisted   Verdict = "not listed"       // outside of the list of private receivers
)

// Judge decides about the address. Reserved addresses are all addresses in the IANA
// special-purpose registries, multicast, IPv6 outside of 2000::/3, and every IPv6
// form of an IPv4 address: mapped, compatible, NAT64, 6to4 and Teredo.
func (p Policy) Judge(addr netip.AddrPort) Verdict { return p.judgeFor(addr.Addr().String(), addr) }

// judgeFor decides about the address of a host: a list also decides about the host, and Host may have
// private addresses.
func (p Policy) judgeFor(host string, addr netip.AddrPort) Verdict {
	ip := addr.Addr()
	switch {
	case p.isRuntimeAPI(addr):
		return VerdictRuntimeAPI
	case p.Private != nil:
		return listed(p.Private.Allows(host, addr))
	case p.Loopback && ip.IsLoopback() && !ip.Is4In6() && ip.Zone() == "",
		p.isHost(host) && ip.Is4() && ip.IsPrivate():
		return VerdictAllowed
	case !isPublic(ip):
		return VerdictReserved
	}
	return judgePort(addr.Port())
}

func listed(allowed bool) Verdict {
	if allowed {
		return VerdictAllowed
	}
	return VerdictUnlisted
}

// isHost reports whether the host is the one extra host of the local stack.
func (p Policy) isHost(host string) bool {
	return p.Loopback && p.Private == nil && p.Host != "" && strings.EqualFold(host, p.Host)
}

// isRuntimeAPI reports whether the address leads to the Lambda runtime API. On loopback it
// compares only ports, because all loopback addresses may lead to the same listener.
func (p Policy) isRuntimeAPI(addr netip.AddrPort) bool {
	ip, own := addr.Addr().Unmap(), p.RuntimeAPI.Addr().Unmap()
	if ip.IsLoopback() {
		return addr.Port() == lambdaPort || own.IsLoopback() && addr.Port() == p.RuntimeAPI.Port()
	}
	return ip.IsValid() && ip == own && addr.Port() == p.RuntimeAPI.Port()
}

// isPublic reports whether the address is valid and not in ssrf's table of special-purpose
// addresses. The table treats an invalid address as an unlisted IPv4 address, so isPublic checks
// the validity first.
func isPublic(ip netip.Addr) bool {
	return ip.IsValid() && ssrf.New().SafeAddr(ip) == nil
}

func judgePort(port uint16) Verdict {
	if slices.Contains([]uint16{443, 8443, 80, 8080}, port) {
		return VerdictAllowed
	}
	return VerdictPort
}
