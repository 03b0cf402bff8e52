package sqs_test

import (
	"fmt"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/aws/sqs"
	"surehook.example/surehook/internal/hook"
)

const liveARN = "arn:aws:sqs:us-east-1:123456789012:live"

// visibilityOn returns a Visibility and its fake. The fake knows the queue of
// liveARN and refuses the change for the receipt handle "expired".
func visibilityOn(t *testing.T) (*sqs.Visibility, *fakeSQS) {
	t.Helper()

	fake := &fakeSQS{seen: map[string]int{}}
	fake.answer = func(in request) any {
		if len(in.Entries) == 0 {
			return map[string]string{"QueueUrl": liveURL}
		}
		var failed []failure
		for _, e := range in.Entries {
			if e.ReceiptHandle == "expired" {
				failed = append(failed, failure{ID: e.ID, Code: "ReceiptHandleIsInvalid", SenderFault: true})
			}
		}
		return map[string]any{"Successful": []any{}, "Failed": failed}
	}
	server := httptest.NewServer(fake)
	t.Cleanup(server.Close)
	return sqs.NewVisibility(configOf(server)), fake
}

func TestVisibility_Change(t *testing.T) {
	t.Parallel()

	v, fake := visibilityOn(t)
	after := make(map[string]time.Duration)
	want := make(map[string]int)
	for i := range 12 {
		receipt := fmt.Sprintf("receipt %d", i)
		after[receipt] = time.Duration(i)*time.Second + time.Millisecond
		want[receipt] = i + 1 // rounded up
	}
	for range 2 {
		if err := v.Change(t.Context(), liveARN, after); err != nil {
			t.Fatalf("Change() = %v; want nil", err)
		}
	}
	wantTargets := []string{
		"AmazonSQS.GetQueueUrl", "AmazonSQS.ChangeMessageVisibilityBatch", "AmazonSQS.ChangeMessageVisibilityBatch",
		"AmazonSQS.ChangeMessageVisibilityBatch", "AmazonSQS.ChangeMessageVisibilityBatch",
	}
	if diff := cmp.Diff(wantTargets, fake.targets); diff != "" {
		t.Errorf("two changes of 12 messages make other requests; want the URL once, and at most 10 entries a request (-want +got):\n%s", diff)
	}
	got := make(map[string]int)
	for _, r := range fake.requests[1:3] {
		if r.QueueURL != liveURL || len(r.Entries) > 10 {
			t.Errorf("a request has queue %s and %d entries; want %s and at most 10", r.QueueURL, len(r.Entries), liveURL)
		}
		for _, e := range r.Entries {
			got[e.ReceiptHandle] = e.VisibilityTimeout
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("visibility timeouts in seconds differ (-want +got):\n%s", diff)
	}
}

func TestVisibility_Change_refused(t *testing.T) {
	t.Parallel()

	v, _ := visibilityOn(t)
	err := v.Change(t.Context(), liveARN, map[string]time.Duration{"expired": time.Second, "good": time.Second})
	if hook.CodeOf(err) != hook.CodeInternal {
		t.Errorf("Change() with a refused message = %v; want %s", err, hook.CodeInternal)
	}
	if err := v.Change(t.Context(), "live", nil); err == nil {
		t.Error("Change() without an ARN = nil; want an error")
	}
}
