package surehook

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"
	"github.com/aws/jsii-runtime-go"
)

// alarmPrincipal is the service principal of CloudWatch alarms.
const alarmPrincipal = "cloudwatch.amazonaws.com"

// newTopic makes the operators' topic: alarms of this account and region, and
// operational events of the functions. The messages hold ids, figures and
// states, never payloads or secrets.
//
// The topic is not encrypted under the AWS-managed key of SNS. CloudWatch may
// not use that key, so alarms would be lost. A customer-managed key would cost
// more than the rest of an idle stack, for messages sent by e-mail.
func newTopic(p plan) awssns.Topic {
	topic := awssns.NewTopic(p.Construct, jsii.String("Topic"), &awssns.TopicProps{
		TopicName:  jsii.String(p.Prefix + "-alerts"),
		EnforceSSL: jsii.Bool(true),
	})
	// An explicit policy replaces SNS's default policy, and the default allows
	// the whole account. The functions' roles grant the functions' access.
	topic.AddToResourcePolicy(awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
		Sid:        jsii.String("AllowAlarms"),
		Principals: &[]awsiam.IPrincipal{awsiam.NewServicePrincipal(jsii.String(alarmPrincipal), nil)},
		Actions:    jsii.Strings("sns:Publish"),
		Resources:  &[]*string{topic.TopicArn()},
		Conditions: &map[string]any{
			"StringEquals": map[string]any{"aws:SourceAccount": awscdk.Aws_ACCOUNT_ID()},
			"ArnLike":      map[string]any{"aws:SourceArn": arnOf(p.Construct, nil, "cloudwatch", "alarm", "*")},
		},
	}))
	if email := p.Environment.AlarmEmail; email != "" {
		subscribe(topic, &email)
	}
	return topic
}

// subscribe sends the alarms to an address. Operational events have an attribute type;
// alarms have none. The e-mail subscription receives alarms only, without a message per
// dead delivery.
func subscribe(topic awssns.Topic, email *string) awssns.Subscription {
	// CDK's class for addresses would put the address into the logical id.
	return awssns.NewSubscription(topic, jsii.String("Email"), &awssns.SubscriptionProps{
		Topic:        topic,
		Protocol:     awssns.SubscriptionProtocol_EMAIL,
		Endpoint:     email,
		FilterPolicy: &map[string]awssns.SubscriptionFilter{"type": awssns.NewSubscriptionFilter(&[]any{map[string]any{"exists": false}})},
	})
}
