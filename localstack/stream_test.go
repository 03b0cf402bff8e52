//go:build e2e

package localstack_test

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	dbtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"surehook.example/surehook/internal/aws/dynamo"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/localstack/receiver"
)

// The first task of an event is lost, as after a purge of the live queue. The stream tells the
// breaker of the event, and the sweeper sends the task. The event is 20 minutes old, so the
// sweeper does not take its task for a late one.
func TestALostFirstTaskComesBack(t *testing.T) {
	t.Parallel()

	b := setup(t)
	endpoint := b.endpoint("a", nil, receiver.Status(200))
	e := b.lost(endpoint.ID)
	d := hook.QueuedDelivery(e, e.Targets[0])
	b.until("the delivery is recorded", func() bool {
		_, err := b.store().Delivery(b.ctx, d.Ref())
		return err == nil
	})
	b.sweepUntilDelivered(d)
	b.arrivals("a", 1)
}

// Step 6 of the runbook's restore: the breaker is told of an event by hand.
func TestTheBreakerIsToldOfAnEvent(t *testing.T) {
	t.Parallel()

	b := setup(t)
	endpoint := b.endpoint("a", nil, receiver.Status(200))
	e := b.lost(endpoint.ID)
	d := hook.QueuedDelivery(e, e.Targets[0])
	found, err := dynamodb.NewFromConfig(world.stack.AWS).GetItem(b.ctx, &dynamodb.GetItemInput{
		TableName: &world.stack.TableName,
		Key:       map[string]dbtypes.AttributeValue{"pk": &dbtypes.AttributeValueMemberS{Value: "event#" + string(e.ID)}, "sk": &dbtypes.AttributeValueMemberS{Value: "event"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	image, err := attributevalue.MarshalMapJSON(found.Item)
	if err != nil {
		t.Fatal(err)
	}
	type object map[string]any
	changes := object{"Records": []any{object{"eventSource": "aws:dynamodb", "dynamodb": object{"NewImage": rawJSON(image)}}}}
	for range 2 { // too often does no harm
		if err := world.stack.Invoke(b.ctx, "breaker", changes); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := b.store().Delivery(b.ctx, d.Ref()); err != nil {
		t.Errorf("Delivery() = %v; want the record", err)
	}
	b.sweepUntilDelivered(d)
	b.arrivals("a", 1)
}

// rawJSON is JSON as it is.
type rawJSON []byte

func (r rawJSON) MarshalJSON() ([]byte, error) { return r, nil }

func (b *bench) store() *dynamo.Store { return dynamo.New(world.stack.AWS, world.stack.TableName) }

// lost stores an event for the endpoint, without a task.
func (b *bench) lost(endpoint string) hook.Event {
	b.Helper()
	id := hook.NewEventID()
	at := time.Now().Add(-20 * time.Minute).UTC().Truncate(time.Millisecond)
	e := hook.Event{
		ID: id, Tenant: hook.TenantID(b.tenant), Type: "order.paid", Payload: []byte("{}"), Nonce: hook.NewNonce(),
		Targets: []hook.Target{{Endpoint: hook.EndpointID(endpoint), Shards: 1}}, AcceptedAt: at, ExpiresAt: at.Add(24 * time.Hour),
	}
	if err := b.store().PutEvent(b.ctx, e); err != nil {
		b.Fatal(err)
	}
	return e
}

// sweepUntilDelivered sweeps until the delivery has its task: tasks of the other tests may
// fill the queues.
func (b *bench) sweepUntilDelivered(d hook.Delivery) {
	b.Helper()
	b.until("the delivery is swept", func() bool {
		if err := world.stack.Invoke(b.ctx, "breaker", map[string]bool{"sweep": true}); err != nil {
			b.Error(err)
			return true
		}
		swept, err := b.store().Delivery(b.ctx, d.Ref())
		return err == nil && (!swept.SweptAt.IsZero() || swept.State == hook.StateDelivered)
	})
	b.await(d.ID.String(), "delivered")
}
