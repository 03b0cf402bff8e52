package cost

import (
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/scheduler"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
)

// queueChunk is what one request to a queue may hold before it counts as two.
const queueChunk = 64 << 10

// QueueUsage is that of one request about messages of so many bytes in all,
// with a group id or without.
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

// recordSchedule counts a schedule with what it will do: call its target once,
// which is a request to the queue.
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
