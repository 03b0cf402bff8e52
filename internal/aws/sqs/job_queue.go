package sqs

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awssqs "github.com/aws/aws-sdk-go-v2/service/sqs"

	"surehook/internal/delivery/replay"
)

var _ replay.JobQueue = (*JobQueue)(nil)

// JobQueue drives replay jobs by messages. It is safe for concurrent use. Its
// messages are grouped by tenant: one with many jobs does not make those of the
// others wait.
type JobQueue struct{ mailbox mailbox }

// NewJobQueue returns what sends to the queue with the url.
func NewJobQueue(cfg aws.Config, url string) *JobQueue {
	return &JobQueue{mailbox{awssqs.NewFromConfig(cfg), url}}
}

// Continue makes the job go on after the delay, rounded up to whole seconds and
// cut to hook.MaxQueueDelay; one below 0 is none. CodeUnavailable if it may be
// asked another time.
func (j *JobQueue) Continue(ctx context.Context, m replay.Message, delay time.Duration) error {
	body, err := m.Encode()
	if err != nil {
		return fmt.Errorf("continue job %s: %w", m.Job, err)
	}
	if err := j.mailbox.send(ctx, body, string(m.Tenant), delay); err != nil {
		return fmt.Errorf("continue job %s: %w", m.Job, err)
	}
	return nil
}
