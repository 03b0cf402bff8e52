package filter_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"surehook.example/surehook/internal/rule/filter"
)

// A filter takes no more memory than it says, and that is not much more than its text: its parts are
// few, and none has a copy of the names above it.
func TestFilter_Bytes(t *testing.T) { //nolint:paralleltest // counts the memory of the process
	parts := func(n int, format string) string {
		all := make([]string, n)
		for i := range all {
			all[i] = strings.ReplaceAll(format, "$", fmt.Sprint(i))
		}
		return strings.Join(all, ",")
	}
	deep := parts(99, `"$":[1]`)
	for range 7 {
		deep = `"` + strings.Repeat("k", 300) + `":{` + deep + `}`
	}
	for name, text := range map[string]string{
		"values":       `{"payload":{"a":[` + parts(99, "$") + `]}}`,
		"numeric":      `{"payload":{"a":[` + parts(99, `{"numeric":[">",1,"<",5]}`) + `]}}`,
		"prefixes":     `{"payload":{"a":[` + parts(99, `{"prefix":{"equals-ignore-case":"k"}}`) + `]}}`,
		"anything-but": `{"payload":{"a":[{"anything-but":[` + parts(98, "$") + `]}]}}`,
		"fields":       `{"payload":{` + parts(99, `"$":[{"exists":false}]`) + `}}`,
		"choices":      `{"$or":[` + parts(45, `{"type":["a"]}`) + `]}`,
		"a long text":  `{"payload":{"a":["` + strings.Repeat("k", 4000) + `"]}}`,
		"long names":   `{"payload":{` + deep + `}}`,
		"usual":        `{"payload":{"order":{"amount":[{"numeric":[">",100]}],"country":["DE","AT"]}}}`,
	} {
		const times = 200
		all := make([]*filter.Filter, times)
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		for i := range all {
			var wrong any
			if all[i], wrong = parsedText(text); all[i] == nil {
				t.Fatal(name, wrong)
			}
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		got := (int(after.HeapAlloc) - int(before.HeapAlloc)) / times
		if said := all[0].Bytes(); got > said || said > 60_000 {
			t.Errorf("%s: %d bytes of JSON take %d bytes, and the filter says %d", name, len(text), got, said)
		}
		runtime.KeepAlive(all)
	}
}

func parsedText(text string) (*filter.Filter, any) {
	f, wrong := filter.Parse([]byte(text), "")
	return f, wrong
}
