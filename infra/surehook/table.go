package surehook

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"surehook.example/surehook/internal/names"
)

// newTable makes the table. The table is on demand, so an idle table costs only
// its storage. CloudFormation generates the table's name, so a retained table
// never blocks a new stack.
//
// The resource is a global table with one replica, in the stack's region, at the
// price of a plain table. CloudFormation cannot change a plain table into a
// global table, but can add replicas to this table later.
//
// The stream tells the breaker of accepted events and of replays; see addStream. A table
// with replicas has this type of stream in any case.
//
// The encryption key is DynamoDB's AWS-managed KMS key, not the stack's own key.
// DynamoDB would use the stack's key in the caller's name, so every function
// would need kms:Decrypt on the key of the endpoints' secrets.
func newTable(scope constructs.Construct, env Environment) awsdynamodb.TableV2 {
	keep := awscdk.RemovalPolicy_DESTROY
	if env.Protected {
		// A failed creation, too: the table refuses its deletion from the first second.
		keep = awscdk.RemovalPolicy_RETAIN
	}
	return awsdynamodb.NewTableV2(scope, jsii.String("Table"), &awsdynamodb.TablePropsV2{
		PartitionKey:        attribute(names.PartitionKey),
		SortKey:             attribute(names.SortKey),
		Billing:             awsdynamodb.Billing_OnDemand(nil),
		TimeToLiveAttribute: jsii.String(names.ExpiresAt),
		DynamoStream:        awsdynamodb.StreamViewType_NEW_AND_OLD_IMAGES,
		Encryption:          awsdynamodb.TableEncryptionV2_AwsManagedKey(),
		PointInTimeRecoverySpecification: &awsdynamodb.PointInTimeRecoverySpecification{
			PointInTimeRecoveryEnabled: &env.PointInTimeRecovery,
		},
		DeletionProtection: &env.Protected,
		RemovalPolicy:      keep,
		WarmThroughput:     env.WarmThroughput.render(),
		GlobalSecondaryIndexes: &[]*awsdynamodb.GlobalSecondaryIndexPropsV2{
			newIndex(env, names.IndexByEndpoint, names.ByEndpointHash, names.ByEndpointRange),
			newIndex(env, names.IndexByState, names.ByStateHash, names.ByStateRange),
		},
	})
}

// newIndex returns an index with keys only. Callers read found items from the
// table, consistently, and an index row fits in one write unit. A throttled
// index throttles the table's writes, so the index has the table's warm
// throughput.
func newIndex(env Environment, name, hash, sort string) *awsdynamodb.GlobalSecondaryIndexPropsV2 {
	return &awsdynamodb.GlobalSecondaryIndexPropsV2{
		IndexName:      &name,
		PartitionKey:   attribute(hash),
		SortKey:        attribute(sort),
		ProjectionType: awsdynamodb.ProjectionType_KEYS_ONLY,
		WarmThroughput: env.WarmThroughput.render(),
	}
}

// render converts the throughput to CDK's form, nil for DynamoDB's default.
func (w WarmThroughput) render() *awsdynamodb.WarmThroughput {
	if w == (WarmThroughput{}) {
		return nil
	}
	return &awsdynamodb.WarmThroughput{ReadUnitsPerSecond: jsii.Number(w.ReadUnits), WriteUnitsPerSecond: jsii.Number(w.WriteUnits)}
}

func attribute(name string) *awsdynamodb.Attribute {
	return &awsdynamodb.Attribute{Name: &name, Type: awsdynamodb.AttributeType_STRING}
}
