package sqs

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awssqs "github.com/aws/aws-sdk-go-v2/service/sqs"

	"surehook.example/surehook/internal/delivery/replay"
)

var _ replay.JobQueue = (*JobQueue)(nil)

// JobQueue sends the messages of replay jobs. JobQueue is safe for concurrent use.
type JobQueue struct{ mailbox mailbox }

// NewJobQueue returns the job queue at the URL.
func NewJobQueue(cfg aws.Config, url string) *JobQueue {
	return &JobQueue{mailbox{awssqs.NewFromConfig(cfg), url}}
}

// Continue rounds the delay up to whole seconds. A delay below 0 is 0.
func (j *JobQueue) Continue(ctx context.Context, m replay.Message, delay time.Duration) error {
	return j.mailbox.send(ctx, "continue job "+string(m.Job), m.Encode, message{group: string(m.Tenant), delay: delay})
}
