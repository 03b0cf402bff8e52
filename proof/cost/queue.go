package cost

import (
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/scheduler"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
)

// queueChunk is the bytes of one billed request. A larger request counts as several.
const queueChunk = 64 << 10

// QueueUsage returns the usage of one request about messages with the total
// size. fair: the messages have a group id.
func QueueUsage(bytes int, fair bool) Usage {
	chunks := ceil(bytes, queueChunk)
	u := Usage{QueueRequest: chunks}
	if fair {
		u[FairRequest] = chunks
	}
	return u
}

func (l *Ledger) recordQueue(op string, in, out any) {
	switch in := in.(type) {
	case *sqs.SendMessageBatchInput:
		size, fair := 0, false
		for _, e := range in.Entries {
			size += len(aws.ToString(e.MessageBody))
			fair = fair || e.MessageGroupId != nil
			l.sent(Message{Queue: aws.ToString(in.QueueUrl), Body: aws.ToString(e.MessageBody), Delay: e.DelaySeconds})
		}
		l.count(op, QueueUsage(size, fair))
	case *sqs.SendMessageInput:
		l.sent(Message{Queue: aws.ToString(in.QueueUrl), Body: aws.ToString(in.MessageBody), Delay: in.DelaySeconds})
		l.count(op, QueueUsage(len(aws.ToString(in.MessageBody)), in.MessageGroupId != nil))
	case *sqs.ReceiveMessageInput:
		o, _ := out.(*sqs.ReceiveMessageOutput)
		size := 0
		if o != nil {
			for _, m := range o.Messages {
				size += len(aws.ToString(m.Body))
			}
		}
		l.count(op, QueueUsage(size, size > 0))
	case *sqs.DeleteMessageBatchInput:
		l.count(op, QueueUsage(0, true))
	default: // every action is a request
		l.count(op, QueueUsage(0, false))
	}
}

// recordSchedule counts a schedule together with the call of its target, one
// request to the queue.
func (l *Ledger) recordSchedule(op string, in any) {
	create, ok := in.(*scheduler.CreateScheduleInput)
	if !ok {
		l.fault(fmt.Errorf("%s of the Scheduler", op))
		return
	}
	body := aws.ToString(create.Target.Input)
	l.sent(Message{Queue: aws.ToString(create.Target.Arn), Body: body, At: aws.ToString(create.ScheduleExpression)})
	l.count(op, Usage{Schedule: 1}.Plus(QueueUsage(len(body), false)))
}
