// Package egress knows which addresses Surehook may dial and holds its HTTP
// client to them, so that an endpoint's URL can never make it talk to a
// machine of its own network (server-side request forgery).
//
// It checks twice. CheckURL reads a URL when it is registered or redirected to
// and tells its owner what is wrong with it. The client of NewClient judges
// every address at the moment it is dialed, after the name was resolved: that
// check alone is the guard, because a name may resolve to something else by then.
//
// It knows nothing of endpoints, signatures and answers.
package egress

import (
	"net/netip"
	"slices"

	"code.dny.dev/ssrf"
)

// Policy says which addresses may be dialed. The zero Policy is the strict one:
// https to public addresses on the ports 443, 8443, 80 and 8080.
type Policy struct {
	// Loopback also allows http, and 127.0.0.0/8 and ::1 on any port. It is
	// for the local stack only.
	Loopback bool
	// RuntimeAPI is where this process reaches the Lambda runtime API, never
	// to be dialed on behalf of an endpoint. 127.0.0.1:9001 is refused anyway.
	RuntimeAPI netip.AddrPort
}

// lambdaPort is where Lambda's own sandboxes listen for the runtime API.
const lambdaPort = 9001

// Verdict says whether an address may be dialed, and if not, why.
type Verdict uint8

// The verdicts. The zero Verdict is not valid.
const (
	VerdictAllowed    Verdict = iota + 1
	VerdictReserved           // not an address of the public internet
	VerdictPort               // public, but not a port that webhooks are sent to
	VerdictRuntimeAPI         // the Lambda runtime API, which hands out events and credentials
)

// String returns the verdict as it appears in logs.
func (v Verdict) String() string {
	switch v {
	case VerdictAllowed:
		return "allowed"
	case VerdictReserved:
		return "reserved address"
	case VerdictPort:
		return "port"
	case VerdictRuntimeAPI:
		return "runtime API"
	}
	return "unknown"
}

// Judge says whether the address may be dialed. Reserved is whatever the IANA
// special-purpose address registries list, multicast, all IPv6 outside of
// 2000::/3, and every way of writing an IPv4 address as an IPv6 one: mapped,
// compatible, NAT64, 6to4 and Teredo.
func (p Policy) Judge(addr netip.AddrPort) Verdict {
	ip := addr.Addr()
	switch {
	case p.runtimeAPI(addr):
		return VerdictRuntimeAPI
	case p.Loopback && ip.IsLoopback() && !ip.Is4In6() && ip.Zone() == "":
		return VerdictAllowed
	case !public(ip):
		return VerdictReserved
	}
	return judgePort(addr.Port())
}

// runtimeAPI compares ports only on loopback, where all addresses may lead to
// the same listener.
func (p Policy) runtimeAPI(addr netip.AddrPort) bool {
	ip, own := addr.Addr().Unmap(), p.RuntimeAPI.Addr().Unmap()
	if ip.IsLoopback() {
		return addr.Port() == lambdaPort || own.IsLoopback() && addr.Port() == p.RuntimeAPI.Port()
	}
	return ip.IsValid() && ip == own && addr.Port() == p.RuntimeAPI.Port()
}

// public asks the table of special-purpose addresses. The table takes an
// invalid address for an IPv4 one that it does not list.
func public(ip netip.Addr) bool {
	return ip.IsValid() && ssrf.New().SafeAddr(ip) == nil
}

func judgePort(port uint16) Verdict {
	if slices.Contains([]uint16{443, 8443, 80, 8080}, port) {
		return VerdictAllowed
	}
	return VerdictPort
}
