package lambdafn

import (
	"context"
	"fmt"

	"github.com/aws/aws-lambda-go/events"

	"surehook.example/surehook/internal/hook"
)

// Input is an event of a function behind a queue and the API: a batch of the queue, or a
// request. The two have no field in common.
type Input struct {
	events.SQSEvent
	events.APIGatewayV2HTTPRequest
}

// API answers a request of the API.
type API func(context.Context, events.APIGatewayV2HTTPRequest) (events.APIGatewayV2HTTPResponse, error)

// Answer gives the records of a batch to batch, and a request to api. queue is the name of
// the queue in the error of another event.
func (in Input) Answer(
	ctx context.Context, queue string, batch func(ctx context.Context, records []events.SQSMessage) events.SQSEventResponse, api API,
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
