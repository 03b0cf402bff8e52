package shape_test

import (
	"strings"
	"testing"

	"surehook.example/surehook/internal/rule/shape"
	"surehook.example/surehook/proof/work"
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
		said := 0
		got := work.Heap(20, func() any {
			parsed, bytes, err := shape.Parsed(text)
			if err != nil {
				t.Fatal(name, err)
			}
			said = bytes
			return parsed
		})
		if got > said {
			t.Errorf("%s: %d bytes of text take %d bytes, and the expression says %d", name, len(text), got, said)
		}
	}
}
