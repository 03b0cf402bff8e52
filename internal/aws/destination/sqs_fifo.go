package destination

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	awssqs "github.com/aws/aws-sdk-go-v2/service/sqs"

	"surehook.example/surehook/internal/delivery/send"
	"surehook.example/surehook/internal/hook"
	rule "surehook.example/surehook/internal/rule/destination"
)

func sqsFIFO() kind { return kind{newFIFO, sqs().codes} }

func newFIFO(cfg aws.Config) put {
	return putMessage(cfg, func(in *awssqs.SendMessageInput, r *send.Request) {
		in.MessageGroupId = aws.String(rule.Group(r.Endpoint, r.Event))
		in.MessageDeduplicationId = aws.String(deduplicationID(r))
	})
}

// deduplicationID returns the id by which a queue drops what it already has, for 5 minutes. It is
// the delivery's, with its endpoint and its generation, so that a repeated attempt is dropped, but
// neither a replay nor the delivery of another endpoint. A request with several events has an id of
// its deliveries: by one of them, the queue would drop the others after a lost answer.
func deduplicationID(r *send.Request) string {
	if r.Event.Type == hook.BatchEventType {
		return string(r.Event.ID)
	}
	return r.Delivery.String()
}
