//go:build integration

package dynamo_test

import (
	"crypto/rand"
	"io"
	"net/http"
	"os"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"surehook.example/surehook/internal/aws/dynamo"
	"surehook.example/surehook/internal/names"
	"surehook.example/surehook/proof/porttest"
)

// storeEndpointVariable names another server with the API of DynamoDB, such as DynamoDB Local.
// The license of DynamoDB Local requires an AWS account, so the suite runs there only on request.
const storeEndpointVariable = "STORE_ENDPOINT"

// TestStore_OnEmulators runs the suite on every emulator.
func TestStore_OnEmulators(t *testing.T) {
	t.Parallel()

	emulators := porttest.Emulators(t, os.Getenv(porttest.EmulatorsVariable))
	if url := os.Getenv(storeEndpointVariable); url != "" {
		emulators = append(emulators, porttest.Emulator{Name: storeEndpointVariable, URL: url})
	}
	for _, emulator := range emulators {
		t.Run(emulator.Name, func(t *testing.T) {
			t.Parallel()

			cfg := aws.Config{
				Region:       "us-east-1",
				Credentials:  credentials.NewStaticCredentialsProvider("test", "test", ""),
				BaseEndpoint: &emulator.URL,
				HTTPClient:   plainBodies{awshttp.NewBuildableClient()},
			}
			porttest.Store(t, func(t *testing.T) porttest.StoreUnderTest {
				t.Helper()

				return dynamo.New(cfg, newTable(t, cfg))
			})
		})
	}
}

// plainBodies is a client that hides the method WriteTo of the SDK's request
// bodies from net/http. WriteTo returns io.EOF on a closed body. net/http then
// drops an answer received before the end of the body, and the SDK repeats a
// completed write, with a conflict. Only a local emulator answers fast enough.
type plainBodies struct{ client aws.HTTPClient }

// Do sends the request.
func (c plainBodies) Do(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		r.Body = struct{ io.ReadCloser }{r.Body}
	}
	return c.client.Do(r)
}

// newTable creates a table like the table of the stack and returns the name.
func newTable(t *testing.T, cfg aws.Config) string {
	t.Helper()

	db := dynamodb.NewFromConfig(cfg)
	table := "store-" + rand.Text()
	attributes := []string{
		names.PartitionKey, names.SortKey, names.ByEndpointRange, names.ByStateHash, names.ByStateRange,
	}
	in := &dynamodb.CreateTableInput{
		TableName:   &table,
		BillingMode: types.BillingModePayPerRequest,
		KeySchema:   keySchema(names.PartitionKey, names.SortKey),
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{
			keysOnly(names.IndexByEndpoint, names.ByEndpointHash, names.ByEndpointRange),
			keysOnly(names.IndexByState, names.ByStateHash, names.ByStateRange),
		},
	}
	for _, name := range attributes {
		in.AttributeDefinitions = append(in.AttributeDefinitions, types.AttributeDefinition{
			AttributeName: &name, AttributeType: types.ScalarAttributeTypeS,
		})
	}
	if _, err := db.CreateTable(t.Context(), in); err != nil {
		t.Fatalf("create table %s: %v", table, err)
	}
	return table
}

func keysOnly(index, hash, sort string) types.GlobalSecondaryIndex {
	return types.GlobalSecondaryIndex{
		IndexName:  &index,
		KeySchema:  keySchema(hash, sort),
		Projection: &types.Projection{ProjectionType: types.ProjectionTypeKeysOnly},
	}
}

func keySchema(hash, sort string) []types.KeySchemaElement {
	return []types.KeySchemaElement{
		{AttributeName: &hash, KeyType: types.KeyTypeHash},
		{AttributeName: &sort, KeyType: types.KeyTypeRange},
	}
}
