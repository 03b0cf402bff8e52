package shape_test

import (
	"runtime"
	"strings"
	"testing"

	"surehook.example/surehook/internal/rule/shape"
)

// An expression takes no more memory than it says.
func TestBytes(t *testing.T) { //nolint:paralleltest // counts the memory of the process
	for name, text := range map[string]string{
		"lists":  `{"body": [` + strings.Repeat("[],", 950) + `1]}`,
		"maps":   `{"body": [` + strings.Repeat("{1: 1},", 240) + `1]}`,
		"calls":  `{"body": [` + strings.Repeat("size(1),", 450) + `1]}`,
		"fields": `{"body": [` + strings.Repeat("event.a.b,", 300) + `1]}`,
		"sums":   `{"body": [` + strings.Repeat("1+1,", 320) + `1]}`,
		"a text": `{"body": "` + strings.Repeat("a", 8000) + `"}`,
		"usual":  `{"body": {"text": "Order " + event.data.id + " is paid: " + string(event.data.total)}, "headers": {"X-Kind": event.type}}`,
	} {
		const times = 20
		all := make([]any, times)
		said := 0
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		for i := range all {
			var err error
			if all[i], said, err = shape.Parsed(text); err != nil {
				t.Fatal(name, err)
			}
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		if got := (int(after.HeapAlloc) - int(before.HeapAlloc)) / times; got > said {
			t.Errorf("%s: %d bytes of text take %d bytes, and the expression says %d", name, len(text), got, said)
		}
		runtime.KeepAlive(all)
	}
}
