package destination

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	awskinesis "github.com/aws/aws-sdk-go-v2/service/kinesis"

	"surehook.example/surehook/internal/delivery/send"
	rule "surehook.example/surehook/internal/rule/destination"
)

func kinesis() kind {
	return kind{newStream, codes{
		missing: []string{"ResourceNotFoundException"},
		refused: []string{"InvalidArgumentException"},
	}}
}

func newStream(cfg aws.Config) put {
	client := awskinesis.NewFromConfig(cfg)
	return func(ctx context.Context, r *send.Request, p send.Prepared) (string, error) {
		text, err := documentOf(p)
		if err != nil {
			return "", err
		}
		key := rule.Group(r.Endpoint, r.Event)
		if err := fits(r.Endpoint, len(key)+len(text)); err != nil {
			return "", err
		}
		out, err := client.PutRecord(ctx, &awskinesis.PutRecordInput{StreamARN: &r.Endpoint.URL, PartitionKey: &key, Data: []byte(text)})
		if err != nil {
			return "", fmt.Errorf("put record: %w", err)
		}
		return aws.ToString(out.SequenceNumber), nil
	}
}
