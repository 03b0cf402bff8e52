package surehook

import (
	"cmp"
	"fmt"
	"maps"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigatewayv2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awss3"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"surehook.example/surehook/internal/names"
)

// release is the place of the functions of a released template: archives
// <folder>/<function>.zip in a bucket.
type release struct {
	bucket awss3.IBucket
	folder string

	makesKey   awscdk.CfnCondition // the stack makes the sealing key
	hasLogDays awscdk.CfnCondition
	logDays    string // a parameter

	private *network // by parameters; nil in a release with senders of its own, and for an emulator
}

// NewRelease makes the stack of an environment for a template that needs no CDK and no
// bootstrap. The bucket and the folder of the functions are parameters of the template. So
// are the alarm address, the domain and what settings lists, in place of the environment's
// values. The name of the stack, chosen at its creation, is the prefix of all names;
// Props.Prefix is the name of the template's file alone.
//
// The resources and their logical ids are those of NewStack: a stack of a release can later be
// deployed by CDK, and the reverse. The rules of cdk-nag are checked there.
func NewRelease(scope constructs.Construct, props Props) (awscdk.Stack, error) {
	props, err := props.withDefaults()
	if err != nil {
		return nil, err
	}
	stack := awscdk.NewStack(scope, &props.Prefix, &awscdk.StackProps{
		Description: jsii.String(description(props.Environment)),
		Synthesizer: awscdk.NewBootstraplessSynthesizer(nil),
	})
	bucket := parameter{
		name: "AssetsBucket", about: "The bucket with the archives of the functions, in the region of the stack", pattern: `[a-z0-9][a-z0-9.-]+`, required: true,
	}.in(stack)
	assets := awss3.Bucket_FromBucketName(stack, jsii.String("Assets"), bucket)
	awscdk.Annotations_Of(stack).AcknowledgeWarning(jsii.String("@aws-cdk/aws-lambda:codeFromBucketObjectVersionNotSpecified"), jsii.String("the key has the version"))
	props.release = &release{
		bucket: assets,
		// CloudFormation updates a function when the key of its archive changes.
		folder: *parameter{
			name: "AssetsPrefix", about: "The folder of the archives in the bucket; each version has another one", pattern: `.*[^/]`, required: true,
		}.in(stack),
	}
	domain := parameter{name: "ApiDomain", about: "A domain name for the API, which is then its only name", pattern: `[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+`, longest: maxDomain}.in(stack)
	certificate := parameter{name: "ApiCertificate", about: "The ARN of the domain's ACM certificate, in the region of the stack", pattern: `arn:aws[a-z-]*:acm:.+`}.in(stack)
	key := parameter{name: "SealingKey", about: "The ARN of a KMS key of yours for the endpoints' secrets; never changes after the creation", pattern: `arn:aws[a-z-]*:kms:[^:]+:[0-9]+:key/.+`}.in(stack)
	boundary := parameter{name: "PermissionsBoundary", about: "The ARN of a policy that bounds every role", pattern: `arn:aws[a-z-]*:iam::[^:]+:policy/.+`}.in(stack)
	days := parameter{name: "LogDays", about: "The lifetime of log lines in days; empty for that of the environment", pattern: strings.Trim(strings.Join(strings.Fields(fmt.Sprint(logDays)), "|"), "[]")}.in(stack)
	// The validation of CDK takes the empty defaults where a condition keeps them away.
	for _, id := range []string{"F3012", "F3033", "W1001", "W3030"} {
		awscdk.Validations_Of(stack).Acknowledge(&awscdk.Acknowledgment{Id: jsii.String("CloudFormation-Validate::" + id), Reason: jsii.String("a condition keeps the empty default away")})
	}
	awscdk.Validations_Of(stack).Acknowledge(&awscdk.Acknowledgment{Id: jsii.String("CloudFormation-Validate::W9003"), Reason: jsii.String("a parameter is a text, also of a port")})
	props.release.makesKey = awscdk.NewCfnCondition(stack, jsii.String("MakesKey"), &awscdk.CfnConditionProps{Expression: awscdk.Fn_ConditionEquals(key, jsii.String(""))})
	props.release.hasLogDays, props.release.logDays = isSet(stack, "HasLogDays", days), *days
	values, longest := map[string]*string{"ApiDomain": domain, "ApiCertificate": certificate}, map[string]int{"ApiDomain": maxDomain}
	if !props.Environment.senders() && !(plan{Props: props}).emulated() {
		network, receivers := networkOf(stack)
		props.release.private = network
		maps.Copy(values, receivers)
	}
	email := parameter{name: "AlarmEmail", about: "An address for the alarms", pattern: `[^@\s]+@[^@\s]+`}.in(stack)

	props.Prefix = *awscdk.Aws_STACK_NAME()
	props.Environment.AlarmEmail = ""
	props.Environment.SealingKey = *key
	props.Environment.PermissionsBoundary = *awscdk.Fn_ConditionIf(isSet(stack, "HasPermissionsBoundary", boundary).LogicalId(), boundary, awscdk.Aws_NO_VALUE()).ToString()
	props.Environment.Domain = Domain{Name: *domain, CertificateARN: *certificate}
	s, err := New(stack, within, props)
	if err != nil {
		return nil, err
	}
	outputs := newOutputs(stack, s)
	cfnOf[awscdk.CfnResource](subscribe(s.Topic, email)).CfnOptions().SetCondition(isSet(stack, "HasAlarmEmail", email))
	makeDomainOptional(stack, s, outputs, *domain)
	if props.release.private != nil {
		makePrivateOptional(plan{Props: props, Surehook: s})
		longest["PrivateCa"], longest["SUREHOOK_PRIVATE_ALLOW"] = maxPrivateCA, maxSetting
	}
	for _, set := range settings(s) {
		value := set.in(stack)
		values[set.name], longest[set.name] = value, maxSetting
		for _, f := range set.functions {
			f.AddEnvironment(&set.variable, value, nil)
		}
	}
	keepSettings(stack, props.Settings)
	addRules(stack, values)
	return stack, checkVariables(s.Construct, longest)
}

