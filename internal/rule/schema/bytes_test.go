package schema_test

import (
	"testing"

	"surehook.example/surehook/internal/rule/schema"
	"surehook.example/surehook/proof/work"
)

// A schema takes no more memory than it says.
func TestSchema_Bytes(t *testing.T) { //nolint:paralleltest // counts the memory of the process
	for name, text := range map[string]string{
		"usual":      `{"type":"object","properties":{"a":{"type":"string","pattern":"^[A-Z]{2}$"}}}`,
		"subschemas": `{"allOf":[` + work.Parts(1300, `{"minimum":$}`) + `]}`,
		"properties": `{"properties":{` + work.Parts(1000, `"property$":{"type":"string"}`) + `}}`,
		"values":     `{"enum":[` + work.Parts(4000, `$`) + `]}`,
		"a pattern":  `{"pattern":"[a-z]{0,1000}[a-z]{0,900}"}`,
		"patterns":   `{"patternProperties":{` + work.Parts(700, `"^[^a]$":true`) + `}}`,
	} {
		var s *schema.Schema
		got := work.Heap(5, func() any {
			s = compile(t, text)
			return s
		})
		if said := s.Bytes(); got > said {
			t.Errorf("%s: %d bytes of JSON take %d bytes, and the schema says %d", name, len(text), got, said)
		}
	}
}
