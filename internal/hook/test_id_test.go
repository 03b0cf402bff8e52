package hook_test

import (
	"testing"

	"surehook.example/surehook/internal/hook"
)

// TestEventID_ForTest checks that only ids of test events have the mark.
func TestEventID_ForTest(t *testing.T) {
	t.Parallel()

	id, err := hook.NewEventID()
	if err != nil || id.IsTest() || !id.ForTest().IsTest() {
		t.Fatalf("NewEventID() = %s, %v, and for a test %s; want the mark in the second alone", id, err, id.ForTest())
	}
	if _, err := hook.ParseEventID(string(id.ForTest())); err != nil {
		t.Errorf("ParseEventID(%s) = %v; want an id", id.ForTest(), err)
	}
	// The hash of this key ends with the mark, as that of one key in a million.
	if id := hook.KeyedEventID("acme", "868133"); id.IsTest() {
		t.Errorf("KeyedEventID() = %s; want no mark", id)
	}
}
