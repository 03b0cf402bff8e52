//go:build e2e

package emulator_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	dbtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/scheduler"
	schedulertypes "github.com/aws/aws-sdk-go-v2/service/scheduler/types"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/smithy-go"

	"surehook.example/surehook/localstack/emulator"
)

// statement is a statement of a policy.
type statement struct {
	Effect    string                       `json:"Effect"`
	Action    string                       `json:"Action"`
	Resource  string                       `json:"Resource"`
	Principal string                       `json:"Principal,omitempty"`
	Condition map[string]map[string]string `json:"Condition,omitempty"`
}

func policy(t *testing.T, statements ...statement) *string {
	t.Helper()
	b, err := json.Marshal(map[string]any{"Version": "2012-10-17", "Statement": statements})
	if err != nil {
		t.Fatal(err)
	}
	return aws.String(string(b))
}

// needs are actions and the resource of each.
type needs map[string]string

// judged is a call, and what MiniStack asks for it.
type judged struct {
	name string
	call func(context.Context, aws.Config) error
	asks needs
	// unlike is how MiniStack differs from AWS; empty: AWS asks the same. A rule of the
	// strict front makes up for the difference.
	unlike string
}

const (
	tableName = "table"
	tableARN  = "arn:aws:dynamodb:us-east-1:000000000000:table/table"
	queueARN  = "arn:aws:sqs:us-east-1:000000000000:q"
	topicARN  = "arn:aws:sns:us-east-1:000000000000:topic"
)

// TestMiniStackEnforcesPolicies holds MiniStack to each kind of call that Surehook's
// functions make. With the permissions the call is not refused; without one of them the
// call is refused. The places where MiniStack differs from AWS are in the same table: when
// a newer MiniStack asks as AWS does, the test fails, and the front's rule can go.
func TestMiniStackEnforcesPolicies(t *testing.T) {
	t.Parallel()

	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	e, err := emulator.Start(t.Context(), emulator.MiniStack, emulator.Options{Root: root, Name: "policies", Env: os.Environ(), Strict: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Stop(); err != nil {
			t.Error(err)
		}
	})
	owner := aws.Config{Region: emulator.Region, BaseEndpoint: &e.URL, Credentials: credentials.NewStaticCredentialsProvider("test", "test", "")}
	keyARN, secretARN := resources(t, owner)

	for _, tt := range allJudged(keyARN, secretARN) {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			var all []statement
			for action, on := range tt.asks {
				all = append(all, statement{Effect: "Allow", Action: action, Resource: on})
			}
			if err := tt.call(t.Context(), user(t, owner, all)); refused(err) {
				t.Errorf("with %v: %v; want no refusal%s", tt.asks, err, hint(tt.unlike))
			}
			for i, s := range all {
				rest := slices.Delete(slices.Clone(all), i, i+1)
				if err := tt.call(t.Context(), user(t, owner, rest)); !refused(err) {
					t.Errorf("without %s on %s: %v; want a refusal", s.Action, s.Resource, err)
				}
				elsewhere := s
				elsewhere.Condition = map[string]map[string]string{"StringEquals": {"aws:RequestedRegion": "eu-west-1"}}
				if err := tt.call(t.Context(), user(t, owner, append(rest, elsewhere))); !refused(err) {
					t.Errorf("with %s in another region only: %v; want a refusal", s.Action, err)
				}
			}
		})
	}

	t.Run("the policy of a queue denies requests without TLS", func(t *testing.T) {
		t.Parallel()

		may := user(t, owner, []statement{{Effect: "Allow", Action: "sqs:SendMessage", Resource: queueARN}})
		if err := sendMessage(t.Context(), may); err != nil {
			t.Errorf("through the front: %v; want no error: the front stands for TLS", err)
		}
		direct := may.Copy()
		direct.BaseEndpoint = aws.String("http://127.0.0.1:" + strconv.Itoa(e.Port))
		if err := sendMessage(t.Context(), direct); !refused(err) {
			t.Errorf("without the front: %v; want a refusal", err)
		}
	})
}

func hint(unlike string) string {
	if unlike == "" {
		return ""
	}
	return " (" + unlike + ")"
}

// refused reports whether a policy refused the call.
func refused(err error) bool {
	api, ok := errors.AsType[smithy.APIError](err)
	return ok && slices.Contains([]string{"AccessDenied", "AccessDeniedException", "AuthorizationError"}, api.ErrorCode())
}

