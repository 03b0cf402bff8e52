package schema_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"surehook.example/surehook/internal/rule/schema"
)

// A schema takes no more memory than it says.
func TestSchema_Bytes(t *testing.T) { //nolint:paralleltest // counts the memory of the process
	parts := func(n int, format string) string {
		all := make([]string, n)
		for i := range all {
			all[i] = strings.ReplaceAll(format, "$", fmt.Sprint(i))
		}
		return strings.Join(all, ",")
	}
	for name, text := range map[string]string{
		"usual":      `{"type":"object","properties":{"a":{"type":"string","pattern":"^[A-Z]{2}$"}}}`,
		"subschemas": `{"allOf":[` + parts(1300, `{"minimum":$}`) + `]}`,
		"properties": `{"properties":{` + parts(1000, `"property$":{"type":"string"}`) + `}}`,
		"values":     `{"enum":[` + parts(4000, `$`) + `]}`,
		"a pattern":  `{"pattern":"[a-z]{0,1000}[a-z]{0,900}"}`,
		"patterns":   `{"patternProperties":{` + parts(700, `"^[^a]$":true`) + `}}`,
	} {
		const times = 5
		all := make([]*schema.Schema, times)
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		for i := range all {
			all[i] = compile(t, text)
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		got := (int(after.HeapAlloc) - int(before.HeapAlloc)) / times
		if said := all[0].Bytes(); got > said {
			t.Errorf("%s: %d bytes of JSON take %d bytes, and the schema says %d", name, len(text), got, said)
		}
		runtime.KeepAlive(all)
	}
}
