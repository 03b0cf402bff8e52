package cost_test

import (
	"testing"
	"time"

	"surehook.example/surehook/proof/cost"
)

func TestInvocationUsage_RoundsUpToAMillisecond(t *testing.T) {
	t.Parallel()

	for _, tt := range []struct {
		took time.Duration
		ms   float64
	}{{time.Nanosecond, 1}, {time.Millisecond, 1}, {time.Millisecond + 1, 2}, {43820312 * time.Nanosecond, 44}} {
		if got, want := cost.InvocationUsage(tt.took, 1024)[cost.GBSecond], tt.ms/1000; got != want {
			t.Errorf("InvocationUsage(%v, 1024 MB) = %v GB-seconds; want %v", tt.took, got, want)
		}
	}
}
