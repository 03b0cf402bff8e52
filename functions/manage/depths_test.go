package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/admin/status"
	"surehook.example/surehook/internal/aws/sqs"
)

// The messages set aside are in two queues, but the API has one number for them.
func TestDepths_undeliverable(t *testing.T) {
	t.Parallel()

	visible := map[string]string{"live": "7", "undeliverable": "2", "retries": "3"}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			QueueURL string `json:"QueueUrl"`
		}
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			t.Error(err)
		}
		w.Header().Set("Content-Type", "application/x-amz-json-1.0")
		_ = json.NewEncoder(w).Encode(map[string]any{"Attributes": map[string]string{
			"ApproximateNumberOfMessages":           visible[in.QueueURL[strings.LastIndexByte(in.QueueURL, '/')+1:]],
			"ApproximateNumberOfMessagesNotVisible": "1", "ApproximateNumberOfMessagesDelayed": "0",
		}})
	}))
	t.Cleanup(server.Close)
	cfg := aws.Config{Region: "eu-central-1", BaseEndpoint: aws.String(server.URL), Credentials: credentials.NewStaticCredentialsProvider("id", "key", "")}
	urls := map[string]string{"live": server.URL + "/1/live", "undeliverable": server.URL + "/1/undeliverable", "undeliverable_retry": server.URL + "/1/retries"}
	got, err := depths{sqs.NewDepths(cfg), urls}.Depths(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]status.Depth{"live": {Visible: 7, InFlight: 1}, "undeliverable": {Visible: 5, InFlight: 2}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Depths() (-want +got):\n%s", diff)
	}
}
