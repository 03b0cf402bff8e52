package surehook

import (
	"testing"

	"surehook/internal/names"
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

			table := tpl.get(t, "AWS::DynamoDB::Table", "Table")
			table.check(t, "BillingMode", "PAY_PER_REQUEST")
			table.check(t, "KeySchema", keys(names.PartitionKey, names.SortKey))
			table.check(t, "TimeToLiveSpecification", map[string]any{"AttributeName": names.ExpiresAt, "Enabled": true})
			table.check(t, "SSESpecification", map[string]any{"SSEEnabled": true})
			table.check(t, "DeletionProtectionEnabled", protected[env.Name])
			table.check(t, "PointInTimeRecoverySpecification.PointInTimeRecoveryEnabled", recovery[env.Name])
			table.check(t, "GlobalSecondaryIndexes", []any{
				index(names.IndexByEndpoint, names.ByEndpointHash, names.ByEndpointRange),
				index(names.IndexByState, names.ByStateHash, names.ByStateRange),
			})
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
