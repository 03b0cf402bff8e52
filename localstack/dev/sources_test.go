package dev_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/smithy-go"

	"surehook.example/surehook/localstack/dev"
)

// A client of SQS sends events to the process: alone and in batches, as bodies of a post and with the
// payload alone. A wrong one becomes a reject.
func TestDev_eventsQueue(t *testing.T) {
	t.Parallel()

	w := newWorld(t)
	url, requests := sink(t)
	w.subscribe(`{"url":"` + url + `/hook"}`)
	client := sqs.New(sqs.Options{
		Region: "us-east-1", BaseEndpoint: &w.Address, HTTPClient: &http.Client{Transport: &http.Transport{}},
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "any", SecretAccessKey: "any"}, nil
		}),
	})
	queue := aws.String(w.Address + dev.EventsQueue)
	text := func(s string) types.MessageAttributeValue {
		return types.MessageAttributeValue{DataType: aws.String("String"), StringValue: &s}
	}
	if _, err := client.SendMessage(t.Context(), &sqs.SendMessageInput{
		QueueUrl: queue, MessageBody: aws.String(`{"order": 1}`), MessageAttributes: map[string]types.MessageAttributeValue{"tenant": text("acme"), "event_type": text("order.paid")},
	}); err != nil {
		t.Fatal(err)
	}
	body := aws.String(`{"tenant": "acme", "event_type": "order.paid", "payload": {"order": 2}, "idempotency_key": "2"}`)
	out, err := client.SendMessageBatch(t.Context(), &sqs.SendMessageBatchInput{QueueUrl: queue, Entries: []types.SendMessageBatchRequestEntry{
		{Id: aws.String("a"), MessageBody: body, MessageGroupId: aws.String("acme")},
		{Id: aws.String("b"), MessageBody: body},
		{Id: aws.String("c"), MessageBody: aws.String(`{"tenant": "acme", "payload": {}}`)},
	}})
	if err != nil || len(out.Successful) != 3 || len(out.Failed) != 0 {
		t.Fatalf("SendMessageBatch() = %+v, %v; want 3 successful ones", out, err)
	}
	got := []string{string((<-requests).body), string((<-requests).body)}
	if all := strings.Join(got, " "); !strings.Contains(all, `"order": 1`) || !strings.Contains(all, `"order": 2`) {
		t.Errorf("the receiver got %s; want both orders", all)
	}
	for rejected := false; !rejected; {
		var rejects struct{ Data []struct{ Reason string } }
		w.call(http.MethodGet, "/v1/rejects", "", http.StatusOK, &rejects)
		rejected = len(rejects.Data) == 1 && strings.Contains(rejects.Data[0].Reason, "event_type")
	}
	if len(requests) > 0 {
		t.Errorf("the receiver got %s once more", (<-requests).body)
	}

	for _, tt := range []struct {
		queue, body, want string
	}{
		{w.Address + "/000000000000/other", "{}", "QueueDoesNotExist"},
		{*queue, strings.Repeat("x", 272<<10+1), "InvalidMessageContents"},
	} {
		_, err := client.SendMessage(t.Context(), &sqs.SendMessageInput{QueueUrl: &tt.queue, MessageBody: &tt.body})
		if known, ok := errors.AsType[smithy.APIError](err); !ok || known.ErrorCode() != tt.want {
			t.Errorf("SendMessage() to %s = %v; want %s", tt.queue, err, tt.want)
		}
	}
}
