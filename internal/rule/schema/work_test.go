package schema_test

import (
	"testing"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/schema"
	"surehook.example/surehook/proof/work"
)

// schemas look into hostile payloads.
func schemas() map[string]string {
	return map[string]string{
		"any":      `true`,
		"types":    `{"properties":{"a":{"items":{"type":["integer","string"]}}}}`,
		"bounds":   `{"properties":{"a":{"items":{"minimum":0,"multipleOf":1}}}}`,
		"distinct": `{"properties":{"a":{"uniqueItems":true}}}`,
		"listed":   `{"properties":{"a":{"items":{"enum":[2,"x"]}}}}`,
		"names":    `{"properties":{"a":{"items":{"propertyNames":{"pattern":"^k"},"additionalProperties":{"type":"string"}}}}}`,
		"objects":  `{"properties":{"a":{"items":{"properties":{"a":{"type":"string"}},"required":["b"]}}}}`,
	}
}

// size is small enough for all steps of the usual payload.
const size = hook.MaxPayload / 4

// No hostile payload takes more than a few times the steps of small integers, with those of decoding.
func TestCheck_hostilePayloads(t *testing.T) {
	t.Parallel()

	for name, text := range schemas() {
		s := compile(t, text)
		_, usual := s.Check(work.Usual(size), "payload")
		if usual == schema.MaxSteps {
			t.Errorf("%s: the usual payload takes all steps, so it is no measure", name)
		}
		if usual < len(work.Usual(size))/hook.BytesPerStep {
			t.Errorf("%s: %d steps, and one for %d bytes of the payload", name, usual, hook.BytesPerStep)
		}
		for _, row := range work.Hostile(size) {
			if _, got := s.Check(row.Text, "payload"); got > work.Most*usual {
				t.Errorf("%s, %s: %d steps; want at most %d times %d", name, row.Name, got, work.Most, usual)
			}
		}
	}
}

func BenchmarkCheck_hostilePayloads(b *testing.B) {
	for name, text := range schemas() {
		s := compile(b, text)
		b.Run(name, func(b *testing.B) {
			work.Benchmark(b, size, func(text []byte) { s.Check(text, "payload") })
		})
	}
}
