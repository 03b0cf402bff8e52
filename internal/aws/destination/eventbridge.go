package destination

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	awseventbridge "github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge/types"
	"github.com/aws/smithy-go"

	"surehook.example/surehook/internal/delivery/send"
	rule "surehook.example/surehook/internal/rule/destination"
)

func eventbridge() kind {
	return kind{newBus, codes{
		denied:  []string{"AuthorizationErrorException", "NotAuthorizedForSourceException", "NotAuthorizedForDetailTypeException"},
		missing: []string{"ResourceNotFoundException"},
		refused: []string{"InvalidArgument", "MalformedDetail", "RequestTooLarge"},
	}}
}

func newBus(cfg aws.Config) put {
	client := awseventbridge.NewFromConfig(cfg)
	return func(ctx context.Context, r *send.Request, p send.Prepared) (string, error) {
		text, err := documentOf(p)
		if err != nil {
			return "", err
		}
		source := r.Endpoint.Destination.Settings[rule.Source]
		if err := fits(r.Endpoint, len(source)+len(r.Event.Type)+len(text)); err != nil {
			return "", err
		}
		out, err := client.PutEvents(ctx, &awseventbridge.PutEventsInput{Entries: []types.PutEventsRequestEntry{{
			EventBusName: &r.Endpoint.URL, Source: &source, DetailType: &r.Event.Type, Detail: &text,
		}}})
		if err != nil {
			return "", fmt.Errorf("put event: %w", err)
		}
		var entry types.PutEventsResultEntry
		if len(out.Entries) > 0 {
			entry = out.Entries[0]
		}
		if out.FailedEntryCount > 0 {
			return "", &smithy.GenericAPIError{Code: aws.ToString(entry.ErrorCode), Message: aws.ToString(entry.ErrorMessage)}
		}
		return aws.ToString(entry.EventId), nil
	}
}
