package status

import (
	"context"
	"time"

	"surehook.example/surehook/internal/admin/page"
	"surehook.example/surehook/internal/hook"
)

// Part is a part of a list of deliveries: one shard of an endpoint. The rows of a part
// are in the order of Position.
type Part struct {
	Endpoint hook.EndpointID
	Shard    int
	// State selects the deliveries in the state, by CreatedAt. State delivered selects only
	// those created after the acceptance of their event, which are replays. The zero State
	// selects all recorded deliveries, by the acceptance of the event.
	State hook.State
}

// Row is a row of a part.
type Row struct {
	Position

	// Delivery is the record. With Version 0 it is not read yet: only its Ref is set, or
	// nothing in the row of an event without a target.
	Delivery hook.Delivery
}

// Span selects rows.
type Span struct {
	Since time.Time // inclusive; zero: from the beginning
	Until time.Time // exclusive; zero: to the end
	// From is the position of the first possible row; its endpoint does not count; nil: the newest.
	From *Position
}

// sources returns the sources of the parts.
func (r *Reader) sources(parts []Part) []*source {
	all := make([]*source, len(parts))
	for i, part := range parts {
		all[i] = &source{read: func(ctx context.Context, span Span, look int) ([]Row, bool, error) {
			return r.Lists.DeliveryRows(ctx, part, span, look)
		}}
	}
	return all
}

// looksFor returns the numbers of rows to request for a page of limit rows from n parts. The first
// request for a part asks for twice the part's share and a few rows more, but at most for the
// page, one more row, and the row at which the page begins. narrow means that the list drops many
// rows, so the first request asks for four times as many, up to 500.
func looksFor(limit, n int, narrow bool) looks {
	first := min(2*limit/max(n, 1)+4, limit+2)
	if narrow {
		return looks{first: min(4*first, 500), next: 500}
	}
	return looks{first: first, next: 100}
}

// expired reports whether a record that expires at the given time has expired; zero: it never does.
func (r *Reader) expired(at time.Time) bool { return !at.IsZero() && !r.now().Before(at) }

// openPosition returns the position in the cursor; nil for the empty cursor. A cursor
// of another list is CodeInvalid.
func openPosition(scope, cursor string) (*Position, error) {
	text, err := page.OpenCursor(scope, cursor)
	if err != nil || text == "" {
		return nil, err
	}
	at, ok := parsePosition(text)
	if !ok {
		return nil, page.InvalidCursor()
	}
	return &at, nil
}

// newCursor is the inverse of openPosition.
func newCursor(scope string, at *Position) string {
	if at == nil {
		return ""
	}
	return page.NewCursor(scope, at.text())
}
