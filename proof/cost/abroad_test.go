package cost_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"surehook.example/surehook/internal/delivery/send"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/destination"
	"surehook.example/surehook/proof/cost"
)

// abroad is a sender in another region, or in a private network: one more invocation per attempt,
// while function deliver waits for it.
type abroad struct{ w *bundle }

func (a abroad) Send(ctx context.Context, r send.Request) (hook.Outcome, error) {
	outcome := a.w.Send(ctx, r)
	a.w.ledger.Add(cost.InvocationUsage(outcome.Duration+cost.WorkTime(1, cost.MemoryMB), cost.MemoryMB))
	crossing := cost.CrossingTime
	if r.Endpoint.Region == hook.PrivateRegion {
		crossing = cost.RequestTime
	}
	outcome.Duration += crossing
	outcome.Region = r.Endpoint.Region

	a.w.mu.Lock()
	defer a.w.mu.Unlock()
	a.w.longest = max(a.w.longest, outcome.Duration)
	return outcome, nil
}

// elsewhere runs ten seconds of deliveries to one busy endpoint that function deliver does not post to.
func elsewhere(t *testing.T, name, how string, change func(*hook.Endpoint)) cost.Scenario {
	t.Helper()

	w := newBundle(t, full, mixProcesses)
	w.perMinute = 60 * busyRate
	w.endpoint(change)
	w.warm()
	const deliveries = 10 * busyRate
	for i := range deliveries {
		w.post(1)
		if (i+1)%full == 0 {
			w.drain(i + 1)
		}
		w.now = w.now.Add(time.Second / busyRate)
	}
	w.wantDelivered(deliveries)
	return w.scenario("an event posted alone, "+name, "100 a second to one endpoint, delivery batches of 10"+how, deliveries)
}

func abroadAndInside(t *testing.T) []cost.Scenario {
	t.Helper()

	return []cost.Scenario{
		elsewhere(t, "delivered through a sender in another region", "", func(e *hook.Endpoint) { e.Region = "eu-central-1" }),
		elsewhere(t, "with record_headers", "", func(e *hook.Endpoint) { e.RecordHeaders = true }),
		elsewhere(t, "delivered to a private receiver", "", func(e *hook.Endpoint) { e.SetOrigin("", hook.EgressPrivate) }),
	}
}

// owners are what the owners of resources in AWS pay for a million messages of at most 64 KB, in a
// stream of at most 25 KB.
// https://aws.amazon.com/sqs/pricing/ https://aws.amazon.com/sns/pricing/
// https://aws.amazon.com/eventbridge/pricing/ https://aws.amazon.com/kinesis/data-streams/pricing/
var owners = map[hook.DestinationType]string{
	"sqs": "0.40", "sqs_fifo": "0.50", "sns": "0.50 and the subscriptions", "eventbridge": "1.00", "kinesis": "0.014 and the shards",
}

// resources runs the deliveries of each type of destination in AWS.
func resources(t *testing.T) []cost.Scenario {
	t.Helper()

	var all []cost.Scenario
	for _, d := range destination.Types() {
		if d.Resource == nil {
			continue
		}
		if owners[d.Name] == "" {
			t.Errorf("what does the owner of %s pay?", d.Name)
		}
		set := make(map[string]string)
		for _, s := range d.Settings {
			set[s.Name] = s.Example
		}
		all = append(all, elsewhere(t, fmt.Sprintf("delivered to `%s`", d.Name), "; the resource's owner pays "+owners[d.Name], func(e *hook.Endpoint) {
			e.Destination = hook.Destination{Type: d.Name, Settings: set, ExternalID: "x-1"}
		}))
	}
	return all
}