// addRules makes CloudFormation refuse parameters that only make sense together.
func addRules(stack awscdk.Stack, values map[string]*string) {
	needs := func(id, about, name string, needed ...string) {
		none := awscdk.Fn_ConditionEquals(values[name], jsii.String(""))
		for _, other := range needed {
			without := awscdk.Fn_ConditionEquals(values[other], jsii.String(""))
			awscdk.NewCfnRule(stack, jsii.String(id+other), &awscdk.CfnRuleProps{Assertions: &[]*awscdk.CfnRuleAssertion{{
				Assert:            awscdk.Fn_ConditionOr(none, awscdk.Fn_ConditionNot(without)),
				AssertDescription: jsii.String(about),
			}}})
		}
	}
	if values["PrivateCidrs"] != nil {
		needs("Private", "PrivateCidrs needs PrivateVpc and PrivateSubnets", "PrivateCidrs", "PrivateVpc", "PrivateSubnets")
		for _, name := range []string{"PrivateVpc", "PrivateSubnets", "PrivateIpv6Cidrs", "PrivateHosts", "PrivateTenants", "PrivateCa"} {
			needs("With"+name, name+" needs PrivateCidrs", name, "PrivateCidrs")
		}
	}
	needs("Domain", "ApiDomain needs ApiCertificate", "ApiDomain", "ApiCertificate")
	needs("Certificate", "ApiCertificate needs ApiDomain", "ApiCertificate", "ApiDomain")
	needs("SignIn", "OidcIssuer needs OidcClientId and OidcRoles", "OidcIssuer", "OidcClientId", "OidcRoles")
	for _, name := range []string{"OidcClientId", "OidcRoles", "OidcClaim", "OidcScopes", "OidcOrigins"} {
		needs("With"+name, name+" needs OidcIssuer", name, "OidcIssuer")
	}
}

