package breaker_test

import (
	"fmt"
	"testing"
	"time"

	"surehook.example/surehook/internal/delivery/send"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
	"surehook.example/surehook/proof/world"
)

// More deliveries that always fail are parked than the breaker chooses a probe from. The ones
// behind them are still delivered, whether they have the event type of the burst or another one.
func TestProbe_PassesABurstThatAlwaysFails(t *testing.T) {
	t.Parallel()

	for _, tt := range []struct {
		bad  int
		kind string // event type of the deliveries that always fail
	}{{40, "order.broken"}, {60, "order.broken"}, {60, "order.paid"}, {300, "order.paid"}} {
		t.Run(fmt.Sprintf("%d of type %s", tt.bad, tt.kind), func(t *testing.T) {
			t.Parallel()

			w := setup(t)
			e := w.Endpoint(nil)
			broken := make(map[hook.EventID]bool)
			put := func(kind string, age time.Duration) hook.DeliveryRef {
				d := hook.QueuedDelivery(w.Event(kind, w.Clock.Now().Add(-age), e), e.Target())
				d.State, d.Reason, d.DecidedBy = hook.StateParked, hook.ReasonCircuit, hook.NewNonce()
				w.Save(d)
				return d.Ref()
			}
			for i := range tt.bad {
				broken[put(tt.kind, time.Hour+time.Duration(tt.bad-i)*time.Second).Event] = true
			}
			var good []hook.DeliveryRef
			for i := range 10 {
				good = append(good, put("order.paid", time.Duration(10-i)*time.Second))
			}
			w.record(e, func(r admission.Record) admission.Record {
				r = open(0, 0)(r)
				r.Speed, r.SpeedAt, r.SeenAt = admission.Unproven, r.OpenedAt, time.Time{} // as after each opening
				return r
			})
			w.Answer = world.Status(func(r send.Request) int {
				if broken[r.Event.ID] {
					return 500
				}
				return 200
			})
			w.EnqueueCheck(hook.CircuitCheck{Tenant: e.Tenant, Endpoint: e.ID}, 0)
			w.RunFor(2 * time.Hour)
			if got := w.States(good); got != "10 delivered" {
				t.Errorf("after %d POSTs the deliveries behind the burst are %s; want 10 delivered", len(w.Posts), got)
			}
		})
	}
}
