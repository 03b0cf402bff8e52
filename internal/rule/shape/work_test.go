package shape_test

import (
	"testing"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/shape"
	"surehook.example/surehook/proof/work"
)

// expressions are ways to use a payload.
func expressions() map[string]string {
	return map[string]string{
		"constant": `{"body": [1]}`,
		"copied":   `{"body": event.data}`,
		"text":     `{"body": json(event.data)}`,
		"used":     `{"body": {"n": event.data.a.filter(x, x != 0.5).size()}}`,
		"compared": `{"body": {"same": event.data == event.data}}`,
		"entries":  `{"body": {"n": event.data.a.map(x, x == {} ? 1 : 0).size()}}`,
	}
}

// No hostile payload takes more than a few times the steps of small integers.
func TestShaper_Shape_hostilePayloads(t *testing.T) {
	t.Parallel()

	const size = hook.MaxPayload / 2
	for name, expression := range expressions() {
		usual, _ := shape.Steps(expression, event(string(work.Usual(size))), shape.MaxSteps, nil)
		for _, row := range work.Hostile(size) {
			if got, _ := shape.Steps(expression, event(string(row.Text)), shape.MaxSteps, nil); got > work.Most*usual {
				t.Errorf("%s, %s: %d steps; want at most %d times %d", name, row.Name, got, work.Most, usual)
			}
		}
	}
}

func BenchmarkShaper_Shape_hostilePayloads(b *testing.B) {
	for name, expression := range expressions() {
		b.Run(name, func(b *testing.B) {
			work.Benchmark(b, hook.MaxPayload, func(text []byte) {
				var s shape.Shaper
				_, _ = s.Shape(nil, &hook.Endpoint{Transformation: expression}, event(string(text)))
			})
		})
	}
}
