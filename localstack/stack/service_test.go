package stack_test

import (
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"surehook.example/surehook/localstack/stack"
)

func TestAction_CallsAgainAfterAServerError(t *testing.T) {
	t.Parallel()

	for _, tt := range []struct {
		name     string
		statuses []int
		calls    int32
		failed   bool
	}{
		{name: "two server errors", statuses: []int{500, 503, 200}, calls: 3},
		{name: "only server errors", statuses: []int{500, 500, 500, 500, 500}, calls: 5, failed: true},
		{name: "a refusal", statuses: []int{400}, calls: 1, failed: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			var calls atomic.Int32
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(tt.statuses[calls.Add(1)-1])
				write(t, w, map[string]any{"name": "a"})
			}))
			defer server.Close()

			var got struct{ Name string }
			s := &stack.Stack{Address: server.URL}
			err := s.Action(t.Context(), "logs", "Logs.Read", nil, &got)
			if n := calls.Load(); (err != nil) != tt.failed || n != tt.calls || !tt.failed && got.Name != "a" {
				t.Errorf("Action = %v, %+v after %d calls; want an error: %t, %d calls", err, got, n, tt.failed, tt.calls)
			}
		})
	}
}
