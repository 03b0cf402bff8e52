//go:build e2e

package localstack_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
)

// letter is a message of the dead-letters queue.
type letter struct {
	Delivery   string `json:"delivery"`
	Tenant     string `json:"tenant"`
	Event      string `json:"event"`
	Endpoint   string `json:"endpoint"`
	Reason     string `json:"reason"`
	Attempts   int    `json:"attempts"`
	LastStatus int    `json:"last_status"`
}

// letterbox empties the dead-letters queue for all tests and sorts the letters
// by delivery: the tests run at the same time, and a queue gives a message to one.
type letterbox struct {
	client *sqs.Client
	url    string

	mu      sync.Mutex
	letters map[string][]letter
}

// await returns the letters about the delivery as soon as there is one.
func (l *letterbox) await(ctx context.Context, delivery string) ([]letter, error) {
	for {
		l.mu.Lock()
		err := l.collect(ctx)
		got := l.letters[delivery]
		l.mu.Unlock()
		if len(got) > 0 {
			return got, nil
		}
		if err != nil {
			return nil, fmt.Errorf("await the dead letter of %s: %w", delivery, err)
		}
	}
}

// collect receives once.
func (l *letterbox) collect(ctx context.Context) error {
	out, err := l.client.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{QueueUrl: &l.url, MaxNumberOfMessages: 10, WaitTimeSeconds: 1})
	if err != nil {
		return err
	}
	for _, m := range out.Messages {
		var got letter
		if err := json.Unmarshal([]byte(aws.ToString(m.Body)), &got); err != nil {
			return fmt.Errorf("read dead letter %s: %w", aws.ToString(m.Body), err)
		}
		if l.letters == nil {
			l.letters = map[string][]letter{}
		}
		l.letters[got.Delivery] = append(l.letters[got.Delivery], got)
		if _, err := l.client.DeleteMessage(ctx, &sqs.DeleteMessageInput{QueueUrl: &l.url, ReceiptHandle: m.ReceiptHandle}); err != nil {
			return err
		}
	}
	return nil
}
