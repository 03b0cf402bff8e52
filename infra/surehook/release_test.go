package surehook

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
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
		out := make([]any, len(v))
		for i := range v {
			out[i] = d.value(v[i])
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
		if join, ok := v["Fn::Join"].([]any); ok && join[0] == "" {
			return d.join(join[1].([]any)) //nolint:forcetypeassert,errcheck // as above
		}
		out := map[string]any{}
		for name, value := range v {
			out[name] = d.value(value)
			if ref, ok := out[name].(map[string]any); ok && ref["Ref"] == "AWS::NoValue" {
				delete(out, name)
			}
		}
		return out
	}
	return v
}

// join returns one string, or the shortest list of strings and other values.
func (d deployment) join(parts []any) any {
	var out []any
	for _, part := range parts {
		value := d.value(part)
		text, isText := value.(string)
		if before, ok := last(out).(string); ok && isText {
			out[len(out)-1] = before + text
			continue
		}
		out = append(out, value)
	}
	if text, ok := last(out).(string); ok && len(out) == 1 {
		return text
	}
	return map[string]any{"Fn::Join": []any{"", out}}
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
	if len(functions) != len(functionNames()) {
		t.Errorf("the template has %d functions; want %d", len(functions), len(functionNames()))
	}
	for id, f := range functions {
		name := strings.TrimPrefix(show(f.at("FunctionName")), "${AWS::StackName}-")
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
		"OidcOrigins":         {good: []string{"", "https://token.example.com"}, bad: []string{"https://token.example.com/"}},
	}
	parameters := templateOf(t, "released prod").Parameters
	for name, tt := range tests {
		pattern, _ := parameters[name]["AllowedPattern"].(string)
		allowed, err := regexp.Compile(pattern)
		if err != nil || pattern == "" {
			t.Errorf("%s has the pattern %q: %v", name, pattern, err)
			continue
		}
		for _, value := range tt.good {
			if !allowed.MatchString(value) {
				t.Errorf("%s=%q is refused; want it taken", name, value)
			}
		}
		for _, value := range tt.bad {
			if allowed.MatchString(value) {
				t.Errorf("%s=%q is taken; want it refused", name, value)
			}
		}
	}
	for name, p := range parameters {
		if _, free := map[string]bool{"PortalName": true, "OidcClientId": true}[name]; p["AllowedPattern"] == nil && !free {
			t.Errorf("%s takes any value", name)
		}
	}
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
