package hook_test

import (
	"slices"
	"testing"

	"surehook.example/surehook/internal/hook"
)

func TestLanes_HasEveryLane(t *testing.T) {
	t.Parallel()

	var want []hook.Lane
	for lane := hook.LaneLive; lane.String() != "unknown"; lane++ {
		want = append(want, lane)
	}
	if got := hook.Lanes(); !slices.Equal(got, want) || len(got) != 6 {
		t.Errorf("Lanes() = %v; want %v", got, want)
	}
}
