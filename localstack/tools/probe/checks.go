package probe

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	dbtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/scheduler"
	schedulertypes "github.com/aws/aws-sdk-go-v2/service/scheduler/types"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// answer is what the function of the checks answers, and message what is sent to a queue: JSON,
// as all messages of the product are.
const (
	answer  = "surehook-probe"
	message = `{"probe":"` + answer + `"}`
)

var (
	errOtherText   = errors.New("the decrypted text is another")
	errEmptySecret = errors.New("the generated secret is empty")
	errNotTaken    = errors.New("the function takes no message from the queue")
)

// object is a part of a template.
type object = map[string]any

func resource(kind string, properties object) object {
	return object{"Type": kind, "Properties": properties}
}
func ref(name string) object           { return object{"Ref": name} }
func attribute(name, of string) object { return object{"Fn::GetAtt": []string{name, of}} }
func output(value any) object          { return object{"Value": value} }

// role is a role of the service.
func role(service string) object {
	return resource("AWS::IAM::Role", object{"AssumeRolePolicyDocument": object{"Version": "2012-10-17", "Statement": []object{
		{"Effect": "Allow", "Principal": object{"Service": service + ".amazonaws.com"}, "Action": "sts:AssumeRole"},
	}}})
}

// function is a function that answers any request of an API, and the environment when called.
func function() object {
	return resource("AWS::Lambda::Function", object{
		"Runtime": "python3.13", "Handler": "index.handler", "Role": attribute("Role", "Arn"),
		"Code": object{"ZipFile": "import os\ndef handler(event, context):\n" +
			"    return {'statusCode': 200, 'body': '" + answer + " ' + os.environ.get('AWS_ENDPOINT_URL', '')}\n"},
	})
}

// checks returns all checks; the first is the condition of the others.
func checks() []check {
	queue := resource("AWS::SQS::Queue", object{})
	return []check{
		{"CloudFormation", "CreateStack, DescribeStacks, DeleteStack", object{"Queue": queue}, object{"Url": output(ref("Queue"))}, nil},
		{"SQS", "SendMessage, ReceiveMessage, DeleteMessage", object{"Queue": queue}, object{"Url": output(ref("Queue"))}, useQueue},
		{"DynamoDB", "global table with an index, TransactWriteItems, Query", object{"Table": table()}, object{"Name": output(ref("Table"))}, useTable},
		{"KMS", "Encrypt, Decrypt", object{"Key": resource("AWS::KMS::Key", object{"KeyPolicy": object{"Version": "2012-10-17", "Statement": []object{
			{"Effect": "Allow", "Principal": object{"AWS": "*"}, "Action": "kms:*", "Resource": "*"},
		}}})}, object{"Id": output(ref("Key"))}, useKey},
		{"Secrets Manager", "a generated secret, GetSecretValue", object{"Secret": resource("AWS::SecretsManager::Secret", object{"GenerateSecretString": object{"SecretStringTemplate": "{}", "GenerateStringKey": "key"}})}, object{"Arn": output(ref("Secret"))}, useSecret},
		{"SNS", "Publish", object{"Topic": resource("AWS::SNS::Topic", object{})}, object{"Arn": output(ref("Topic"))}, useTopic},
		{Functions, "a function that runs and reaches the services", object{"Role": role("lambda"), "Function": function()}, object{"Name": output(ref("Function"))}, useFunction},
		{"Lambda from SQS", "an event source", object{"Role": role("lambda"), "Function": function(), "Queue": queue, "Source": resource("AWS::Lambda::EventSourceMapping", object{
			"EventSourceArn": attribute("Queue", "Arn"), "FunctionName": ref("Function"), "BatchSize": 1,
		})}, object{"Url": output(ref("Queue"))}, useSource},
		{HTTPAPI, "an API whose route calls a function", httpAPI(), object{"Url": output(attribute("Api", "ApiEndpoint"))}, useAPI},
		{"Scheduler", "a schedule", object{"Queue": queue, "Role": role("scheduler")}, object{"Arn": output(attribute("Queue", "Arn")), "Role": output(attribute("Role", "Arn"))}, useSchedule},
		{Firing, "a schedule that is due sends a message", object{"Queue": queue, "Role": role("scheduler")}, object{"Url": output(ref("Queue")), "Arn": output(attribute("Queue", "Arn")), "Role": output(attribute("Role", "Arn"))}, useFiring},
		{"S3", "a bucket", object{"Bucket": resource("AWS::S3::Bucket", object{})}, nil, nil},
		{"Logs", "a log group", object{"Group": resource("AWS::Logs::LogGroup", object{"RetentionInDays": 1})}, nil, nil},
		{"CloudWatch", "an alarm", object{"Alarm": resource("AWS::CloudWatch::Alarm", object{
			"ComparisonOperator": "GreaterThanThreshold", "EvaluationPeriods": 1, "Threshold": 1, "Period": 60, "Statistic": "Sum", "Namespace": "Probe", "MetricName": "probe",
		})}, nil, nil},
		{"Step Functions", "a state machine", object{"Role": role("states"), "Machine": resource("AWS::StepFunctions::StateMachine", object{
			"RoleArn": attribute("Role", "Arn"), "DefinitionString": `{"StartAt":"End","States":{"End":{"Type":"Succeed"}}}`,
		})}, nil, nil},
		{"Parameter Store", "a parameter, as the CDK keeps its version in", object{"Parameter": resource("AWS::SSM::Parameter", object{"Type": "String", "Value": "1"})}, nil, nil},
	}
}

