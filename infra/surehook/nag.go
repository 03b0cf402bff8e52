package surehook

import (
	"regexp"
	"slices"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"
	"github.com/cdklabs/cdk-nag-go/cdknag/v2"

	"surehook.example/surehook/internal/names"
)

// suppression is an accepted finding of cdk-nag.
type suppression struct {
	when    bool   // the environment has the resource
	path    string // of the resource, below the construct
	rule    string
	finding string // a regular expression for single findings, in rules with several findings
	reason  string
}

// suppressions returns all accepted AwsSolutions findings of the prefix's
// resources. The template contains the reasons, too.
func suppressions(prefix string, env Environment) []suppression {
	const (
		authorizer, wildcard, flowLogs = "AwsSolutions-APIG4", "AwsSolutions-IAM5", "AwsSolutions-VPC7"

		schedules = "The names of retries' schedules contain delivery ids, so a policy cannot list the names. All are in this prefix's group. The group holds only these schedules and the breaker's."
		network   = "The log of deliver names every request of this network. Flow logs would repeat the log, and cost money for each request."
		place     = "EC2 knows no resource of a network interface before it exists. The code of the function is denied these actions."
	)
	fixed, private := env.FixedZones > 0, env.Private.Allow != ""
	all := []suppression{
		{true, "AdminKey", "AwsSolutions-SMG4", "", "A person uses this key once or twice to create the first API keys. A rotation would lock that person out and would not renew any key in use."},
		{true, "DeliverRole/DefaultPolicy", wildcard, `/^Resource::arn:.+:scheduler:.+:schedule\/` + prefix + `\/\*$/`, schedules},
		{env.Traces == names.TracesXRay, "ExportRole/DefaultPolicy", wildcard, `/^Resource::\*$/`, "X-Ray has no resources for traces: its actions take no other resource."},
		{fixed, "EgressNetwork", flowLogs, "", network},
		{fixed, "FixedSenderRole/DefaultPolicy", wildcard, `/^Resource::\*$/`, place},
		{private, "PrivateSenderRole/DefaultPolicy", wildcard, `/^Resource::\*$/`, place},
		{private && len(env.Private.Subnets) == 0, "PrivateNetwork", flowLogs, "", network},
		{env.Archive, "ArchiveBucket", "AwsSolutions-S1", "", "Only DynamoDB writes to the bucket, once a day, and DynamoDB lists the exports. CloudTrail can record the readers. Nobody would watch a second bucket for access logs."},
		{env.Archive, "Archive", "AwsSolutions-SF1", "", "The state machine runs once a day, and a standard state machine keeps each run's whole history for 90 days. A log would be a copy of the history, with permissions on all log groups of the account."},
		{env.Archive, "Archive", "AwsSolutions-SF2", "", "The state machine makes a handful of calls a day to one service, and nobody waits for the result."},
		{env.Archive, "ArchiveRole/DefaultPolicy", wildcard, `/^Resource::.+\/` + archiveFolder + `\/\*$/`, "DynamoDB chooses the names of an export's files. All files are below one folder of a bucket without other content."},
		{env.Archive, "ArchiveRole/DefaultPolicy", wildcard, `/^Resource::.+\/export\/\*$/`, "DynamoDB chooses the names of the exports. The resource is limited to exports of this table."},
		{env.Destinations != "", "DeliverRole/DefaultPolicy", wildcard, `/^Resource::arn:.+:iam::\*:role` + regexp.QuoteMeta(env.Destinations) + `\*$/`, "The accounts of customers are not known at deployment. Each role admits the function in its trust policy, with an external id."},
	}
	for _, r := range routes(env.Throttles) {
		all = append(all, suppression{r.public != "", "Api/" + string(r.method) + strings.ReplaceAll(r.path, "/", "--"), authorizer, "", r.public})
	}
	return slices.DeleteFunc(all, func(s suppression) bool { return !s.when })
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
