package scheduler_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/aws/scheduler"
	"surehook.example/surehook/internal/hook"
)

var longest = hook.Task{
	Delivery: hook.DeliveryRef{
		DeliveryID: hook.DeliveryID{
			Event:      "evt_01h455vb4pex5vsknk084sn02q",
			Endpoint:   "ep_0123456789abcdef",
			Generation: hook.MaxGeneration,
		},
		AcceptedAt: 1772600767000,
		Shard:      hook.MaxShards - 1,
	},
	Tenant:  "acme",
	Attempt: hook.MaxAttempts,
	Nonce:   "n",
}

// seen is the request received by the fake.
type seen struct {
	Method, Path string
	Body         map[string]any
}

// setup returns schedules on a server with one answer.
func setup(t *testing.T, status int, errorType string) (*scheduler.Schedules, *seen) {
	t.Helper()

	var got seen
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got.Method, got.Path = r.Method, r.URL.Path
		if err := json.NewDecoder(r.Body).Decode(&got.Body); err != nil {
			t.Errorf("decode request: %v", err)
		}
		w.Header().Set("Content-Type", "application/json")
		if errorType != "" {
			w.Header().Set("X-Amzn-ErrorType", errorType)
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(`{"ScheduleArn":"arn:aws:scheduler:us-east-1:123456789012:schedule/g/n","Message":"no"}`))
	}))
	t.Cleanup(server.Close)

	return scheduler.New(aws.Config{
		Region:       "us-east-1",
		Credentials:  credentials.NewStaticCredentialsProvider("id", "key", ""),
		BaseEndpoint: aws.String(server.URL),
		HTTPClient:   server.Client(),
		Retryer:      func() aws.Retryer { return aws.NopRetryer{} },
	}, scheduler.Config{
		Group:         "surehook-retries",
		RoleARN:       "arn:aws:iam::123456789012:role/schedules",
		TargetARN:     "arn:aws:sqs:us-east-1:123456789012:retry",
		DeadLetterARN: "arn:aws:sqs:us-east-1:123456789012:undeliverable",
	}), &got
}

func TestSchedules_At_CreatesAOneTimeSchedule(t *testing.T) {
	t.Parallel()

	schedules, got := setup(t, http.StatusOK, "")
	at := time.Date(2026, time.February, 28, 23, 59, 59, 1, time.FixedZone("west", -3600))
	if err := schedules.At(t.Context(), longest, at); err != nil {
		t.Fatalf("At(%s) = %v; want nil", at, err)
	}

	if got.Body["ClientToken"] == nil {
		t.Error("ClientToken is missing")
	}
	delete(got.Body, "ClientToken")
	body, err := longest.Encode()
	if err != nil {
		t.Fatal(err)
	}
	want := &seen{
		Method: http.MethodPost,
		Path:   "/schedules/evt_01h455vb4pex5vsknk084sn02q_13ad8d54294004f40ea7e3df32005df4",
		Body: map[string]any{
			"GroupName":                  "surehook-retries",
			"ScheduleExpression":         "at(2026-03-01T01:00:00)",
			"ScheduleExpressionTimezone": "UTC",
			"FlexibleTimeWindow":         map[string]any{"Mode": "OFF"},
			"ActionAfterCompletion":      "DELETE",
			"Target": map[string]any{
				"Arn":              "arn:aws:sqs:us-east-1:123456789012:retry",
				"RoleArn":          "arn:aws:iam::123456789012:role/schedules",
				"Input":            body,
				"DeadLetterConfig": map[string]any{"Arn": "arn:aws:sqs:us-east-1:123456789012:undeliverable"},
				"RetryPolicy":      map[string]any{"MaximumRetryAttempts": 185.0, "MaximumEventAgeInSeconds": 86400.0},
			},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("request (-want +got):\n%s", diff)
	}
}

func TestSchedules_At_NamesFitTheService(t *testing.T) {
	t.Parallel()

	schedules, got := setup(t, http.StatusOK, "")
	if err := schedules.At(t.Context(), longest, time.Unix(1<<31, 0)); err != nil {
		t.Fatal(err)
	}
	name := strings.TrimPrefix(got.Path, "/schedules/")
	if !regexp.MustCompile(`^[0-9a-zA-Z-_.]{1,64}$`).MatchString(name) {
		t.Errorf("name of the longest delivery id = %q (%d characters); want 1 to 64 of 0-9 a-z A-Z - _ .", name, len(name))
	}
}

// A fired schedule keeps its name for some minutes, so everything that identifies a schedule must
// be part of its name.
func TestSchedules_At_NamesAreUnique(t *testing.T) {
	t.Parallel()

	at := time.Unix(1<<31, 0)
	changed := func(change func(t *hook.Task)) hook.Task {
		task := longest
		change(&task)
		return task
	}
	tests := []struct {
		name string
		task hook.Task
		at   time.Time
		same bool
	}{
		{name: "the same schedule", task: longest, at: at, same: true},
		{name: "the same second", task: longest, at: at.Add(1 - time.Second), same: true},
		{name: "the task has a rate slot", task: changed(func(t *hook.Task) { t.Reserved = true }), at: at, same: true},
		{name: "another second", task: longest, at: at.Add(1)},
		{name: "another nonce", task: changed(func(t *hook.Task) { t.Nonce = "m" }), at: at},
		{name: "another attempt", task: changed(func(t *hook.Task) { t.Attempt-- }), at: at},
		{name: "another generation", task: changed(func(t *hook.Task) { t.Delivery.Generation-- }), at: at},
		{name: "another endpoint", task: changed(func(t *hook.Task) { t.Delivery.Endpoint = "ep_0123456789abcdeg" }), at: at},
		{name: "another event", task: changed(func(t *hook.Task) { t.Delivery.Event = "evt_01h455vb4pex5vsknk084sn02r" }), at: at},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			schedules, got := setup(t, http.StatusOK, "")
			if err := schedules.At(t.Context(), longest, at); err != nil {
				t.Fatal(err)
			}
			first := got.Path
			if err := schedules.At(t.Context(), tt.task, tt.at); err != nil {
				t.Fatal(err)
			}
			if (got.Path == first) != tt.same {
				t.Errorf("schedules %s and %s; want the same: %t", first, got.Path, tt.same)
			}
		})
	}
}

