package destination

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	awssqs "github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"surehook.example/surehook/internal/delivery/send"
)

func sqs() kind {
	return kind{newQueue, codes{
		throttled: []string{"OverLimit"},
		missing:   []string{"AWS.SimpleQueueService.NonExistentQueue", "QueueDoesNotExist", "AWS.SimpleQueueService.QueueDeletedRecently", "QueueDeletedRecently", "InvalidAddress"},
		refused:   []string{"InvalidMessageContents", "InvalidParameterValue", "InvalidAttributeValue", "AWS.SimpleQueueService.UnsupportedOperation", "UnsupportedOperation"},
	}}
}

func newQueue(cfg aws.Config) put {
	return putMessage(cfg, func(*awssqs.SendMessageInput, *send.Request) {})
}

// putMessage returns a put to a queue. more sets what the kind of queue needs beside a body and
// attributes.
func putMessage(cfg aws.Config, more func(in *awssqs.SendMessageInput, r *send.Request)) put {
	client := awssqs.NewFromConfig(cfg)
	return func(ctx context.Context, r *send.Request, p send.Prepared) (string, error) {
		body, headers, err := message(r.Endpoint, p)
		if err != nil {
			return "", err
		}
		attributes := make(map[string]types.MessageAttributeValue, len(headers)) // at most 9 with the profile standard; SQS takes 10
		for name, value := range headers {
			attributes[name] = types.MessageAttributeValue{DataType: aws.String(attributeType), StringValue: &value}
		}
		in := &awssqs.SendMessageInput{QueueUrl: &r.Endpoint.URL, MessageBody: &body, MessageAttributes: attributes}
		more(in, r)
		out, err := client.SendMessage(ctx, in)
		if err != nil {
			return "", fmt.Errorf("send message: %w", err)
		}
		return aws.ToString(out.MessageId), nil
	}
}
