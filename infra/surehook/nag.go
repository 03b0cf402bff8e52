package surehook

import (
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
	const public = "What describes the API holds nothing secret, and is read before there is a key. The route has a low throttle of its own."
	all := []suppression{
		{path: "Api/GET--v1--openapi.yaml", rule: "AwsSolutions-APIG4", reason: public},
		{path: "Api/GET--docs", rule: "AwsSolutions-APIG4", reason: public},
		{path: "Api/GET--docs--{proxy+}", rule: "AwsSolutions-APIG4", reason: public},
		{
			path: "AdminKey", rule: "AwsSolutions-SMG4",
			reason: "It is the key that the first keys are made with, once or twice and by a person. A rotation would lock out whoever noted it down, and renew none of the keys in use.",
		},
		{
			path: "DeliverRole/DefaultPolicy", rule: "AwsSolutions-IAM5",
			finding: `/^Resource::arn:.+:scheduler:.+:schedule\/` + prefix + `\/\*$/`,
			reason:  "The schedules of retries are named after their deliveries, so that the names cannot be listed. All are in the group of this prefix, which holds nothing else but what calls the breaker.",
		},
	}
	all = append(all, monitorSuppressions(env)...)
	if !env.PointInTimeRecovery {
		all = append(all, suppression{
			path: "Table", rule: "AwsSolutions-DDB3",
			reason: "The environment is for trying things out: its data can be made again, and backups of it would cost more than it does.",
		})
	}
	return all
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
