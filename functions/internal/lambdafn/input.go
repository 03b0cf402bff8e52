package lambdafn

import (
	"context"
	"fmt"

	"github.com/aws/aws-lambda-go/events"

	"surehook.example/surehook/internal/hook"
)

// Input is an event of a function that has both a queue and routes of the API: a batch of
// messages, or a request. The two have no field in common.
type Input struct {
	events.SQSEvent
	events.APIGatewayV2HTTPRequest
}

// Answer passes the records of a batch to batch, and a request to api. For any other event it
// returns an error that names the queue.
func (in Input) Answer(
	ctx context.Context, queue string,
	batch func(context.Context, []events.SQSMessage) events.SQSEventResponse,
	api func(context.Context, events.APIGatewayV2HTTPRequest) (events.APIGatewayV2HTTPResponse, error),
) (any, error) {
	switch {
	case in.Records != nil:
		return batch(ctx, in.Records), nil
	case in.RequestContext.HTTP.Method != "":
		answer, err := api(ctx, in.APIGatewayV2HTTPRequest)
		if err != nil {
			return nil, fmt.Errorf("answer request: %w", err)
		}
		return answer, nil
	}
	return nil, &hook.Error{Code: hook.CodeInvalid, Message: "the event is neither a batch of the " + queue + " queue nor a request"}
}
