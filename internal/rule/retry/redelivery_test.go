package retry_test

import (
	"math"
	"testing"
	"time"

	"surehook.example/surehook/internal/rule/retry"
)

func TestRedelivery(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name     string
		receives int
		unit     float64
		want     time.Duration
	}{
		{name: "the shortest wait after the first receive", receives: 1, unit: 0, want: time.Second},
		{name: "the middle wait after the first receive", receives: 1, unit: 0.5, want: 1500 * time.Millisecond},
		{name: "an unknown number of receives counts as one", receives: 0, unit: 0, want: time.Second},
		{name: "each receive doubles the wait", receives: 4, unit: 0, want: 8 * time.Second},
		{name: "the last wait below the maximum", receives: 9, unit: 0, want: 256 * time.Second},
		{name: "the maximum is 10 minutes", receives: 10, unit: 0, want: 5 * time.Minute},
		{name: "any number of receives keeps the maximum", receives: math.MaxInt, unit: 0, want: 5 * time.Minute},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			if got := retry.Redelivery(tt.receives, tt.unit); got != tt.want {
				t.Errorf("Redelivery(%d, %v) = %v; want %v", tt.receives, tt.unit, got, tt.want)
			}
			if got := retry.Redelivery(tt.receives, math.Nextafter(1, 0)); got > 10*time.Minute {
				t.Errorf("Redelivery(%d, 1-) = %v; want at most 10m", tt.receives, got)
			}
		})
	}
}
