package surehook

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssnssubscriptions"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"
)

// alarmPrincipal is the service that tells of alarms.
const alarmPrincipal = "cloudwatch.amazonaws.com"

// TopicProps says what NewTopic makes.
type TopicProps struct {
	Prefix      string // of the topic's name
	Environment Environment
}

// NewTopic makes the topic of what operators should know: alarms of this
// account and region, and operational events of the functions. Its messages
// hold ids, figures and states, never payloads or secrets.
//
// It is not encrypted under the AWS-managed key of SNS: CloudWatch may not use
// that, and its alarms would be lost. A key of our own would cost more than the
// rest of an idle stack, for messages that leave by e-mail.
func NewTopic(scope constructs.Construct, props TopicProps) awssns.Topic {
	topic := awssns.NewTopic(scope, jsii.String("Topic"), &awssns.TopicProps{
		TopicName:  jsii.String(props.Prefix + "-alerts"),
		EnforceSSL: jsii.Bool(true),
	})
	// A policy of one's own takes the place of SNS's, which lets in the whole
	// account. The functions are let in by their roles.
	topic.AddToResourcePolicy(awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
		Sid:        jsii.String("AllowAlarms"),
		Principals: &[]awsiam.IPrincipal{awsiam.NewServicePrincipal(jsii.String(alarmPrincipal), nil)},
		Actions:    jsii.Strings("sns:Publish"),
		Resources:  &[]*string{topic.TopicArn()},
		Conditions: &map[string]any{
			"StringEquals": map[string]any{"aws:SourceAccount": awscdk.Aws_ACCOUNT_ID()},
			"ArnLike": map[string]any{"aws:SourceArn": awscdk.Stack_Of(scope).FormatArn(&awscdk.ArnComponents{
				Service:      jsii.String("cloudwatch"),
				Resource:     jsii.String("alarm"),
				ResourceName: jsii.String("*"),
				ArnFormat:    awscdk.ArnFormat_COLON_RESOURCE_NAME,
			})},
		},
	}))
	if email := props.Environment.AlarmEmail; email != "" {
		// Operational events have an attribute type, alarms none: who reads e-mail gets
		// the alarms, and does not get one for each dead delivery.
		topic.AddSubscription(awssnssubscriptions.NewEmailSubscription(&email, &awssnssubscriptions.EmailSubscriptionProps{
			FilterPolicy: &map[string]awssns.SubscriptionFilter{"type": awssns.NewSubscriptionFilter(&[]any{map[string]any{"exists": false}})},
		}))
	}
	return topic
}
