package sqs

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awssqs "github.com/aws/aws-sdk-go-v2/service/sqs"

	"surehook/internal/aws/fault"
	"surehook/internal/hook"
	"surehook/internal/replay"
)

var _ replay.JobQueue = (*Jobs)(nil)

// Jobs drives replay jobs by messages. It is safe for concurrent use. Its
// messages are grouped by tenant: one with many jobs does not make those of the
// others wait.
type Jobs struct {
	client *awssqs.Client
	url    string
}

// NewJobs returns what sends to the queue with the url.
func NewJobs(cfg aws.Config, url string) *Jobs {
	return &Jobs{client: awssqs.NewFromConfig(cfg), url: url}
}

// Continue makes the job go on after the delay, rounded up to whole seconds and
// cut to hook.MaxQueueDelay; one below 0 is none. CodeUnavailable if it may be
// asked another time.
func (j *Jobs) Continue(ctx context.Context, m replay.Message, delay time.Duration) error {
	body, err := m.Encode()
	if err != nil {
		return fmt.Errorf("continue job %s: %w", m.Job, err)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, callTimeout, errNoAnswer)
	defer cancel()

	_, err = j.client.SendMessage(ctx, &awssqs.SendMessageInput{
		QueueUrl:       aws.String(j.url),
		MessageBody:    aws.String(body),
		MessageGroupId: aws.String(string(m.Tenant)),
		DelaySeconds:   seconds(min(max(delay, 0), hook.MaxQueueDelay)),
	})
	if err != nil {
		return fmt.Errorf("continue job %s: %w", m.Job, fault.Of(ctx, err, service))
	}
	return nil
}
