package cost_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/memory/table"
	"surehook.example/surehook/proof/cost"
)

// setup returns a ledger and a config whose every request is answered so.
func setup(t *testing.T, status int, answer string) (*cost.Ledger, aws.Config, *[]cost.Message) {
	t.Helper()

	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/x-amz-json-1.0")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(server.Close)

	var sent []cost.Message
	peek := func(context.Context, cost.Item) (cost.Item, error) { return sized(1500, nil), nil }
	schema := table.Schema{Hash: "pk", Sort: "sk", Indexes: []table.Index{{Hash: "h", Sort: "r"}}}
	ledger := cost.NewLedger(schema, peek, func(m cost.Message) { sent = append(sent, m) })
	return ledger, ledger.Config(aws.Config{
		Region:       "us-east-1",
		Credentials:  credentials.NewStaticCredentialsProvider("id", "key", ""),
		BaseEndpoint: &server.URL,
		HTTPClient:   server.Client(),
		Retryer:      func() aws.Retryer { return aws.NopRetryer{} },
	}), &sent
}

const refusal = `{"__type":"com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException","message":"no"}`

func TestLedger_CountsRequestsToTheTable(t *testing.T) {
	t.Parallel()

	name := aws.String("t")
	key := cost.Item{"pk": text("p"), "sk": text("event")}
	tests := []struct {
		name   string
		status int
		answer string
		call   func(ctx context.Context, c *dynamodb.Client)
		reads  float64
		writes float64
	}{
		{
			name: "a consistent read of nothing", status: 200, answer: `{}`,
			call: func(ctx context.Context, c *dynamodb.Client) {
				_, _ = c.GetItem(ctx, &dynamodb.GetItemInput{TableName: name, Key: key, ConsistentRead: aws.Bool(true)})
			}, reads: 1, writes: 0,
		},
		{
			name: "three keys of which one exists", status: 200, answer: `{"Responses":{"t":[{"pk":{"S":"p"},"sk":{"S":"` + strings.Repeat("x", 5000) + `"}}]}}`,
			call: func(ctx context.Context, c *dynamodb.Client) {
				_, _ = c.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{
					"t": {ConsistentRead: aws.Bool(true), Keys: []map[string]types.AttributeValue{key, key, key}},
				}})
			}, reads: 4, writes: 0,
		},
		{
			name: "a query counts its items together", status: 200, answer: `{"Items":[{"pk":{"S":"p"}},{"pk":{"S":"q"}}],"Count":2}`,
			call: func(ctx context.Context, c *dynamodb.Client) {
				_, _ = c.Query(ctx, &dynamodb.QueryInput{TableName: name})
			}, reads: 0.5, writes: 0,
		},
		{
			name: "a put", status: 200, answer: `{}`,
			call: func(ctx context.Context, c *dynamodb.Client) {
				_, _ = c.PutItem(ctx, &dynamodb.PutItemInput{TableName: name, Item: sized(1500, cost.Item{"h": text("a"), "r": text("b")})})
			}, reads: 0, writes: 3,
		},
		{
			name: "a put whose condition did not hold", status: 400, answer: refusal,
			call: func(ctx context.Context, c *dynamodb.Client) {
				_, _ = c.PutItem(ctx, &dynamodb.PutItemInput{TableName: name, Item: sized(1500, cost.Item{"h": text("a"), "r": text("b")})})
			}, reads: 0, writes: 1,
		},
		{
			name: "a put that was throttled costs nothing", status: 400, answer: `{"__type":"com.amazonaws.dynamodb.v20120810#ThrottlingException","message":"no"}`,
			call: func(ctx context.Context, c *dynamodb.Client) {
				_, _ = c.PutItem(ctx, &dynamodb.PutItemInput{TableName: name, Item: sized(1500, nil)})
			}, reads: 0, writes: 0,
		},
		{
			name: "an update is as large as the item after it", status: 200, answer: `{}`,
			call: func(ctx context.Context, c *dynamodb.Client) {
				_, _ = c.UpdateItem(ctx, &dynamodb.UpdateItemInput{TableName: name, Key: key})
			}, reads: 0, writes: 2,
		},
		{
			name: "a transaction costs twice", status: 200, answer: `{}`,
			call: func(ctx context.Context, c *dynamodb.Client) {
				_, _ = c.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
					{Put: &types.Put{TableName: name, Item: sized(100, nil)}},
					{Put: &types.Put{TableName: name, Item: sized(2000, cost.Item{"sk": text("other")})}},
				}})
			}, reads: 0, writes: 6,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			ledger, cfg, _ := setup(t, tt.status, tt.answer)
			tt.call(t.Context(), dynamodb.NewFromConfig(cfg))
			account, err := ledger.Account()
			if err != nil || account.Usage[cost.ReadUnit] != tt.reads || account.Usage[cost.WriteUnit] != tt.writes {
				t.Errorf("Account() = %v, %v; want %g read and %g write units", account, err, tt.reads, tt.writes)
			}
		})
	}
}

