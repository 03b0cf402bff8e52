package destination

import (
	"context"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"surehook.example/surehook/internal/delivery/send"
	"surehook.example/surehook/internal/hook"
)

// maxMessage is the size of a message with its attributes, in bytes.
const maxMessage = 1 << 20

// newQueue returns the client of queues: the message is the signed body, and the headers
// of a request are its attributes.
func newQueue(cfg aws.Config) put {
	client := sqs.NewFromConfig(cfg)
	return func(ctx context.Context, e *hook.Endpoint, p send.Prepared) (string, error) {
		body := string(p.Body)
		// SQS would replace other characters, and then the signature would not match.
		if i := strings.IndexFunc(body, func(r rune) bool { return !xmlCharacter(r) }); i >= 0 {
			return "", fmt.Errorf("%w: byte %d begins a character that SQS does not transport; write it as a \\u escape", errContents, i)
		}
		attributes := make(map[string]types.MessageAttributeValue, len(p.Header))
		size := len(body)
		for name, values := range p.Header { // at most 9 with the profile standard; SQS takes 10
			if name == "Accept" {
				continue // a queue answers nothing
			}
			name = strings.ToLower(name)
			attributes[name] = types.MessageAttributeValue{DataType: aws.String("String"), StringValue: &values[0]}
			size += len(name) + len("String") + len(values[0])
		}
		if size > maxMessage {
			return "", fmt.Errorf("%w: SQS takes messages of %d bytes, and this one has %d", errContents, maxMessage, size)
		}
		out, err := client.SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: &e.URL, MessageBody: &body, MessageAttributes: attributes})
		if err != nil {
			return "", fmt.Errorf("send message: %w", err)
		}
		return aws.ToString(out.MessageId), nil
	}
}

// xmlCharacter reports whether SQS transports the character: it must be one of XML 1.0.
// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessage.html
func xmlCharacter(r rune) bool {
	return r == '\t' || r == '\n' || r == '\r' || r >= ' ' && r != 0xFFFE && r != 0xFFFF
}
