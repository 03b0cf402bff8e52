package world

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
)

// Delivery returns the record of the delivery.
func (w *World) Delivery(id hook.DeliveryRef) hook.Delivery {
	w.T.Helper()

	d, err := w.Store.Delivery(w.T.Context(), id)
	if err != nil {
		w.T.Fatalf("delivery %s: %v", id, err)
	}
	return d
}

// Attempts returns "number class" of each recorded attempt.
func (w *World) Attempts(id hook.DeliveryRef) []string {
	w.T.Helper()

	recorded, err := w.Store.Attempts(w.T.Context(), []hook.Delivery{w.Delivery(id)})
	if err != nil {
		w.T.Fatal(err)
	}
	var list []string
	for _, a := range recorded {
		list = append(list, fmt.Sprintf("%d %s", a.Number, a.Outcome.Class))
	}
	return list
}

// States returns how many of the deliveries are in each state, such as
// "2 dead expired, 1 none"; none is a delivery without a record.
func (w *World) States(ids []hook.DeliveryRef) string {
	w.T.Helper()

	counts := make(map[string]int)
	for _, id := range ids {
		d, err := w.Store.Delivery(w.T.Context(), id)
		switch {
		case hook.CodeOf(err) == hook.CodeNotFound:
			counts["none"]++
		case err != nil:
			w.T.Fatal(err)
		default:
			counts[strings.TrimSpace(d.State.String()+" "+string(d.Reason))]++
		}
	}
	var parts []string
	for _, state := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf("%d %s", counts[state], state))
	}
	return strings.Join(parts, ", ")
}

// Circuit returns the endpoint's circuit record.
func (w *World) Circuit(e hook.Endpoint) admission.Record {
	w.T.Helper()

	r, err := w.Store.Circuit(w.T.Context(), e.Tenant, e.ID)
	if err != nil {
		w.T.Fatal(err)
	}
	return r
}
