package dynamo_test

import (
	"bytes"
	"testing"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/memory"
)

// A receiver answers with text that takes little space when compressed. The attempts of one delivery
// are all kept, but few of them in its record: the breaker has 1,000 deliveries in memory.
func TestSaveDelivery_answersThatCompressWell(t *testing.T) {
	t.Parallel()

	s := memory.NewStore()
	d := delivery(0)
	for number := 1; number <= hook.MaxAttempts; number++ {
		a := attempt()
		a.Delivery, a.Number, a.Outcome.Body = d.Ref(), number, bytes.Repeat([]byte("0"), hook.MaxResponseBody)
		d.Attempts, d.Last = number, a.Outcome.Short()
		if err := s.SaveDelivery(t.Context(), d, a); err != nil {
			t.Fatal(err)
		}
		var err error
		if d, err = s.Delivery(t.Context(), d.Ref()); err != nil {
			t.Fatal(err)
		}
		if len(d.Recent) != 1 || d.Recent[0].Number != number {
			t.Fatalf("after attempt %d the record has %d attempts; want the newest", number, len(d.Recent))
		}
	}
	all, err := s.Attempts(t.Context(), []hook.Delivery{d})
	if err != nil || len(all) != hook.MaxAttempts {
		t.Fatalf("Attempts() = %d, %v; want %d", len(all), err, hook.MaxAttempts)
	}
	for i, a := range all {
		if a.Number != i+1 || len(a.Outcome.Body) != hook.MaxResponseBody {
			t.Errorf("attempt %d has number %d and %d bytes; want its whole answer", i+1, a.Number, len(a.Outcome.Body))
		}
	}
}
