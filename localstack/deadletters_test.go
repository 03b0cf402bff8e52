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

	"surehook.example/surehook/internal/hook"
)

// deadLetter is a message of the dead-letters queue.
type deadLetter struct {
	Delivery   hook.DeliveryRef `json:"delivery"`
	Tenant     string           `json:"tenant"`
	Event      string           `json:"event"`
	Endpoint   string           `json:"endpoint"`
	Reason     string           `json:"reason"`
	Attempts   int              `json:"attempts"`
	LastStatus int              `json:"last_status"`
}

// deadLetters reads the dead-letters queue for all tests without deleting
// messages, because the queue's depth is the number of open dead letters. The
// tests run concurrently, and a queue shows a message to one reader at a time.
type deadLetters struct {
	client *sqs.Client
	url    string

	mu   sync.Mutex
	seen map[string]deadLetter // by the message's id
}

// peekHidden is the visibility timeout of a peek. The next peek gets other
// messages.
const peekHidden = 2 * time.Second

// await returns the delivery's dead letters as soon as there is one.
func (l *deadLetters) await(ctx context.Context, delivery string) ([]deadLetter, error) {
	for {
		l.mu.Lock()
		_, err := l.peek(ctx)
		var got []deadLetter
		for _, each := range l.seen {
			if each.Delivery.String() == delivery {
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

// peek receives once and returns the messages. The messages are visible again
// soon.
func (l *deadLetters) peek(ctx context.Context) ([]types.Message, error) {
	out, err := l.client.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{
		QueueUrl: &l.url, MaxNumberOfMessages: 10, WaitTimeSeconds: 1, VisibilityTimeout: int32(peekHidden / time.Second),
	})
	if err != nil {
		return nil, err
	}
	if l.seen == nil {
		l.seen = map[string]deadLetter{}
	}
	for _, m := range out.Messages {
		got, err := decodeDeadLetter(m)
		if err != nil {
			return nil, err
		}
		l.seen[aws.ToString(m.MessageId)] = got
	}
	return out.Messages, nil
}

func decodeDeadLetter(m types.Message) (deadLetter, error) {
	var got deadLetter
	if err := json.Unmarshal([]byte(aws.ToString(m.Body)), &got); err != nil {
		return deadLetter{}, fmt.Errorf("read dead letter %s: %w", aws.ToString(m.Body), err)
	}
	return got, nil
}

// depth returns the number of messages in the queue, including hidden messages.
func (l *deadLetters) depth(ctx context.Context) (int, error) { return depth(ctx, l.client, l.url) }

// depth returns the number of messages in the queue: visible, delayed and in flight.
func depth(ctx context.Context, client *sqs.Client, url string) (int, error) {
	return count(ctx, client, url,
		types.QueueAttributeNameApproximateNumberOfMessages,
		types.QueueAttributeNameApproximateNumberOfMessagesNotVisible,
		types.QueueAttributeNameApproximateNumberOfMessagesDelayed)
}

// count returns the sum of the counts of messages in the queue.
func count(ctx context.Context, client *sqs.Client, url string, counts ...types.QueueAttributeName) (sum int, err error) {
	out, err := client.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{QueueUrl: &url, AttributeNames: counts})
	if err != nil {
		return 0, fmt.Errorf("count the messages of %s: %w", url, err)
	}
	for _, name := range counts {
		n, err := strconv.Atoi(out.Attributes[string(name)])
		if err != nil {
			return 0, fmt.Errorf("count the messages of %s: %s: %w", url, name, err)
		}
		sum += n
	}
	return sum, nil
}

// redrive moves n dead letters of the endpoint to a queue, as SQS's own redrive
// does: it sends the unchanged body and then deletes the message. MiniStack has
// no StartMessageMoveTask.
func (l *deadLetters) redrive(ctx context.Context, endpoint, queue string, n int) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for n > 0 {
		messages, err := l.peek(ctx)
		if err != nil {
			return fmt.Errorf("redrive the dead letters of %s, %d are left: %w", endpoint, n, err)
		}
		messages = slices.DeleteFunc(messages, func(m types.Message) bool {
			return l.seen[aws.ToString(m.MessageId)].Endpoint != endpoint
		})
		for _, m := range messages {
			if err := l.move(ctx, m, queue); err != nil {
				return fmt.Errorf("redrive a dead letter of %s: %w", endpoint, err)
			}
			n--
		}
	}
	return nil
}

func (l *deadLetters) move(ctx context.Context, m types.Message, queue string) error {
	if _, err := l.client.SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: &queue, MessageBody: m.Body}); err != nil {
		return err
	}
	_, err := l.client.DeleteMessage(ctx, &sqs.DeleteMessageInput{QueueUrl: &l.url, ReceiptHandle: m.ReceiptHandle})
	return err
}
