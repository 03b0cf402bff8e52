package private_test

import (
	"net/netip"
	"testing"

	"surehook.example/surehook/internal/rule/private"
)

// TestAttack_Parse_emptyParts: a rule whose tenants or hosts are written, but empty, as a template
// with an empty variable writes them, opens the rule to every tenant or host instead of to none.
func TestAttack_Parse_emptyParts(t *testing.T) {
	t.Parallel()

	for _, text := range []string{
		`[{"cidrs": ["10.20.0.0/16"], "ports": [443], "hosts": ["corp.internal"], "tenants": []}]`,
		`[{"cidrs": ["10.20.0.0/16"], "ports": [443], "hosts": [], "tenants": ["acme"]}]`,
	} {
		list, err := private.Parse([]byte(text))
		if err == nil {
			t.Errorf("Parse(%s) is taken: globex may reach erp.corp.internal: %t, acme any.test: %t", text,
				list.For("globex").AllowsName("erp.corp.internal", 443), list.For("acme").AllowsName("any.test", 443))
		}
	}
}

// TestAttack_List_partitions: the suffixes of AWS's partitions, from partitions.json of its SDK.
func TestAttack_List_partitions(t *testing.T) {
	t.Parallel()

	list := private.List{{CIDRs: []netip.Prefix{netip.MustParsePrefix("10.20.0.0/16")}, Ports: []uint16{443}}}
	for _, suffix := range []string{
		"amazonaws.com", "api.aws", "on.aws", "amazonaws.com.cn", "api.amazonwebservices.com.cn",
		"amazonaws.eu", "api.amazonwebservices.eu", // aws-eusc
		"c2s.ic.gov", "api.aws.ic.gov", "sc2s.sgov.gov", "api.aws.scloud", "cloud.adc-e.uk", "api.cloud-aws.adc-e.uk", "csp.hci.ic.gov", "api.aws.hci.ic.gov",
		"sagemaker.aws", "AMAZONAWS.COM", "amazonaws.com.",
	} {
		host := "sqs.x-1." + suffix
		if list.AllowsName(host, 443) || list.Allows(host, netip.MustParseAddrPort("10.20.0.9:443")) {
			t.Errorf("%s, a name of AWS, is allowed", host)
		}
	}
}
