package memory

import (
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"surehook/internal/hook"
)

// maxPage bounds a page of DeliveriesByEndpoint.
const maxPage = 100

// Delivery returns the record; CodeNotFound if there is none.
func (s *Store) Delivery(ctx context.Context, id hook.DeliveryID) (hook.Delivery, error) {
	op := "read delivery " + id.String()
	if err := available(ctx, op); err != nil {
		return hook.Delivery{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	d, ok := s.deliveries[id]
	if !ok {
		return hook.Delivery{}, fmt.Errorf("%s: %w", op, hook.NotFound("delivery"))
	}
	return copyDelivery(d), nil
}

// Deliveries returns the recorded deliveries of the event, all generations, in
// the order of endpoint and generation.
func (s *Store) Deliveries(ctx context.Context, id hook.EventID) ([]hook.Delivery, error) {
	if err := available(ctx, "list deliveries of event "+string(id)); err != nil {
		return nil, err
	}
	found := s.find(func(d hook.Delivery) bool { return d.ID.Event == id })
	slices.SortFunc(found, func(a, b hook.Delivery) int { return compareDeliveries(a.ID, b.ID) })
	return found, nil
}

// Attempts returns the recorded attempts of the event, in the order of
// endpoint, generation and number.
func (s *Store) Attempts(ctx context.Context, id hook.EventID) ([]hook.Attempt, error) {
	if err := available(ctx, "list attempts of event "+string(id)); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	var found []hook.Attempt
	for at, a := range s.attempts {
		if at.delivery.Event == id {
			found = append(found, copyAttempt(a))
		}
	}
	slices.SortFunc(found, func(a, b hook.Attempt) int {
		return cmp.Or(compareDeliveries(a.Delivery, b.Delivery), cmp.Compare(a.Number, b.Number))
	})
	return found, nil
}

// SaveDelivery writes the delivery as version d.Version+1 and, with it, the
// attempt if there is one. CodeConflict if the stored version is not d.Version
// (0: no record), and nothing is written.
func (s *Store) SaveDelivery(ctx context.Context, d hook.Delivery, attempt *hook.Attempt) error {
	op := "save delivery " + d.ID.String()
	if err := available(ctx, op); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	if s.deliveries[d.ID].Version != d.Version {
		return fmt.Errorf("%s: %w", op, hook.Conflict("the delivery was changed meanwhile"))
	}
	d.Version++
	s.deliveries[d.ID] = copyDelivery(d)
	if attempt != nil {
		s.attempts[attemptID{attempt.Delivery, attempt.Number}] = copyAttempt(*attempt)
	}
	return nil
}

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
	list := string(endpoint) + "#" + state.String() + "#"
	after, err := openCursor(cursor, list)
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", op, err)
	}
	page = s.find(func(d hook.Delivery) bool {
		return d.ID.Endpoint == endpoint && d.State == state && (cursor == "" || position(d) < after)
	})
	slices.SortFunc(page, func(a, b hook.Delivery) int { return strings.Compare(position(b), position(a)) })
	limit = min(max(limit, 1), maxPage)
	if len(page) > limit {
		page = page[:limit]
		next = base64.RawURLEncoding.EncodeToString([]byte(list + position(page[limit-1])))
	}
	return page, next, nil
}

// position sorts deliveries by their age.
func position(d hook.Delivery) string {
	return fmt.Sprintf("%020d#%s", d.CreatedAt.UnixMilli(), d.ID)
}

// openCursor returns the position after which a list goes on.
func openCursor(cursor, list string) (string, error) {
	if cursor == "" {
		return "", nil
	}
	b, err := base64.RawURLEncoding.DecodeString(cursor)
	after, ok := strings.CutPrefix(string(b), list)
	if err != nil || !ok {
		return "", hook.Invalid(hook.FieldError{Field: "cursor", Message: "is not a cursor of this list"})
	}
	return after, nil
}

// find returns copies of the deliveries that are wanted, in no order.
func (s *Store) find(wanted func(hook.Delivery) bool) []hook.Delivery {
	s.mu.Lock()
	defer s.mu.Unlock()

	var found []hook.Delivery
	for _, d := range s.deliveries {
		if wanted(d) {
			found = append(found, copyDelivery(d))
		}
	}
	return found
}

func copyDelivery(d hook.Delivery) hook.Delivery {
	d.CreatedAt = storedTime(d.CreatedAt)
	d.UpdatedAt = storedTime(d.UpdatedAt)
	d.NextAttemptAt = storedTime(d.NextAttemptAt)
	d.ExpiresAt = storedExpiry(d.ExpiresAt)
	d.Last.Body = slices.Clone(d.Last.Body)
	return d
}

func copyAttempt(a hook.Attempt) hook.Attempt {
	a.StartedAt = storedTime(a.StartedAt)
	a.NextAttemptAt = storedTime(a.NextAttemptAt)
	a.ExpiresAt = storedExpiry(a.ExpiresAt)
	a.Outcome.Body = slices.Clone(a.Outcome.Body)
	return a
}
