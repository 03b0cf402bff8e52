package cost_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	awsscheduler "github.com/aws/aws-sdk-go-v2/service/scheduler"
	awssns "github.com/aws/aws-sdk-go-v2/service/sns"
	awssqs "github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/smithy-go/middleware"

	"surehook.example/surehook/internal/aws/scheduler"
	"surehook.example/surehook/internal/memory"
	"surehook.example/surehook/internal/memory/table"
	"surehook.example/surehook/proof/cost"
)

// services answer the requests of the adapters in this process: those to DynamoDB from a
// table, and all others with success.
type services struct{ table *table.Table }

// config returns a config whose requests the ledger counts, and the services answer.
func (s services) config(l *cost.Ledger) aws.Config {
	cfg := l.Config(aws.Config{Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("test", "test", "")})
	cfg.APIOptions = append(cfg.APIOptions, func(stack *middleware.Stack) error {
		return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("Services", s.handle), middleware.After)
	})
	return cfg
}

func (s services) handle(
	ctx context.Context, in middleware.InitializeInput, _ middleware.InitializeHandler,
) (out middleware.InitializeOutput, metadata middleware.Metadata, err error) {
	out.Result, err = s.answer(ctx, in.Parameters)
	return out, metadata, err
}

var errUnknown = errors.New("no scenario makes this request")

func (s services) answer(ctx context.Context, in any) (any, error) {
	switch in := in.(type) {
	case *dynamodb.GetItemInput:
		return s.table.GetItem(ctx, in)
	case *dynamodb.BatchGetItemInput:
		return s.table.BatchGetItem(ctx, in)
	case *dynamodb.TransactGetItemsInput:
		return s.table.TransactGetItems(ctx, in)
	case *dynamodb.QueryInput:
		return s.table.Query(ctx, in)
	case *dynamodb.PutItemInput:
		return s.table.PutItem(ctx, in)
	case *dynamodb.UpdateItemInput:
		return s.table.UpdateItem(ctx, in)
	case *dynamodb.TransactWriteItemsInput:
		return s.table.TransactWriteItems(ctx, in)
	case *awssqs.SendMessageInput:
		return &awssqs.SendMessageOutput{}, nil
	case *awssqs.SendMessageBatchInput:
		out := new(awssqs.SendMessageBatchOutput)
		for _, e := range in.Entries {
			out.Successful = append(out.Successful, sqstypes.SendMessageBatchResultEntry{Id: e.Id})
		}
		return out, nil
	case *awssqs.ReceiveMessageInput:
		return &awssqs.ReceiveMessageOutput{}, nil
	case *awssqs.GetQueueAttributesInput:
		out := &awssqs.GetQueueAttributesOutput{Attributes: make(map[string]string)}
		for _, name := range in.AttributeNames {
			out.Attributes[string(name)] = "0"
		}
		return out, nil
	case *awsscheduler.CreateScheduleInput:
		return &awsscheduler.CreateScheduleOutput{}, nil
	case *awssns.PublishInput:
		return &awssns.PublishOutput{}, nil
	}
	return nil, fmt.Errorf("%T: %w", in, errUnknown)
}

// peek reads an item past the ledger.
func (s services) peek(ctx context.Context, key cost.Item) (cost.Item, error) {
	out, err := s.table.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String(memory.Schema().Name), Key: key, ConsistentRead: aws.Bool(true)})
	if err != nil {
		return nil, err
	}
	return out.Item, nil
}

// queue returns the URL of the queue.
func (w *bundle) queue(name queue) (url string) {
	url = "https://sqs.us-east-1.amazonaws.com/000000000000/" + string(name)
	w.names[url] = name
	return url
}

func (w *bundle) schedules(cfg aws.Config) *scheduler.Schedules {
	const account = "000000000000"
	target := "arn:aws:sqs:us-east-1:" + account + ":retry"
	w.names[target] = retrying
	return scheduler.New(cfg, scheduler.Config{
		Group: "cost", RoleARN: "arn:aws:iam::" + account + ":role/schedules", TargetARN: target, DeadLetterARN: "arn:aws:sqs:us-east-1:" + account + ":undeliverable",
	})
}
