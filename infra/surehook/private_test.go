package surehook

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-cdk-go/awscdk/v2/awsec2"
	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/names"
	"surehook.example/surehook/internal/rule/private"
)

// TestPrivate checks the sender in the private network: its list, its subnets, and the security group
// that lets out to the networks and ports of the list alone.
func TestPrivate(t *testing.T) {
	t.Parallel()

	tpl := templateOf(t, "allocated")
	f := tpl.get(t, "AWS::Lambda::Function", "PrivateSender")
	f.check(t, "FunctionName", names.PrivateSender("surehook-allocated"))
	if got := show(f.at("VpcConfig")); got != `{"Ipv6AllowedForDualStack":true,"SecurityGroupIds":[{"Fn::GetAtt":["PrivateGroup","GroupId"]}],"SubnetIds":["subnet-0a1b2c3d","subnet-4e5f6a7b"]}` {
		t.Errorf("the sender is in %s; want the given subnets and the group of the list", got)
	}
	want := map[string]string{"SUREHOOK_EGRESS": names.EgressPublic, "SUREHOOK_ENVIRONMENT": "surehook-allocated", "SUREHOOK_PRIVATE_ALLOW": privateList, "SUREHOOK_PRIVATE_CA": corpCA}
	if diff := cmp.Diff(want, variables(f)); diff != "" {
		t.Errorf("environment (-want +got):\n%s", diff)
	}
	for name, has := range map[string]bool{"Manage": true, "Deliver": false, "FixedSender": false} {
		if got := variables(tpl.get(t, "AWS::Lambda::Function", name))["SUREHOOK_PRIVATE_ALLOW"]; (got == privateList) != has || !has && got != "" {
			t.Errorf("%s has the list %q; want it: %t", name, got, has)
		}
	}
	group := tpl.get(t, "AWS::EC2::SecurityGroup", "PrivateGroup")
	group.check(t, "VpcId", "vpc-0a1b2c3d")
	var out []string
	rules, _ := group.at("SecurityGroupEgress").([]any)
	for _, r := range rules {
		rule, _ := r.(map[string]any)
		out = append(out, fmt.Sprint(rule["IpProtocol"], " ", rule["CidrIp"], " ", rule["CidrIpv6"], " ", rule["FromPort"], "-", rule["ToPort"]))
	}
	slices.Sort(out)
	all := []string{"tcp 10.20.0.0/16 <nil> 443-443", "tcp 10.20.0.0/16 <nil> 9443-9443", "tcp <nil> fd12:3456::/48 443-443", "tcp <nil> fd12:3456::/48 9443-9443"}
	if !slices.Equal(out, all) || group.at("SecurityGroupIngress") != nil || len(tpl.all("AWS::EC2::SecurityGroupEgress")) > 0 {
		t.Errorf("the group lets out to %v; want %v, and nothing in", out, all)
	}
	for _, role := range []string{"DeliverRole", "ManageRole"} {
		const sender = "arn:${AWS::Partition}:lambda:${AWS::Region}:${AWS::AccountId}:function:surehook-allocated-sender-private"
		if got := grantsOf(t, tpl)[role][sender]; !slices.Equal(got, []string{"lambda:InvokeFunction"}) {
			t.Errorf("%s may %v the sender; want it called", role, got)
		}
	}
	for _, alarm := range []string{"sender-private-errors", "sender-private-throttles"} {
		if _, ok := alarmsOf(t, "allocated")[alarm]; !ok {
			t.Errorf("no alarm %s", alarm)
		}
	}
	for on, actions := range grantsOf(t, tpl)["PrivateSenderRole"] {
		for _, action := range actions {
			if !strings.HasPrefix(action, "logs:") && !strings.HasPrefix(action, "ec2:") {
				t.Errorf("the sender may %s on %s; want its log, and the interfaces that Lambda makes", action, on)
			}
		}
	}
}

// TestPrivate_ipv6Alone checks that a list without IPv4 has a rule of IPv4, which lets nothing out.
func TestPrivate_ipv6Alone(t *testing.T) {
	t.Parallel()

	list, err := private.Parse([]byte(`[{"cidrs":["fd12:3456::/48"],"ports":[443]}]`))
	if err != nil {
		t.Fatal(err)
	}
	rules := ruledOut(list)
	first, ok := rules[0].(*awsec2.CfnSecurityGroup_EgressProperty)
	if len(rules) != 2 || !ok || *first.CidrIp != "255.255.255.255/32" || *first.IpProtocol != "icmp" {
		t.Errorf("ruledOut = %+v; want a rule of IPv4 that no packet fits, and that of the list", rules)
	}
}

// TestPrivate_check checks that each wrong setting is refused before anything is made.
func TestPrivate_check(t *testing.T) {
	t.Parallel()

	const list = `[{"cidrs":["10.20.0.0/16"],"ports":[443]}]`
	subnets := []string{"subnet-0a1b2c3d"}
	for want, n := range map[string]Private{
		"":                                {Allow: list},
		"private_allow[0].cidrs[0]":       {Allow: `[{"cidrs":["0.0.0.0/0"],"ports":[443]}]`},
		"private_allow[0].hosts[0]":       {Allow: `[{"cidrs":["10.20.0.0/16"],"hosts":["sqs.amazonaws.com"],"ports":[443]}]`},
		"and 900 is the most":             {Allow: `[{"cidrs":["10.20.0.0/16"],"ports":[443]` + strings.Repeat(" ", 900) + `}]`},
		"needs the list of its receivers": {VPC: "vpc-0a1b2c3d"},
		"and 3000 is the most":            {Allow: list, CA: strings.Repeat("x", 3001)},
		"must be PEM":                     {Allow: list, CA: "corp"},
		"need subnets":                    {Allow: list, Groups: []string{"sg-0a1b2c3d"}},
		"need dual-stack subnets":         {Allow: privateList},
		"either their VPC or security":    {Allow: list, Subnets: subnets},
		"or security groups of yours":     {Allow: list, Subnets: subnets, VPC: "vpc-0a1b2c3d", Groups: []string{"sg-0a1b2c3d"}},
		`"vpc" is not a VPC`:              {Allow: list, Subnets: subnets, VPC: "vpc"},
		`"a" is not a subnet`:             {Allow: list, Subnets: []string{"a"}, VPC: "vpc-0a1b2c3d"},
		`"g" is not a security group`:     {Allow: list, Subnets: subnets, Groups: []string{"g"}},
	} {
		env := environments("arm64")[2]
		env.Private = n
		if err := env.Validate(); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("Validate of %+v = %v; want %q", n, err, want)
		}
	}
	env := environments("arm64")[2]
	env.FixedZones, env.Private = 1, Private{Allow: list}
	if err := env.Validate(); err == nil || !strings.Contains(err.Error(), "raise its quota") {
		t.Errorf("Validate with two senders of the own region = %v; want their executions refused", err)
	}
}
