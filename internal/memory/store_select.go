package memory

import (
	"context"
	"encoding/base64"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"time"

	"surehook/internal/delivery/replay"
	"surehook/internal/hook"
)

// maxPage bounds a page of deliveries.
const maxPage = 100

// Select rejects an After outside the selection with CodeInvalid. Every page but
// the last is full.
func (s *Store) Select(ctx context.Context, sel replay.Selection) (page []hook.Delivery, next string, err error) {
	op := fmt.Sprintf("select %s deliveries of endpoint %s", sel.State, sel.Endpoint)
	if err := available(ctx, op); err != nil {
		return nil, "", err
	}
	list := "oldest#" + string(sel.Endpoint) + "#" + sel.State.String() + "#"
	last, err := openCursor(sel.After, list)
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", op, err)
	}
	begin, end := bounds(sel)
	if sel.After != "" {
		if comparePositions(last, begin) < 0 || end != nil && comparePositions(last, *end) >= 0 {
			return nil, "", fmt.Errorf("%s: %w", op, errForeignCursor())
		}
		begin = last
		begin.generation++ // the first possible position after the cursor
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	selected := within(sel.Target, until(s.inState(sel.Endpoint, sel.State).from(begin), end))
	page, next = pageOf(s.deliveries(sel.Endpoint, selected), list, sel.Limit)
	return page, next, nil
}

// CountSelected returns the exact number of deliveries.
func (s *Store) CountSelected(ctx context.Context, sel replay.Selection) (int, error) {
	if err := available(ctx, fmt.Sprintf("count %s deliveries of endpoint %s", sel.State, sel.Endpoint)); err != nil {
		return 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	begin, end := bounds(sel)
	n := 0
	for range within(sel.Target, until(s.inState(sel.Endpoint, sel.State).from(begin), end)) {
		n++
	}
	return n, nil
}

// Parked cuts limit to 1 to 1000. The result never lags.
func (s *Store) Parked(ctx context.Context, target hook.Target, since time.Time, limit int) ([]hook.Delivery, error) {
	if err := available(ctx, "list parked deliveries of endpoint "+string(target.Endpoint)); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	all := s.inState(target.Endpoint, hook.StateParked)
	parked := make([]hook.Delivery, 0, min(listLimit(limit), all.len()))
	for d := range s.deliveries(target.Endpoint, within(target, all.from(beginning(since)))) {
		if len(parked) == listLimit(limit) {
			break
		}
		parked = append(parked, copyDelivery(*d))
	}
	return parked, nil
}

// Overdue cuts limit to 1 to 1000. The result never lags.
func (s *Store) Overdue(ctx context.Context, before time.Time, limit int) ([]hook.Delivery, error) {
	if err := available(ctx, "list overdue deliveries"); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	var overdue []hook.Delivery
	for d := range s.retrying.all() {
		if !d.OverdueFrom().Before(before) || len(overdue) == listLimit(limit) {
			break
		}
		overdue = append(overdue, copyDelivery(*d))
	}
	return overdue, nil
}

// listLimit cuts the limit of a list to 1 to 1000.
func listLimit(limit int) int { return min(max(limit, 1), 1000) }

// bounds returns the range of the selection in the order of age: from begin on, and
// before end unless end is nil.
func bounds(sel replay.Selection) (begin position, end *position) {
	if !sel.To.IsZero() {
		end = new(beginning(sel.To))
	}
	return beginning(sel.From), end
}

// beginning is before all positions of the time.
func beginning(at time.Time) position { return position{at: wholeMilliseconds(at).UnixMilli()} }

// wholeMilliseconds rounds a bound up to the precision of creation times.
func wholeMilliseconds(t time.Time) time.Time { return storedTime(t.Add(time.Millisecond - 1)) }

// until yields the positions before end, or all positions when end is nil.
func until(all iter.Seq[position], end *position) iter.Seq[position] {
	return func(yield func(position) bool) {
		for p := range all {
			if end != nil && comparePositions(p, *end) >= 0 || !yield(p) {
				return
			}
		}
	}
}

// within yields the positions in the target's shards.
func within(target hook.Target, all iter.Seq[position]) iter.Seq[position] {
	return func(yield func(position) bool) {
		for p := range all {
			if p.shard < target.Shards && !yield(p) {
				return
			}
		}
	}
}

// pageOf copies the first rows and returns a cursor when more rows follow.
func pageOf(rows iter.Seq[*hook.Delivery], list string, limit int) (page []hook.Delivery, next string) {
	limit = min(max(limit, 1), maxPage)
	for d := range rows {
		if len(page) == limit {
			return page, newCursor(list, page[limit-1])
		}
		page = append(page, copyDelivery(*d))
	}
	return page, ""
}

// newCursor returns the cursor of a page of the list with the given last delivery.
func newCursor(list string, last hook.Delivery) string {
	return base64.RawURLEncoding.EncodeToString(
		fmt.Appendf(nil, "%s%d#%d#%s", list, last.CreatedAt.UnixMilli(), last.ID.Generation, last.ID.Event))
}

// openCursor returns the position in the cursor; zero for no cursor.
func openCursor(cursor, list string) (last position, err error) {
	if cursor == "" {
		return position{}, nil
	}
	text, err := base64.RawURLEncoding.DecodeString(cursor)
	place, ok := strings.CutPrefix(string(text), list)
	parts := strings.SplitN(place, "#", 3)
	if err != nil || !ok || len(parts) != 3 {
		return position{}, errForeignCursor()
	}
	at, badTime := strconv.ParseInt(parts[0], 10, 64)
	generation, badNumber := strconv.Atoi(parts[1])
	if badTime != nil || badNumber != nil {
		return position{}, errForeignCursor()
	}
	return position{at: at, event: hook.EventID(parts[2]), generation: generation}, nil
}

func errForeignCursor() error {
	return hook.Invalid(hook.FieldError{Field: "cursor", Message: "is not a cursor of this list"})
}
