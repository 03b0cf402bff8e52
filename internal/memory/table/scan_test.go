package table_test

import (
	"context"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

func TestScan(t *testing.T) {
	t.Parallel()

	tb := letters(t)
	in := &dynamodb.ScanInput{TableName: name(), Limit: aws.Int32(2), FilterExpression: aws.String("contains(pk, :p) OR begins_with(sk, :z)"), ExpressionAttributeValues: item{":p": str("p"), ":z": str("z")}}
	got := ""
	for {
		out, err := tb.Scan(t.Context(), in)
		if err != nil {
			t.Fatalf("Scan() error = %v", err)
		}
		got += sorts(out.Items) + "|"
		if in.ExclusiveStartKey = out.LastEvaluatedKey; in.ExclusiveStartKey == nil {
			break
		}
	}
	if want := "z a|ab abc|b c|ca d||"; got != want {
		t.Errorf("pages = %q; want %q", got, want)
	}
	for want, in := range map[string]dynamodb.ScanInput{
		"IndexName": {IndexName: aws.String("by_state")}, "Segment": {Segment: aws.Int32(1), TotalSegments: aws.Int32(2)}, "Select": {Select: types.SelectCount}, "ScanFilter": {ScanFilter: map[string]types.Condition{}},
		"limit": {Limit: aws.Int32(-1)}, "starting key": {ExclusiveStartKey: with(key("p", "a"), item{"x": str("y")})},
	} {
		in.TableName = name()
		_, err := tb.Scan(context.Background(), &in)
		refused(t, err, want)
	}
}
