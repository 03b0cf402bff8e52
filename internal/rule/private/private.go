// Package private holds the allow-list of a deployment for private receivers: which hosts,
// addresses and ports of the operator's networks an endpoint with egress private may reach. The
// list is a setting of the deployment, and no caller of the API can change it.
//
// The same rule reads the list at synthesis and at the start of the sender, judges the URL of an
// endpoint, and judges each address that the sender dials.
package private

import (
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"surehook.example/surehook/internal/hook"
)

// Bounds of a list.
const (
	maxRules   = 20
	maxTargets = 60 // AWS takes 60 outbound rules in a security group
)

// hostName matches a domain name in lower case, without a dot at its ends.
var hostName = regexp.MustCompile(`^([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z]([a-z0-9-]{0,61}[a-z0-9])?$`)

type network struct {
	within netip.Prefix
	bits   int // at least, of a network of a rule
}

// networks are those that a list may have.
var networks = []network{
	{netip.MustParsePrefix("10.0.0.0/8"), 12},
	{netip.MustParsePrefix("172.16.0.0/12"), 12},
	{netip.MustParsePrefix("192.168.0.0/16"), 12},
	{netip.MustParsePrefix("100.64.0.0/10"), 12},
	{netip.MustParsePrefix("fc00::/7"), 40},
}

// metadata has the services of AWS in fc00::/7: metadata and credentials of instances and pods, DNS
// and time.
var metadata = netip.MustParsePrefix("fd00:ec2::/32")

// List is an allow-list. The empty List allows nothing.
type List []Rule

// Rule allows requests that fit all its parts.
type Rule struct {
	CIDRs   []netip.Prefix  `json:"-"`       // of the dialed address
	Hosts   []string        `json:"hosts"`   // names in lower case, each with all names below it; empty: any host, also an IP address
	Ports   []uint16        `json:"ports"`   // of the URL
	Tenants []hook.TenantID `json:"tenants"` // whose endpoints; empty: all
}

// form is a rule as it is written, with the networks as texts, so that an error can name each one.
type form struct {
	Rule

	CIDRs []string `json:"cidrs"`
}

// Parse parses a list: JSON such as
//
//	[{"cidrs": ["10.20.0.0/16"], "hosts": ["corp.example.com"], "ports": [443], "tenants": ["acme"]}]
//
// A rule needs CIDRs and ports. An empty text means no list: nil. The error is a *hook.Error with
// CodeInvalid, and names each wrong part.
func Parse(text []byte) (List, error) {
	if len(text) == 0 {
		return nil, nil
	}
	var forms []form
	if err := json.Unmarshal(text, &forms, json.RejectUnknownMembers(true)); err != nil {
		return nil, hook.Invalid(hook.FieldError{Field: "private_allow", Message: "must be a JSON list of rules with cidrs, ports, hosts and tenants: " + err.Error()})
	}
	var wrong hook.Fields
	wrong.Refuse(len(forms) == 0 || len(forms) > maxRules, "private_allow", "must have 1 to %d rules", maxRules)
	list := make(List, len(forms))
	for i, f := range forms {
		list[i] = f.rule(fmt.Sprintf("private_allow[%d].", i), &wrong)
	}
	if n := len(list.Targets()); n > maxTargets {
		wrong.Add("private_allow", "has %d pairs of CIDR and port, and %d is the most", n, maxTargets)
	}
	if len(wrong) > 0 {
		return nil, hook.Invalid(wrong...)
	}
	return list, nil
}

