package sqs

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awssqs "github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"surehook/internal/aws/awserr"
	"surehook/internal/delivery/breaker"
)

var _ breaker.DeadLetters = (*Queue)(nil)

const (
	letterHidden = time.Minute // from other receivers, once received
	// letterWait makes a request ask all of SQS's servers for messages: one that
	// does not wait asks some of them, and may see none although there are some.
	letterWait = time.Second
)

// Exhume returns at most 10 of the dead letters and hides them from other
// receivers for a minute. It waits a second for one if it sees none at first; none
// after that means that there were none to be seen a moment ago.
func (q *Queue) Exhume(ctx context.Context) ([]breaker.Letter, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, callTimeout, errNoAnswer)
	defer cancel()

	out, err := q.client.ReceiveMessage(ctx, &awssqs.ReceiveMessageInput{
		QueueUrl:            aws.String(q.urls.DeadLetters),
		MaxNumberOfMessages: batchSize,
		VisibilityTimeout:   seconds(letterHidden),
		WaitTimeSeconds:     seconds(letterWait),
	})
	if err != nil {
		return nil, fmt.Errorf("receive dead letters: %w", awserr.Of(ctx, err, service))
	}
	letters := make([]breaker.Letter, len(out.Messages))
	for i, m := range out.Messages {
		letters[i] = breaker.Letter{ID: aws.ToString(m.MessageId), Receipt: aws.ToString(m.ReceiptHandle), Body: aws.ToString(m.Body)}
	}
	return letters, nil
}

// Depth returns about how many dead letters there are, those that are hidden
// included. SQS's numbers may lag up to a minute behind.
func (q *Queue) Depth(ctx context.Context) (int, error) {
	depth, err := readDepth(ctx, q.client, q.urls.DeadLetters)
	if err != nil {
		return 0, fmt.Errorf("read depth of the dead letters: %w", err)
	}
	return depth.Visible + depth.InFlight, nil
}

// Remove removes letters that Exhume returned, at most 10. The error joins one
// for each that may still be there; CodeUnavailable if it may be tried again.
func (q *Queue) Remove(ctx context.Context, letters []breaker.Letter) error {
	if len(letters) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, callTimeout, errNoAnswer)
	defer cancel()

	entries := make([]types.DeleteMessageBatchRequestEntry, len(letters))
	for i, letter := range letters {
		entries[i] = types.DeleteMessageBatchRequestEntry{Id: aws.String(strconv.Itoa(i)), ReceiptHandle: aws.String(letter.Receipt)}
	}
	out, err := q.client.DeleteMessageBatch(ctx, &awssqs.DeleteMessageBatchInput{
		QueueUrl: aws.String(q.urls.DeadLetters),
		Entries:  entries,
	})
	if err != nil {
		return fmt.Errorf("remove %d dead letters: %w", len(letters), awserr.Of(ctx, err, service))
	}
	var errs []error
	for _, f := range out.Failed {
		errs = append(errs, fmt.Errorf("remove dead letter %s of %d: %w", aws.ToString(f.Id), len(letters), translateEntry(f)))
	}
	return errors.Join(errs...)
}
