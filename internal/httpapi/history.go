package httpapi

import (
	"bytes"
	"context"
	"fmt"
	"net/http"

	"github.com/go-json-experiment/json"

	"surehook.example/surehook/internal/admin/page"
	"surehook.example/surehook/internal/hook"
)

func (h *manage) getEvent(ctx context.Context, c *call, id hook.EventID) (reply, error) {
	e, err := h.Status.Event(ctx, c.tenant, id)
	if err != nil {
		return reply{}, fmt.Errorf("get event: %w", err)
	}
	raw, err := encodeEvent(e)
	if err != nil {
		return reply{}, err
	}
	return reply{status: http.StatusOK, raw: raw}, nil
}

// encodeEvent appends the payload byte for byte as it was posted and signed. The JSON encoder
// would drop white space.
func encodeEvent(e hook.Event) ([]byte, error) {
	raw, err := json.Marshal(viewEvent(e), written)
	if err != nil {
		return nil, fmt.Errorf("encode event %s: %w", e.ID, err)
	}
	payload := e.Payload
	if e.Erased() {
		payload = []byte("null")
	}
	return bytes.Join([][]byte{bytes.TrimSuffix(raw, []byte("}")), []byte(`,"payload":`), payload, []byte("}")}, nil), nil
}

func (h *manage) listEventDeliveries(ctx context.Context, c *call, id hook.EventID) (reply, error) {
	return h.listOfDeliveries(ctx, c, listQuery(c), func(req page.Request) (page.List[hook.Delivery], error) {
		return h.Status.EventDeliveries(ctx, c.tenant, id, req)
	})
}

func (h *manage) listEventAttempts(ctx context.Context, c *call, id hook.EventID) (reply, error) {
	return viewList(listQuery(c), func(req page.Request) (page.List[hook.Attempt], error) {
		return h.Status.EventAttempts(ctx, c.tenant, id, req)
	}, c.viewAttempt)
}

func (h *manage) getDelivery(ctx context.Context, c *call, id hook.DeliveryID) (reply, error) {
	return shown(c.viewDeliveryDetail)(h.Status.Delivery(ctx, c.tenant, id))
}
