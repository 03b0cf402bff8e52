package status

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"surehook.example/surehook/internal/admin/page"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/merge"
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

// Bounds of the requests of a page.
const (
	// maxParts bounds the parts of a list: the first look at each part is a request.
	maxParts = 1000
	// moreRequests bounds the requests of a page after the first look at each part.
	moreRequests = 24
	// recordReads is the part of moreRequests for the records of the rows: a batch
	// read takes 100, and a page looks at 101 rows at once.
	recordReads = 2
	// concurrentReads bounds the concurrent requests. The client of the table keeps 10
	// idle connections.
	concurrentReads = 8
)

// rowsOf looks at the next rows of a part of a list in the span.
type rowsOf func(ctx context.Context, span Span, look int) (rows []Row, last *Position, err error)

// rowsOf returns what looks at the rows of the parts.
func (r *Reader) rowsOf(parts []Part) []rowsOf {
	all := make([]rowsOf, len(parts))
	for i, part := range parts {
		all[i] = func(ctx context.Context, span Span, look int) ([]Row, *Position, error) {
			return r.Store.DeliveryRows(ctx, part, span, look)
		}
	}
	return all
}

// looks are the numbers of rows of the first request for a part, and of the others.
type looks struct{ first, next int }

// merged returns the rows of the parts in the span as one list, newest first, after the position; nil:
// from its begin.
func merged(parts []rowsOf, span Span, after *Position, l looks) *merge.List[Row] {
	list := &merge.List[Row]{
		Compare: func(a, b Row) int { return a.Compare(b.Position) },
		First:   l.first, Next: l.next, Left: moreRequests - recordReads, AtOnce: concurrentReads,
	}
	if after != nil {
		list.After = &Row{Position: *after}
	}
	for _, read := range parts {
		list.Add(func(ctx context.Context, after *Row, look int) (rows []Row, last *Row, err error) {
			from := span
			if after != nil {
				from.From = &after.Position
			}
			rows, at, err := read(ctx, from, look)
			if at != nil {
				last = &Row{Position: *at}
			}
			return rows, last, err
		})
	}
	return list
}

// taken is what a page takes of a list at once.
type taken[T any] struct {
	items []T
	last  Position // of the last row looked at
	short bool     // the list or the requests are at their end
}

// assembled returns at most limit items of a list, and the position for the next page; nil at the end. take
// takes at most n further items.
func assembled[T any](list *merge.List[Row], limit int, position func(T) Position, take func(n int) (taken[T], error)) (data []T, next *Position, err error) {
	for len(data) <= limit {
		found, err := take(limit + 1 - len(data))
		if err != nil {
			return nil, nil, err
		}
		data = append(data, found.items...)
		switch at := list.Rest(); {
		case len(data) > limit:
		case found.short && at == nil:
			return data, nil, nil
		case found.short && (at.At != found.last.At || at.Event != found.last.Event):
			return data, &at.Position, nil
		case found.short || list.Left <= 0:
			return data, &found.last, nil
		}
	}
	return data[:limit], new(position(data[limit-1])), nil
}

// looksFor returns the numbers of rows to request. narrow means that the list drops many rows, so the
// first request asks for four times as many, up to 500.
func looksFor(first, next int, narrow bool) looks {
	if narrow {
		return looks{first: min(4*first, 500), next: 500}
	}
	return looks{first, next}
}

// expired reports whether a record that expires at the given time has expired; zero: it never does.
func (r *Reader) expired(at time.Time) bool { return !at.IsZero() && !r.now().Before(at) }

// afterPosition is page.After for a list of rows; nil is the begin, and the end.
func afterPosition[T any](scope string, p page.Request, read func(after *Position) (data []T, next *Position, err error)) (page.List[T], error) {
	return page.After(scope, p, func(text string) ([]T, string, error) {
		after, ok := parsePosition(text)
		if !ok {
			return nil, "", page.InvalidCursor()
		}
		data, next, err := read(after)
		return data, next.text(), err
	})
}

// Position is a position in a list, newest first. In a list of events, the generation is 0 and
// the endpoint is empty, so the position is after all deliveries of the event.
type Position struct {
	hook.DeliveryID

	At int64 // the list's time of the row, in milliseconds since 1970
}

// maxAt is the last millisecond of the year 9999: stored times have a fixed width.
const maxAt = 253402300799999

// Compare orders positions as in lists: newest first.
func (p Position) Compare(q Position) int {
	return cmp.Or(
		cmp.Compare(q.At, p.At), cmp.Compare(q.Event, p.Event), cmp.Compare(q.Generation, p.Generation), cmp.Compare(q.Endpoint, p.Endpoint),
	)
}

// Time returns the time of the row.
func (p Position) Time() time.Time { return time.UnixMilli(p.At).UTC() }

// text returns the form for cursors; empty for nil.
func (p *Position) text() string {
	if p == nil {
		return ""
	}
	return fmt.Sprintf("%d#%s#%d#%s", p.At, p.Event, p.Generation, p.Endpoint)
}

// parsePosition is the inverse of text. A position becomes part of keys, so parsePosition accepts
// only the text of a row that can exist.
func parsePosition(s string) (p *Position, ok bool) {
	if s == "" {
		return nil, true
	}
	parts := strings.Split(s, "#")
	if len(parts) != 4 {
		return nil, false
	}
	at, badTime := strconv.ParseInt(parts[0], 10, 64)
	event, badEvent := hook.ParseEventID(parts[1])
	generation, badNumber := strconv.Atoi(parts[2])
	p = &Position{At: at, DeliveryID: hook.DeliveryID{Event: event, Generation: generation}}
	if badTime != nil || badEvent != nil || badNumber != nil || at < 0 || at > maxAt || generation < 0 || generation > hook.MaxGeneration {
		return nil, false
	}
	if parts[3] != "" {
		endpoint, err := hook.ParseEndpointID(parts[3])
		if err != nil {
			return nil, false
		}
		p.Endpoint = endpoint
	}
	return p, p.text() == s
}
