package memory_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/aws/dynamo"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/memory"
	"surehook.example/surehook/internal/memory/table"
)

var errDied = errors.New("the process died")

// dying is a table whose caller dies before or after a write, of which it makes no other.
type dying struct {
	*table.Table

	left  int // writes until then; below 0: never
	after bool
}

func (d *dying) PutItem(ctx context.Context, in *dynamodb.PutItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	return write(d, func() (*dynamodb.PutItemOutput, error) { return d.Table.PutItem(ctx, in) })
}

func (d *dying) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	return write(d, func() (*dynamodb.UpdateItemOutput, error) { return d.Table.UpdateItem(ctx, in) })
}

func (d *dying) TransactWriteItems(
	ctx context.Context, in *dynamodb.TransactWriteItemsInput, _ ...func(*dynamodb.Options),
) (*dynamodb.TransactWriteItemsOutput, error) {
	return write(d, func() (*dynamodb.TransactWriteItemsOutput, error) { return d.Table.TransactWriteItems(ctx, in) })
}

func write[T any](d *dying, do func() (*T, error)) (*T, error) {
	d.left--
	if d.left == 0 && !d.after {
		return nil, errDied
	}
	out, err := do()
	if d.left == 0 {
		return nil, errDied
	}
	return out, err
}

// Whichever write of the way of a delivery is the last of its process, before or after it took effect,
// all attempts are there in the end, each once and as it was made: those in the delivery's record,
// those that left it, and those that were too long for it.
func TestStore_NoDeathLosesAnAttempt(t *testing.T) {
	t.Parallel()

	bodies := []int{10, 40, 900, 700, 30, 3000, 10, 900, 16 << 10, 20, 1500, 1500, 10}
	for died := 1; ; died++ {
		for _, after := range []bool{false, true} {
			over := &dying{table.New(memory.Schema()), died, after}
			s := dynamo.Over(over, memory.Schema().Name)
			start := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
			e := hook.Event{ID: hook.KeyedEventID("acme", "order-1"), Tenant: "acme", Type: "order.paid", AcceptedAt: start, ExpiresAt: start.AddDate(0, 0, 90)}
			d := hook.QueuedDelivery(e, hook.Target{Endpoint: "ep_0000000000000001", Shards: 1})
			var want []hook.Attempt
			for i, n := range bodies {
				a := hook.Attempt{
					Delivery: d.Ref(), Number: i + 1, Trigger: hook.TriggerRetry, StartedAt: start.Add(time.Duration(i) * time.Minute), ExpiresAt: e.ExpiresAt,
					Outcome: hook.Outcome{Class: hook.ClassUnavailable, Status: 503, Body: make([]byte, n), Sent: map[string]string{"Webhook-Id": string(e.ID)}},
				}
				_, _ = rand.NewChaCha8([32]byte{byte(i)}).Read(a.Outcome.Body)
				want = append(want, a)
				d = persist(t, s, d, a)
			}
			got, err := s.Attempts(t.Context(), []hook.Delivery{d})
			if diff := cmp.Diff(want, got); err != nil || diff != "" {
				t.Fatalf("death at write %d, after it: %t: Attempts() = %v (-want +got):\n%s", died, after, err, diff)
			}
			if over.left > 0 && after { // nobody died: the way has no more writes
				return
			}
		}
	}
}

// persist records the attempt as function deliver does: after a death with the newest record, unless it
// shows the attempt.
func persist(t *testing.T, s *dynamo.Store, d hook.Delivery, a hook.Attempt) hook.Delivery {
	t.Helper()

	for range 2 {
		next := d
		next.State, next.Attempts, next.NextAttemptAt = hook.StateRetrying, a.Number, a.StartedAt.Add(time.Minute)
		next.DecidedBy, next.Last = fmt.Sprintf("task-%d", a.Number), a.Outcome.Short()
		err := s.SaveDelivery(t.Context(), next, &a)
		if err != nil && !errors.Is(err, errDied) {
			t.Fatal(err)
		}
		stored, readErr := s.Delivery(t.Context(), d.Ref())
		if hook.CodeOf(readErr) != hook.CodeNotFound {
			d = stored
		}
		if d.Attempts == a.Number {
			return d
		}
	}
	t.Fatalf("attempt %d is not recorded", a.Number)
	return d
}
