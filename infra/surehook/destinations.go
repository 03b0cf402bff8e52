package surehook

import (
	"regexp"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/jsii-runtime-go"
)

// rolePath matches the paths of roles. The path "/" would include everybody's roles.
var rolePath = regexp.MustCompile(`^(/[A-Za-z0-9_+=,.@-]+)+/$`)

// grantDestinations lets the function assume the roles with the path, in any account but the
// deployment's own, which the code refuses, too. The trust policy of each role must admit the function.
func grantDestinations(role awsiam.Role, p plan) {
	if path := p.Environment.Destinations; path != "" {
		allow(role, "sts:AssumeRole").when("StringNotEquals", "aws:ResourceAccount", *awscdk.Aws_ACCOUNT_ID()).on(awscdk.Stack_Of(role).FormatArn(&awscdk.ArnComponents{
			Service: jsii.String("iam"), Region: jsii.String(""), Account: jsii.String("*"),
			Resource: jsii.String("role" + path + "*"), ArnFormat: awscdk.ArnFormat_NO_RESOURCE_NAME,
		}))
	}
}
