package names_test

import (
	"reflect"
	"testing"

	"surehook.example/surehook/internal/names"
)

// Each queue has its name in the API. A second queue is one number there with another, and has a name of its own.
func TestQueues_All(t *testing.T) {
	t.Parallel()

	var q names.Queues[int]
	all := q.All()
	for n := range reflect.TypeOf(q).NumField() {
		f := reflect.TypeOf(q).Field(n)
		name := f.Tag.Get("json")
		if name == "-" {
			name = "undeliverable_retry"
		}
		if place := reflect.ValueOf(&q).Elem().Field(n).Addr().Interface(); all[name] != place {
			t.Errorf("All() has another place for %s than that of %s", name, f.Name)
		}
		delete(all, name)
	}
	if len(all) > 0 {
		t.Errorf("All() also has %v; want the fields alone", all)
	}
}
