package hook_test

import (
	"testing"
	"unsafe"

	"surehook/internal/hook"
)

// The collector of garbage scans larger objects one by one and with a header: a
// collection of stored deliveries took twice as long, and requests wait for it.
func TestDelivery_Size(t *testing.T) {
	t.Parallel()

	const most = 512
	if size := unsafe.Sizeof(hook.Delivery{}); size > most {
		t.Errorf("a Delivery has %d bytes; want at most %d", size, most)
	}
}
