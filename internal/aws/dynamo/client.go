package dynamo

import (
	"context"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// Bounds of one request. A lost answer takes attemptTimeout and not the rest of the invocation: 4
// attempts, with the waits of package lambdafn between them, take at most 4 x 2 s + 3 x 250 ms =
// 8.75 s.
const (
	// attemptTimeout bounds one attempt, the answer's body included. DynamoDB
	// answers in milliseconds; the largest answer, 16 MB, takes less than a second.
	attemptTimeout = 2 * time.Second
	maxAttempts    = 4
	// idleConnections is above the number of concurrent requests of each function: 16
	// writes of a batch in function ingest, and two lists of maxShardQueries. The SDK
	// keeps 10, so a larger burst would pay for TLS handshakes.
	idleConnections = 32
)

// newClient returns a client with the bounds. A client other than the SDK's own,
// from a test, keeps its settings.
func newClient(cfg aws.Config) *dynamodb.Client {
	return dynamodb.NewFromConfig(cfg, func(o *dynamodb.Options) {
		o.Retryer = retry.AddWithMaxAttempts(o.Retryer, maxAttempts)
		if client, ok := o.HTTPClient.(*awshttp.BuildableClient); ok {
			o.HTTPClient = client.WithTimeout(attemptTimeout).WithTransportOptions(func(t *http.Transport) {
				t.MaxIdleConnsPerHost = idleConnections
			})
		}
	})
}

// Requests are the requests of the store: a part of the SDK's client.
type Requests interface { //nolint:interfacebloat // the requests of one table
	GetItem(ctx context.Context, in *dynamodb.GetItemInput, options ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
	BatchGetItem(ctx context.Context, in *dynamodb.BatchGetItemInput, options ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error)
	TransactGetItems(ctx context.Context, in *dynamodb.TransactGetItemsInput, options ...func(*dynamodb.Options)) (*dynamodb.TransactGetItemsOutput, error)
	Query(ctx context.Context, in *dynamodb.QueryInput, options ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error)
	Scan(ctx context.Context, in *dynamodb.ScanInput, options ...func(*dynamodb.Options)) (*dynamodb.ScanOutput, error)
	PutItem(ctx context.Context, in *dynamodb.PutItemInput, options ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error)
	UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, options ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error)
	BatchWriteItem(ctx context.Context, in *dynamodb.BatchWriteItemInput, options ...func(*dynamodb.Options)) (*dynamodb.BatchWriteItemOutput, error)
	TransactWriteItems(
		ctx context.Context, in *dynamodb.TransactWriteItemsInput, options ...func(*dynamodb.Options),
	) (*dynamodb.TransactWriteItemsOutput, error)
}
