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

// DeliveriesByEndpoint returns recorded deliveries of the endpoint in the
// state, newest first, at most limit (1 to 100), after the cursor that an
// earlier call returned (empty: from the newest; CodeInvalid if it is another
// list's or none). next is empty at the end.
func (s *Store) DeliveriesByEndpoint(
	ctx context.Context, endpoint hook.EndpointID, state hook.State, cursor string, limit int,
) (page []hook.Delivery, next string, err error) {
	op := fmt.Sprintf("list %s deliveries of endpoint %s", state, endpoint)
	if err := available(ctx, op); err != nil {
		return nil, "", err
	}
	list := "newest#" + string(endpoint) + "#" + state.String() + "#"
	last, err := openCursor(cursor, list)
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", op, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	rows := s.shelf(endpoint, state).backward()
	if cursor != "" {
		rows = s.shelf(endpoint, state).before(&last)
	}
	page, next = pageOf(rows, list, limit)
	return page, next, nil
}

// Select returns a page of the selection, the oldest first; CodeInvalid if
// After is none of it. next is empty at the end.
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
		if compareAges(&last, begin) < 0 || end != nil && compareAges(&last, end) >= 0 {
			return nil, "", fmt.Errorf("%s: %w", op, errForeignCursor())
		}
		begin = &last
		begin.ID.Generation++ // the first that may come after it
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	page, next = pageOf(until(s.shelf(sel.Endpoint, sel.State).from(begin), end), list, sel.Limit)
	return page, next, nil
}

// CountSelected returns how many deliveries are in the selection; After and
// Limit do not count.
func (s *Store) CountSelected(ctx context.Context, sel replay.Selection) (int, error) {
	if err := available(ctx, fmt.Sprintf("count %s deliveries of endpoint %s", sel.State, sel.Endpoint)); err != nil {
		return 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	begin, end := bounds(sel)
	all := s.shelf(sel.Endpoint, sel.State)
	n := all.len()
	if end != nil {
		n = all.rank(end)
	}
	return max(0, n-all.rank(begin)), nil
}

// Parked returns parked deliveries of the endpoint, the oldest first, at most
// limit (1 to 1000).
func (s *Store) Parked(ctx context.Context, endpoint hook.EndpointID, limit int) ([]hook.Delivery, error) {
	if err := available(ctx, "list parked deliveries of endpoint "+string(endpoint)); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	all := s.shelf(endpoint, hook.StateParked)
	parked := make([]hook.Delivery, 0, min(listLimit(limit), all.len()))
	for d := range all.all() {
		if len(parked) == listLimit(limit) {
			break
		}
		parked = append(parked, copyDelivery(*d))
	}
	return parked, nil
}

// listLimit bounds how many are listed at once.
func listLimit(limit int) int { return min(max(limit, 1), 1000) }

// bounds returns places in the order of age: all of the selection comes at or
// after begin, and before end unless that is nil.
func bounds(sel replay.Selection) (begin, end *hook.Delivery) {
	begin = &hook.Delivery{CreatedAt: wholeMilliseconds(sel.From)}
	if !sel.To.IsZero() {
		end = &hook.Delivery{CreatedAt: wholeMilliseconds(sel.To)}
	}
	return begin, end
}

// wholeMilliseconds rounds up: creation times are whole, so this bound holds the same ones.
func wholeMilliseconds(t time.Time) time.Time { return storedTime(t.Add(time.Millisecond - 1)) }

// until yields rows up to the end, if there is one.
func until(rows iter.Seq[*hook.Delivery], end *hook.Delivery) iter.Seq[*hook.Delivery] {
	return func(yield func(*hook.Delivery) bool) {
		for d := range rows {
			if end != nil && compareAges(d, end) >= 0 || !yield(d) {
				return
			}
		}
	}
}

// pageOf copies the first rows, and makes the cursor if there are more.
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

// newCursor names the delivery that a page of the list ended with.
func newCursor(list string, last hook.Delivery) string {
	return base64.RawURLEncoding.EncodeToString(
		fmt.Appendf(nil, "%s%d#%d#%s", list, last.CreatedAt.UnixMilli(), last.ID.Generation, last.ID.Event))
}

// openCursor returns a delivery that has the place of the one that the cursor names.
func openCursor(cursor, list string) (last hook.Delivery, err error) {
	if cursor == "" {
		return hook.Delivery{}, nil
	}
	text, err := base64.RawURLEncoding.DecodeString(cursor)
	place, ok := strings.CutPrefix(string(text), list)
	parts := strings.SplitN(place, "#", 3)
	if err != nil || !ok || len(parts) != 3 {
		return hook.Delivery{}, errForeignCursor()
	}
	at, badTime := strconv.ParseInt(parts[0], 10, 64)
	generation, badNumber := strconv.Atoi(parts[1])
	if badTime != nil || badNumber != nil {
		return hook.Delivery{}, errForeignCursor()
	}
	last.CreatedAt = time.UnixMilli(at).UTC()
	last.ID = hook.DeliveryID{Event: hook.EventID(parts[2]), Generation: generation}
	return last, nil
}

func errForeignCursor() error {
	return hook.Invalid(hook.FieldError{Field: "cursor", Message: "is not a cursor of this list"})
}
