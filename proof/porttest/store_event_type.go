package porttest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"surehook.example/surehook/internal/delivery/ingest"
	"surehook.example/surehook/internal/hook"
)

func eventTypeCases() []storeCase {
	return []storeCase{
		{name: "an event type is read as stored", run: eventTypeComesBack},
		{name: "a change of an event type needs the version read", run: eventTypeVersions},
		{name: "event types are listed in the order of their names", run: eventTypesInOrder},
		{name: "the catalogue counts event types, and changes with each change", run: eventTypeCatalogue},
		{name: "a full catalogue refuses a new event type only", run: eventTypesFull},
		{name: "of 20 racers that change an event type, one wins", run: eventTypeRace},
		{name: "an erasure of a tenant keeps event types", run: eventTypesStay},
	}
}

func sampleEventType(name string) hook.EventType {
	return hook.EventType{
		Name: name, Description: "Zoë's order", Group: "Billing", Schema: []byte(`{"type":"object"}`), Example: []byte(`{"a":"ü"}`),
		Archived: true, Validation: hook.ValidationReject, CreatedAt: storeEpoch(), UpdatedAt: storeEpoch().Add(time.Millisecond),
	}
}

// putType stores a new type and returns the type with its version.
func putType(t *testing.T, s StoreUnderTest, after hook.EventType) hook.EventType {
	t.Helper()

	check(t, s.PutEventType(t.Context(), hook.EventType{}, after))
	after.Version = 1
	return after
}

func eventTypeComesBack(t *testing.T, s StoreUnderTest) {
	given := sampleEventType("order.paid")
	given.CreatedAt = given.CreatedAt.Add(999 * time.Microsecond).In(time.FixedZone("", 3600))
	putType(t, s, given)
	want := sampleEventType("order.paid")
	want.Version = 1
	got, err := s.EventType(t.Context(), "order.paid")
	wantSame(t, "EventType(stored)", want, got, err)

	small := putType(t, s, hook.EventType{Name: "small", CreatedAt: storeEpoch(), UpdatedAt: storeEpoch()})
	got, err = s.EventType(t.Context(), "small")
	wantSame(t, "EventType(small)", small, got, err)
	if got.Schema != nil || got.Example != nil {
		t.Errorf("EventType(small) = %+v; want no schema and no example", got)
	}
	found, err := s.TypeListing(t.Context(), []string{"small", "order.paid", "order.sent"})
	slices.SortFunc(found.Types, func(a, b hook.EventType) int { return strings.Compare(a.Name, b.Name) })
	catalogue := hook.Catalogue{Version: 2, Types: 2, Checked: 1}
	wantSame(t, "TypeListing()", ingest.TypeListing{Catalogue: catalogue, Types: []hook.EventType{want, small}}, found, err)

	_, err = s.EventType(t.Context(), "order.sent")
	wantCode(t, "EventType(unknown)", err, hook.CodeNotFound)
}

func eventTypeVersions(t *testing.T, s StoreUnderTest) {
	first := putType(t, s, sampleEventType("a"))
	wantCode(t, "PutEventType(new, and stored)", s.PutEventType(t.Context(), hook.EventType{}, first), hook.CodeConflict)
	second := first
	second.Description = "second"
	check(t, s.PutEventType(t.Context(), first, second))
	wantCode(t, "PutEventType(stale)", s.PutEventType(t.Context(), first, second), hook.CodeConflict)
	wantCode(t, "DeleteEventType(stale)", s.DeleteEventType(t.Context(), first), hook.CodeConflict)
	second.Version = 2
	got, err := s.EventType(t.Context(), "a")
	wantSame(t, "EventType(changed)", second, got, err)
	check(t, s.DeleteEventType(t.Context(), second))
	_, err = s.EventType(t.Context(), "a")
	wantCode(t, "EventType(deleted)", err, hook.CodeNotFound)
	wantCode(t, "DeleteEventType(deleted)", s.DeleteEventType(t.Context(), second), hook.CodeConflict)
	wantCode(t, "PutEventType(deleted)", s.PutEventType(t.Context(), second, second), hook.CodeConflict)
}

