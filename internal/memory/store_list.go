package memory

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"time"

	"surehook/internal/admin/status"
	"surehook/internal/delivery/replay"
	"surehook/internal/hook"
)

// DeliveryRows never lags.
func (s *Store) DeliveryRows(ctx context.Context, part status.Part, span status.Span, look int) (rows []status.Row, more bool, err error) {
	if err := available(ctx, "list deliveries of endpoint "+string(part.Endpoint)); err != nil {
		return nil, false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	for row := range s.rowsOf(part, span) {
		if !begins(row.Position, span.Since) {
			break
		}
		if len(rows) == listLimit(look) {
			return rows, true, nil
		}
		rows = append(rows, row)
	}
	return rows, false, nil
}

// rowsOf yields the rows of the part before the end of the span, newest first.
func (s *Store) rowsOf(part status.Part, span status.Span) iter.Seq[status.Row] {
	all := s.acceptedBy(part.Endpoint)
	if part.State != 0 {
		all = s.inState(part.Endpoint, part.State)
	}
	return func(yield func(status.Row) bool) {
		for d := range s.deliveries(part.Endpoint, inShard(part.Shard, downFrom(all, span))) {
			row := status.Row{Position: status.Position{At: d.CreatedAt.UnixMilli(), DeliveryID: d.ID}, Delivery: hook.Delivery{}.At(d.Ref())}
			if part.State == 0 {
				row.At, row.Delivery = d.AcceptedAt, copyDelivery(*d)
			}
			first := d.State == hook.StateDelivered && d.CreatedAt.UnixMilli() == d.AcceptedAt // has no row in an index
			if (part.State == 0 || !first) && !yield(row) {
				return
			}
		}
	}
}

// inShard yields the positions in the shard.
func inShard(shard int, all iter.Seq[position]) iter.Seq[position] {
	return func(yield func(position) bool) {
		for p := range all {
			if p.shard == shard && !yield(p) {
				return
			}
		}
	}
}

// UntargetedRows never lags.
func (s *Store) UntargetedRows(
	ctx context.Context, tenant hook.TenantID, shard int, span status.Span, look int,
) (rows []status.Row, more bool, err error) {
	if err := available(ctx, "list events without a target of tenant "+string(tenant)); err != nil {
		return nil, false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	for p := range downFrom(s.untargetedOf(tenant), span) {
		row := status.Row{Position: status.Position{At: p.at, DeliveryID: hook.DeliveryID{Event: p.event}}}
		if !begins(row.Position, span.Since) {
			break
		}
		if hook.ShardOf(p.event, hook.UntargetedShards) != shard {
			continue
		}
		if len(rows) == listLimit(look) {
			return rows, true, nil
		}
		rows = append(rows, row)
	}
	return rows, false, nil
}

// EventHeads returns copies.
func (s *Store) EventHeads(ctx context.Context, ids []hook.EventID) ([]hook.Event, error) {
	if err := available(ctx, "read heads of events"); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	seen := make(map[hook.EventID]bool, len(ids))
	var heads []hook.Event
	for _, id := range ids {
		if e, ok := s.event(id); ok && !seen[id] {
			e.Payload, e.Nonce = nil, ""
			heads = append(heads, copyEvent(e))
		}
		seen[id] = true
	}
	return heads, nil
}

// SelectEvents cuts limit to 1 to 100. Every page but the last is full.
func (s *Store) SelectEvents(ctx context.Context, sel replay.EventSelection) (page []replay.EventPlace, next string, err error) {
	if err := available(ctx, "select events of tenant "+string(sel.Tenant)); err != nil {
		return nil, "", err
	}
	after, err := openEventCursor(sel.After)
	if err != nil {
		return nil, "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	for place := range s.placesOf(sel) {
		at := time.UnixMilli(place.AcceptedAt)
		if !sel.To.IsZero() && !at.Before(wholeMilliseconds(sel.To)) {
			break
		}
		if at.Before(sel.From) || sel.After != "" && compareEvents(place, after) <= 0 {
			continue
		}
		if len(page) == min(max(sel.Limit, 1), maxPage) {
			last := page[len(page)-1]
			return page, fmt.Sprintf("%d#%s", last.AcceptedAt, last.ID), nil
		}
		page = append(page, place)
	}
	return page, "", nil
}

// placesOf yields the places of the source's events, the oldest first.
func (s *Store) placesOf(sel replay.EventSelection) iter.Seq[replay.EventPlace] {
	return func(yield func(replay.EventPlace) bool) {
		if sel.Source.Endpoint == "" {
			for p := range s.untargetedOf(sel.Tenant).all() {
				if !yield(replay.EventPlace{ID: p.event, AcceptedAt: p.at}) {
					return
				}
			}
			return
		}
		for p := range within(sel.Source, s.acceptedBy(sel.Source.Endpoint).all()) {
			if p.generation == 1 && !yield(replay.EventPlace{ID: p.event, AcceptedAt: p.at}) {
				return
			}
		}
	}
}

func compareEvents(a, b replay.EventPlace) int {
	return cmp.Or(cmp.Compare(a.AcceptedAt, b.AcceptedAt), cmp.Compare(a.ID, b.ID))
}

// openEventCursor returns the event in the cursor of SelectEvents.
func openEventCursor(cursor string) (place replay.EventPlace, err error) {
	if cursor == "" {
		return place, nil
	}
	at, event, _ := strings.Cut(cursor, "#")
	place.AcceptedAt, err = strconv.ParseInt(at, 10, 64)
	if err != nil || event == "" {
		return place, errForeignCursor()
	}
	place.ID = hook.EventID(event)
	return place, nil
}

// begins reports whether the position is not before since, in whole milliseconds.
func begins(at status.Position, since time.Time) bool {
	return since.IsZero() || !at.Time().Before(wholeMilliseconds(since))
}

// downFrom yields the positions in the span's range up to the end, newest first.
func downFrom(all *ordered[position], span status.Span) iter.Seq[position] {
	var until *position
	if !span.Until.IsZero() {
		until = new(beginning(span.Until))
	}
	switch {
	case span.From != nil && (until == nil || span.From.At < until.at):
		return all.before(after(*span.From))
	case until != nil:
		return all.before(*until)
	}
	return all.backward()
}

// after is a position after all positions of the delivery or event, and before all later
// ones.
func after(p status.Position) position {
	return position{at: p.At, event: p.Event, generation: p.Generation + 1, shard: -1}
}
