package hook_test

import (
	"testing"

	"surehook.example/surehook/internal/hook"
)

// TestEventID_ForTest checks that only ids of test events have the mark.
func TestEventID_ForTest(t *testing.T) {
	t.Parallel()

	id := hook.NewEventID()
	if id.IsTest() {
		t.Fatalf("NewEventID() = %s; want no mark", id)
	}
	for _, named := range []bool{false, true} {
		for _, id := range []hook.EventID{id, id[:len(id)-5] + "n0000"} {
			got := id.ForTest(named)
			if _, err := hook.ParseEventID(string(got)); err != nil || !got.IsTest() || got.MustBeNamed() != named || len(got) != len(id) {
				t.Errorf("ForTest(%t) of %s = %s, %v; want an id of a test, to be named: %t", named, id, got, err, named)
			}
		}
	}
	// The hash of this key ends with the mark, as that of one key in a million.
	if id := hook.KeyedEventID("acme", "868133"); id.IsTest() {
		t.Errorf("KeyedEventID() = %s; want no mark", id)
	}
}
