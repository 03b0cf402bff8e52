package dynamo_test

import (
	"context"
	"encoding/json"
	"slices"
	"testing"

	"surehook.example/surehook/internal/aws/dynamo"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
)

// Begun reads what the store writes.
func TestBegun(t *testing.T) {
	t.Parallel()

	e := hook.Event{ID: hook.KeyedEventID("acme", "k"), Tenant: "acme", Type: "order.paid", Payload: []byte("{}"), AcceptedAt: epoch}
	for _, shards := range []int{1, 16} {
		e.Targets = append(e.Targets, hook.Target{Endpoint: hook.NewEndpointID(), Shards: shards})
	}
	var first []hook.DeliveryRef
	for _, target := range e.Targets {
		first = append(first, hook.QueuedDelivery(e, target).Ref())
	}
	delivery := hook.QueuedDelivery(e, e.Targets[1])
	delivery.State = hook.StateDead
	replayed, untargeted := delivery, e
	replayed.Replayed = hook.Replayed{Generation: 2, At: epoch}
	untargeted.Targets = nil

	for _, tt := range []struct {
		name  string
		write func(ctx context.Context, s *dynamo.Store) error
		want  []hook.DeliveryRef
	}{
		{name: "an event", write: func(ctx context.Context, s *dynamo.Store) error { return s.PutEvent(ctx, e) }, want: first},
		{name: "an event without a target", write: func(ctx context.Context, s *dynamo.Store) error { return s.PutEvent(ctx, untargeted) }},
		{name: "a delivery", write: func(ctx context.Context, s *dynamo.Store) error { return s.SaveDelivery(ctx, delivery, nil) }},
		{name: "a replayed delivery", write: func(ctx context.Context, s *dynamo.Store) error { return s.SaveDelivery(ctx, replayed, nil) }, want: []hook.DeliveryRef{delivery.Successor()}},
		{name: "an endpoint", write: func(ctx context.Context, s *dynamo.Store) error {
			return s.SaveCircuit(ctx, admission.NewRecord("acme", hook.NewEndpointID()))
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			image, err := json.Marshal(recorded(t, tt.write))
			if err != nil {
				t.Fatal(err)
			}
			if got, err := dynamo.Begun(image); err != nil || !slices.Equal(got, tt.want) {
				t.Errorf("Begun(%s) = %v, %v; want %v", image, got, err, tt.want)
			}
		})
	}
	for _, image := range []string{"", "null", "{}", `{"pk": {"S": "event#evt_1"}, "sk": {"S": "event"}}`, `{"pk": {"S": "x"}, "sk": {"S": "delivery#x"}, "replayed": {"M": {}}}`} {
		if got, err := dynamo.Begun([]byte(image)); len(got) > 0 || err == nil && image != "{}" && image != "null" {
			t.Errorf("Begun(%s) = %v, %v; want an error", image, got, err)
		}
	}
}