func TestSchedules_At_RoundsUpToAWholeSecond(t *testing.T) {
	t.Parallel()

	whole := time.Date(2026, time.December, 31, 23, 59, 59, 0, time.UTC)
	tests := []struct {
		name string
		at   time.Time
		want string
	}{
		{name: "a whole second stays", at: whole, want: "at(2026-12-31T23:59:59)"},
		{name: "the smallest part of a second is rounded up", at: whole.Add(1), want: "at(2027-01-01T00:00:00)"},
		{name: "the largest part of a second is rounded up", at: whole.Add(time.Second - 1), want: "at(2027-01-01T00:00:00)"},
		{name: "midnight is 00:00:00", at: whole.Add(time.Second), want: "at(2027-01-01T00:00:00)"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			schedules, got := setup(t, http.StatusOK, "")
			if err := schedules.At(t.Context(), longest, tt.at); err != nil {
				t.Fatal(err)
			}
			if got.Body["ScheduleExpression"] != tt.want {
				t.Errorf("At(%s) = expression %s; want %s", tt.at, got.Body["ScheduleExpression"], tt.want)
			}
		})
	}
}

func TestSchedules_At_ExistingScheduleIsSuccess(t *testing.T) {
	t.Parallel()

	schedules, _ := setup(t, http.StatusConflict, "ConflictException")
	if err := schedules.At(t.Context(), longest, time.Unix(1<<31, 0)); err != nil {
		t.Errorf("At(existing) = %v; want nil", err)
	}
}

func TestSchedules_At_TranslatesErrors(t *testing.T) {
	t.Parallel()

	tests := []struct {
		errorType string
		status    int
		want      hook.Code
	}{
		{errorType: "ThrottlingException", status: http.StatusTooManyRequests, want: hook.CodeUnavailable},
		{errorType: "InternalServerException", status: http.StatusInternalServerError, want: hook.CodeUnavailable},
		{errorType: "ServiceQuotaExceededException", status: http.StatusPaymentRequired, want: hook.CodeUnavailable},
		{errorType: "ResourceNotFoundException", status: http.StatusNotFound, want: hook.CodeUnavailable},
		{errorType: "ValidationException", status: http.StatusBadRequest, want: hook.CodeInternal},
	}
	for _, tt := range tests {
		t.Run(tt.errorType, func(t *testing.T) {
			t.Parallel()

			schedules, _ := setup(t, tt.status, tt.errorType)
			err := schedules.At(t.Context(), longest, time.Unix(1<<31, 0))
			if err == nil || hook.CodeOf(err) != tt.want || !strings.Contains(err.Error(), longest.Delivery.String()) {
				t.Errorf("At = %v; want %s, naming the delivery", err, tt.want)
			}
		})
	}
}

func TestSchedules_At_EndedContextIsUnavailable(t *testing.T) {
	t.Parallel()

	schedules, _ := setup(t, http.StatusOK, "")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := schedules.At(ctx, longest, time.Unix(1<<31, 0)); err == nil || hook.CodeOf(err) != hook.CodeUnavailable {
		t.Errorf("At with an ended context = %v; want unavailable", err)
	}
}
