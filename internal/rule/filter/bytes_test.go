package filter_test

import (
	"strings"
	"testing"

	"surehook.example/surehook/internal/rule/filter"
	"surehook.example/surehook/proof/work"
)

// A filter takes no more memory than it says, and that is not much more than its text: its parts are
// few, and none has a copy of the names above it.
func TestFilter_Bytes(t *testing.T) { //nolint:paralleltest // counts the memory of the process
	deep := work.Parts(99, `"$":[1]`)
	for range 7 {
		deep = `"` + strings.Repeat("k", 300) + `":{` + deep + `}`
	}
	for name, text := range map[string]string{
		"values":       `{"payload":{"a":[` + work.Parts(99, "$") + `]}}`,
		"numeric":      `{"payload":{"a":[` + work.Parts(99, `{"numeric":[">",1,"<",5]}`) + `]}}`,
		"prefixes":     `{"payload":{"a":[` + work.Parts(99, `{"prefix":{"equals-ignore-case":"k"}}`) + `]}}`,
		"anything-but": `{"payload":{"a":[{"anything-but":[` + work.Parts(98, "$") + `]}]}}`,
		"fields":       `{"payload":{` + work.Parts(99, `"$":[{"exists":false}]`) + `}}`,
		"choices":      `{"$or":[` + work.Parts(45, `{"type":["a"]}`) + `]}`,
		"a long text":  `{"payload":{"a":["` + strings.Repeat("k", 4000) + `"]}}`,
		"long names":   `{"payload":{` + deep + `}}`,
		"usual":        `{"payload":{"order":{"amount":[{"numeric":[">",100]}],"country":["DE","AT"]}}}`,
	} {
		var f *filter.Filter
		got := work.Heap(200, func() any {
			var wrong any
			if f, wrong = filter.Parse([]byte(text), ""); f == nil {
				t.Fatal(name, wrong)
			}
			return f
		})
		if said := f.Bytes(); got > said || said > 60_000 {
			t.Errorf("%s: %d bytes of JSON take %d bytes, and the filter says %d", name, len(text), got, said)
		}
	}
}
