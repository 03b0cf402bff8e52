package deliver_test

import (
	"strings"
	"testing"

	"surehook.example/surehook/internal/hook"
)

// A secret that does not open fails the message, and the log names the endpoint.
func TestProcessBatch_sealedSecretNamesItsEndpoint(t *testing.T) {
	t.Parallel()

	w := setup(t)
	endpoint := w.Endpoint(func(e *hook.Endpoint) { e.Secrets[0].Sealed = []byte("sealed for nobody") })
	w.Post(endpoint)
	message := w.Queue.Receive(hook.QueueLive, 1)[0]
	failed := w.Deliverer().ProcessBatch(w.Context(), batchOf(message))
	if len(failed) != 1 || len(w.Posts) != 0 {
		t.Errorf("ProcessBatch() = %v with %d posts; want the message, without a post", failed, len(w.Posts))
	}
	if log := w.Log.String(); !strings.Contains(log, `"level":"ERROR","msg":"delivery.postponed"`) || !strings.Contains(log, "secrets of endpoint "+string(endpoint.ID)) {
		t.Errorf("the log does not name the endpoint %s:\n%s", endpoint.ID, log)
	}
}
