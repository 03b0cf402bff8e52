package surehook

import (
	"slices"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"
	"github.com/cdklabs/cdk-nag-go/cdknag/v2"
)

// suppression is an accepted finding of cdk-nag.
type suppression struct {
	path    string // of the resource, below the construct
	rule    string
	finding string // a regular expression for single findings, in rules with several findings
	reason  string
}

// suppressions returns all accepted AwsSolutions findings of the prefix's
// resources. The template contains the reasons, too.
func suppressions(prefix string, env Environment) []suppression {
	const code = "The code of a portal link, 256 random bits that work once, stands for a key. The route has its own low throttle."
	const public = "The API's documents contain no secrets, and readers need them before they have a key. The route has its own low throttle."
	const pages = "The pages of the console and the portal contain no data: a page asks for a key and calls the API with the key. The route has its own throttle."
	all := []suppression{
		{path: "Api/GET--v1--openapi.yaml", rule: "AwsSolutions-APIG4", reason: public},
		{path: "Api/GET--docs", rule: "AwsSolutions-APIG4", reason: public},
		{path: "Api/GET--docs--{proxy+}", rule: "AwsSolutions-APIG4", reason: public},
		{path: "Api/GET--console", rule: "AwsSolutions-APIG4", reason: pages},
		{path: "Api/GET--console--{proxy+}", rule: "AwsSolutions-APIG4", reason: pages},
		{path: "Api/GET--portal", rule: "AwsSolutions-APIG4", reason: pages},
		{path: "Api/GET--portal--{proxy+}", rule: "AwsSolutions-APIG4", reason: pages},
		{path: "Api/GET--web--{proxy+}", rule: "AwsSolutions-APIG4", reason: pages},
		{path: "Api/POST--v1--tenants--{tenant}--portal-session", rule: "AwsSolutions-APIG4", reason: code},
		{
			path: "AdminKey", rule: "AwsSolutions-SMG4",
			reason: "A person uses this key once or twice to create the first API keys. A rotation would lock that person out and would not renew any key in use.",
		},
		{
			path: "DeliverRole/DefaultPolicy", rule: "AwsSolutions-IAM5",
			finding: `/^Resource::arn:.+:scheduler:.+:schedule\/` + prefix + `\/\*$/`,
			reason:  "The names of retries' schedules contain delivery ids, so a policy cannot list the names. All are in this prefix's group. The group holds only these schedules and the breaker's.",
		},
	}
	return slices.Concat(all, exportSuppressions(env), fixedSuppressions(env), privateSuppressions(env), monitorSuppressions(env), destinationSuppressions(env))
}

// suppress records the accepted findings on the resources below the construct.
// Stacks of other apps get the records, too.
func suppress(scope constructs.Construct, all []suppression) {
	for _, s := range all {
		pack := &cdknag.NagPackSuppression{Id: &s.rule, Reason: &s.reason}
		if s.finding != "" {
			pack.AppliesTo = &[]any{&cdknag.RegexAppliesTo{Regex: &s.finding}}
		}
		var resource constructs.IConstruct = scope
		for id := range strings.SplitSeq(s.path, "/") {
			resource = resource.Node().FindChild(&id)
		}
		cdknag.NagSuppressions_AddResourceSuppressions(resource, &[]*cdknag.NagPackSuppression{pack}, nil)
	}
}

// checkRules checks the stack against the AwsSolutions rules of cdk-nag at each
// synthesis. A finding without a suppression is an error and blocks the
// deployment. A suppressed finding appears with its reason.
// https://github.com/cdklabs/cdk-nag/blob/main/RULES.md
func checkRules(stack awscdk.Stack) {
	awscdk.Aspects_Of(stack).Add(cdknag.NewAwsSolutionsChecks(&cdknag.NagPackProps{
		Reports:    jsii.Bool(false), // the template and the tests contain the same findings
		LogIgnores: jsii.Bool(true),
		Verbose:    jsii.Bool(true),
	}), nil)
}