func (f form) rule(field string, wrong *hook.Fields) Rule {
	r := f.Rule
	wrong.Refuse(len(f.CIDRs) == 0, field+"cidrs", "must name at least one network, such as 10.20.0.0/16")
	for i, text := range f.CIDRs {
		cidr, err := netip.ParsePrefix(text)
		if message := checkCIDR(cidr, err); message != "" {
			wrong.Add(fmt.Sprintf("%scidrs[%d]", field, i), "%q %s", text, message)
			continue
		}
		r.CIDRs = append(r.CIDRs, cidr)
	}
	for i, host := range f.Hosts {
		wrong.Refuse(len(host) > 253 || !hostName.MatchString(host), fmt.Sprintf("%shosts[%d]", field, i),
			"%q must be a name in lower case, such as corp.example.com, which stands for itself and all names below it", host)
		wrong.Refuse(ofAWS(host), fmt.Sprintf("%shosts[%d]", field, i), "%q is a name of AWS", host)
	}
	const empty = "must name at least one, or be left out for all" // as a template with an empty variable would write it
	wrong.Refuse(f.Hosts != nil && len(f.Hosts) == 0, field+"hosts", empty)
	wrong.Refuse(f.Tenants != nil && len(f.Tenants) == 0, field+"tenants", empty)
	wrong.Refuse(len(f.Ports) == 0, field+"ports", "must name at least one port, such as 443")
	for i, port := range f.Ports {
		wrong.Refuse(port == 0, fmt.Sprintf("%sports[%d]", field, i), "must be 1 to 65535")
	}
	for i, name := range f.Tenants {
		_, err := hook.ParseTenantID(string(name))
		wrong.Refuse(err != nil, fmt.Sprintf("%stenants[%d]", field, i), "%q %s", name, hook.TenantRule)
	}
	return r
}

// checkCIDR returns what is wrong with a network, as the end of a sentence; empty for nothing.
func checkCIDR(cidr netip.Prefix, err error) string {
	switch {
	case err != nil:
		return "must be a network such as 10.20.0.0/16"
	case cidr != cidr.Masked():
		return "must end its network with zeros: " + cidr.Masked().String()
	case cidr.Overlaps(metadata):
		return "must not have addresses of AWS's own services, " + metadata.String()
	}
	for _, n := range networks {
		if !n.within.Contains(cidr.Addr()) || cidr.Bits() < n.within.Bits() {
			continue
		}
		if cidr.Bits() < n.bits {
			return fmt.Sprintf("must be /%d or smaller", n.bits)
		}
		return ""
	}
	return "must lie within 10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16, 100.64.0.0/10 or fc00::/7"
}

// For returns the rules for the endpoints of the tenant.
func (l List) For(tenant hook.TenantID) List {
	rules := List{}
	for _, r := range l {
		if len(r.Tenants) == 0 || slices.Contains(r.Tenants, tenant) {
			rules = append(rules, r)
		}
	}
	return rules
}

// AllowsName reports whether the host of a URL may lead to an allowed address. The addresses decide
// when they are dialed.
func (l List) AllowsName(host string, port uint16) bool {
	return slices.ContainsFunc(l, func(r Rule) bool { return r.allowsName(host, port) })
}

// Allows reports whether the address of the host may be dialed. It judges the address itself, not
// the rule alone. A network contains no address of another form, such as a mapped one, and none with
// a zone.
func (l List) Allows(host string, address netip.AddrPort) bool {
	ip := address.Addr()
	private := func(n network) bool { return n.within.Contains(ip) }
	return slices.ContainsFunc(networks, private) && !metadata.Contains(ip) && slices.ContainsFunc(l, func(r Rule) bool {
		return r.allowsName(host, address.Port()) && slices.ContainsFunc(r.CIDRs, func(c netip.Prefix) bool { return c.Contains(ip) })
	})
}

func (r Rule) allowsName(host string, port uint16) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	below := func(name string) bool { return hook.IsWithin(host, name) }
	return !ofAWS(host) && slices.Contains(r.Ports, port) && (len(r.Hosts) == 0 || slices.ContainsFunc(r.Hosts, below))
}

// Target is what the sender's security group lets out.
type Target struct {
	CIDR netip.Prefix
	Port uint16
}

// Targets returns the pairs of network and port of all rules, each once, in the order of the rules.
func (l List) Targets() []Target {
	var all []Target
	for _, r := range l {
		for _, cidr := range r.CIDRs {
			for _, port := range r.Ports {
				if t := (Target{cidr, port}); !slices.Contains(all, t) {
					all = append(all, t)
				}
			}
		}
	}
	return all
}

// ofAWS reports whether the name belongs to services of AWS, which a VPC can resolve to private
// addresses.
func ofAWS(host string) bool {
	return slices.ContainsFunc(AWSDomains(), func(domain string) bool { return hook.IsWithin(host, domain) })
}

// AWSDomains returns the domains of AWS's services in all partitions. No list has a name below one.
func AWSDomains() []string {
	return []string{
		"amazonaws.com", "aws", "amazonaws.com.cn", "amazonwebservices.com.cn", "amazonaws.eu", "amazonwebservices.eu",
		"ic.gov", "sgov.gov", "scloud", "adc-e.uk",
	}
}