func TestLedger_RemembersWhatIsThere(t *testing.T) {
	t.Parallel()

	ledger, cfg, _ := setup(t, http.StatusOK, `{}`)
	db := dynamodb.NewFromConfig(cfg)
	for _, r := range []string{"queued", "queued", "delivered"} {
		item := sized(100, cost.Item{"h": text("a"), "r": text(r)})
		if _, err := db.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("t"), Item: item}); err != nil {
			t.Fatal(err)
		}
	}
	account, err := ledger.Account()
	if want := 2.0 + 1 + 3; err != nil || account.Usage[cost.WriteUnit] != want {
		t.Errorf("a put, the same again and one that moves the index row cost %g, %v; want %g", account.Usage[cost.WriteUnit], err, want)
	}
	if got := account.Writes(""); got != 3 {
		t.Errorf("Writes() = %g; want 3", got)
	}
}

func TestLedger_MeasuresNoRefusedItem(t *testing.T) {
	t.Parallel()

	ledger, cfg, _ := setup(t, 400, refusal)
	item := sized(3000, cost.Item{"sk": text("event")})
	_, _ = dynamodb.NewFromConfig(cfg).PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("t"), Item: item})
	account, err := ledger.Account()
	if err != nil || account.Requests["PutItem event"] != 1 || account.Sizes["event"] != 0 {
		t.Errorf("Account() = %+v, %v; want one request, and no size of an item that was not written", account, err)
	}
}

func TestLedger_CountsMessages(t *testing.T) {
	t.Parallel()

	ledger, cfg, sent := setup(t, http.StatusOK, `{"Successful":[],"Failed":[]}`)
	_, err := sqs.NewFromConfig(cfg).SendMessageBatch(t.Context(), &sqs.SendMessageBatchInput{
		QueueUrl: aws.String("q"),
		Entries: []sqstypes.SendMessageBatchRequestEntry{
			{Id: aws.String("0"), MessageBody: aws.String(strings.Repeat("x", 60<<10)), MessageGroupId: aws.String("ep"), DelaySeconds: 7},
			{Id: aws.String("1"), MessageBody: aws.String(strings.Repeat("y", 60<<10)), MessageGroupId: aws.String("ep")},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	account, err := ledger.Account()
	if diff := cmp.Diff(cost.Usage{cost.QueueRequest: 2, cost.FairRequest: 2}, account.Usage); err != nil || diff != "" {
		t.Errorf("Usage, %v (-want +got):\n%s", err, diff)
	}
	if len(*sent) != 2 || (*sent)[0].Delay != 7 || (*sent)[0].Queue != "q" {
		t.Errorf("%d messages were told of; want 2, the first delayed by 7 s", len(*sent))
	}
}

func TestLedger_DoesNotPassOverWhatItCannotPrice(t *testing.T) {
	t.Parallel()

	ledger, cfg, _ := setup(t, http.StatusOK, `{}`)
	_, _ = dynamodb.NewFromConfig(cfg).Scan(t.Context(), &dynamodb.ScanInput{TableName: aws.String("t")})
	if _, err := ledger.Account(); err == nil || !strings.Contains(err.Error(), "Scan") {
		t.Errorf("Account() = %v after a scan; want an error that names it", err)
	}
}

func TestAccount_Plus(t *testing.T) {
	t.Parallel()

	a := cost.Account{Usage: cost.Usage{cost.ReadUnit: 2}, Requests: map[string]float64{"BatchGetItem": 1}, Units: map[string]float64{"read BatchGetItem": 2}}
	got := a.Plus(cost.Account{Usage: cost.Usage{cost.ReadUnit: 8, cost.Invocation: 4}, Requests: map[string]float64{"BatchGetItem": 4, "Query": 4}, Units: map[string]float64{"read BatchGetItem": 8}}, 0.25)
	want := cost.Account{
		Usage:    cost.Usage{cost.ReadUnit: 4, cost.Invocation: 1},
		Requests: map[string]float64{"BatchGetItem": 2, "Query": 1}, Units: map[string]float64{"read BatchGetItem": 4},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Plus() differs (-want +got):\n%s", diff)
	}
	if a.Usage[cost.ReadUnit] != 2 || a.Requests["BatchGetItem"] != 1 {
		t.Errorf("the account changed: %+v", a)
	}
}
