package destination

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	awseventbridge "github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge/types"
	"github.com/aws/smithy-go"

	"surehook.example/surehook/internal/delivery/send"
	"surehook.example/surehook/internal/hook"
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
	return func(ctx context.Context, e *hook.Endpoint, p send.Prepared) (string, error) {
		text, err := detailOf(p)
		if err != nil {
			return "", err
		}
		source, eventType := e.Destination.Settings[rule.Source], p.Header.Get("X-Webhook-Event")
		if err := fits(e, len(source)+len(eventType)+len(text)); err != nil {
			return "", err
		}
		out, err := client.PutEvents(ctx, &awseventbridge.PutEventsInput{Entries: []types.PutEventsRequestEntry{{
			EventBusName: &e.URL, Source: &source, DetailType: &eventType, Detail: &text,
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

// detail is the detail of an event. The payload is there for rules to match; the body is the
// signed text, for receivers to verify.
type detail struct {
	ID        string          `json:"id"`
	Timestamp string          `json:"timestamp"`
	Signature string          `json:"signature"`
	Delivery  string          `json:"delivery"`
	Attempt   string          `json:"attempt"`
	Body      string          `json:"body"`
	Payload   json.RawMessage `json:"payload"`
}

func detailOf(p send.Prepared) (string, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false) // escaping would use up more bytes
	err := encoder.Encode(detail{
		ID: p.Header.Get("Webhook-Id"), Timestamp: p.Header.Get("Webhook-Timestamp"), Signature: p.Header.Get("Webhook-Signature"),
		Delivery: p.Header.Get(hook.DeliveryHeader), Attempt: p.Header.Get("X-Webhook-Attempt"),
		Body: string(p.Body), Payload: p.Body,
	})
	if err != nil {
		return "", fmt.Errorf("%w: %w", errContents, err)
	}
	return text.String(), nil
}
