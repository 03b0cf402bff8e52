package sqs_test

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/admin/status"
	"surehook.example/surehook/internal/aws/sqs"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/names"
)

func newDepths(t *testing.T, fake http.Handler) *sqs.Depths {
	t.Helper()

	server := httptest.NewServer(fake)
	t.Cleanup(server.Close)
	return sqs.NewDepths(configOf(server), allURLs())
}

// allURLs returns a URL of each queue, which ends with its name.
func allURLs() (urls names.Queues[string]) {
	for name, url := range urls.All() {
		*url = strings.TrimSuffix(liveURL, "live") + name
	}
	return urls
}

func attributes(visible, inFlight, delayed string) any {
	return map[string]any{"Attributes": map[string]string{
		"ApproximateNumberOfMessages":           visible,
		"ApproximateNumberOfMessagesNotVisible": inFlight,
		"ApproximateNumberOfMessagesDelayed":    delayed,
	}}
}

func TestDepths_ReadsEachQueue(t *testing.T) {
	t.Parallel()

	fake := &fakeSQS{answer: func(in request) any {
		if in.QueueURL == liveURL {
			return attributes("100000", "23", "4")
		}
		return attributes("0", "0", "5")
	}}
	got, err := newDepths(t, fake).Depths(t.Context())
	var want names.Queues[status.Depth]
	for _, depth := range want.All() {
		depth.Delayed = 5
	}
	want.Live = status.Depth{Visible: 100_000, InFlight: 23, Delayed: 4}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("Depths() = %v (-want +got):\n%s", err, diff)
	}
	var urls []string
	for _, r := range fake.requests {
		urls = append(urls, r.QueueURL)
		if len(r.AttributeNames) != 3 {
			t.Errorf("attributes asked for = %v; want three", r.AttributeNames)
		}
	}
	slices.Sort(urls)
	all := allURLs()
	var wanted []string
	for _, url := range all.All() {
		wanted = append(wanted, *url)
	}
	slices.Sort(wanted)
	if diff := cmp.Diff(wanted, urls); diff != "" {
		t.Errorf("queues read (-want +got):\n%s", diff)
	}
}

func TestDepths_NamesTheFailedQueue(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name string
		fake *fakeSQS
		want hook.Code
	}{
		{name: "throttled", fake: &fakeSQS{status: http.StatusBadRequest, code: "ThrottlingException"}, want: hook.CodeUnavailable},
		{name: "missing queue", fake: &fakeSQS{status: http.StatusBadRequest, code: "QueueDoesNotExist"}, want: hook.CodeUnavailable},
		{name: "no numbers", fake: &fakeSQS{answer: func(request) any { return attributes("many", "0", "0") }}, want: hook.CodeInternal},
		{name: "no attributes", fake: &fakeSQS{answer: func(request) any { return map[string]any{} }}, want: hook.CodeInternal},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			got, err := newDepths(t, tt.fake).Depths(t.Context())
			if err == nil || hook.CodeOf(err) != tt.want || !regexp.MustCompile(`^read depth of queue [a-z_]+: `).MatchString(err.Error()) {
				t.Errorf("Depths() = %v, %v; want %s, naming the queue", got, err, tt.want)
			}
		})
	}
}
