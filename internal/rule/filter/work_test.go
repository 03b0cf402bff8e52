package filter_test

import (
	"testing"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/filter"
	"surehook.example/surehook/proof/work"
)

// patterns are filters that look into hostile payloads.
func patterns() map[string]string {
	return map[string]string{
		"numeric":      `{"payload":{"a":[{"numeric":[">",100,"<",200]}]}}`,
		"anything-but": `{"payload":{"a":[{"anything-but":[1,9e307]}]}}`,
		"texts":        `{"payload":{"a":[{"prefix":{"equals-ignore-case":"k"}},"x"]}}`,
		"objects":      `{"payload":{"a":{"k":["x"]}}}`,
		"absent":       `{"payload":{"a":{"a":[{"exists":false}]}}}`,
		"type":         `{"type":["other"]}`,
	}
}

func parsed(tb testing.TB, pattern string) *filter.Filter {
	tb.Helper()

	f, wrong := filter.Parse([]byte(pattern), "")
	if len(wrong) > 0 {
		tb.Fatal(wrong)
	}
	return f
}

// No hostile payload takes more than a few times the steps of small integers, with those of decoding.
func TestFilter_Matches_hostilePayloads(t *testing.T) {
	t.Parallel()

	const size = hook.MaxPayload / 2
	for name, pattern := range patterns() {
		f := parsed(t, pattern)
		steps := func(text []byte) int {
			document := filter.NewDocument("order.paid", text)
			_, n := f.Matches(document)
			return document.Steps + n
		}
		usual := steps(work.Usual(size))
		if usual < len(work.Usual(size))/hook.BytesPerStep {
			t.Errorf("%s: %d steps, and one for %d bytes of the payload", name, usual, hook.BytesPerStep)
		}
		for _, row := range work.Hostile(size) {
			if got := steps(row.Text); got > work.Most*usual {
				t.Errorf("%s, %s: %d steps; want at most %d times %d", name, row.Name, got, work.Most, usual)
			}
		}
	}
}

func BenchmarkFilter_Matches_hostilePayloads(b *testing.B) {
	for name, pattern := range patterns() {
		f := parsed(b, pattern)
		b.Run(name, func(b *testing.B) {
			work.Benchmark(b, hook.MaxPayload, func(text []byte) { f.Matches(filter.NewDocument("order.paid", text)) })
		})
	}
}
