package destination

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	awssns "github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sns/types"

	"surehook.example/surehook/internal/delivery/send"
)

func sns() kind {
	return kind{newTopic, codes{
		denied:    []string{"AuthorizationError"},
		throttled: []string{"Throttled"},
		missing:   []string{"NotFound"},
		refused:   []string{"InvalidParameter", "ParameterValueInvalid"},
	}}
}

func newTopic(cfg aws.Config) put {
	client := awssns.NewFromConfig(cfg)
	return func(ctx context.Context, r *send.Request, p send.Prepared) (string, error) {
		body, headers, err := message(r.Endpoint, p)
		if err != nil {
			return "", err
		}
		attributes := make(map[string]types.MessageAttributeValue, len(headers)) // a queue gets 10 at most as attributes of its own
		for name, value := range headers {
			attributes[name] = types.MessageAttributeValue{DataType: aws.String(attributeType), StringValue: &value}
		}
		out, err := client.Publish(ctx, &awssns.PublishInput{TopicArn: &r.Endpoint.URL, Message: &body, MessageAttributes: attributes})
		if err != nil {
			return "", fmt.Errorf("publish: %w", err)
		}
		return aws.ToString(out.MessageId), nil
	}
}
