//go:build e2e

package localstack_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
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

// letterbox looks into the dead-letters queue for all tests, and leaves there
// what it finds: the queue's depth is the number of open dead letters. The tests
// run at the same time, and a queue shows a message to one.
type letterbox struct {
	client *sqs.Client
	url    string

	mu   sync.Mutex
	seen map[string]letter // by the message's id
}

// peekHidden is how long a letter that was looked at is hidden from the next
// look, which so gets others.
const peekHidden = 2 * time.Second

// await returns the letters about the delivery as soon as there is one.
func (l *letterbox) await(ctx context.Context, delivery string) ([]letter, error) {
	for {
		l.mu.Lock()
		_, err := l.peek(ctx)
		var got []letter
		for _, each := range l.seen {
			if each.Delivery == delivery {
				got = append(got, each)
			}
		}
		l.mu.Unlock()
		if len(got) > 0 {
			return got, nil
		}
		if err != nil {
			return nil, fmt.Errorf("await the dead letter of %s: %w", delivery, err)
		}
	}
}

// peek receives once and returns the messages, which are visible again soon.
func (l *letterbox) peek(ctx context.Context) ([]types.Message, error) {
	out, err := l.client.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{
		QueueUrl: &l.url, MaxNumberOfMessages: 10, WaitTimeSeconds: 1, VisibilityTimeout: int32(peekHidden / time.Second),
	})
	if err != nil {
		return nil, err
	}
	if l.seen == nil {
		l.seen = map[string]letter{}
	}
	for _, m := range out.Messages {
		got, err := readLetter(m)
		if err != nil {
			return nil, err
		}
		l.seen[aws.ToString(m.MessageId)] = got
	}
	return out.Messages, nil
}

func readLetter(m types.Message) (letter, error) {
	var got letter
	if err := json.Unmarshal([]byte(aws.ToString(m.Body)), &got); err != nil {
		return letter{}, fmt.Errorf("read dead letter %s: %w", aws.ToString(m.Body), err)
	}
	return got, nil
}

// depth is how many letters the queue holds, those included that somebody looks at.
func (l *letterbox) depth(ctx context.Context) (int, error) {
	counts := []types.QueueAttributeName{
		types.QueueAttributeNameApproximateNumberOfMessages,
		types.QueueAttributeNameApproximateNumberOfMessagesNotVisible,
		types.QueueAttributeNameApproximateNumberOfMessagesDelayed,
	}
	out, err := l.client.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{QueueUrl: &l.url, AttributeNames: counts})
	if err != nil {
		return 0, fmt.Errorf("count the dead letters: %w", err)
	}
	depth := 0
	for _, name := range counts {
		n, err := strconv.Atoi(out.Attributes[string(name)])
		if err != nil {
			return 0, fmt.Errorf("count the dead letters: %s: %w", name, err)
		}
		depth += n
	}
	return depth, nil
}

// redrive moves n letters about the endpoint to a lane, as SQS's own redrive
// does: it sends the body as it is and then deletes the letter. MiniStack has no
// StartMessageMoveTask.
func (l *letterbox) redrive(ctx context.Context, endpoint, lane string, n int) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for n > 0 {
		messages, err := l.peek(ctx)
		if err != nil {
			return fmt.Errorf("redrive the dead letters of %s, of which %d are left: %w", endpoint, n, err)
		}
		messages = slices.DeleteFunc(messages, func(m types.Message) bool {
			return l.seen[aws.ToString(m.MessageId)].Endpoint != endpoint
		})
		for _, m := range messages {
			if err := l.move(ctx, m, lane); err != nil {
				return fmt.Errorf("redrive a dead letter of %s: %w", endpoint, err)
			}
			n--
		}
	}
	return nil
}

func (l *letterbox) move(ctx context.Context, m types.Message, lane string) error {
	if _, err := l.client.SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: &lane, MessageBody: m.Body}); err != nil {
		return err
	}
	_, err := l.client.DeleteMessage(ctx, &sqs.DeleteMessageInput{QueueUrl: &l.url, ReceiptHandle: m.ReceiptHandle})
	return err
}
