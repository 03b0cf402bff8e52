package deliver_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/memory"
	"surehook.example/surehook/internal/rule/sign"
)

// An endpoint keeps secrets of schemes that it does not use. Only those of its signature_schemes
// sign.
func TestProcessBatch_SignsWithTheChosenSchemes(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name    string
		schemes []hook.Scheme
		want    []hook.Scheme
	}{
		{name: "v1", schemes: []hook.Scheme{hook.SchemeV1}, want: []hook.Scheme{hook.SchemeV1}},
		{name: "v1a", schemes: []hook.Scheme{hook.SchemeV1a}, want: []hook.Scheme{hook.SchemeV1a}},
		{name: "both", schemes: []hook.Scheme{hook.SchemeV1, hook.SchemeV1a}, want: []hook.Scheme{hook.SchemeV1a, hook.SchemeV1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			w := setup(t)
			private, _ := sign.NewKeyPair()
			w.Post(w.Endpoint(func(e *hook.Endpoint) {
				sealed, err := memory.Vault{}.Seal(t.Context(), private, e.Tenant, e.ID)
				if err != nil {
					t.Fatal(err)
				}
				e.Schemes = tt.schemes
				e.Secrets = append([]hook.Secret{{Scheme: hook.SchemeV1a, Sealed: sealed}}, e.Secrets...)
			}))
			w.Run()

			if len(w.Posts) != 1 {
				t.Fatalf("%d POSTs; want 1", len(w.Posts))
			}
			var got []hook.Scheme
			for _, k := range w.Posts[0].Keys {
				got = append(got, k.Scheme())
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("schemes of the keys (-want +got):\n%s", diff)
			}
		})
	}
}
