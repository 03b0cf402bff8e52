package sim_test

import (
	"context"
	"fmt"

	adminendpoint "surehook.example/surehook/internal/admin/endpoint"
)

// sample sends a test event to the endpoint, of its own type or of another.
func (w *simulation) sample(e *endpoint) {
	eventType := pick(w, adminendpoint.SampleType, "order.paid", "user.gone")
	w.handIn(e.Tenant, "test "+string(e.id), func(ctx context.Context, p *process) error {
		to, payload, err := p.admin().Sample(ctx, e.Tenant, string(e.id), eventType, nil)
		if err != nil {
			return fmt.Errorf("make test event: %w", err)
		}
		p.samples = e.id
		result, err := p.wiring().Acceptor().AcceptFor(ctx, to, adminendpoint.SampleType, payload, false)
		if err == nil && !p.dead {
			w.count("test events")
			w.sawAccepted(result.ID, result.Deliveries)
		}
		return once(err)
	})
}