// makeDomainOptional makes everything about the domain depend on its parameter.
func makeDomainOptional(stack awscdk.Stack, s Surehook, outputs map[string]awscdk.CfnOutput, domain string) {
	has := isSet(stack, "HasApiDomain", &domain)
	choose := func(with, without any) awscdk.ICfnRuleConditionExpression {
		return awscdk.Fn_ConditionIf(has.LogicalId(), with, without)
	}
	name := cfnOf[awscdk.CfnResource](s.API.Domain)
	name.CfnOptions().SetCondition(has)
	takesEmpty(name)
	s.Node().FindChild(jsii.String("DomainMapping")).(awsapigatewayv2.CfnApiMapping).CfnOptions().SetCondition(has) //nolint:forcetypeassert,errcheck // made by newDomain
	api := cfnOf[awsapigatewayv2.CfnApi](s.API.HTTP)
	api.AddPropertyOverride(jsii.String("DisableExecuteApiEndpoint"), choose(true, false))
	outputs["DomainTarget"].SetCondition(has)
	outputs["DomainZoneId"].SetCondition(has)
	url := "https://" + domain
	outputs["ApiUrl"].SetValue(choose(url, api.AttrApiEndpoint()).ToString())
	host := apiHost(s.API.HTTP)
	for _, f := range []awslambda.Function{s.Functions.Deliver, s.Functions.Manage} {
		f.AddEnvironment(jsii.String("SUREHOOK_API_HOSTS"), choose(host+","+domain, host).ToString(), nil)
		f.AddEnvironment(jsii.String("SUREHOOK_PUBLIC_URL"), choose(url, "").ToString(), nil)
	}
}

// takesEmpty keeps cfn-lint from taking the empty default of a parameter for the value of a resource
// that a condition keeps away.
func takesEmpty(resource awscdk.CfnResource) {
	resource.AddMetadata(jsii.String("cfn-lint"), map[string]any{"config": map[string]any{"ignore_checks": []string{"W1030"}}})
}

// setting is a parameter that is a variable of functions.
type setting struct {
	parameter
	variable  string
	functions []awslambda.Function
}

// origins matches origins with commas between: no path, and no slash at the end.
const origins = `https://(\*\.)?[A-Za-z0-9.-]+(:[0-9]+)?(,https://(\*\.)?[A-Za-z0-9.-]+(:[0-9]+)?)*`

