package surehook

import (
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"surehook.example/surehook/internal/rule/private"
)

// What a released template takes of a list: one rule of package private. CloudFormation makes no
// rule of a security group for each element of a list, so the template has all that there can be,
// each with a condition.
const (
	mostCIDRs     = 4
	mostIPv6CIDRs = 2
	mostPorts     = 2
	mostHosts     = 5
	mostTenants   = 5
	mostSubnets   = 6
)

// hasPrivate is the condition of a deployment with private receivers, and of all that they need.
const hasPrivate = "HasPrivate"

// The forms of the elements. What they cannot say, such as the zeros after a network, the sender's
// start refuses.
const (
	octet    = `(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])`
	bits12   = `/(1[2-9]|2[0-9]|3[0-2])`
	ipv4CIDR = `(10(\.` + octet + `){3}` + bits12 + `|172\.(1[6-9]|2[0-9]|3[01])(\.` + octet + `){2}` + bits12 +
		`|192\.168(\.` + octet + `){2}/(1[6-9]|2[0-9]|3[0-2])|100\.(6[4-9]|[7-9][0-9]|1[01][0-9]|12[0-7])(\.` + octet + `){2}` + bits12 + `)`
	ipv6CIDR   = `f[cd][0-9a-f]{2}(:[0-9a-f]{1,4}){1,7}(::)?/(4[0-9]|[5-9][0-9]|1[01][0-9]|12[0-8])`
	portNumber = `([1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])`
	hostName   = `([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z]([a-z0-9-]{0,61}[a-z0-9])?`
	tenantID   = `[A-Za-z0-9_.|:@+-]{1,128}`
)

// upTo returns the pattern of elements with commas between.
func upTo(most int, element string) string {
	return fmt.Sprintf("%s(,%s){0,%d}", element, element, most-1)
}

// element is one element of a list, which may be shorter.
type element struct {
	value *string
	has   awscdk.CfnCondition
}

// only returns what there is with the element, and nothing without it.
func (e element) only(what any) any {
	return awscdk.Fn_ConditionIf(e.has.LogicalId(), what, awscdk.Aws_NO_VALUE())
}

// elements returns the elements of a parameter, and those that it lacks.
func elements(stack awscdk.Stack, name string, value *string, most int) []element {
	var all []element
	padded := *value + strings.Repeat(",", most)
	for i, one := range *awscdk.Fn_Split(jsii.String(","), &padded, jsii.Number(most)) {
		all = append(all, element{one, isSet(stack, fmt.Sprint("Has", name, i+1), one)})
	}
	return all
}

// networkOf adds the parameters of private receivers to a released template, and returns their values
// and the network that they make.
func networkOf(stack awscdk.Stack) (*network, map[string]*string) {
	values := map[string]*string{}
	for _, p := range []parameter{
		{name: "PrivateVpc", about: "The VPC of the sender to private receivers", pattern: `vpc-([0-9a-f]{8}|[0-9a-f]{17})`},
		{name: "PrivateSubnets", about: "Subnets of that VPC, with commas between", pattern: upTo(mostSubnets, `subnet-([0-9a-f]{8}|[0-9a-f]{17})`)},
		{
			name: "PrivateCidrs", about: fmt.Sprintf("Up to %d networks of private receivers, with commas between; empty for none", mostCIDRs), pattern: upTo(mostCIDRs, ipv4CIDR), longest: 80,
			must: "must be networks within 10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16 or 100.64.0.0/10, each /12 or smaller",
		},
		{
			name: "PrivateIpv6Cidrs", about: fmt.Sprintf("Up to %d more, of IPv6, for dual-stack subnets", mostIPv6CIDRs), pattern: upTo(mostIPv6CIDRs, ipv6CIDR), never: `(.*,)?fd00:0?ec2:.*`, longest: 90,
			must: "must be networks within fc00::/7, each /40 or smaller, in lower case, and without addresses of AWS's own services",
		},
		{name: "PrivatePorts", about: fmt.Sprintf("Up to %d ports of private receivers", mostPorts), value: "443", pattern: upTo(mostPorts, portNumber), required: true},
		{
			name: "PrivateHosts", about: fmt.Sprintf("Up to %d names, each with all names below it; empty for any", mostHosts), pattern: upTo(mostHosts, hostName), never: awsNames(), longest: 250,
			must: "must be names in lower case, such as corp.example.com, and none of AWS",
		},
		{name: "PrivateTenants", about: fmt.Sprintf("Up to %d tenants whose endpoints may use them; empty for all", mostTenants), pattern: upTo(mostTenants, tenantID), longest: 130},
		{name: "PrivateCa", about: "PEM of authorities that the receivers' certificates may have, beside the public ones", pattern: `(-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----\s*)+`, longest: maxPrivateCA},
	} {
		values[p.name] = p.in(stack)
	}
	isSet(stack, hasPrivate, values["PrivateCidrs"])
	ipv4, ipv6 := elements(stack, "PrivateCidr", values["PrivateCidrs"], mostCIDRs), elements(stack, "PrivateIpv6Cidr", values["PrivateIpv6Cidrs"], mostIPv6CIDRs)
	ports := elements(stack, "PrivatePort", values["PrivatePorts"], mostPorts)
	return &network{
		allow: listOf(stack, values), ca: *values["PrivateCa"], vpc: values["PrivateVpc"], subnets: split(values["PrivateSubnets"]),
		rules:    append(rulesTo("CidrIp", ipv4, ports), rulesTo("CidrIpv6", ipv6, ports)...),
		overIPv6: awscdk.Fn_ConditionIf(ipv6[0].has.LogicalId(), true, false),
	}, values
}

