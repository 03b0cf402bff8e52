package sqs

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/arn"
	awssqs "github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"surehook.example/surehook/internal/aws/awserr"
)

// Visibility changes when SQS delivers received messages again. It is safe for concurrent use.
type Visibility struct {
	client *awssqs.Client
	urls   sync.Map // queue ARN to URL
}

// NewVisibility returns the visibility of the account's queues.
func NewVisibility(cfg aws.Config) *Visibility {
	return &Visibility{client: awssqs.NewFromConfig(cfg)}
}

// Change makes SQS deliver each message of the queue again after its time, rounded up to a whole
// second. The keys are receipt handles. The error joins the errors of all messages and requests
// that failed. SQS delivers a message that was not changed when its visibility timeout ends.
func (v *Visibility) Change(ctx context.Context, queueARN string, after map[string]time.Duration) error {
	ctx, cancel := context.WithTimeoutCause(ctx, callTimeout, errNoAnswer)
	defer cancel()

	url, err := v.urlOf(ctx, queueARN)
	if err != nil {
		return err
	}
	return changeVisibility(ctx, v.client, url, after)
}

// changeVisibility is Change for the queue at the URL.
func changeVisibility(ctx context.Context, client *awssqs.Client, url string, after map[string]time.Duration) error {
	entries := make([]types.ChangeMessageVisibilityBatchRequestEntry, 0, len(after))
	for receipt, d := range after {
		entries = append(entries, types.ChangeMessageVisibilityBatchRequestEntry{
			Id: aws.String(strconv.Itoa(len(entries))), ReceiptHandle: aws.String(receipt), VisibilityTimeout: seconds(d),
		})
	}
	var errs []error
	for batch := range slices.Chunk(entries, batchSize) {
		out, err := client.ChangeMessageVisibilityBatch(ctx, &awssqs.ChangeMessageVisibilityBatchInput{QueueUrl: &url, Entries: batch})
		if err != nil {
			errs = append(errs, fmt.Errorf("change visibility of %d messages: %w", len(batch), awserr.Of(ctx, err, service)))
			continue
		}
		for _, f := range out.Failed {
			errs = append(errs, fmt.Errorf("change visibility of a message: %w", translateEntry(f)))
		}
	}
	return errors.Join(errs...)
}

// urlOf returns the URL of the queue. Events name a queue by ARN, and requests by URL.
func (v *Visibility) urlOf(ctx context.Context, queueARN string) (string, error) {
	known, _ := v.urls.Load(queueARN)
	if url, ok := known.(string); ok {
		return url, nil
	}
	queue, err := arn.Parse(queueARN)
	if err != nil {
		return "", fmt.Errorf("read queue ARN %q: %w", queueARN, err)
	}
	out, err := v.client.GetQueueUrl(ctx, &awssqs.GetQueueUrlInput{QueueName: &queue.Resource, QueueOwnerAWSAccountId: &queue.AccountID})
	if err != nil {
		return "", fmt.Errorf("find queue %s: %w", queue.Resource, awserr.Of(ctx, err, service))
	}
	url := aws.ToString(out.QueueUrl)
	v.urls.Store(queueARN, url)
	return url, nil
}