// settings returns the settings of a released template that are nothing but variables of
// functions. A variable with an empty value is not set.
func settings(s Surehook) []setting {
	ingest, manage := []awslambda.Function{s.Functions.Ingest}, []awslambda.Function{s.Functions.Manage}
	people := []awslambda.Function{s.Functions.Manage, s.Functions.Authorize}
	return []setting{
		{parameter{
			name: "Validation", about: "What happens to events that do not fit their event type: off, warn or reject",
			value: names.ValidationOff, pattern: names.ValidationOff + "|" + names.ValidationWarn + "|" + names.ValidationReject, required: true,
		}, "SUREHOOK_VALIDATION", ingest},
		{parameter{
			name: "Envelope", about: "The envelope of new endpoints that name none: standard or raw",
			value: names.EnvelopeStandard, pattern: names.EnvelopeStandard + "|" + names.EnvelopeRaw, required: true,
		}, "SUREHOOK_ENVELOPE", manage},
		{parameter{name: "EndpointsPerHost", about: "The most endpoints of a tenant with one host; empty for no limit", pattern: `[1-9][0-9]*`}, "SUREHOOK_ENDPOINTS_PER_HOST", manage},
		{parameter{name: "SignatureProfiles", about: "JSON of signature profiles of your own, by name", pattern: `\{[\s\S]+\}`}, "SUREHOOK_SIGNATURE_PROFILES", manage},
		{parameter{name: "Signatures", about: "The signature profiles of new endpoints that name none, with a comma between; empty for standard", pattern: `[a-z0-9-]+(,[a-z0-9-]+)?`}, "SUREHOOK_SIGNATURES", manage},
		{parameter{name: "PortalName", about: "The title of the portal"}, "SUREHOOK_PORTAL_NAME", manage},
		{parameter{name: "PortalAccent", about: "The color of the portal, such as #0b7285", pattern: `#[0-9a-fA-F]{6}`}, "SUREHOOK_PORTAL_ACCENT", manage},
		{parameter{name: "PortalLogo", about: "The logo of the portal, an https URL or a data URL of an image", pattern: `https://[^\s"'();]+|data:image/(png|jpeg|webp|svg\+xml);base64,[A-Za-z0-9+/]+={0,2}`}, "SUREHOOK_PORTAL_LOGO", manage},
		{parameter{name: "PortalEmbedders", about: "Origins whose pages may embed the portal, with commas between", pattern: origins}, "SUREHOOK_PORTAL_EMBEDDERS", manage},
		{parameter{name: "OidcIssuer", about: "The issuer of people's tokens; empty for API keys alone", pattern: `https://[^?#@*\s]+`}, "SUREHOOK_OIDC_ISSUER", people},
		{parameter{name: "OidcClientId", about: "The client id at the issuer"}, "SUREHOOK_OIDC_CLIENT_ID", people},
		{parameter{name: "OidcRoles", about: "The groups with the roles, such as operator=ops;support=desk", pattern: `\s*(operator|support|read-only)\s*=[^;]*[^;\s][^;]*(;\s*(operator|support|read-only)\s*=[^;]*[^;\s][^;]*)*;?\s*`}, "SUREHOOK_OIDC_ROLES", people},
		{parameter{name: "OidcClaim", about: "The groups in a token; empty for groups", pattern: `\S+`}, "SUREHOOK_OIDC_CLAIM", people},
		{parameter{name: "OidcScopes", about: "The scopes that the console asks for; empty for openid email profile", pattern: `(.+ )?openid( .+)?`}, "SUREHOOK_OIDC_SCOPES", people},
		{parameter{name: "OidcOrigins", about: "Other origins of the issuer's token endpoint, with commas between", pattern: origins}, "SUREHOOK_OIDC_ORIGINS", people},
	}
}

// The most bytes of a parameter. Beside the names of its queues, function manage has room for one
// parameter of this length, and for short others: see checkVariables.
const (
	maxSetting = 900
	maxDomain  = 100
)

// parameter is a parameter of a released template, a string.
type parameter struct {
	name, about string
	pattern     string // of the value; empty for any
	never       string // a pattern that no value begins with
	must        string // what the value must be, for the refusal; empty: the refusal has the pattern
	value       string // the default
	required    bool   // a value other than an empty one
	longest     int    // bytes; 0 for maxSetting
}

// in adds the parameter to the stack and returns a reference to its value.
func (p parameter) in(stack awscdk.Stack) *string {
	props := &awscdk.CfnParameterProps{Type: jsii.String("String"), Description: &p.about, MaxLength: jsii.Number(cmp.Or(p.longest, maxSetting))}
	if !p.required || p.value != "" {
		props.Default = &p.value
	}
	if p.must != "" {
		props.ConstraintDescription = &p.must
	}
	begin := "^("
	if p.never != "" {
		begin = "^(?!(?:" + p.never + "))("
	}
	switch {
	case p.pattern != "" && p.required:
		props.AllowedPattern = jsii.String(begin + p.pattern + ")$")
	case p.pattern != "":
		props.AllowedPattern = jsii.String(begin + p.pattern + ")?$")
	}
	return awscdk.NewCfnParameter(stack, &p.name, props).ValueAsString()
}

// isSet returns the condition that the value is not empty.
func isSet(stack awscdk.Stack, name string, value *string) awscdk.CfnCondition {
	return awscdk.NewCfnCondition(stack, &name, &awscdk.CfnConditionProps{
		Expression: awscdk.Fn_ConditionNot(awscdk.Fn_ConditionEquals(value, jsii.String(""))),
	})
}

// cfnOf returns the resource of CloudFormation of a construct that has one.
func cfnOf[T any](c constructs.IConstruct) T {
	return c.Node().DefaultChild().(T) //nolint:forcetypeassert,errcheck // a mistake in a constant fails every synthesis
}
