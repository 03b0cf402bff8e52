package main

import (
	"errors"
	"net/http/httptest"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// The SDK understands the stub services: items of all kinds, the last page of a list, a failed condition
// with the item, and the sums of messages.
func TestServices(t *testing.T) {
	t.Parallel()

	s := newServices()
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	cfg := aws.Config{Region: "us-east-1", BaseEndpoint: &server.URL, Credentials: credentials.NewStaticCredentialsProvider("id", "key", "")}
	db := dynamodb.NewFromConfig(cfg)
	key := map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: "a"}, "sk": &types.AttributeValueMemberS{Value: "b"}}
	item := map[string]types.AttributeValue{
		"pk": key["pk"], "sk": key["sk"],
		"n": &types.AttributeValueMemberN{Value: "17"}, "b": &types.AttributeValueMemberB{Value: []byte{0, 255}},
		"bool": &types.AttributeValueMemberBOOL{Value: true},
		"ss":   &types.AttributeValueMemberSS{Value: []string{"x"}}, "ns": &types.AttributeValueMemberNS{Value: []string{"1"}},
		"l": &types.AttributeValueMemberL{Value: []types.AttributeValue{&types.AttributeValueMemberM{Value: map[string]types.AttributeValue{"k": key["pk"]}}}},
	}
	put := &dynamodb.PutItemInput{TableName: aws.String("surehook"), Item: item}
	if _, err := db.PutItem(t.Context(), put); err != nil {
		t.Fatalf("PutItem() = %v", err)
	}
	got, err := db.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String("surehook"), Key: key})
	if err != nil {
		t.Fatalf("GetItem() = %v", err)
	}
	same := cmpopts.IgnoreUnexported(
		types.AttributeValueMemberS{}, types.AttributeValueMemberN{}, types.AttributeValueMemberB{}, types.AttributeValueMemberBOOL{},
		types.AttributeValueMemberSS{}, types.AttributeValueMemberNS{}, types.AttributeValueMemberL{}, types.AttributeValueMemberM{},
	)
	if diff := cmp.Diff(item, got.Item, same); diff != "" {
		t.Errorf("GetItem() differs (-want +got):\n%s", diff)
	}
	page, err := db.Query(t.Context(), &dynamodb.QueryInput{
		TableName: aws.String("surehook"), KeyConditionExpression: aws.String("pk = :pk"), ExpressionAttributeValues: map[string]types.AttributeValue{":pk": key["pk"]},
	})
	if err != nil || len(page.Items) != 1 || page.LastEvaluatedKey != nil {
		t.Errorf("Query() = %v, %v; want one item, and no further page", page, err)
	}
	put.ConditionExpression, put.ReturnValuesOnConditionCheckFailure = aws.String("attribute_not_exists(pk)"), types.ReturnValuesOnConditionCheckFailureAllOld
	_, err = db.PutItem(t.Context(), put)
	var failed *types.ConditionalCheckFailedException
	if !errors.As(err, &failed) || len(failed.Item) != len(item) {
		t.Errorf("PutItem() of an item that exists = %v; want a failed condition with the item", err)
	}

	queue := aws.String("https://sqs.us-east-1.amazonaws.com/123456789012/live")
	_, err = sqs.NewFromConfig(cfg).SendMessageBatch(t.Context(), &sqs.SendMessageBatchInput{
		QueueUrl: queue, Entries: []sqstypes.SendMessageBatchRequestEntry{{Id: aws.String("0"), MessageBody: aws.String("body"), MessageGroupId: aws.String("group")}},
	})
	if err != nil {
		t.Errorf("SendMessageBatch() = %v", err)
	}
	if diff := cmp.Diff(map[string][]message{"live": {{body: "body", group: "group"}}}, s.take(), cmp.AllowUnexported(message{})); diff != "" {
		t.Errorf("the messages differ (-want +got):\n%s", diff)
	}
}

func TestMixed(t *testing.T) {
	t.Parallel()

	got := mixed([]message{{"1", "a"}, {"2", "a"}, {"3", "b"}, {"4", "a"}, {"5", "c"}})
	if diff := cmp.Diff([]message{{"1", "a"}, {"3", "b"}, {"5", "c"}, {"2", "a"}, {"4", "a"}}, got, cmp.AllowUnexported(message{})); diff != "" {
		t.Errorf("mixed() differs (-want +got):\n%s", diff)
	}
}