func eventTypesInOrder(t *testing.T, s StoreUnderTest) {
	var want []hook.EventType
	for i := range 7 {
		want = append(want, putType(t, s, sampleEventType(fmt.Sprintf("type.%d", (i*3)%7))))
	}
	slices.SortFunc(want, func(a, b hook.EventType) int { return strings.Compare(a.Name, b.Name) })
	for _, limit := range []int{1, 3, 7, 100} {
		var got []hook.EventType
		for after, more, n := "", true, 0; more; n++ {
			var types []hook.EventType
			var err error
			types, more, err = s.EventTypesAfter(t.Context(), after, limit)
			check(t, err)
			if len(types) > limit || n > 8 {
				t.Fatalf("EventTypesAfter(%q, %d) = %d types at read %d", after, limit, len(types), n)
			}
			if len(types) > 0 {
				after = types[len(types)-1].Name
			}
			got = append(got, types...)
		}
		wantSame(t, fmt.Sprintf("EventTypesAfter(by %d)", limit), want, got, nil)
	}
	got, _, err := s.EventTypesAfter(t.Context(), "type.30", 1)
	wantSame(t, "EventTypesAfter(no name of a type)", want[4:5], got, err)
}

func eventTypeCatalogue(t *testing.T, s StoreUnderTest) {
	before, err := s.Catalogue(t.Context())
	wantSame(t, "Catalogue(none)", hook.Catalogue{}, before, err)
	is := func(step string, types, checked int) {
		t.Helper()
		c, err := s.Catalogue(t.Context())
		if err != nil || c.Version <= before.Version || c.Types != types || c.Checked != checked {
			t.Errorf("Catalogue(%s) = %+v, %v after %+v; want %d types, %d checked", step, c, err, before, types, checked)
		}
		before = c
	}
	a := putType(t, s, sampleEventType("a"))
	is("one", 1, 1)
	b := putType(t, s, hook.EventType{Name: "b", Validation: hook.ValidationOff, CreatedAt: storeEpoch(), UpdatedAt: storeEpoch()})
	is("two", 2, 1)
	warns := b
	warns.Validation = hook.ValidationWarn
	check(t, s.PutEventType(t.Context(), b, warns))
	is("both", 2, 2)
	check(t, s.DeleteEventType(t.Context(), a))
	is("deleted", 1, 1)
	wantCode(t, "DeleteEventType(again)", s.DeleteEventType(t.Context(), a), hook.CodeConflict)
	c, err := s.Catalogue(t.Context())
	wantSame(t, "Catalogue(after a conflict)", before, c, err)
}

func eventTypesFull(t *testing.T, s StoreUnderTest) {
	for i := range hook.MaxTypesPerEnvironment {
		putType(t, s, hook.EventType{Name: fmt.Sprint(i), CreatedAt: storeEpoch(), UpdatedAt: storeEpoch()})
	}
	err := s.PutEventType(t.Context(), hook.EventType{}, hook.EventType{Name: "more"})
	wantCode(t, "PutEventType(one more)", err, hook.CodeForbidden)
	wantMessage(t, err, "an environment has at most 500 event types")
	wantCode(t, "PutEventType(known)", s.PutEventType(t.Context(), hook.EventType{}, hook.EventType{Name: "1"}), hook.CodeConflict)
	first := hook.EventType{Name: "0", Version: 1}
	check(t, s.PutEventType(t.Context(), first, first))
	first.Version++
	check(t, s.DeleteEventType(t.Context(), first))
	check(t, s.PutEventType(t.Context(), hook.EventType{}, hook.EventType{Name: "more"}))
}

func eventTypeRace(t *testing.T, s StoreUnderTest) {
	for round := range 2 { // a new type, and a change
		stored, err := s.EventType(t.Context(), "a")
		if round > 0 {
			check(t, err)
		}
		won := race(t, 20, func(ctx context.Context, i int) error {
			after := sampleEventType("a")
			after.Description = fmt.Sprint("racer ", i)
			return s.PutEventType(ctx, stored, after)
		})
		got, err := s.EventType(t.Context(), "a")
		if err != nil || len(won) != 1 || got.Description != fmt.Sprint("racer ", won[0]) || got.Version != int64(round+1) {
			t.Errorf("round %d: racers %v won, and EventType = %+v, %v; want one", round, won, got, err)
		}
	}
	c, err := s.Catalogue(t.Context())
	if err != nil || c.Types != 1 || c.Checked != 1 {
		t.Errorf("Catalogue() = %+v, %v; want one type", c, err)
	}
}

func eventTypesStay(t *testing.T, s StoreUnderTest) {
	create(t, s, smallEndpoint("event-types"))
	want := putType(t, s, sampleEventType("tenant"))
	runErasure(t, s, "event-types")
	got, err := s.EventType(t.Context(), "tenant")
	wantSame(t, "EventType(after an erasure)", want, got, err)
}
