package surehook

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/rule/private"
)

// TestNewRelease_equal checks that a released template, with parameters, is what CDK deploys
// with the same settings, under the same logical ids: each can take over a stack of the other.
func TestNewRelease_equal(t *testing.T) {
	t.Parallel()

	custom := customised()
	values := map[string]string{
		"AlarmEmail": custom.AlarmEmail, "ApiDomain": custom.Domain.Name, "ApiCertificate": custom.Domain.CertificateARN,
		"EndpointsPerHost": "20", "SignatureProfiles": custom.SignatureProfiles, "Signatures": "standard,acme",
		"PortalName": custom.Portal.Name, "PortalAccent": custom.Portal.Accent, "PortalLogo": custom.Portal.Logo, "PortalEmbedders": custom.Portal.Embedders[0],
		"OidcIssuer": custom.SignIn.Issuer, "OidcClientId": custom.SignIn.ClientID, "OidcRoles": custom.SignIn.Roles, "OidcClaim": custom.SignIn.Claim,
		"OidcScopes": custom.SignIn.Scopes, "OidcOrigins": custom.SignIn.Origins[0],
		"SealingKey": custom.SealingKey, "PermissionsBoundary": custom.PermissionsBoundary, "LogDays": "365",
	}
	tests := []struct {
		name   string
		cdk    string // the template of CDK
		env    string // of the release
		stack  string
		values map[string]string // of parameters
	}{
		{name: "prod", cdk: "prod", env: "prod", stack: "surehook-prod"},
		{name: "all settings", cdk: "custom", env: "custom", stack: "surehook-custom", values: values},
		{name: "another prefix", cdk: "foreign", env: "custom", stack: "shop-webhooks", values: values},
		{name: "private receivers", cdk: "private", env: "prod", stack: "surehook-prod", values: map[string]string{
			"PrivateVpc": "vpc-0a1b2c3d", "PrivateSubnets": "subnet-0a1b2c3d,subnet-4e5f6a7b", "PrivateCidrs": "10.20.0.0/16,10.30.4.0/24", "PrivateIpv6Cidrs": "fd12:3456::/48",
			"PrivatePorts": "443,9443", "PrivateHosts": "corp.example.com,acme.internal", "PrivateTenants": "acme,globex", "PrivateCa": corpCA,
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			released := templateOf(t, "released "+tt.env)
			parameters := map[string]string{"AWS::StackName": tt.stack}
			for name, p := range released.Parameters {
				parameters[name], _ = p["Default"].(string)
			}
			for name, value := range tt.values {
				if _, ok := parameters[name]; !ok {
					t.Errorf("the template has no parameter %s", name)
				}
				parameters[name] = value
			}
			got, want := deployed(released, parameters), deployed(templateOf(t, tt.cdk), nil)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("the released template, deployed (-CDK +release):\n%s", diff)
			}
		})
	}
}

// deployed returns the resources and outputs of a template with parameters: without
// metadata, the places of code, and variables without a value.
func deployed(tpl template, parameters map[string]string) map[string]any {
	conditions, _ := tpl.raw["Conditions"].(map[string]any)
	d := deployment{parameters: parameters, conditions: conditions}
	all := map[string]any{}
	for _, section := range []string{"Resources", "Outputs"} {
		entries, _ := d.value(tpl.raw[section]).(map[string]any)
		for id, entry := range entries {
			e, _ := entry.(map[string]any)
			condition, conditional := e["Condition"].(string)
			if conditional && !d.holds(condition) {
				continue
			}
			delete(e, "Condition")
			delete(e, "Metadata")
			properties, _ := e["Properties"].(map[string]any)
			switch e["Type"] {
			case "AWS::EC2::SecurityGroup":
				rules, _ := properties["SecurityGroupEgress"].([]any)
				for i := range rules {
					rules[i] = fmt.Sprint(rules[i]) // ports are numbers or texts
				}
			case "AWS::Logs::LogGroup":
				properties["RetentionInDays"] = fmt.Sprint(properties["RetentionInDays"])
			case "AWS::Lambda::Function":
				delete(properties, "Code")
				variables, _ := resource{Properties: properties}.at("Environment", "Variables").(map[string]any)
				maps.DeleteFunc(variables, func(_ string, value any) bool { return value == "" })
			}
			all[section+" "+id] = e
		}
	}
	return all
}

