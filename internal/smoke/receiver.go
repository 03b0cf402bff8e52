package smoke

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// deployedReceiver is the function of receiver.py, seen through its table.
type deployedReceiver struct {
	db    *dynamodb.Client
	http  *http.Client
	table string
	url   string // without a slash at the end
}

// URL returns the function's URL of the path.
func (r deployedReceiver) URL(path string) string { return r.url + path }

// Script stores the path's script. The count of requests begins again.
func (r deployedReceiver) Script(ctx context.Context, path string, s Script) error {
	item, err := attributevalue.MarshalMap(map[string]any{"path": path, "at": "script", "secret": s.Secret, "answers": s.Answers})
	if err != nil {
		return fmt.Errorf("write the receiver's script: %w", err)
	}
	if _, err := r.db.PutItem(ctx, &dynamodb.PutItemInput{TableName: &r.table, Item: item}); err != nil {
		return fmt.Errorf("store the receiver's script: %w", err)
	}
	return nil
}

// requestItem is a request in the table.
type requestItem struct {
	ID       string `dynamodbav:"id"`
	MS       int64  `dynamodbav:"ms"`
	Verified bool   `dynamodbav:"verified"`
	Status   int    `dynamodbav:"status"`
	Body     string `dynamodbav:"body"`
}

// Requests reads the path's requests: the table has them in the order of their times.
func (r deployedReceiver) Requests(ctx context.Context, path string) ([]Request, error) {
	pages := dynamodb.NewQueryPaginator(r.db, &dynamodb.QueryInput{
		TableName:                &r.table,
		ConsistentRead:           aws.Bool(true),
		KeyConditionExpression:   aws.String("#path = :path AND begins_with(#at, :request)"),
		ExpressionAttributeNames: map[string]string{"#path": "path", "#at": "at"},
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":path": &types.AttributeValueMemberS{Value: path}, ":request": &types.AttributeValueMemberS{Value: "request#"},
		},
	})
	var all []Request
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("read the receiver's requests: %w", err)
		}
		var items []requestItem
		if err := attributevalue.UnmarshalListOfMaps(page.Items, &items); err != nil {
			return nil, fmt.Errorf("read the receiver's requests: %w", err)
		}
		for _, i := range items {
			all = append(all, Request{At: time.UnixMilli(i.MS), ID: i.ID, Verified: i.Verified, Answered: i.Status, Body: i.Body})
		}
	}
	return all, nil
}

// Clock asks the function for its time.
func (r deployedReceiver) Clock(ctx context.Context) (time.Time, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.url+"/clock", http.NoBody)
	if err != nil {
		return time.Time{}, fmt.Errorf("ask the receiver for its time: %w", err)
	}
	resp, err := r.http.Do(req)
	if err != nil {
		return time.Time{}, fmt.Errorf("ask the receiver for its time: %w", err)
	}
	defer resp.Body.Close() //nolint:errcheck // the body was read to its end
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return time.Time{}, fmt.Errorf("ask the receiver for its time: %w", err)
	}
	var out struct {
		MS int64 `json:"ms"`
	}
	if err := json.Unmarshal(answer, &out); err != nil || resp.StatusCode != http.StatusOK || out.MS == 0 {
		return time.Time{}, fmt.Errorf("ask the receiver for its time: %s %.200s", resp.Status, strings.TrimSpace(string(answer)))
	}
	return time.UnixMilli(out.MS), nil
}
