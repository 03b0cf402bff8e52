package sqs

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awssqs "github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"surehook.example/surehook/internal/aws/awserr"
	"surehook.example/surehook/internal/hook"
)

const (
	maxTries  = 4                      // per message: waits of at most 100 + 200 + 400 ms
	firstWait = 100 * time.Millisecond // after the first try; doubled after each further try
)

// batch is at most batchSize tasks for one queue.
type batch struct {
	queue *TaskQueues
	to    route
	tasks []hook.Task
	errs  []error // one per task; nil: sent
}

// send sends the tasks and retries messages that were rejected through no fault of the sender.
// It does not retry a failed request, because the SDK does.
func (b batch) send(ctx context.Context) {
	pending := make([]types.SendMessageBatchRequestEntry, 0, len(b.tasks))
	for i, task := range b.tasks {
		body, err := task.Encode()
		if err != nil {
			b.errs[i] = err
			continue
		}
		pending = append(pending, types.SendMessageBatchRequestEntry{
			Id:             aws.String(strconv.Itoa(i)),
			MessageBody:    aws.String(body),
			MessageGroupId: aws.String(task.Group()),
			DelaySeconds:   b.to.delay,
		})
	}
	for try := 1; len(pending) > 0; try++ {
		pending = b.try(ctx, pending)
		if len(pending) == 0 || try == maxTries || b.queue.Wait(ctx, b.backoff(try)) != nil {
			return
		}
	}
}

// try makes one request, records the result of each entry, and returns the entries
// to retry.
func (b batch) try(ctx context.Context, entries []types.SendMessageBatchRequestEntry) []types.SendMessageBatchRequestEntry {
	out, err := awserr.Call(ctx, callTimeout, service, b.queue.client.SendMessageBatch, &awssqs.SendMessageBatchInput{
		QueueUrl: aws.String(b.to.url),
		Entries:  entries,
	})
	if err != nil {
		for _, e := range entries {
			b.record(e.Id, err)
		}
		return nil
	}

	rejected := make(map[string]types.BatchResultErrorEntry, len(out.Failed))
	for _, f := range out.Failed {
		rejected[aws.ToString(f.Id)] = f
	}
	sent := make(map[string]bool, len(out.Successful))
	for _, s := range out.Successful {
		sent[aws.ToString(s.Id)] = true
	}

	var retry []types.SendMessageBatchRequestEntry
	for _, e := range entries {
		if sent[*e.Id] {
			b.record(e.Id, nil)
			continue
		}
		f := rejected[*e.Id] // zero if the answer omits the entry
		b.record(e.Id, translateEntry(f))
		if !f.SenderFault {
			retry = append(retry, e)
		}
	}
	return retry
}

// translateEntry returns the error for a rejected message of a batch.
func translateEntry(f types.BatchResultErrorEntry) error {
	e := &hook.Error{
		Code:    hook.CodeUnavailable,
		Message: "the queue did not take the message",
		Err:     fmt.Errorf("code %q: %s", aws.ToString(f.Code), aws.ToString(f.Message)),
	}
	if f.SenderFault {
		e.Code = hook.CodeInternal
	}
	return e
}

func (b batch) record(id *string, err error) {
	i, _ := strconv.Atoi(*id) // send created the id
	if err != nil {
		err = fmt.Errorf("send task of %s to the %s queue: %w", b.tasks[i].Delivery, b.to.queue, err)
	}
	b.errs[i] = err
}

// backoff returns the wait after a try, counted from 1: uniform in [d/2, d] with
// d = firstWait x 2^(try-1).
func (b batch) backoff(try int) time.Duration {
	d := firstWait << (try - 1)
	return d/2 + time.Duration(b.queue.Rand()*float64(d/2))
}