// deployment is CloudFormation's view of a template: the values of its parameters.
type deployment struct {
	parameters map[string]string
	conditions map[string]any
}

// holds evaluates a condition of the form {"Fn::Equals": [value, other]}, or {"Fn::Not": [{"Fn::Equals": ...}]}.
func (d deployment) holds(name string) bool {
	condition, _ := d.conditions[name].(map[string]any)
	not, negated := condition["Fn::Not"].([]any)
	if negated {
		condition, _ = not[0].(map[string]any)
	}
	equals, _ := condition["Fn::Equals"].([]any)
	return (d.value(equals[0]) == d.value(equals[1])) != negated
}

// value returns v with the references to parameters, Fn::If and Fn::Join evaluated.
func (d deployment) value(v any) any {
	switch v := v.(type) {
	case []any:
		var out []any
		for _, one := range v {
			if one := d.value(one); !isNothing(one) {
				out = append(out, one)
			}
		}
		return out
	case map[string]any:
		if name, ok := v["Ref"].(string); ok {
			if value, ok := d.parameters[name]; ok {
				return value
			}
		}
		if branches, ok := v["Fn::If"].([]any); ok {
			if d.holds(branches[0].(string)) { //nolint:forcetypeassert,errcheck // the name of a condition
				return d.value(branches[1])
			}
			return d.value(branches[2])
		}
		if join, ok := v["Fn::Join"].([]any); ok {
			return d.join(fmt.Sprint(join[0]), list(d.value(join[1])))
		}
		if split, ok := v["Fn::Split"].([]any); ok {
			if text, ok := d.value(split[1]).(string); ok {
				var parts []any
				for part := range strings.SplitSeq(text, fmt.Sprint(split[0])) {
					parts = append(parts, part)
				}
				return parts
			}
		}
		if one, ok := v["Fn::Select"].([]any); ok {
			i, _ := strconv.Atoi(fmt.Sprint(one[0]))
			if all := list(d.value(one[1])); i < len(all) {
				return all[i]
			}
		}
		out := map[string]any{}
		for name, value := range v {
			if out[name] = d.value(value); isNothing(out[name]) {
				delete(out, name)
			}
		}
		return out
	}
	return v
}

func isNothing(v any) bool {
	ref, _ := v.(map[string]any)
	return ref["Ref"] == "AWS::NoValue"
}

// join returns one string, or the shortest list of strings and other values.
func (d deployment) join(between string, parts []any) any {
	var out []any
	for i, part := range parts {
		text, isText := part.(string)
		if before, ok := last(out).(string); ok && isText && i > 0 {
			out[len(out)-1] = before + between + text
			continue
		}
		out = append(out, part)
	}
	if text, ok := last(out).(string); ok && len(out) == 1 {
		return text
	}
	return map[string]any{"Fn::Join": []any{between, out}}
}

func last(all []any) any {
	if len(all) == 0 {
		return nil
	}
	return all[len(all)-1]
}

func TestNewRelease_withoutBootstrap(t *testing.T) {
	t.Parallel()

	tpl := templateOf(t, "released prod")
	for _, section := range slices.Sorted(maps.Keys(tpl.raw)) {
		if !slices.Contains([]string{"Conditions", "Description", "Outputs", "Parameters", "Resources", "Rules"}, section) {
			t.Errorf("the template has a section %s", section)
		}
	}
	text, err := json.Marshal(tpl.raw)
	if err != nil {
		t.Fatal(err)
	}
	for _, no := range []string{"cdk-hnb659fds", "BootstrapVersion", "surehook-prod"} {
		if strings.Contains(string(text), no) {
			t.Errorf("the template has %q", no)
		}
	}
	functions := tpl.all("AWS::Lambda::Function")
	if want := len(functionNames()) + 1; len(functions) != want {
		t.Errorf("the template has %d functions; want %d, with %s", len(functions), want, privateName)
	}
	for id, f := range functions {
		name := strings.TrimSuffix(strings.TrimPrefix(show(f.at("FunctionName")), "${AWS::StackName}-"), "-private")
		if got, want := show(f.at("Code", "S3Bucket"))+" "+show(f.at("Code", "S3Key")), "${AssetsBucket} ${AssetsPrefix}/"+name+".zip"; got != want {
			t.Errorf("the code of %s is %s; want %s", id, got, want)
		}
	}
	for _, n := range tpl.notes {
		if n.level != "info" {
			t.Errorf("%s of %s: %s", n.level, n.path, n.text)
		}
	}
}

