package dynamo_test

import (
	"context"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"surehook.example/surehook/internal/aws/dynamo"
	"surehook.example/surehook/internal/hook"
)

// kept answers each read with the item that was written last, so that the codec alone takes time.
type kept struct {
	dynamo.Requests

	item map[string]types.AttributeValue
}

func (k *kept) GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	return &dynamodb.GetItemOutput{Item: k.item}, nil
}

func (k *kept) PutItem(_ context.Context, in *dynamodb.PutItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	k.item = in.Item
	return &dynamodb.PutItemOutput{}, nil
}

func (k *kept) TransactWriteItems(
	_ context.Context, in *dynamodb.TransactWriteItemsInput, _ ...func(*dynamodb.Options),
) (*dynamodb.TransactWriteItemsOutput, error) {
	k.item = in.TransactItems[0].Put.Item
	return &dynamodb.TransactWriteItemsOutput{}, nil
}

// BenchmarkStore_records writes and reads the records of each attempt.
func BenchmarkStore_records(b *testing.B) {
	e := endpoint("orders")
	e.EventTypes, e.Timeout, e.MaxAge, e.Retry.Preset = []string{"order.*"}, hook.DefaultTimeout, hook.DefaultMaxAge, "standard"
	e.SealedHeaders, e.Profiles, e.Schemes = map[string][]byte{"X-Key": make([]byte, 60)}, hook.ProfilesNamed(hook.ProfileStandard), []hook.Scheme{hook.SchemeV1}
	e.Secrets, e.StatusSince, e.CreatedAt, e.UpdatedAt = []hook.Secret{{Scheme: hook.SchemeV1, Sealed: make([]byte, 100), CreatedAt: epoch}}, epoch, epoch, epoch
	e = e.Sharded(1)
	d := delivery(0)
	d.Last = hook.Outcome{Class: hook.ClassTimeout, Error: "no answer within 10s", Duration: time.Second, Phases: hook.Phases{DNS: time.Millisecond}}
	for _, one := range []struct {
		name  string
		write func(ctx context.Context, s *dynamo.Store) error
		read  func(ctx context.Context, s *dynamo.Store) error
	}{
		{"endpoint", func(ctx context.Context, s *dynamo.Store) error { return s.CreateEndpoint(ctx, e) }, func(ctx context.Context, s *dynamo.Store) error {
			_, err := s.EndpointByID(ctx, e.ID)
			return err
		}},
		{"delivery", func(ctx context.Context, s *dynamo.Store) error { return s.SaveDelivery(ctx, d, nil) }, func(ctx context.Context, s *dynamo.Store) error {
			_, err := s.Delivery(ctx, d.Ref())
			return err
		}},
	} {
		for name, do := range map[string]func(ctx context.Context, s *dynamo.Store) error{"write": one.write, "read": one.read} {
			b.Run(one.name+"/"+name, func(b *testing.B) {
				s := dynamo.Over(&kept{}, "table")
				if err := one.write(b.Context(), s); err != nil {
					b.Fatal(err)
				}
				b.ReportAllocs()
				for b.Loop() {
					if err := do(b.Context(), s); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
