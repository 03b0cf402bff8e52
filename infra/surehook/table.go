package surehook

import (
	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"surehook/internal/names"
)

// TableProps configures NewTable.
type TableProps struct {
	Environment Environment
}

// NewTable makes the table. The table is on demand, so an idle table costs only
// its storage. CloudFormation generates the table's name, so a retained table
// never blocks a new stack.
//
// The encryption key is DynamoDB's AWS-managed KMS key, not the stack's own
// key. DynamoDB would use the stack's key in the caller's name, so every
// function would need kms:Decrypt on the key of the endpoints' secrets.
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

// addIndex makes an index with keys only. Callers read found items from the
// table, consistently, and an index row fits in one write unit.
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