// TestNewRelease_settings checks that a release of one's own names the settings in it that are not
// parameters: the next release without them is refused.
func TestNewRelease_settings(t *testing.T) {
	t.Parallel()

	got, _ := templateOf(t, "released custom").raw["Metadata"].(map[string]any)
	if diff := cmp.Diff([]any{"EVENT_BUS"}, got["Settings"]); diff != "" {
		t.Errorf("settings (-want +got):\n%s", diff)
	}
}

// TestNewRelease_parameters checks that nothing but the place of the functions must be given,
// and that the document of releases names every other parameter.
func TestNewRelease_parameters(t *testing.T) {
	t.Parallel()

	document, err := os.ReadFile("../../docs/release.md")
	if err != nil {
		t.Fatal(err)
	}
	for name, p := range templateOf(t, "released prod").Parameters {
		if _, optional := p["Default"]; optional == strings.HasPrefix(name, "Assets") {
			t.Errorf("parameter %s may be left out: %v", name, optional)
		} else if optional && !strings.Contains(string(document), "`"+name+"`") {
			t.Errorf("docs/release.md does not name the parameter %s", name)
		}
	}
}

// TestNewRelease_values checks which values CloudFormation takes: those that the functions take.
func TestNewRelease_values(t *testing.T) {
	t.Parallel()

	tests := map[string]struct{ good, bad []string }{
		"ApiDomain":           {good: []string{"", "hooks.example.com"}, bad: []string{"https://hooks.example.com", "hooks.example.com/", "hooks"}},
		"Validation":          {good: []string{"off", "reject"}, bad: []string{"", "Reject"}},
		"SealingKey":          {good: []string{"", "arn:aws:kms:eu-central-1:123456789012:key/1"}, bad: []string{"alias/shop", "arn:aws:kms:eu-central-1:123456789012:alias/shop"}},
		"PermissionsBoundary": {good: []string{"", "arn:aws:iam::123456789012:policy/bounds", "arn:aws:iam::aws:policy/PowerUserAccess"}, bad: []string{"bounds", "arn:aws:iam::123456789012:role/bounds"}},
		"LogDays":             {good: []string{"", "1", "365"}, bad: []string{"2", "0", "1,3", "365 days"}},
		"EndpointsPerHost":    {good: []string{"", "20"}, bad: []string{"0", "-1", "many"}},
		"SignatureProfiles":   {good: []string{"", acmeProfiles}, bad: []string{"profiles.json"}},
		"Signatures":          {good: []string{"", "standard", "standard,acme"}, bad: []string{"standard, acme", "a,b,c"}},
		"PortalAccent":        {good: []string{"", "#0b7285"}, bad: []string{"0b7285", "#fff"}},
		"PortalLogo":          {good: []string{"", "https://app.example.com/logo.svg", "data:image/png;base64,AAAA"}, bad: []string{"http://app.example.com/logo.svg", "data:text/html;base64,AAAA"}},
		"PortalEmbedders":     {good: []string{"", "https://app.example.com", "https://*.example.com,https://b.example:8443"}, bad: []string{"https://app.example.com/", "app.example.com", "https://a.example, https://b.example"}},
		"OidcIssuer":          {good: []string{"", "https://id.example.com/realms/shop"}, bad: []string{"id.example.com", "https://id.example.com?x=1", "https://u@id.example.com"}},
		"OidcRoles":           {good: []string{"", "operator=ops", " operator = ops ; support=a b;support=CN=x,OU=y;"}, bad: []string{"operator", "operator=", "admin=ops", "operators=ops", "operator=ops,support=desk;=x"}},
		"OidcScopes":          {good: []string{"", "openid", "openid groups", "email openid"}, bad: []string{"email", "openids"}},
		"PrivateVpc":          {good: []string{"", "vpc-0a1b2c3d"}, bad: []string{"vpc", "vpc-0a1b2c3d,vpc-0a1b2c3d"}},
		"PrivateSubnets":      {good: []string{"", "subnet-0a1b2c3d,subnet-4e5f6a7b"}, bad: []string{"subnet-1", "subnet-0a1b2c3d, subnet-4e5f6a7b"}},
		"PrivateCidrs": {
			good: []string{"", "10.0.0.0/12", "10.20.0.0/16,172.31.255.254/32", "192.168.0.0/16", "100.64.0.0/12,100.127.0.0/24", "10.1.0.0/16,10.2.0.0/16,10.3.0.0/16,10.4.0.0/16"},
			bad: []string{
				"0.0.0.0/0", "10.0.0.0/8", "10.0.0.0/11", "10.0.0.0/33", "10.0.0.0/1", "10.256.0.0/16", "010.0.0.0/16", "10.0.0/16", "10.20.0.0", "172.15.0.0/16", "172.32.0.0/16", "192.168.0.0/15", "192.169.0.0/16",
				"100.63.0.0/16", "100.128.0.0/16", "100.64.0.0/10", "127.0.0.0/16", "169.254.169.254/32", "8.8.8.8/32", "fd12::/48", "::ffff:10.0.0.0/112", "10.1.0.0/16;10.2.0.0/16", "10.1.0.0/16,", "10.1.0.0/16,8.8.8.0/24",
				"10.1.0.0/16,10.2.0.0/16,10.3.0.0/16,10.4.0.0/16,10.5.0.0/16",
			},
		},
		"PrivateIpv6Cidrs": {
			good: []string{"", "fd12:3456::/48", "fc00:1::/40,fdab:1:2:3::/64", "fd12:3456:789a:1:2:3:4:5/128"},
			bad:  []string{"::/0", "fd12:3456::/39", "fd12::/8", "fe80:1::/64", "2001:db8::/48", "fd00:ec2::/48", "fd00:0ec2::254/128", "fd12:1::/48,fd00:ec2::/64", "fd12:3456::/129", "10.0.0.0/16", "::ffff:10.0.0.1/128"},
		},
		"PrivatePorts": {good: []string{"443", "1,65535"}, bad: []string{"", "0", "65536", "443-444", "443,8443,9443"}},
		"PrivateHosts": {
			good: []string{"", "corp.example.com", "erp.internal,a.corp", "aws.example.com", "internal", "myaws"},
			bad:  []string{"*.corp.example.com", "Corp.example.com", "10.20.0.7", "sqs.eu-west-1.amazonaws.com", "amazonaws.com", "corp.example.com,x.api.aws", "x.on.aws,corp.example.com", "aws", `a","b`},
		},
		"PrivateTenants": {good: []string{"", "acme", "acme,org:1"}, bad: []string{`acme"`, "acme,", "acme globex"}},
		"PrivateCa":      {good: []string{"", corpCA, corpCA + corpCA}, bad: []string{"corp.pem", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----"}},
		"OidcOrigins":    {good: []string{"", "https://token.example.com"}, bad: []string{"https://token.example.com/"}},
	}
	parameters := templateOf(t, "released prod").Parameters
	for name, tt := range tests {
		for _, value := range tt.good {
			if !takes(t, parameters[name], value) {
				t.Errorf("%s=%q is refused; want it taken", name, value)
			}
		}
		for _, value := range tt.bad {
			if takes(t, parameters[name], value) {
				t.Errorf("%s=%q is taken; want it refused", name, value)
			}
		}
	}
	for _, name := range []string{"PrivateCidrs", "PrivateIpv6Cidrs", "PrivateHosts"} {
		if must, _ := parameters[name]["ConstraintDescription"].(string); !strings.HasPrefix(must, "must be ") {
			t.Errorf("the refusal of %s says %q; want what it must be", name, must)
		}
	}
	for name, p := range parameters {
		if _, free := map[string]bool{"PortalName": true, "OidcClientId": true}[name]; p["AllowedPattern"] == nil && !free {
			t.Errorf("%s takes any value", name)
		}
	}
}

// takes reports whether CloudFormation takes the value. Package regexp knows no negative lookahead, so
// that of the pattern's beginning is looked at alone.
func takes(t *testing.T, parameter map[string]any, value string) bool {
	t.Helper()

	pattern, _ := parameter["AllowedPattern"].(string)
	if rest, ok := strings.CutPrefix(pattern, "^(?!(?:"); ok {
		never, allowed, _ := strings.Cut(rest, "))(")
		if regexp.MustCompile("^(" + never + ")").MatchString(value) {
			return false
		}
		pattern = "^(" + allowed
	}
	longest, _ := parameter["MaxLength"].(float64)
	return pattern != "" && regexp.MustCompile(pattern).MatchString(value) && len(value) <= int(longest)
}

// TestNewRelease_rules checks that CloudFormation refuses a half sign-in and a half domain.
func TestNewRelease_rules(t *testing.T) {
	t.Parallel()

	tpl := templateOf(t, "released prod")
	rules, _ := tpl.raw["Rules"].(map[string]any)
	tests := []struct {
		name   string
		values map[string]string
		want   bool
	}{
		{name: "neither", want: true},
		{name: "an issuer alone", values: map[string]string{"OidcIssuer": "i"}},
		{name: "an issuer without roles", values: map[string]string{"OidcIssuer": "i", "OidcClientId": "c"}},
		{name: "a sign-in", values: map[string]string{"OidcIssuer": "i", "OidcClientId": "c", "OidcRoles": "r"}, want: true},
		{name: "roles alone", values: map[string]string{"OidcRoles": "r"}},
		{name: "scopes alone", values: map[string]string{"OidcScopes": "openid"}},
		{name: "a domain alone", values: map[string]string{"ApiDomain": "d"}},
		{name: "a certificate alone", values: map[string]string{"ApiCertificate": "c"}},
		{name: "private receivers", values: map[string]string{"PrivateCidrs": "c", "PrivateVpc": "v", "PrivateSubnets": "s", "PrivateHosts": "h"}, want: true},
		{name: "private receivers without a VPC", values: map[string]string{"PrivateCidrs": "c", "PrivateSubnets": "s"}},
		{name: "private receivers without subnets", values: map[string]string{"PrivateCidrs": "c", "PrivateVpc": "v"}},
		{name: "names of private receivers alone", values: map[string]string{"PrivateHosts": "h"}},
		{name: "networks of IPv6 alone", values: map[string]string{"PrivateIpv6Cidrs": "c", "PrivateVpc": "v", "PrivateSubnets": "s"}},
		{name: "a domain", values: map[string]string{"ApiDomain": "d", "ApiCertificate": "c"}, want: true},
	}
	for _, tt := range tests {
		taken := len(rules) > 0
		for _, rule := range rules {
			for _, one := range list(rule.(map[string]any)["Assertions"]) { //nolint:forcetypeassert,errcheck // CloudFormation's form
				taken = taken && truth(one.(map[string]any)["Assert"], tt.values) //nolint:forcetypeassert,errcheck // as above
			}
		}
		if taken != tt.want {
			t.Errorf("%s is taken: %t; want %t", tt.name, taken, tt.want)
		}
	}
}

// truth evaluates Fn::Or, Fn::Not and Fn::Equals of a parameter and a text.
func truth(expression any, values map[string]string) bool {
	for kind, arguments := range expression.(map[string]any) { //nolint:forcetypeassert,errcheck // CloudFormation's form
		all := list(arguments)
		switch kind {
		case "Fn::Or":
			return slices.ContainsFunc(all, func(one any) bool { return truth(one, values) })
		case "Fn::Not":
			return !truth(all[0], values)
		case "Fn::Equals":
			name, _ := all[0].(map[string]any)["Ref"].(string)
			return values[name] == all[1]
		}
	}
	return false
}

// TestNewRelease_wall checks that the security group lets out to what the list says alone, and that
// the function has IPv6 only where the list has.
func TestNewRelease_wall(t *testing.T) {
	t.Parallel()

	tpl := templateOf(t, "released prod")
	for _, values := range []map[string]string{
		{"PrivateCidrs": "10.20.0.0/16", "PrivatePorts": "443"},
		{"PrivateCidrs": "10.1.0.0/16,10.2.0.0/16,192.168.7.0/24,100.64.0.0/12", "PrivatePorts": "443,9443", "PrivateTenants": "acme"},
		{"PrivateCidrs": "172.16.0.0/12", "PrivateIpv6Cidrs": "fd12:3456::/48", "PrivatePorts": "8443", "PrivateHosts": "corp.example.com"},
		{"PrivateCidrs": "10.20.0.7/32,10.20.0.9/32", "PrivateIpv6Cidrs": "fd12:3456::/48,fc00:1::/40", "PrivatePorts": "443,80"},
	} {
		for name, p := range tpl.Parameters {
			if _, given := values[name]; !given {
				values[name], _ = p["Default"].(string)
			}
		}
		stack := deployed(tpl, values)
		properties := func(id string) resource {
			return resource{Properties: stack["Resources "+id].(map[string]any)["Properties"].(map[string]any)} //nolint:forcetypeassert,errcheck // the form of CloudFormation
		}
		sender := properties(idOf(t, tpl, "PrivateSender"))
		parsed, err := private.Parse([]byte(variables(sender)["SUREHOOK_PRIVATE_ALLOW"]))
		if err != nil {
			t.Fatalf("%v: %v", values, err)
		}
		var want []any
		for _, target := range parsed.Targets() {
			family := map[bool]string{true: "CidrIp", false: "CidrIpv6"}[target.CIDR.Addr().Is4()]
			port := strconv.Itoa(int(target.Port))
			want = append(want, fmt.Sprint(map[string]any{"IpProtocol": "tcp", "FromPort": port, "ToPort": port, family: target.CIDR.String(), "Description": "receivers"}))
		}
		if diff := cmp.Diff(want, properties("PrivateGroup").at("SecurityGroupEgress")); diff != "" {
			t.Errorf("%v: rules (-list +group):\n%s", values, diff)
		}
		if got := sender.at("VpcConfig", "Ipv6AllowedForDualStack"); got != (values["PrivateIpv6Cidrs"] != "") {
			t.Errorf("%v: IPv6 is %v", values, got)
		}
	}
}

// TestNewRelease_room checks that the longest list has room beside the longest authorities, and is one
// that the sender takes.
func TestNewRelease_room(t *testing.T) {
	t.Parallel()

	tpl := templateOf(t, "released prod")
	values := map[string]string{"AWS::StackName": strings.Repeat("s", longestPrefix)}
	for name, value := range map[string]string{
		"PrivateCidrs": strings.Repeat(",100.100.100.100/32", mostCIDRs), "PrivateIpv6Cidrs": strings.Repeat(",fd12:3456:789a:bcde:f012:3456:789a:bcde/128", mostIPv6CIDRs), "PrivatePorts": strings.Repeat(",65535", mostPorts),
		"PrivateHosts": strings.Repeat("."+strings.Repeat("h", 48), 5), "PrivateTenants": "," + strings.Repeat("t", 128), "PrivateVpc": ",vpc-0a1b2c3d", "PrivateSubnets": ",subnet-0a1b2c3d", "PrivateCa": "," + strings.Repeat("c", maxPrivateCA),
	} {
		values[name] = value[1:]
		if name != "PrivateCa" && !takes(t, tpl.Parameters[name], value[1:]) {
			t.Errorf("%s=%s is refused", name, value[1:])
		}
	}
	sender := resource{Properties: deployed(tpl, values)["Resources "+idOf(t, tpl, "PrivateSender")].(map[string]any)["Properties"].(map[string]any)} //nolint:forcetypeassert,errcheck // the form of CloudFormation
	size := 0
	for name, value := range variables(sender) {
		size += len(name) + len(value)
	}
	text := variables(sender)["SUREHOOK_PRIVATE_ALLOW"]
	if _, err := private.Parse([]byte(text)); err != nil || len(text) > maxSetting || size > maxVariables {
		t.Errorf("the list %s of %d bytes, among %d: %v; want at most %d among %d", text, len(text), size, err, maxSetting, maxVariables)
	}
}

func idOf(t *testing.T, tpl template, id string) string {
	t.Helper()

	for logical, r := range tpl.Resources {
		if short(logical) == id && r.Type == "AWS::Lambda::Function" {
			return logical
		}
	}
	t.Fatalf("no function %s", id)
	return ""
}