// user returns the configuration of a new user with the statements. The policies of a
// user and of a role are evaluated alike.
func user(t *testing.T, owner aws.Config, statements []statement) aws.Config {
	t.Helper()
	client, name := iam.NewFromConfig(owner), "u"+rand.Text()
	if _, err := client.CreateUser(t.Context(), &iam.CreateUserInput{UserName: &name}); err != nil {
		t.Fatal(err)
	}
	if len(statements) > 0 {
		if _, err := client.PutUserPolicy(t.Context(), &iam.PutUserPolicyInput{UserName: &name, PolicyName: aws.String("p"), PolicyDocument: policy(t, statements...)}); err != nil {
			t.Fatal(err)
		}
	}
	key, err := client.CreateAccessKey(t.Context(), &iam.CreateAccessKeyInput{UserName: &name})
	if err != nil {
		t.Fatal(err)
	}
	config := owner.Copy()
	config.Credentials = credentials.NewStaticCredentialsProvider(*key.AccessKey.AccessKeyId, *key.AccessKey.SecretAccessKey, "")
	return config
}

// resources makes what the calls use, and returns the ARNs of the key and the secret.
func resources(t *testing.T, owner aws.Config) (keyARN, secretARN string) {
	t.Helper()
	ctx := t.Context()
	attribute := func(name string) dbtypes.AttributeDefinition {
		return dbtypes.AttributeDefinition{AttributeName: &name, AttributeType: dbtypes.ScalarAttributeTypeS}
	}
	hash := func(name string) []dbtypes.KeySchemaElement {
		return []dbtypes.KeySchemaElement{{AttributeName: &name, KeyType: dbtypes.KeyTypeHash}}
	}
	_, err := dynamodb.NewFromConfig(owner).CreateTable(ctx, &dynamodb.CreateTableInput{
		TableName: aws.String(tableName), BillingMode: dbtypes.BillingModePayPerRequest,
		AttributeDefinitions: []dbtypes.AttributeDefinition{attribute("pk"), attribute("state")}, KeySchema: hash("pk"),
		GlobalSecondaryIndexes: []dbtypes.GlobalSecondaryIndex{{
			IndexName: aws.String("by_state"), KeySchema: hash("state"), Projection: &dbtypes.Projection{ProjectionType: dbtypes.ProjectionTypeAll},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	withoutTLS := statement{Effect: "Deny", Action: "sqs:*", Resource: queueARN, Principal: "*", Condition: map[string]map[string]string{"Bool": {"aws:SecureTransport": "false"}}}
	if _, err := sqs.NewFromConfig(owner).CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: aws.String("q"), Attributes: map[string]string{"Policy": *policy(t, withoutTLS)}}); err != nil {
		t.Fatal(err)
	}
	if _, err := sns.NewFromConfig(owner).CreateTopic(ctx, &sns.CreateTopicInput{Name: aws.String("topic")}); err != nil {
		t.Fatal(err)
	}
	if _, err := scheduler.NewFromConfig(owner).CreateScheduleGroup(ctx, &scheduler.CreateScheduleGroupInput{Name: aws.String("g")}); err != nil {
		t.Fatal(err)
	}
	key, err := kms.NewFromConfig(owner).CreateKey(ctx, &kms.CreateKeyInput{})
	if err != nil {
		t.Fatal(err)
	}
	secret, err := secretsmanager.NewFromConfig(owner).CreateSecret(ctx, &secretsmanager.CreateSecretInput{Name: aws.String("s"), SecretString: aws.String("x"), ClientRequestToken: aws.String("00000000-0000-0000-0000-000000000000")})
	if err != nil {
		t.Fatal(err)
	}
	return *key.KeyMetadata.Arn, *secret.ARN
}

func sendMessage(ctx context.Context, c aws.Config) error {
	_, err := sqs.NewFromConfig(c).SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: queueURL(), MessageBody: aws.String("x")})
	return err
}

func queueURL() *string { return aws.String("http://127.0.0.1:4566/000000000000/q") }

