package deliver_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/memory"
	"surehook.example/surehook/proof/world"
)

// sealHeader returns the stored form of a header.
func sealHeader(t *testing.T, e *hook.Endpoint, name, value string) []byte {
	t.Helper()

	sealed, err := memory.Vault{}.Seal(t.Context(), hook.HeaderText(name, value), e.Tenant, e.ID)
	if err != nil {
		t.Fatal(err)
	}
	return sealed
}

func TestProcessBatch_OpensHeaders(t *testing.T) {
	t.Parallel()

	w := setup(t)
	w.Answer = world.Always(200)
	w.Post(w.Endpoint(func(e *hook.Endpoint) {
		e.SealedHeaders = map[string][]byte{"Authorization": sealHeader(t, e, "Authorization", "Bearer x")}
	}))
	w.Run()
	if len(w.Posts) != 1 {
		t.Fatalf("%d requests; want 1", len(w.Posts))
	}
	if diff := cmp.Diff(map[string]string{"Authorization": "Bearer x"}, w.Posts[0].Own); diff != "" {
		t.Errorf("headers (-want +got):\n%s", diff)
	}
}

// The table was changed by hand: the sealed text of another header, or a signing secret, is in
// the place of a header. It is never sent.
func TestProcessBatch_SendsNoTextOfAnotherHeader(t *testing.T) {
	t.Parallel()

	w := setup(t)
	w.Answer = world.Always(200)
	w.Post(w.Endpoint(func(e *hook.Endpoint) {
		e.SealedHeaders = map[string][]byte{"X-Env": e.Secrets[0].Sealed}
	}))
	if _, failed := w.Invoke(hook.QueueLive); len(w.Posts) != 0 || failed != 1 {
		t.Errorf("%d requests, %d failed messages; want no request and a failed message", len(w.Posts), failed)
	}
}
