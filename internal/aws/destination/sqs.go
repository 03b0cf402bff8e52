package destination

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	awssqs "github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"surehook.example/surehook/internal/delivery/send"
	"surehook.example/surehook/internal/hook"
)

func sqs() kind {
	return kind{newQueue, codes{
		denied: []string{
			"KmsAccessDenied", "KMS.AccessDeniedException", "KmsDisabled", "KMS.DisabledException", "KmsInvalidKeyUsage", "KmsInvalidState", "KmsNotFound", "KMS.NotFoundException", "KmsOptInRequired",
			"InvalidSecurity",
		},
		throttled: []string{"KmsThrottled", "KMS.ThrottlingException", "OverLimit"},
		missing:   []string{"AWS.SimpleQueueService.NonExistentQueue", "QueueDoesNotExist", "AWS.SimpleQueueService.QueueDeletedRecently", "QueueDeletedRecently", "InvalidAddress"},
		refused:   []string{"InvalidMessageContents", "InvalidParameterValue", "InvalidAttributeValue", "AWS.SimpleQueueService.UnsupportedOperation", "UnsupportedOperation"},
	}}
}

func newQueue(cfg aws.Config) put {
	client := awssqs.NewFromConfig(cfg)
	return func(ctx context.Context, e *hook.Endpoint, p send.Prepared) (string, error) {
		body, headers, err := message(e, p)
		if err != nil {
			return "", err
		}
		attributes := make(map[string]types.MessageAttributeValue, len(headers)) // at most 9 with the profile standard; SQS takes 10
		for name, value := range headers {
			attributes[name] = types.MessageAttributeValue{DataType: aws.String(attributeType), StringValue: &value}
		}
		out, err := client.SendMessage(ctx, &awssqs.SendMessageInput{QueueUrl: &e.URL, MessageBody: &body, MessageAttributes: attributes})
		if err != nil {
			return "", fmt.Errorf("send message: %w", err)
		}
		return aws.ToString(out.MessageId), nil
	}
}