func allJudged(keyARN, secretARN string) []judged {
	s := func(value string) dbtypes.AttributeValue { return &dbtypes.AttributeValueMemberS{Value: value} }
	item := map[string]dbtypes.AttributeValue{"pk": s("a"), "state": s("b")}
	key := map[string]dbtypes.AttributeValue{"pk": s("a")}
	values := map[string]dbtypes.AttributeValue{":v": s("a")}
	table := aws.String(tableName)
	database := func(name, action string, do func(context.Context, *dynamodb.Client) error) judged {
		return judged{name: name, asks: needs{"dynamodb:" + action: tableARN}, call: func(ctx context.Context, c aws.Config) error { return do(ctx, dynamodb.NewFromConfig(c)) }}
	}
	part := func(name, action string, part dbtypes.TransactWriteItem) judged {
		return database("a transaction with "+name, action, func(ctx context.Context, c *dynamodb.Client) error {
			_, err := c.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: []dbtypes.TransactWriteItem{part}})
			return err
		})
	}
	query := func(index *string, keyName string) func(context.Context, *dynamodb.Client) error {
		return func(ctx context.Context, c *dynamodb.Client) error {
			_, err := c.Query(ctx, &dynamodb.QueryInput{
				TableName: table, IndexName: index, KeyConditionExpression: aws.String("#k = :v"),
				ExpressionAttributeNames: map[string]string{"#k": keyName}, ExpressionAttributeValues: values,
			})
			return err
		}
	}
	ofIndex := database("a query of an index", "", query(aws.String("by_state"), "state"))
	ofIndex.asks = needs{"dynamodb:Query": tableARN + "/index/by_state"}
	queue := func(name string, asks needs, do func(context.Context, *sqs.Client) error) judged {
		return judged{name: name, asks: asks, call: func(ctx context.Context, c aws.Config) error { return do(ctx, sqs.NewFromConfig(c)) }}
	}
	batch := queue("a batch of messages", needs{"sqs:SendMessageBatch": queueARN}, func(ctx context.Context, c *sqs.Client) error {
		_, err := c.SendMessageBatch(ctx, &sqs.SendMessageBatchInput{QueueUrl: queueURL(), Entries: []sqstypes.SendMessageBatchRequestEntry{{Id: aws.String("1"), MessageBody: aws.String("x")}}})
		return err
	})
	batch.unlike = "AWS asks for sqs:SendMessage"
	// A template's Ref of a secret is the ARN on AWS, and the name on MiniStack. So a
	// permission on the Ref is one on the name, and MiniStack asks for the ARN.
	secret := judged{name: "a secret", asks: needs{"secretsmanager:GetSecretValue": secretARN}, call: func(ctx context.Context, c aws.Config) error {
		_, err := secretsmanager.NewFromConfig(c).GetSecretValue(ctx, &secretsmanager.GetSecretValueInput{SecretId: aws.String("s")})
		return err
	}, unlike: "AWS's template has the ARN in the policy"}
	schedule := judged{name: "a schedule", asks: needs{"scheduler:CreateSchedule": "arn:aws:scheduler:us-east-1:000000000000:schedule/default/s"}, call: func(ctx context.Context, c aws.Config) error {
		_, err := scheduler.NewFromConfig(c).CreateSchedule(ctx, &scheduler.CreateScheduleInput{
			GroupName: aws.String("g"), Name: aws.String("s"), ScheduleExpression: aws.String("rate(1 days)"),
			FlexibleTimeWindow: &schedulertypes.FlexibleTimeWindow{Mode: schedulertypes.FlexibleTimeWindowModeOff},
			Target:             &schedulertypes.Target{Arn: aws.String(queueARN), RoleArn: aws.String("arn:aws:iam::000000000000:role/r")},
		})
		return err
	}, unlike: "AWS asks for a schedule of the group g, and for iam:PassRole, too"}
	return []judged{
		database("a read", "GetItem", func(ctx context.Context, c *dynamodb.Client) error {
			_, err := c.GetItem(ctx, &dynamodb.GetItemInput{TableName: table, Key: key})
			return err
		}),
		database("a put", "PutItem", func(ctx context.Context, c *dynamodb.Client) error {
			_, err := c.PutItem(ctx, &dynamodb.PutItemInput{TableName: table, Item: item})
			return err
		}),
		database("an update", "UpdateItem", func(ctx context.Context, c *dynamodb.Client) error {
			_, err := c.UpdateItem(ctx, &dynamodb.UpdateItemInput{TableName: table, Key: key})
			return err
		}),
		database("a deletion", "DeleteItem", func(ctx context.Context, c *dynamodb.Client) error {
			_, err := c.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: table, Key: key})
			return err
		}),
		database("a scan", "Scan", func(ctx context.Context, c *dynamodb.Client) error {
			_, err := c.Scan(ctx, &dynamodb.ScanInput{TableName: table})
			return err
		}),
		database("a batch read", "BatchGetItem", func(ctx context.Context, c *dynamodb.Client) error {
			_, err := c.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{RequestItems: map[string]dbtypes.KeysAndAttributes{tableName: {Keys: []map[string]dbtypes.AttributeValue{key}}}})
			return err
		}),
		database("a batch write", "BatchWriteItem", func(ctx context.Context, c *dynamodb.Client) error {
			_, err := c.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{RequestItems: map[string][]dbtypes.WriteRequest{tableName: {{PutRequest: &dbtypes.PutRequest{Item: item}}}}})
			return err
		}),
		database("a query", "Query", query(nil, "pk")),
		ofIndex,
		part("a put", "PutItem", dbtypes.TransactWriteItem{Put: &dbtypes.Put{TableName: table, Item: item}}),
		part("an update", "UpdateItem", dbtypes.TransactWriteItem{Update: &dbtypes.Update{
			TableName: table, Key: key, UpdateExpression: aws.String("SET #k = :v"), ExpressionAttributeNames: map[string]string{"#k": "state"}, ExpressionAttributeValues: values,
		}}),
		part("a deletion", "DeleteItem", dbtypes.TransactWriteItem{Delete: &dbtypes.Delete{TableName: table, Key: key}}),
		part("a condition", "ConditionCheckItem", dbtypes.TransactWriteItem{ConditionCheck: &dbtypes.ConditionCheck{
			TableName: table, Key: key, ConditionExpression: aws.String("attribute_not_exists(#k)"), ExpressionAttributeNames: map[string]string{"#k": "none"},
		}}),
		{name: "a message", asks: needs{"sqs:SendMessage": queueARN}, call: sendMessage},
		batch,
		queue("a receive", needs{"sqs:ReceiveMessage": queueARN}, func(ctx context.Context, c *sqs.Client) error {
			_, err := c.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{QueueUrl: queueURL()})
			return err
		}),
		queue("a removal of a message", needs{"sqs:DeleteMessage": queueARN}, func(ctx context.Context, c *sqs.Client) error {
			_, err := c.DeleteMessage(ctx, &sqs.DeleteMessageInput{QueueUrl: queueURL(), ReceiptHandle: aws.String("x")})
			return err
		}),
		queue("a depth", needs{"sqs:GetQueueAttributes": queueARN}, func(ctx context.Context, c *sqs.Client) error {
			_, err := c.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{QueueUrl: queueURL(), AttributeNames: []sqstypes.QueueAttributeName{"All"}})
			return err
		}),
		{name: "a notification", asks: needs{"sns:Publish": topicARN}, call: func(ctx context.Context, c aws.Config) error {
			_, err := sns.NewFromConfig(c).Publish(ctx, &sns.PublishInput{TopicArn: aws.String(topicARN), Message: aws.String("x")})
			return err
		}},
		{name: "an encryption", asks: needs{"kms:Encrypt": keyARN}, call: func(ctx context.Context, c aws.Config) error {
			_, err := kms.NewFromConfig(c).Encrypt(ctx, &kms.EncryptInput{KeyId: &keyARN, Plaintext: []byte("x")})
			return err
		}},
		{name: "a decryption", asks: needs{"kms:Decrypt": keyARN}, call: func(ctx context.Context, c aws.Config) error {
			_, err := kms.NewFromConfig(c).Decrypt(ctx, &kms.DecryptInput{KeyId: &keyARN, CiphertextBlob: []byte("x")})
			return err
		}},
		{name: "an invocation", asks: needs{"lambda:InvokeFunction": "arn:aws:lambda:us-east-1:000000000000:function:f"}, call: func(ctx context.Context, c aws.Config) error {
			_, err := lambda.NewFromConfig(c).Invoke(ctx, &lambda.InvokeInput{FunctionName: aws.String("f")})
			return err
		}},
		secret,
		schedule,
	}
}
