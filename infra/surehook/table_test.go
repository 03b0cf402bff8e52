package surehook

import (
	"testing"

	"surehook.example/surehook/internal/names"
)

func TestTable(t *testing.T) {
	t.Parallel()

	// The values are repeated here, so a change in environments.go alone fails
	// the test.
	protected := map[string]bool{"dev": false, "staging": false, "prod": true, "local": false}
	recovery := map[string]bool{"dev": false, "staging": true, "prod": true, "local": false}
	policy := map[bool]string{true: "Retain", false: "Delete"}

	for env, tpl := range every(t) {
		t.Run(env.Name, func(t *testing.T) {
			t.Parallel()

			table := tpl.get(t, "AWS::DynamoDB::GlobalTable", "Table")
			table.check(t, "BillingMode", "PAY_PER_REQUEST")
			table.check(t, "KeySchema", keys(names.PartitionKey, names.SortKey))
			table.check(t, "TimeToLiveSpecification", map[string]any{"AttributeName": names.ExpiresAt, "Enabled": true})
			table.check(t, "SSESpecification", map[string]any{"SSEEnabled": true, "SSEType": "KMS"})
			table.check(t, "StreamSpecification", map[string]any{"StreamViewType": "NEW_AND_OLD_IMAGES"})
			table.check(t, "TableName", nil)
			table.check(t, "WarmThroughput", nil) // AWS charges for it
			table.check(t, "GlobalSecondaryIndexes", []any{
				index(names.IndexByEndpoint, names.ByEndpointHash, names.ByEndpointRange),
				index(names.IndexByState, names.ByStateHash, names.ByStateRange),
			})
			// One replica, without contributor insights.
			table.check(t, "Replicas", []any{map[string]any{
				"GlobalSecondaryIndexes":           []any{map[string]any{"IndexName": names.IndexByEndpoint}, map[string]any{"IndexName": names.IndexByState}},
				"Region":                           map[string]any{"Ref": "AWS::Region"},
				"DeletionProtectionEnabled":        protected[env.Name],
				"PointInTimeRecoverySpecification": map[string]any{"PointInTimeRecoveryEnabled": recovery[env.Name]},
			}})
			if want := policy[protected[env.Name]]; table.DeletionPolicy != want || table.UpdateReplacePolicy != want {
				t.Errorf("policies of the table = %s, %s; want %s", table.DeletionPolicy, table.UpdateReplacePolicy, want)
			}
		})
	}
}

func keys(hash, sort string) []any {
	return []any{
		map[string]any{"AttributeName": hash, "KeyType": "HASH"},
		map[string]any{"AttributeName": sort, "KeyType": "RANGE"},
	}
}

func index(name, hash, sort string) map[string]any {
	return map[string]any{"IndexName": name, "KeySchema": keys(hash, sort), "Projection": map[string]any{"ProjectionType": "KEYS_ONLY"}}
}

// TestTable_stream checks that the breaker gets stored events and replays as late as
// possible, and gets them again until they leave the stream. The filters repeat the names of
// the items of internal/aws/dynamo.
func TestTable_stream(t *testing.T) {
	t.Parallel()

	for env, tpl := range every(t) {
		t.Run(env.Name, func(t *testing.T) {
			t.Parallel()

			source := tpl.get(t, "AWS::Lambda::EventSourceMapping", "BreakerStream")
			if got, want := show(source.at("FunctionName"))+show(source.at("EventSourceArn")), "${Breaker}${Table.StreamArn}"; got != want {
				t.Errorf("the mapping leads to %s; want %s", got, want)
			}
			source.check(t, "BatchSize", 10_000)
			source.check(t, "MaximumBatchingWindowInSeconds", 300)
			source.check(t, "BisectBatchOnFunctionError", true)
			source.check(t, "StartingPosition", "TRIM_HORIZON")
			source.check(t, "MaximumRecordAgeInSeconds", nil)
			source.check(t, "MaximumRetryAttempts", nil)
			source.check(t, "FilterCriteria.Filters", []any{
				map[string]any{"Pattern": `{"dynamodb":{"Keys":{"sk":{"S":["event"]}}},"eventName":["INSERT","MODIFY"]}`},
				map[string]any{"Pattern": `{"dynamodb":{"NewImage":{"replayed":{"M":{"generation":{"N":[{"exists":true}]}}}}},"eventName":["INSERT","MODIFY"]}`},
			})
		})
	}
}