func table() object {
	return resource("AWS::DynamoDB::GlobalTable", object{
		"BillingMode":          "PAY_PER_REQUEST",
		"AttributeDefinitions": []object{{"AttributeName": "pk", "AttributeType": "S"}, {"AttributeName": "at", "AttributeType": "S"}},
		"KeySchema":            []object{{"AttributeName": "pk", "KeyType": "HASH"}},
		"GlobalSecondaryIndexes": []object{{
			"IndexName": "by_at", "KeySchema": []object{{"AttributeName": "at", "KeyType": "HASH"}}, "Projection": object{"ProjectionType": "KEYS_ONLY"},
		}},
		"Replicas": []object{{"Region": ref("AWS::Region")}},
	})
}

func httpAPI() object {
	return object{
		"Role": role("lambda"), "Function": function(),
		"Api": resource("AWS::ApiGatewayV2::Api", object{"Name": answer, "ProtocolType": "HTTP"}),
		"Integration": resource("AWS::ApiGatewayV2::Integration", object{
			"ApiId": ref("Api"), "IntegrationType": "AWS_PROXY", "IntegrationUri": attribute("Function", "Arn"), "PayloadFormatVersion": "2.0",
		}),
		"Route": resource("AWS::ApiGatewayV2::Route", object{
			"ApiId": ref("Api"), "RouteKey": "GET /probe", "Target": object{"Fn::Sub": "integrations/${Integration}"},
		}),
		"Stage": resource("AWS::ApiGatewayV2::Stage", object{"ApiId": ref("Api"), "StageName": "$default", "AutoDeploy": true}),
		"Permission": resource("AWS::Lambda::Permission", object{
			"Action": "lambda:InvokeFunction", "FunctionName": ref("Function"), "Principal": "apigateway.amazonaws.com",
		}),
	}
}

func useQueue(ctx context.Context, s Server, out map[string]string) error {
	client, url := sqs.NewFromConfig(s.AWS), out["Url"]
	if _, err := client.SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: &url, MessageBody: aws.String(message)}); err != nil {
		return plain("SendMessage", err)
	}
	return receive(ctx, client, url, timeout/9)
}

// receive waits for the message.
func receive(ctx context.Context, client *sqs.Client, url string, within time.Duration) error {
	for end := time.Now().Add(within); time.Now().Before(end); {
		got, err := client.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{QueueUrl: &url, WaitTimeSeconds: 2})
		if err != nil {
			return plain("ReceiveMessage", err)
		}
		for _, m := range got.Messages {
			if !strings.Contains(aws.ToString(m.Body), answer) {
				continue
			}
			if _, err := client.DeleteMessage(ctx, &sqs.DeleteMessageInput{QueueUrl: &url, ReceiptHandle: m.ReceiptHandle}); err != nil {
				return plain("DeleteMessage", err)
			}
			return nil
		}
	}
	return fmt.Errorf("no message within %s", within)
}

func useTable(ctx context.Context, s Server, out map[string]string) error {
	client, name := dynamodb.NewFromConfig(s.AWS), out["Name"]
	item := map[string]dbtypes.AttributeValue{"pk": &dbtypes.AttributeValueMemberS{Value: answer}, "at": &dbtypes.AttributeValueMemberS{Value: "1"}}
	if _, err := client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: []dbtypes.TransactWriteItem{
		{Put: &dbtypes.Put{TableName: &name, Item: item, ConditionExpression: aws.String("attribute_not_exists(pk)")}},
	}}); err != nil {
		return plain("TransactWriteItems", err)
	}
	found, err := client.Query(ctx, &dynamodb.QueryInput{
		TableName: &name, IndexName: aws.String("by_at"), KeyConditionExpression: aws.String("#at = :at"), ExpressionAttributeNames: map[string]string{"#at": "at"},
		ExpressionAttributeValues: map[string]dbtypes.AttributeValue{":at": item["at"]},
	})
	if err != nil {
		return plain("Query", err)
	}
	if found.Count != 1 {
		return fmt.Errorf("the index has %d items of one", found.Count)
	}
	return nil
}

func useKey(ctx context.Context, s Server, out map[string]string) error {
	client, id := kms.NewFromConfig(s.AWS), out["Id"]
	sealed, err := client.Encrypt(ctx, &kms.EncryptInput{KeyId: &id, Plaintext: []byte(answer), EncryptionContext: map[string]string{"a": "b"}})
	if err != nil {
		return plain("Encrypt", err)
	}
	opened, err := client.Decrypt(ctx, &kms.DecryptInput{CiphertextBlob: sealed.CiphertextBlob, KeyId: &id, EncryptionContext: map[string]string{"a": "b"}})
	if err != nil {
		return plain("Decrypt", err)
	}
	if string(opened.Plaintext) != answer {
		return errOtherText
	}
	return nil
}