func split(value *string) *[]*string { return awscdk.Fn_Split(jsii.String(","), value, nil) }

// listOf returns the JSON of the list, see package private: one rule of all parameters.
func listOf(stack awscdk.Stack, values map[string]*string) string {
	quoted := func(name string) string { return `"` + *awscdk.Fn_Join(jsii.String(`","`), split(values[name])) + `"` }
	maybe := func(name, text string) string {
		has := isSet(stack, "Has"+name, values[name])
		return *awscdk.Fn_ConditionIf(has.LogicalId(), text, "").ToString()
	}
	return `[{"cidrs":[` + quoted("PrivateCidrs") + maybe("PrivateIpv6Cidrs", ","+quoted("PrivateIpv6Cidrs")) + `],"ports":[` + *values["PrivatePorts"] + "]" +
		maybe("PrivateHosts", `,"hosts":[`+quoted("PrivateHosts")+"]") + maybe("PrivateTenants", `,"tenants":[`+quoted("PrivateTenants")+"]") + "}]"
}

// rulesTo returns a rule of the security group for each network and port.
func rulesTo(property string, cidrs, ports []element) []any {
	var rules []any
	for _, cidr := range cidrs {
		for _, port := range ports {
			rules = append(rules, cidr.only(port.only(map[string]any{
				"IpProtocol": "tcp", "FromPort": port.value, "ToPort": port.value, property: cidr.value, "Description": "receivers",
			})))
		}
	}
	return rules
}

// awsNames matches a list of names with one of AWS.
func awsNames() string {
	return `(.*[.,])?(` + strings.ReplaceAll(strings.Join(private.AWSDomains(), "|"), ".", `\.`) + `)(,.*)?$`
}

// ifPrivate returns what there is with private receivers, or without.
func ifPrivate(what, without any) awscdk.ICfnRuleConditionExpression {
	return awscdk.Fn_ConditionIf(jsii.String(hasPrivate), what, without)
}

// makePrivateOptional makes everything about private receivers depend on their parameters.
func makePrivateOptional(p plan) {
	has := awscdk.Stack_Of(p.Construct).Node().FindChild(jsii.String(hasPrivate)).(awscdk.CfnCondition) //nolint:forcetypeassert,errcheck // made by networkOf
	for _, child := range *p.Construct.Node().Children() {
		if !isOfPrivate(child) {
			continue
		}
		for _, one := range *child.Node().FindAll(constructs.ConstructOrder_PREORDER) {
			if r, ok := one.(awscdk.CfnResource); ok {
				r.CfnOptions().SetCondition(has)
			}
		}
	}
	takesEmpty(p.Construct.Node().FindChild(jsii.String("PrivateGroup")).(awscdk.CfnResource)) //nolint:forcetypeassert,errcheck // made by newPrivate
	p.Functions.Manage.AddEnvironment(jsii.String("SUREHOOK_PRIVATE_ALLOW"), ifPrivate(p.release.private.allow, "").ToString(), nil)
	body := cfnOf[awscloudwatch.CfnDashboard](p.Monitor.Dashboard)
	body.AddPropertyOverride(jsii.String("DashboardBody"), ifPrivate(body.DashboardBody(), withoutPrivate(p)))
}

// isOfPrivate reports whether the part is there for the sender, the only one of such a release.
func isOfPrivate(part constructs.IConstruct) bool {
	return strings.Contains(*part.Node().Id(), "Sender") || *part.Node().Id() == "PrivateGroup"
}

// withoutPrivate returns the dashboard of a deployment without private receivers.
func withoutPrivate(p plan) *string {
	own, scope := p.Construct, jsii.String("WithoutPrivate")
	p.Construct, p.Functions.Private = constructs.NewConstruct(own, scope), nil
	others := slices.DeleteFunc(slices.Clone(p.Monitor.Alarms), func(a awscloudwatch.Alarm) bool { return isOfPrivate(a) })
	body := cfnOf[awscloudwatch.CfnDashboard](newDashboard(p, others)).DashboardBody()
	own.Node().TryRemoveChild(scope)
	return body
}
