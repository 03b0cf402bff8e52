package surehook

import (
	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"surehook/internal/names"
)

// TableProps says what NewTable makes.
type TableProps struct {
	Environment Environment
}

// NewTable makes the one table: on demand, so that an idle table costs its storage only,
// and without a name of its own, so that a retained table is never in the way
// of a new stack.
//
// It is encrypted under the AWS-managed KMS key of DynamoDB and not under the
// stack's own: DynamoDB uses a key of ours in the caller's name, so every
// function would need kms:Decrypt on the key that unseals the endpoints' secrets.
func NewTable(scope constructs.Construct, id string, props TableProps) awsdynamodb.Table {
	table := awsdynamodb.NewTable(scope, &id, &awsdynamodb.TableProps{
		PartitionKey:        attribute(names.PartitionKey),
		SortKey:             attribute(names.SortKey),
		BillingMode:         awsdynamodb.BillingMode_PAY_PER_REQUEST,
		TimeToLiveAttribute: jsii.String(names.ExpiresAt),
		Encryption:          awsdynamodb.TableEncryption_AWS_MANAGED,
		PointInTimeRecoverySpecification: &awsdynamodb.PointInTimeRecoverySpecification{
			PointInTimeRecoveryEnabled: &props.Environment.PointInTimeRecovery,
		},
		DeletionProtection: &props.Environment.Protected,
		RemovalPolicy:      removal(props.Environment),
	})
	addIndex(table, names.IndexByEndpoint, names.ByEndpointHash, names.ByEndpointRange)
	addIndex(table, names.IndexByState, names.ByStateHash, names.ByStateRange)
	return table
}

// addIndex makes an index of keys alone: what it finds is read from the table,
// consistently, and an index row stays within one write unit.
func addIndex(table awsdynamodb.Table, name, hash, sort string) {
	table.AddGlobalSecondaryIndex(&awsdynamodb.GlobalSecondaryIndexProps{
		IndexName:      &name,
		PartitionKey:   attribute(hash),
		SortKey:        attribute(sort),
		ProjectionType: awsdynamodb.ProjectionType_KEYS_ONLY,
	})
}

func attribute(name string) *awsdynamodb.Attribute {
	return &awsdynamodb.Attribute{Name: &name, Type: awsdynamodb.AttributeType_STRING}
}