func useSecret(ctx context.Context, s Server, out map[string]string) error {
	got, err := secretsmanager.NewFromConfig(s.AWS).GetSecretValue(ctx, &secretsmanager.GetSecretValueInput{SecretId: aws.String(out["Arn"])})
	if err != nil {
		return plain("GetSecretValue", err)
	}
	if aws.ToString(got.SecretString) == "" {
		return errEmptySecret
	}
	return nil
}

func useTopic(ctx context.Context, s Server, out map[string]string) error {
	if _, err := sns.NewFromConfig(s.AWS).Publish(ctx, &sns.PublishInput{TopicArn: aws.String(out["Arn"]), Message: aws.String(answer)}); err != nil {
		return plain("Publish", err)
	}
	return nil
}

// useFunction asks the function for its environment: without AWS_ENDPOINT_URL a function asks
// AWS itself.
func useFunction(ctx context.Context, s Server, out map[string]string) error {
	got, err := lambda.NewFromConfig(s.AWS).Invoke(ctx, &lambda.InvokeInput{FunctionName: aws.String(out["Name"])})
	if err != nil {
		return plain("Invoke", err)
	}
	switch text := string(got.Payload); {
	case got.FunctionError != nil || !strings.Contains(text, answer):
		return fmt.Errorf("the function answers %d %.200s", got.StatusCode, text)
	case !strings.Contains(text, answer+" http"):
		return fmt.Errorf("functions have no AWS_ENDPOINT_URL: start the server with AWS_ENDPOINT_URL=%s", aws.ToString(s.AWS.BaseEndpoint))
	}
	return nil
}

// useSource waits until the function took the message from the queue.
func useSource(ctx context.Context, s Server, out map[string]string) error {
	client, url := sqs.NewFromConfig(s.AWS), out["Url"]
	if _, err := client.SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: &url, MessageBody: aws.String(message)}); err != nil {
		return plain("SendMessage", err)
	}
	tick := time.NewTicker(time.Second / 2)
	defer tick.Stop()
	for end := time.Now().Add(timeout / 6); time.Now().Before(end); {
		got, err := client.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{QueueUrl: &url, AttributeNames: []sqstypes.QueueAttributeName{sqstypes.QueueAttributeNameAll}})
		if err != nil {
			return plain("GetQueueAttributes", err)
		}
		if got.Attributes["ApproximateNumberOfMessages"] == "0" && got.Attributes["ApproximateNumberOfMessagesNotVisible"] == "0" {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("wait for the function: %w", context.Cause(ctx))
		}
	}
	return errNotTaken
}

func useAPI(ctx context.Context, s Server, out map[string]string) error {
	host, err := s.APIHost(out["Url"])
	if err != nil {
		return err
	}
	return get(ctx, aws.ToString(s.AWS.BaseEndpoint)+"/probe", host)
}

// schedule makes a schedule in the group default.
func schedule(ctx context.Context, s Server, out map[string]string, at time.Time) (remove func() error, err error) {
	client := scheduler.NewFromConfig(s.AWS)
	name := answer + strings.ReplaceAll(out["Arn"][strings.LastIndex(out["Arn"], ":")+1:], "_", "-")
	name = name[:min(len(name), 64)]
	if _, err := client.CreateSchedule(ctx, &scheduler.CreateScheduleInput{
		Name: &name, ScheduleExpression: aws.String("at(" + at.UTC().Format("2006-01-02T15:04:05") + ")"),
		FlexibleTimeWindow: &schedulertypes.FlexibleTimeWindow{Mode: schedulertypes.FlexibleTimeWindowModeOff},
		Target:             &schedulertypes.Target{Arn: aws.String(out["Arn"]), RoleArn: aws.String(out["Role"]), Input: aws.String(message)},
	}); err != nil {
		return nil, plain("CreateSchedule", err)
	}
	return func() error {
		if _, err := client.DeleteSchedule(ctx, &scheduler.DeleteScheduleInput{Name: &name}); err != nil {
			return plain("DeleteSchedule", err)
		}
		return nil
	}, nil
}

func useSchedule(ctx context.Context, s Server, out map[string]string) error {
	remove, err := schedule(ctx, s, out, time.Now().Add(time.Hour))
	if err != nil {
		return err
	}
	return remove()
}

func useFiring(ctx context.Context, s Server, out map[string]string) error {
	remove, err := schedule(ctx, s, out, time.Now().Add(5*time.Second))
	if err != nil {
		return err
	}
	defer remove() //nolint:errcheck // a schedule that fired may be gone
	return receive(ctx, sqs.NewFromConfig(s.AWS), out["Url"], 40*time.Second)
}
