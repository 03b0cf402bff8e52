package httpapi

import (
	"context"
	"fmt"
	"strings"
	"time"

	"surehook.example/surehook/internal/admin/page"
	"surehook.example/surehook/internal/delivery/source"
)

// Bytes of a reject shown in a list: of its body, of its reason, and of each other text.
const (
	maxExcerpt = 4 << 10
	maxReason  = 1000
	maxName    = 200
)

// rejectView is a wrong message of the events queue. The fields are those of its attributes.
type rejectView struct {
	ID             string    `json:"id"` // of the first message
	Reason         string    `json:"reason,omitzero"`
	SentAt         time.Time `json:"sent_at"`
	RejectedAt     time.Time `json:"rejected_at"`
	Tenant         string    `json:"tenant,omitzero"`
	EventType      string    `json:"event_type,omitzero"`
	IdempotencyKey string    `json:"idempotency_key,omitzero"`
	Body           string    `json:"body"`
	Cut            bool      `json:"cut"` // only the start of the body is shown
}

func viewReject(m source.Message) rejectView {
	id, at := m.First()
	return rejectView{
		ID: cut(id, maxName), SentAt: at, RejectedAt: m.SentAt, Reason: cut(m.Reason(), maxReason), Tenant: cut(m.Attributes[source.AttrTenant], maxName),
		EventType: cut(m.Attributes[source.AttrEventType], maxName), IdempotencyKey: cut(m.Attributes[source.AttrIdempotencyKey], 255),
		Body: cut(m.Body, maxExcerpt), Cut: len(m.Body) > maxExcerpt,
	}
}

// cut returns the start of a text, at most this many bytes, without splitting a character.
func cut(text string, most int) string {
	return strings.ToValidUTF8(text[:min(len(text), most)], "")
}

// listRejects responds with rejects, in no particular order. A queue has no pages.
func (h *manage) listRejects(ctx context.Context, c *call) (reply, error) {
	q := query(c, "limit")
	limit := q.limit(page.DefaultLimit, page.MaxLimit)
	return q.answer(func() (any, error) {
		found, err := h.Rejects.List(ctx, limit)
		return allView[rejectView]{each(found, viewReject)}, err
	})
}

// redriveRejects sends the rejects back to the events queue.
func (h *manage) redriveRejects(ctx context.Context, c *call) (reply, error) {
	if err := c.begin(ctx, "rejects", nil); err != nil {
		return reply{}, err
	}
	done, err := h.Rejects.Redrive(ctx)
	if err != nil {
		return reply{}, fmt.Errorf("redrive rejects: %w", err)
	}
	c.changed(nil, done)
	return ok(done), nil
}
