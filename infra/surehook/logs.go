package surehook

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"
)

// logDays are the days that CloudWatch can keep log lines.
// https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_PutRetentionPolicy.html
var logDays = []int{1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653}

// newLogs makes a log group. A retained group would block a new stack with the same name.
func newLogs(scope constructs.Construct, id, name string, p plan) awslogs.LogGroup {
	logs := awslogs.NewLogGroup(scope, &id, &awslogs.LogGroupProps{LogGroupName: &name, RemovalPolicy: awscdk.RemovalPolicy_DESTROY})
	var days any = p.Environment.LogDays
	if p.release != nil {
		days = awscdk.Fn_ConditionIf(p.release.hasLogDays.LogicalId(), p.release.logDays, days)
	}
	cfnOf[awslogs.CfnLogGroup](logs).AddPropertyOverride(jsii.String("RetentionInDays"), days)
	return logs
}
