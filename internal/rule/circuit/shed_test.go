package circuit_test

import (
	"fmt"
	"testing"
	"time"

	"surehook.example/surehook/internal/rule/circuit"
)

// Of the first attempts as many wait as Shed says, always the same ones, and none once nothing
// was heard of the endpoint for a Window.
func TestCircuit_Admits(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name     string
		shed     int
		after    time.Duration
		min, max int // of 10,000 keys
	}{
		{name: "nothing is shed", min: 10_000, max: 10_000},
		{name: "a quarter waits", shed: 25, min: 7300, max: 7700},
		{name: "all wait", shed: 100},
		{name: "the figure is still fresh", shed: 25, after: circuit.Window - 1, min: 7300, max: 7700},
		{name: "the figure is stale", shed: 25, after: circuit.Window, min: 10_000, max: 10_000},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			c := closed(0)
			c.Shed, c.ShedAt = tt.shed, start
			more := c
			more.Shed /= 2
			admitted := 0
			for i := range 10_000 {
				key := fmt.Sprintf("evt_%d", i)
				if !c.Admits(key, start.Add(tt.after)) {
					continue
				}
				admitted++
				if !more.Admits(key, start.Add(tt.after)) {
					t.Fatalf("%s is admitted while %d %% wait, but not while %d %% do", key, c.Shed, more.Shed)
				}
			}
			if share := c.PassRate(start.Add(tt.after)); share < float64(tt.min)/10_000 || share > float64(tt.max)/10_000 {
				t.Errorf("Share() = %g; want %d to %d of 10,000", share, tt.min, tt.max)
			}
			if admitted < tt.min || admitted > tt.max {
				t.Errorf("%d of 10,000 are admitted; want %d to %d", admitted, tt.min, tt.max)
			}
		})
	}
}
