package hook_test

import (
	"slices"
	"testing"

	"surehook.example/surehook/internal/hook"
)

func TestQueues_HasEveryQueue(t *testing.T) {
	t.Parallel()

	var want []hook.Queue
	for queue := hook.QueueLive; queue.String() != "unknown"; queue++ {
		want = append(want, queue)
	}
	if got := hook.Queues(); !slices.Equal(got, want) || len(got) != 6 {
		t.Errorf("Queues() = %v; want %v", got, want)
	}
}
