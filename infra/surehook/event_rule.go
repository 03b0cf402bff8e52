package surehook

import (
	"encoding/json"

	"github.com/aws/aws-cdk-go/awscdk/v2/awsevents"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"
)

// newEventRule sends the matching events of the bus to the queue of events. EventBridge tries
// for 24 hours, and then sends the event to the rejects. Without a bus there is no rule.
func newEventRule(scope constructs.Construct, prefix string, from EventBus, queues Queues) {
	if from.Bus == "" {
		return
	}
	var pattern map[string]any
	_ = json.Unmarshal([]byte(from.Pattern), &pattern) // Validate has read it
	rule := awsevents.NewCfnRule(scope, jsii.String("EventRule"), &awsevents.CfnRuleProps{
		Name:         jsii.String(prefix + "-events"),
		Description:  jsii.String("Events for Surehook"),
		EventBusName: &from.Bus,
		EventPattern: pattern,
		Targets: &[]*awsevents.CfnRule_TargetProperty{{
			Id: jsii.String("events"), Arn: queues.Events.QueueArn(),
			DeadLetterConfig: &awsevents.CfnRule_DeadLetterConfigProperty{Arn: queues.Rejects.QueueArn()},
		}},
	})
	for _, queue := range []awssqs.Queue{queues.Events, queues.Rejects} {
		admit(queue, awsiam.NewServicePrincipal(jsii.String("events.amazonaws.com"), nil), &map[string]any{"ArnEquals": map[string]any{"aws:SourceArn": rule.AttrArn()}})
	}
}

// admit lets the principal send to the queue.
func admit(queue awssqs.Queue, principal awsiam.IPrincipal, conditions *map[string]any) {
	queue.AddToResourcePolicy(awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
		Actions: jsii.Strings("sqs:SendMessage"), Principals: &[]awsiam.IPrincipal{principal}, Resources: &[]*string{queue.QueueArn()}, Conditions: conditions,
	}))
}
