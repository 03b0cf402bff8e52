package dynamo

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"surehook.example/surehook/internal/hook"
)

type attemptItem struct {
	hook.Attempt

	Tenant  hook.TenantID `stored:"tenant"`
	Outcome outcomeItem   `stored:"outcome"`
}

// moveAttempt writes an attempt of a delivery's record as a record of its own. It is there already if
// another process moved it, or if an erasure left it without its body.
func (s *Store) moveAttempt(ctx context.Context, a hook.Attempt, tenant hook.TenantID) error {
	move := s.put(attemptKey(a.Delivery, a.Number), absent(), s.payload.toAttemptItem(a, tenant)).orElse(nil)
	return s.commit(ctx, "move attempt of "+a.Delivery.String(), move)
}

type outcomeItem struct {
	hook.Outcome

	Encoding string `stored:"encoding"` // of the body
}

func (c codec) toAttemptItem(a hook.Attempt, tenant hook.TenantID) attemptItem {
	it := attemptItem{a, tenant, outcomeItem{Outcome: a.Outcome}}
	if len(a.Outcome.Body) > hook.MaxSuccessBody {
		it.Outcome.Body, it.Outcome.Encoding = c.encode(a.Outcome.Body)
	}
	return it
}

func (c codec) fromAttemptItem(it keyed[attemptItem]) (a hook.Attempt, err error) {
	at := strings.TrimPrefix(it.SK[:max(strings.LastIndexByte(it.SK, '#'), 0)], attemptPrefix)
	a = it.Record.Attempt
	if a.Delivery, err = refOf(key{it.PK, at}); err != nil {
		return hook.Attempt{}, err
	}
	a.Outcome = it.Record.Outcome.Outcome
	a.Outcome.Body, err = c.decode(a.Outcome.Body, it.Record.Outcome.Encoding)
	return a, err
}

// Attempts makes one batch read per 100 attempts: the record of a delivery has the
// number of its attempts, and some of them. A success at the first attempt has no record to read.
func (s *Store) Attempts(ctx context.Context, deliveries []hook.Delivery) ([]hook.Attempt, error) {
	recorded := slices.DeleteFunc(slices.Clone(deliveries), func(d hook.Delivery) bool {
		return d.State == hook.StateDelivered && d.Attempts == 1
	})
	items, err := s.batchGet(ctx, attemptKeys(recorded))
	if err != nil {
		return nil, translate(err, fmt.Sprintf("list attempts of %d deliveries", len(deliveries)))
	}
	attempts := readable[hook.Attempt](ctx, s, items)
	for _, d := range recorded {
		attempts = append(attempts, d.Recent...)
	}
	slices.SortFunc(attempts, func(a, b hook.Attempt) int {
		return cmp.Or(
			cmp.Compare(a.Delivery.Endpoint, b.Delivery.Endpoint),
			cmp.Compare(a.Delivery.Generation, b.Delivery.Generation),
			cmp.Compare(a.Number, b.Number),
		)
	})
	return attempts, nil
}

// attemptKeys returns the keys of the attempts with records of their own. They include the first
// attempt of a delivery that succeeded at once: if two tasks made that attempt, one may have
// recorded a failure before the success of the other.
func attemptKeys(deliveries []hook.Delivery) (keys []key) {
	for _, d := range deliveries {
		for number := 1; number <= d.Attempts; number++ {
			if !slices.ContainsFunc(d.Recent, func(a hook.Attempt) bool { return a.Number == number }) {
				keys = append(keys, attemptKey(d.Ref(), number))
			}
		}
	}
	return keys
}

// EraseAttempts reads the attempts and makes one update for each attempt with a body or headers, or
// with an outcome that this build cannot read. First, the erased attempts within a delivery's
// record move to records of their own, so that no process can move them as they were before.
func (s *Store) EraseAttempts(ctx context.Context, d hook.Delivery) error {
	for _, a := range d.Recent {
		if err := s.moveAttempt(ctx, a, d.Tenant); err != nil {
			return err
		}
	}
	d.Recent = nil
	items, err := s.batchGet(ctx, attemptKeys([]hook.Delivery{d}))
	if err != nil {
		return translate(err, "read attempts of "+d.ID.String())
	}
	for _, item := range items {
		a, err := decode[hook.Attempt](s, item)
		if err == nil && len(a.Outcome.Body) == 0 && len(a.Outcome.Headers) == 0 && len(a.Outcome.Sent) == 0 {
			continue
		}
		var k key
		if err := decodeItem(item, &k); err != nil {
			return translate(err, "erase attempt")
		}
		stored := condition{expression: "attribute_exists(outcome)", names: map[string]string{"#body": "body", "#headers": "headers"}}
		erase := s.update(k, "REMOVE outcome.#body, outcome.#headers, outcome.sent", stored, nil).orElse(nil) // if the table has expired the attempt
		if err := s.commit(ctx, "erase "+k.SK, erase); err != nil {
			return err
		}
	}
	return nil
}
